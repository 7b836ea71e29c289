//! From anything one can write down to a board one can play: the only road, and
//! it names what is wrong. It knows no wire; field names are those of the contract.

use std::fmt;

use super::{Board, Cell, Layout, Shared};

/// What was written down: a layout, and the tiles of start and goal cell by cell,
/// 0 for the blank. An empty goal means 1, 2, ..., blank last.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The cells.
    pub layout: &'a Shared<Layout>,
    /// The tiles to begin with.
    pub start: &'a [u32],
    /// The tiles to end with.
    pub goal: &'a [u32],
}

/// A layout with a start and a goal, each a permutation of its tiles and the blank.
#[derive(Clone, Debug)]
pub struct Instance {
    layout: Shared<Layout>,
    start: Board,
    goal: Board,
}

impl Instance {
    /// The goal that was written down for a layout, as of [`Setup`].
    ///
    /// # Errors
    /// [`Invalid`] with [`Field::Goal`].
    pub fn goal_of(layout: &Layout, tiles: &[u32]) -> Result<Board, Invalid> {
        match layout.cells() {
            cells if tiles.is_empty() => {
                Ok(Board::standard(cells, Cell::try_from(cells - 1).expect("at most MAX_CELLS")))
            }
            cells => board(Field::Goal, tiles, cells),
        }
    }

    /// Its cells.
    #[must_use]
    pub fn layout(&self) -> &Shared<Layout> {
        &self.layout
    }

    /// The board to begin with.
    #[must_use]
    pub fn start(&self) -> Board {
        self.start
    }

    /// The board to end with.
    #[must_use]
    pub fn goal(&self) -> Board {
        self.goal
    }
}

impl TryFrom<Setup<'_>> for Instance {
    type Error = Invalid;

    fn try_from(setup: Setup) -> Result<Self, Invalid> {
        let cells = setup.layout.cells();
        let start = board(Field::Start, setup.start, cells)?;
        let goal = Self::goal_of(setup.layout, setup.goal)?;
        Ok(Self { layout: setup.layout.clone(), start, goal })
    }
}

/// Which board is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The board to begin with.
    Start,
    /// The board to end with.
    Goal,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Goal => "goal",
        })
    }
}

/// What is wrong with a board: where, the value, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Not as many tiles as cells.
    #[error("{field} has {got} tiles, expected {cells}: one for each cell")]
    Count {
        /// Which board.
        field: Field,
        /// Its tiles.
        got: usize,
        /// The cells.
        cells: usize,
    },
    /// A number that no tile has.
    #[error("{field}[{cell}] is {tile}, expected a tile from 0 (the blank) to {last}")]
    Range {
        /// Which board.
        field: Field,
        /// Where it stands.
        cell: usize,
        /// The number.
        tile: u32,
        /// The highest tile.
        last: usize,
    },
    /// A tile or the blank twice, so that another is missing.
    #[error(
        "{field}[{cell}] is {tile}, which stands at {field}[{first}] already; expected each of 0 (the blank) to \
         {last} once, and {missing} is missing"
    )]
    Duplicate {
        /// Which board.
        field: Field,
        /// Where it stands the second time.
        cell: usize,
        /// Where it stands the first time.
        first: usize,
        /// The tile.
        tile: u32,
        /// The highest tile.
        last: usize,
        /// The least tile that is missing.
        missing: usize,
    },
}

impl Invalid {
    /// Which board, and which of its cells where it is one.
    #[must_use]
    pub fn place(&self) -> (Field, Option<usize>) {
        match *self {
            Self::Count { field, .. } => (field, None),
            Self::Range { field, cell, .. } | Self::Duplicate { field, cell, .. } => (field, Some(cell)),
        }
    }
}

fn board(field: Field, tiles: &[u32], cells: usize) -> Result<Board, Invalid> {
    if tiles.len() != cells {
        return Err(Invalid::Count { field, got: tiles.len(), cells });
    }
    let (mut bits, mut seen) = (0, 0_u32);
    for (cell, &tile) in tiles.iter().enumerate() {
        if tile as usize >= cells {
            return Err(Invalid::Range { field, cell, tile, last: cells - 1 });
        }
        bits |= u64::from(tile) << (4 * cell);
        seen |= 1 << tile;
    }
    if seen.count_ones() as usize == cells {
        Ok(Board::from_bits(bits))
    } else {
        Err(duplicate(field, tiles))
    }
}

/// The first tile that stands twice among tiles that are all in range.
fn duplicate(field: Field, tiles: &[u32]) -> Invalid {
    let repeats = |&cell: &usize| tiles[..cell].contains(&tiles[cell]);
    let cell = (0..tiles.len()).find(repeats).expect("one is missing, so another stands twice");
    let tile = tiles[cell];
    let first = tiles.iter().position(|&other| other == tile).expect("it stands here at least");
    let missing = (0..tiles.len()).find(|&number| !tiles.iter().any(|&other| other as usize == number));
    let missing = missing.expect("one stands twice, so another is missing");
    Invalid::Duplicate { field, cell, first, tile, last: tiles.len() - 1, missing }
}
