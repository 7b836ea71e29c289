//! The number of tiles out of place, blank not counted. Admissible and consistent,
//! since a move brings one tile one step; weaker than the sum of distances, and here
//! to be compared with it.

use crate::domain::sliding::{Board, Packing, Position, SlidingSpace};
use crate::space::{Cost, Heuristic, StateSpace};

/// See the module.
#[derive(Debug)]
pub struct MisplacedTiles {
    goal: Board,
    cells: usize,
}

impl MisplacedTiles {
    /// The counts against a goal.
    #[must_use]
    pub fn new<P: Packing>(space: &SlidingSpace<P>, goal: Board) -> Self {
        Self { goal, cells: space.layout().cells() }
    }
}

impl<S: StateSpace<State = Position>> Heuristic<S> for MisplacedTiles {
    fn estimate(&self, position: &Position) -> Cost {
        let pairs = position.board().tiles(self.cells).zip(self.goal.tiles(self.cells));
        pairs.map(|(tile, wanted)| Cost::from(tile != 0 && tile != wanted)).sum()
    }
}
