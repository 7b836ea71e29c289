//! A text, line by line, with the line that follows known when it is asked for.
//!
//! It must never know: what the lines mean.

use std::io::{self, BufRead, Read};

use super::text::TextError;

/// The most bytes of a line; a longer one is an error in its place.
pub(crate) const MAX_LINE_BYTES: usize = 64 * 1024;

/// How UTF-16 begins, either way round.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// A line with its number, from 1: its text, or why there is none.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) text: Result<String, TextError>,
}

/// The lines of a text.
pub(crate) struct Lines<'a> {
    text: Box<dyn BufRead + 'a>,
    /// Lines read.
    number: u64,
    /// Bytes read.
    offset: u64,
    /// What follows can't be read.
    ended: bool,
    /// A line that was read and not yet taken.
    ahead: Option<Line>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: impl BufRead + 'a) -> Self {
        Self { text: Box::new(text), number: 0, offset: 0, ended: false, ahead: None }
    }

    /// The bytes read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the next line, its end left in; `None` at the end of the text.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        match self.ahead.take() {
            Some(line) => Ok(Some(line)),
            None => self.read(),
        }
    }

    /// Passes over empty lines and tells the number of the next one that is none; `None` at the end of the text.
    pub(crate) fn peek(&mut self) -> io::Result<Option<u64>> {
        while let Some(line) = self.next()? {
            if line.text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
                continue;
            }
            let number = line.number;
            self.ahead = Some(line);
            return Ok(Some(number));
        }
        Ok(None)
    }

    /// The number that the next line to be read has.
    pub(crate) fn following(&self) -> u64 {
        self.ahead.as_ref().map_or(self.number + 1, |line| line.number)
    }

    fn read(&mut self) -> io::Result<Option<Line>> {
        if self.ended {
            return Ok(None);
        }
        let mut line = Vec::new();
        // Of a line that is too long only the beginning is kept.
        let limit = MAX_LINE_BYTES as u64 + 1;
        let mut read = self.text.by_ref().take(limit).read_until(b'\n', &mut line)?;
        let too_long = line.len() > MAX_LINE_BYTES;
        if too_long && line.last() != Some(&b'\n') {
            read += self.text.skip_until(b'\n')?;
        }
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.offset += read as u64;
        self.ended = self.number == 1 && UTF_16.iter().any(|mark| line.starts_with(mark));
        let text = if self.ended {
            Err(TextError::Utf16)
        } else if too_long {
            Err(TextError::LineTooLong(MAX_LINE_BYTES))
        } else {
            Ok(String::from_utf8_lossy(&line).into_owned())
        };
        Ok(Some(Line { number: self.number, text }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_may_be_looked_at() {
        let mut lines = Lines::new(&b"\n a \r\n\xff\n \n"[..]);
        assert_eq!((lines.following(), lines.peek().unwrap(), lines.following()), (1, Some(2), 2));
        assert_eq!(lines.next().unwrap().unwrap().text.unwrap(), " a \r\n");
        assert_eq!(lines.next().unwrap().unwrap().text.unwrap(), "\u{fffd}\n");
        assert_eq!((lines.peek().unwrap(), lines.following(), lines.offset()), (None, 5, 10));
        assert!(lines.next().unwrap().is_none());
    }

    #[test]
    fn a_long_line_is_one_error() {
        let mut text = vec![b'1'; 3 * MAX_LINE_BYTES];
        text.extend(b"\n2");
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next().unwrap().unwrap().text, Err(TextError::LineTooLong(MAX_LINE_BYTES)));
        assert_eq!(lines.next().unwrap().unwrap().text.unwrap(), "2");
        assert_eq!(lines.offset(), text.len() as u64);
    }
}
