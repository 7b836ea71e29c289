//! The sum of the tiles' distances to their places; Manhattan distance on a grid.
//! Admissible and consistent, since a move brings one tile one step. The blank is
//! not counted: it moves with every tile, and counting it overestimates.

use crate::domain::sliding::{Board, Cell, Packing, Position, SlidingSpace};
use crate::space::{Cost, Guide, Heuristic, Lead, StateSpace};

/// See the module.
#[derive(Debug)]
pub struct DistanceSum {
    /// By tile and cell, sixteen cells a tile; the blank's are 0. A tile that can't
    /// come to its place counts 0, which is admissible.
    steps: [[u8; 16]; 16],
    cells: usize,
}

impl DistanceSum {
    /// The sums of distances to a goal.
    #[must_use]
    pub fn new<P: Packing>(space: &SlidingSpace<P>, goal: Board) -> Self {
        let layout = space.layout();
        let mut steps = [[0; 16]; 16];
        for (place, tile) in (0..).zip(goal.tiles(layout.cells())) {
            if tile != 0 {
                for cell in (0..).take(layout.cells()) {
                    steps[usize::from(tile)][usize::from(cell)] = layout.distance(cell, place).unwrap_or(0);
                }
            }
        }
        Self { steps, cells: layout.cells() }
    }

    fn step(&self, tile: u8, cell: usize) -> Cost {
        Cost::from(self.steps[usize::from(tile)][cell])
    }

    /// The sum once the blank of a board with that sum has entered a cell.
    pub(super) fn followed(&self, sum: Cost, position: &Position, from: Cell) -> Cost {
        let tile = position.board().tile(from);
        sum - self.step(tile, from.into()) + self.step(tile, position.blank().into())
    }
}

impl<S: StateSpace<State = Position>> Heuristic<S> for DistanceSum {
    fn estimate(&self, position: &Position) -> Cost {
        position.board().tiles(self.cells).enumerate().map(|(cell, tile)| self.step(tile, cell)).sum()
    }
}

impl<S: StateSpace<State = Position, Action = Cell>> Guide<S> for DistanceSum {
    type Mark = Cost;

    fn mark(&self, position: &Position) -> (Cost, Cost) {
        let estimate = Heuristic::<S>::estimate(self, position);
        (estimate, estimate)
    }

    fn sift(&self, leads: &mut Vec<Lead<S, Cost>>) -> Option<Cost> {
        within_bounds(leads, |&mark, position, from| {
            let distances = self.followed(mark, position, from);
            (distances, distances)
        })
    }
}

/// Brings each lead's mark to where its action leads, keeps those whose bound leaves enough, and
/// returns the least by which another's does not; `follow` tells mark and bound.
pub(super) fn within_bounds<S, M>(
    leads: &mut Vec<Lead<S, M>>,
    follow: impl Fn(&M, &Position, Cell) -> (M, Cost),
) -> Option<Cost>
where
    S: StateSpace<State = Position, Action = Cell>,
{
    let mut out = None;
    leads.retain_mut(|lead| {
        let (mark, bound) = follow(&lead.mark, &lead.state, lead.action);
        lead.mark = mark;
        let over = bound.saturating_sub(lead.left);
        if over > 0 {
            out = Some(out.map_or(over, |out: Cost| out.min(over)));
        }
        over == 0
    });
    out
}
