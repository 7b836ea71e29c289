//! Where boards come from: arguments, a file or standard input, read one at a time as they are wanted.
//!
//! Reading happens on a thread of its own, since a terminal or a pipe may block for ever; that thread is never
//! waited for. It must never know: what becomes of a board, nor anything of the wire.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use tokio::sync::mpsc;

use super::board::{Board, Layout, MAX_COMPACT_CELLS, Shape};
use super::gather::{Found, Gather, one};
use super::judge::{self, Judge};
use super::lines::Lines;
use super::text::TextError;

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
    /// The goal; none means the ordered one.
    pub(crate) goal: Option<Arc<Board>>,
}

/// How boards are written.
#[derive(Debug)]
pub(crate) enum Reading {
    /// In the client's own forms.
    Own {
        /// The layout of every board; none means any grid.
        layout: Option<Layout>,
        /// The goal of every board; none means the ordered one.
        goal: Option<Arc<Board>>,
    },
    /// As a judge has them.
    Judged(&'static Judge),
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

    /// The arguments as boards: `-` alone is standard input, and as many single tiles as a board of this layout has
    /// cells are one board, as when a shell has split it.
    ///
    /// # Errors
    /// A sentence, when `-` stands among boards.
    pub(crate) fn arguments(boards: Vec<String>, layout: Option<&Layout>) -> Result<Self, String> {
        let cells = match layout {
            None => 9,
            Some(Layout::Grid(shape)) => Shape::cells(*shape),
            Some(Layout::Graph(graph)) => graph.largest(),
        };
        let width = if cells <= MAX_COMPACT_CELLS { 1 } else { 2 };
        Ok(match boards.as_slice() {
            [dash] if dash == "-" => Self::Stdin,
            several if several.iter().any(|board| board == "-") => {
                return Err("`-` reads all boards from standard input: it must be the only argument".into());
            }
            tiles if tiles.len() == cells && tiles.iter().all(|tile| (1..=width).contains(&tile.len())) => {
                Self::Arguments(vec![boards.join(" ")])
            }
            _ => Self::Arguments(boards),
        })
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

    /// Starts reading.
    pub(crate) fn read(self, reading: Reading) -> io::Result<Items> {
        let (sender, items) = mpsc::channel(READ_AHEAD);
        let mut sending = Sending { sender, index: 0 };
        thread::Builder::new().name("taquin-input".into()).spawn(move || {
            let sent = match (self, reading) {
                (Self::Arguments(boards), Reading::Own { layout, goal }) => {
                    send_arguments(&boards, layout.as_ref(), goal.as_ref(), &mut sending)
                }
                (source, Reading::Own { layout, goal }) => {
                    send_lines(source.lines(), layout.as_ref(), goal.as_ref(), &mut sending)
                }
                (source, Reading::Judged(judge)) => send_judged(source.lines(), judge, &mut sending),
            };
            if let Err(Ended::Broken(error)) = sent {
                // Whether anyone still listens makes no difference: this is the end.
                let _ = sending.sender.blocking_send(Err(error));
            }
        })?;
        Ok(items)
    }

    /// The text as lines. Arguments are a line each, but single tiles, as when a shell has split a board, are one.
    fn lines(self) -> Lines<'static> {
        match self {
            Self::Arguments(texts) => {
                let tiles = texts.iter().all(|text| text.len() == 1);
                Lines::new(Cursor::new(texts.join(if tiles { " " } else { "\n" })))
            }
            Self::File(file, _) => Lines::new(BufReader::new(file)),
            Self::Stdin => Lines::new(io::stdin().lock()),
        }
    }
}

/// Why no more items are sent.
enum Ended {
    /// The text could not be read on.
    Broken(io::Error),
    /// No one listens.
    Unheard,
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// Where items go, numbered on their way.
struct Sending {
    sender: mpsc::Sender<io::Result<Item>>,
    /// The items sent.
    index: u64,
}

impl Sending {
    fn send(
        &mut self,
        (place, offset): (Place, u64),
        board: Result<Board, TextError>,
        goal: Option<&Arc<Board>>,
    ) -> Result<(), Ended> {
        self.index += 1;
        let item = Item { index: self.index, place, offset, board, goal: goal.cloned() };
        self.sender.blocking_send(Ok(item)).map_err(|_| Ended::Unheard)
    }
}

fn send_arguments(
    boards: &[String],
    layout: Option<&Layout>,
    goal: Option<&Arc<Board>>,
    sending: &mut Sending,
) -> Result<(), Ended> {
    (1..)
        .zip(boards)
        .try_for_each(|(number, text)| sending.send((Place::Argument(number), 0), one(text, layout), goal))
}

/// Sends the boards of a text in the client's own forms.
fn send_lines(
    mut lines: Lines,
    layout: Option<&Layout>,
    goal: Option<&Arc<Board>>,
    sending: &mut Sending,
) -> Result<(), Ended> {
    let mut gather = Gather::new(layout);
    loop {
        let line = lines.next()?;
        let ended = line.is_none();
        match line.map(|line| (line.number, line.text)) {
            None => gather.end(),
            Some((number, Ok(text))) => gather.line(number, &text),
            Some((number, Err(error))) => gather.unreadable(number, error),
        }
        while let Some(Found { line, board }) = gather.pop() {
            sending.send((Place::Line(line), lines.offset()), board, goal)?;
        }
        if ended {
            return Ok(());
        }
    }
}

/// Sends the boards of a judge's text; the first error in it is the last item.
fn send_judged(lines: Lines, judge: &'static Judge, sending: &mut Sending) -> Result<(), Ended> {
    let mut input = judge::read::Input::new(judge, lines);
    while let Some(Found { line, board }) = input.next()? {
        let goal = board.as_ref().ok().and_then(|board| judge.goal(board)).map(Arc::new);
        sending.send((Place::Line(line), input.offset()), board, goal.as_ref())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::lines::MAX_LINE_BYTES;
    use super::*;

    fn all(text: &[u8]) -> Vec<Item> {
        let (sender, mut items) = mpsc::channel(1000);
        let mut sending = Sending { sender, index: 0 };
        assert!(send_lines(Lines::new(text), None, None, &mut sending).is_ok());
        drop(sending);
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
    fn a_file_in_utf_16_is_one_error() {
        for text in [&b"\xff\xfe1\x002\x00\n\x003\x00\n\x00"[..], b"\xfe\xff\x001\x00\n\x002"] {
            let items = all(text);
            assert_eq!(items.len(), 1, "{items:?}");
            assert_eq!(items[0].board, Err(TextError::Utf16));
        }
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
        let count = |source: Result<_, _>| match source.unwrap() {
            Source::Arguments(boards) => boards.len(),
            _ => 0,
        };
        assert_eq!(count(Source::arguments(words("2 8 3 1 0 4 7 6 5"), None)), 1);
        assert_eq!(count(Source::arguments(words("283104765 123456780"), None)), 2);
        assert_eq!(count(Source::arguments(words("10 01"), Some(&Layout::Grid("1x2".parse().unwrap())))), 2);
        assert_eq!(count(Source::arguments(words("-"), None)), 0);
        assert!(Source::arguments(words("- 123456780"), None).unwrap_err().contains("the only argument"));
    }

    #[test]
    fn a_file_that_is_none_is_named() {
        assert!(Source::open(Path::new("/no/such")).unwrap_err().starts_with("can't read /no/such: "));
        assert!(Source::open(Path::new("/")).unwrap_err().contains("directory"));
    }
}
