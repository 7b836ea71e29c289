//! The sum of distances, and two moves for each tile that must leave its row or column to
//! let others pass: of tiles that are on their line and have their places on it, all but as
//! many as stand in order (O. Hansson, A. Mayer and M. Yung, "Criticizing solutions to
//! relaxed models yields powerful admissible heuristics", 1992). Three in reverse make four
//! moves, since two of them that leave are enough: pairs must not be counted. Admissible and
//! consistent. A graph has no lines, and this is then the sum of distances.

use super::DistanceSum;
use super::distance::within_bounds;
use crate::domain::sliding::{Board, Cell, Packing, Position, Shape, SlidingSpace};
use crate::space::{Cost, Guide, Heuristic, Lead, StateSpace};

/// See the module.
#[derive(Debug)]
pub struct LinearConflict {
    distances: DistanceSum,
    rows: Cell,
    columns: Cell,
    /// Row and column of each tile's place; the blank has none.
    homes: [Option<(Cell, Cell)>; 16],
}

/// The two kinds of line.
#[derive(Clone, Copy)]
enum Along {
    Row,
    Column,
}

impl Along {
    /// Of a row and a column, the number of the line and the place on it.
    fn line(self, (row, column): (Cell, Cell)) -> (Cell, Cell) {
        match self {
            Self::Row => (row, column),
            Self::Column => (column, row),
        }
    }
}

impl LinearConflict {
    /// The bounds towards a goal.
    #[must_use]
    pub fn new<P: Packing>(space: &SlidingSpace<P>, goal: Board) -> Self {
        let (rows, columns) = match space.layout().shape() {
            Shape::Grid { rows, columns, .. } => (rows, columns),
            Shape::Graph => (0, 0),
        };
        let mut homes = [None; 16];
        for (cell, tile) in (0..rows * columns).zip(goal.tiles(space.layout().cells())) {
            homes[usize::from(tile)] = (tile != 0).then_some((cell / columns, cell % columns));
        }
        Self { distances: DistanceSum::new(space, goal), rows, columns, homes }
    }

    /// The moves that the lines of a board need beside its tiles' distances.
    fn conflicts(&self, board: Board) -> Cost {
        let rows = (0..self.rows).map(|row| self.conflict(board, Along::Row, row));
        rows.chain((0..self.columns).map(|column| self.conflict(board, Along::Column, column))).sum()
    }

    /// Those of one line.
    fn conflict(&self, board: Board, along: Along, line: Cell) -> Cost {
        let (length, first, step) = match along {
            Along::Row => (self.columns, line * self.columns, 1),
            Along::Column => (self.rows, line, self.columns),
        };
        let cells = (0..length).map(|place| first + place * step);
        let homes = cells.filter_map(|cell| self.homes[usize::from(board.tile(cell))]);
        // The longest run in order, as patience finds it: the least last place of each length.
        let (mut lasts, mut longest, mut tiles) = ([0; 16], 0, 0);
        for (_, home) in homes.map(|home| along.line(home)).filter(|&(of, _)| of == line) {
            tiles += 1;
            let run = lasts[..longest].iter().position(|&last| last > home).unwrap_or(longest);
            lasts[run] = home;
            longest = longest.max(run + 1);
        }
        2 * (tiles - Cost::try_from(longest).expect("at most sixteen"))
    }
}

impl<S: StateSpace<State = Position>> Heuristic<S> for LinearConflict {
    fn estimate(&self, position: &Position) -> Cost {
        Heuristic::<S>::estimate(&self.distances, position) + self.conflicts(position.board())
    }
}

impl<S: StateSpace<State = Position, Action = Cell>> Guide<S> for LinearConflict {
    /// The sum of distances, and the moves beside it.
    type Mark = (Cost, Cost);

    fn mark(&self, position: &Position) -> ((Cost, Cost), Cost) {
        let (distances, conflicts) =
            (Heuristic::<S>::estimate(&self.distances, position), self.conflicts(position.board()));
        ((distances, conflicts), distances + conflicts)
    }

    fn sift(&self, leads: &mut Vec<Lead<S, (Cost, Cost)>>) -> Option<Cost> {
        within_bounds(leads, |&mark, position, from| {
            let (distances, conflicts) = self.followed(mark, position, from);
            ((distances, conflicts), distances + conflicts)
        })
    }
}

impl LinearConflict {
    fn followed(
        &self,
        (distances, mut conflicts): (Cost, Cost),
        position: &Position,
        from: Cell,
    ) -> (Cost, Cost) {
        let distances = self.distances.followed(distances, position, from);
        if let Some(home) = self.homes[usize::from(position.board().tile(from))] {
            let [from_line, to_line] =
                [from, position.blank()].map(|at| (at / self.columns, at % self.columns));
            // The order changes only on a line that the tile leaves or enters, and only its own counts.
            let along = if from_line.0 == to_line.0 { Along::Column } else { Along::Row };
            let (line, _) = along.line(home);
            if [from_line, to_line].iter().any(|&of| along.line(of).0 == line) {
                conflicts += self.conflict(position.slid(from).board(), along, line);
                conflicts -= self.conflict(position.board(), along, line);
            }
        }
        (distances, conflicts)
    }
}
