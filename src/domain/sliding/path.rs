//! A shortest path as it is kept, and as its caller reads it. It knows no search.

use std::sync::Arc;

use super::{Board, Cell, Direction, Frame, Goal, Layout, Shape, Shared};

/// The canonical moves from a board to its goal.
///
/// On a grid up to 31 moves are one word: move `i` is its [`Direction`] in bits
/// `2 i` and `2 i + 1`, and above the last one stands a 1. Other paths are the
/// cells that the blank enters, shared by all boards along the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// At most 31 directions.
    Word(u64),
    /// Cells, of which the first few belong to a board further away.
    Cells(Arc<[Cell]>, usize),
}

impl Path {
    /// The most moves of a [`Path::Word`]; also the most that a 3x3 board needs.
    pub const WORD_MOVES: u32 = 31;

    /// The paths of all boards along a way through a layout: first of the board
    /// whose blank is at `blank`, last of the goal.
    pub fn along(layout: &Layout, blank: Cell, cells: &[Cell]) -> impl Iterator<Item = Self> {
        let directions: Option<Vec<Direction>> = (cells.len() <= Self::WORD_MOVES as usize)
            .then(|| {
                let from = std::iter::once(blank).chain(cells.iter().copied());
                from.zip(cells).map(|(from, &to)| layout.direction(from, to)).collect()
            })
            .flatten();
        let shared: Arc<[Cell]> = if directions.is_some() { Arc::default() } else { cells.into() };
        let word = directions
            .map(|moves| moves.iter().rev().fold(1, |word, &direction| word << 2 | direction as u64));
        (0..=cells.len()).map(move |passed| match word {
            Some(word) => Self::Word(word >> (2 * passed)),
            None => Self::Cells(Arc::clone(&shared), passed),
        })
    }

    /// The moves of a word.
    pub fn directions_of(word: u64) -> impl Iterator<Item = Direction> {
        (0..word.ilog2() / 2).map(move |i| Direction::ALL[(word >> (2 * i) & 3) as usize])
    }

    /// How many moves it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Word(word) => (word.ilog2() / 2) as usize,
            Self::Cells(cells, passed) => cells.len() - passed,
        }
    }

    /// Whether it has no move.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A path with what it takes to read it as its caller does.
#[derive(Clone, Debug)]
pub struct Solution {
    path: Path,
    frame: Shared<Frame>,
    blank: Cell,
}

impl Solution {
    /// The caller's solution of a canonical board on the way to a goal.
    #[must_use]
    pub fn new(goal: &Goal, start: Board, path: Path) -> Self {
        Self::in_frame(goal.frame().clone(), start.cell_of(0), path)
    }

    /// The caller's solution of a board with its blank at a cell, that and the path canonical.
    #[must_use]
    pub fn in_frame(frame: Shared<Frame>, blank: Cell, path: Path) -> Self {
        Self { path, frame, blank }
    }

    /// Its number of moves.
    #[must_use]
    pub fn distance(&self) -> u32 {
        u32::try_from(self.path.len()).expect("a path that is held has below 2^32 moves")
    }

    /// The caller's directions of the blank; `None` in a graph, which has none.
    #[must_use]
    pub fn directions(&self) -> Option<Vec<Direction>> {
        let layout = self.frame.layout();
        let canonical: Vec<Direction> = match &self.path {
            Path::Word(word) => Path::directions_of(*word).collect(),
            Path::Cells(cells, passed) => {
                let cells = &cells[*passed..];
                let from = std::iter::once(self.blank).chain(cells.iter().copied());
                from.zip(cells).map(|(from, &to)| layout.direction(from, to)).collect::<Option<_>>()?
            }
        };
        Some(canonical.into_iter().map(|direction| self.frame.direction_from(direction)).collect())
    }

    /// The caller's directions as letters, `U D L R`; `None` in a graph.
    #[must_use]
    pub fn letters(&self) -> Option<String> {
        match (&self.path, self.frame.layout().shape()) {
            (_, Shape::Graph) => None,
            (&Path::Word(word), _) => Some(letters_of(self.frame.word_from(word))),
            _ => Some(self.directions()?.into_iter().map(Direction::letter).collect()),
        }
    }

    /// The cells that the blank enters, as the caller numbers them.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        match &self.path {
            Path::Cells(cells, passed) => {
                cells[*passed..].iter().map(|&cell| self.frame.from(cell)).collect()
            }
            Path::Word(word) => {
                let mut blank = self.blank;
                let step = |direction| {
                    blank = self.frame.layout().step(blank, direction).expect("a path stays on its layout");
                    self.frame.from(blank)
                };
                Path::directions_of(*word).map(step).collect()
            }
        }
    }
}

/// The letters of a word.
fn letters_of(word: u64) -> String {
    /// Those of the four moves of a byte.
    static OF_BYTE: [[u8; 4]; 256] = {
        let (mut all, mut byte) = ([[0; 4]; 256], 0);
        while byte < 256 {
            let letters = [b'U', b'D', b'L', b'R'];
            all[byte] =
                [letters[byte & 3], letters[byte >> 2 & 3], letters[byte >> 4 & 3], letters[byte >> 6]];
            byte += 1;
        }
        all
    };
    /// Lies as the check for text reads it, words at a time.
    #[repr(align(16))]
    struct Letters([u8; 4 * size_of::<u64>()]);
    let Letters(letters) = &mut Letters([0; 4 * size_of::<u64>()]);
    for (four, byte) in letters.chunks_exact_mut(4).zip(word.to_le_bytes()) {
        four.copy_from_slice(&OF_BYTE[usize::from(byte)]);
    }
    let moves = (word.ilog2() / 2) as usize;
    str::from_utf8(letters).expect("four letters of ASCII")[..moves].to_owned()
}
