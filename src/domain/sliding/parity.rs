//! Whether a goal can be reached, where theory decides it. It never searches.
//!
//! On a grid with both sides of 2 or more every even rearrangement can be made, and
//! each move swaps the blank with a tile: start and goal are connected exactly when
//! the permutation between them, blank included, is as odd as the blank's way
//! (W. E. Story, "Notes on the 15 puzzle", 1879). On a line no tile passes another.

use super::layout::Shape;
use super::{Board, Layout};

/// Why no sequence of moves reaches the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Obstacle {
    /// The permutation has the wrong parity for the blank's way.
    Parity,
    /// The tiles stand on a line in another order.
    Order,
    /// No rule decided: everything that can be reached was searched.
    Exhausted,
}

/// What keeps `start` from `goal`, if anything does. `None` on a graph, where
/// this theory does not decide.
#[must_use]
pub fn obstacle(layout: &Layout, start: Board, goal: Board) -> Option<Obstacle> {
    match layout.shape() {
        Shape::Graph => None,
        Shape::Grid { rows: 1, .. } | Shape::Grid { columns: 1, .. } => {
            let order = |board: Board| board.tiles(layout.cells()).filter(|&tile| tile != 0);
            (!order(start).eq(order(goal))).then_some(Obstacle::Order)
        }
        Shape::Grid { .. } => {
            let blank_way = layout.distance(start.cell_of(0), goal.cell_of(0))?;
            let odd = is_odd(start, goal, layout.cells());
            (odd != (blank_way % 2 == 1)).then_some(Obstacle::Parity)
        }
    }
}

/// Whether an odd number of swaps turns one board into the other: cells less cycles.
fn is_odd(start: Board, goal: Board, cells: usize) -> bool {
    let mut place_in_goal = [0; 16];
    for (cell, tile) in goal.tiles(cells).enumerate() {
        place_in_goal[usize::from(tile)] = cell;
    }
    let mut passed = 0_u16;
    let mut odd = false;
    for first in 0..cells {
        let mut cell = first;
        while passed & 1 << cell == 0 {
            passed |= 1 << cell;
            cell = place_in_goal[(start.bits() >> (4 * cell) & 15) as usize];
            odd ^= cell != first;
        }
    }
    odd
}
