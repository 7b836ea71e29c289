//! A shortest path as it is kept, and as its caller reads it. It knows no search.

use std::sync::Arc;

use super::{Canonical, Cell, Direction, Frame, Layout};

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

/// The most moves of a [`Path::Word`]; also the most that a 3x3 board needs.
const WORD_MOVES: usize = 31;

impl Path {
    /// The paths of all boards along a way through a layout: first of the board
    /// whose blank is at `blank`, last of the goal.
    pub fn along(layout: &Layout, blank: Cell, cells: &[Cell]) -> impl Iterator<Item = Self> {
        let directions: Option<Vec<Direction>> = (cells.len() <= WORD_MOVES)
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
    frame: Arc<Frame>,
    blank: Cell,
}

impl Solution {
    /// The caller's solution of a canonical instance.
    #[must_use]
    pub fn new(canonical: &Canonical, path: Path) -> Self {
        Self { path, frame: Arc::clone(canonical.frame()), blank: canonical.start().cell_of(0) }
    }

    /// Its number of moves.
    #[must_use]
    pub fn distance(&self) -> u32 {
        u32::try_from(self.path.len()).expect("a path of at most nine cells has below 2^18 moves")
    }

    /// The caller's directions of the blank; `None` in a graph, which has none.
    #[must_use]
    pub fn directions(&self) -> Option<Vec<Direction>> {
        let canonical = match &self.path {
            Path::Word(word) => {
                (0..self.path.len()).map(|i| Direction::ALL[(word >> (2 * i) & 3) as usize]).collect()
            }
            Path::Cells(cells, passed) => {
                let cells = &cells[*passed..];
                let from = std::iter::once(self.blank).chain(cells.iter().copied());
                from.zip(cells)
                    .map(|(from, &to)| self.frame.layout().direction(from, to))
                    .collect::<Option<Vec<_>>>()?
            }
        };
        Some(canonical.into_iter().map(|direction| self.frame.direction_from(direction)).collect())
    }

    /// The caller's directions as letters, `U D L R`; `None` in a graph.
    #[must_use]
    pub fn letters(&self) -> Option<String> {
        Some(self.directions()?.into_iter().map(Direction::letter).collect())
    }
}
