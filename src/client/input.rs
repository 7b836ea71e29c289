//! Where boards come from: arguments, a file or standard input, read one at a time as they are wanted.
//!
//! Reading happens on a thread of its own, since a terminal or a pipe may block for ever; that thread is never
//! waited for. It must never know: what becomes of a board, nor anything of the wire.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;
use std::thread;

use tokio::sync::mpsc;

use super::gather::{Found, Gather, one};
use super::text::{Board, Shape, TextError};

/// The most bytes of a line; a longer one is an error in its place.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// Boards read ahead of the sender.
const READ_AHEAD: usize = 64;

/// Where boards are to be read.
#[derive(Debug)]
pub(crate) enum Source {
    /// One board each.
    Arguments(Vec<String>),
    /// A file that was opened, with its bytes if it is a regular one.
    File(File, Option<u64>),
    /// Standard input.
    Stdin,
}

/// Where in the input a board stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Which argument, from 1.
    Argument(u64),
    /// The line it starts on, from 1.
    Line(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(n) => write!(f, "argument {n}"),
            Self::Line(n) => write!(f, "line {n}"),
        }
    }
}

/// A board of the input, or the error in its place.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Its number in the input, from 1, without a gap.
    pub(crate) index: u64,
    /// Where it stands.
    pub(crate) place: Place,
    /// Bytes of input read up to it.
    pub(crate) offset: u64,
    /// The board, or why there is none.
    pub(crate) board: Result<Board, TextError>,
}

/// The items of an input, in order; an error of reading is the last.
pub(crate) type Items = mpsc::Receiver<io::Result<Item>>;

impl Source {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// A sentence with the name of the file and what is wrong.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdin);
        }
        let open = || {
            let file = File::open(path)?;
            let about = file.metadata()?;
            if about.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Ok(Self::File(file, about.is_file().then_some(about.len())))
        };
        open().map_err(|error: io::Error| format!("can't read {}: {error}", path.display()))
    }

    /// The arguments as boards: `-` alone is standard input, and as many single tiles as a board of this size has
    /// cells are one board, as when a shell has split it.
    pub(crate) fn arguments(boards: Vec<String>, size: Option<Shape>) -> Self {
        let cells = size.map_or(9, Shape::cells);
        let width = if cells <= super::text::MAX_COMPACT_CELLS { 1 } else { 2 };
        match boards.as_slice() {
            [dash] if dash == "-" => Self::Stdin,
            tiles if tiles.len() == cells && tiles.iter().all(|tile| (1..=width).contains(&tile.len())) => {
                Self::Arguments(vec![boards.join(" ")])
            }
            _ => Self::Arguments(boards),
        }
    }

    /// How many bytes there are to read, if that is known.
    pub(crate) fn bytes(&self) -> Option<u64> {
        if let Self::File(_, bytes) = self { *bytes } else { None }
    }

    /// Whether it may be long, and no one is typing it.
    pub(crate) fn may_be_long(&self) -> bool {
        match self {
            Self::Arguments(_) => false,
            Self::File(..) => true,
            Self::Stdin => !io::stdin().is_terminal(),
        }
    }

    /// Starts reading boards of this size, or of any.
    pub(crate) fn read(self, size: Option<Shape>) -> io::Result<Items> {
        let (sender, items) = mpsc::channel(READ_AHEAD);
        thread::Builder::new().name("taquin-input".into()).spawn(move || match self {
            Self::Arguments(boards) => send_arguments(&boards, size, &sender),
            Self::File(file, _) => send_lines(BufReader::new(file), size, &sender),
            Self::Stdin => send_lines(io::stdin().lock(), size, &sender),
        })?;
        Ok(items)
    }
}

fn send_arguments(boards: &[String], size: Option<Shape>, sender: &mpsc::Sender<io::Result<Item>>) {
    for (index, text) in (1..).zip(boards) {
        let item = Item { index, place: Place::Argument(index), offset: 0, board: one(text, size) };
        if sender.blocking_send(Ok(item)).is_err() {
            return;
        }
    }
}

/// Sends the boards of a text until it ends, can't be read, or no one listens.
fn send_lines(mut text: impl BufRead, size: Option<Shape>, sender: &mpsc::Sender<io::Result<Item>>) {
    let mut gather = Gather::new(size);
    let (mut index, mut offset) = (0, 0);
    let mut buffer = Vec::new();
    for line in 1.. {
        let end = match read_line(&mut text, &mut buffer) {
            Ok(0) => {
                gather.end();
                true
            }
            Ok(read) => {
                offset += read;
                if buffer.len() > MAX_LINE_BYTES {
                    gather.unreadable(line, TextError::LineTooLong(MAX_LINE_BYTES));
                } else {
                    gather.line(line, &String::from_utf8_lossy(&buffer));
                }
                false
            }
            Err(error) => {
                // Whether anyone still listens makes no difference: this is the end.
                let _ = sender.blocking_send(Err(error));
                return;
            }
        };
        while let Some(Found { line, board }) = gather.pop() {
            index += 1;
            let item = Item { index, place: Place::Line(line), offset, board };
            if sender.blocking_send(Ok(item)).is_err() {
                return;
            }
        }
        if end {
            return;
        }
    }
}

/// Reads a line into `buffer` and returns its bytes, 0 at the end of the text. Of a line that is too long only
/// the beginning is kept, more than [`MAX_LINE_BYTES`] of it.
fn read_line(text: &mut impl BufRead, buffer: &mut Vec<u8>) -> io::Result<u64> {
    buffer.clear();
    let limit = MAX_LINE_BYTES as u64 + 1;
    let mut read = text.by_ref().take(limit).read_until(b'\n', buffer)?;
    if buffer.len() > MAX_LINE_BYTES && buffer.last() != Some(&b'\n') {
        read += text.skip_until(b'\n')?;
    }
    Ok(read as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Item> {
        let (sender, mut items) = mpsc::channel(1000);
        send_lines(text, None, &sender);
        drop(sender);
        std::iter::from_fn(|| items.blocking_recv()).map(Result::unwrap).collect()
    }

    #[test]
    fn items_are_numbered_and_placed() {
        let items = all(b"123456780\n\n1 2\n3 0\n\n\xff\xfe\n13824765");
        let told: Vec<_> = items.iter().map(|i| (i.index, i.place, i.board.is_ok())).collect();
        assert_eq!(
            told,
            [
                (1, Place::Line(1), true),
                (2, Place::Line(3), true),
                (3, Place::Line(6), false),
                (4, Place::Line(7), false)
            ]
        );
        assert_eq!(items[3].offset, 31);
    }

    #[test]
    fn a_line_without_end_is_an_error_in_its_place() {
        let mut text = b"123456780\n".to_vec();
        text.extend(vec![b'1'; 3 * MAX_LINE_BYTES]);
        text.extend(b"\n123456708\n");
        let items = all(&text);
        assert_eq!(items.len(), 3);
        assert_eq!(items[1].board, Err(TextError::LineTooLong(MAX_LINE_BYTES)));
        assert!(items[2].board.is_ok());
    }

    #[test]
    fn arguments_split_by_a_shell_are_one_board() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let count = |source| match source {
            Source::Arguments(boards) => boards.len(),
            _ => 0,
        };
        assert_eq!(count(Source::arguments(words("2 8 3 1 0 4 7 6 5"), None)), 1);
        assert_eq!(count(Source::arguments(words("283104765 123456780"), None)), 2);
        assert_eq!(count(Source::arguments(words("10 01"), "1x2".parse().ok())), 2);
        assert_eq!(count(Source::arguments(words("-"), None)), 0);
    }

    #[test]
    fn a_file_that_is_none_is_named() {
        assert!(Source::open(Path::new("/no/such")).unwrap_err().starts_with("can't read /no/such: "));
        assert!(Source::open(Path::new("/")).unwrap_err().contains("directory"));
    }
}
