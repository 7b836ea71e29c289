//! Whether a goal can be reached, where theory decides it. It never searches.
//!
//! *Grids* with both sides of 2 or more: every even rearrangement can be made, and
//! each move swaps the blank with a tile, so start and goal are connected exactly when
//! the permutation between them, blank included, is as odd as the blank's way
//! (W. E. Story, "Notes on the 15 puzzle", 1879). *Lines*: no tile passes another.
//!
//! *Graphs*: tiles outside the blank's component never move. With both blanks led to one
//! cell, the boards are connected exactly when each biconnected block holds the same tiles
//! and its own group brings them from one order to the other (`blocks`).

use super::blocks::{Block, Group, blocks};
use super::layout::Shape;
use super::{Board, Cell, Layout, MAX_CELLS, Position};

/// Why no sequence of moves reaches the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Obstacle {
    /// The permutation has the wrong parity for the blank's way.
    Parity,
    /// The tiles stand on a line or around a cycle in another order.
    Order,
    /// Tiles that the blank's component does not hold, or its blank, differ.
    Component,
    /// A block holds other tiles, or the permutation is not in the group of θ₀.
    Block,
    /// Everything that can be reached was searched.
    Exhausted,
}

/// What keeps `start` from `goal`: `None` when the goal can be reached.
#[must_use]
pub fn obstacle(layout: &Layout, start: Board, goal: Board) -> Option<Obstacle> {
    match layout.shape() {
        Shape::Graph => graph_obstacle(layout, start, goal),
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

fn graph_obstacle(layout: &Layout, start: Board, goal: Board) -> Option<Obstacle> {
    let (start, goal) = (Position::new(start), Position::new(goal));
    let outside = |cell: Cell| layout.distance(goal.blank(), cell).is_none();
    let differs = |cell: Cell| start.board().tile(cell) != goal.board().tile(cell);
    if outside(start.blank()) || (0..).take(layout.cells()).any(|cell| outside(cell) && differs(cell)) {
        return Some(Obstacle::Component);
    }
    let start = start.led_to(layout, goal.blank());
    blocks(layout, goal.blank()).iter().find_map(|block| block_obstacle(layout, block, start, goal))
}

/// What keeps the tiles of one block from their order, the blank of both boards at one cell.
fn block_obstacle(layout: &Layout, block: &Block, start: Position, goal: Position) -> Option<Obstacle> {
    let cells = block.beside_gate();
    let tiles = |position: Position| cells.iter().map(move |&cell| position.board().tile(cell));
    let (from, to): (Vec<_>, Vec<_>) = (tiles(start).collect(), tiles(goal).collect());
    if from == to {
        return None;
    }
    if block.group == Group::Trivial {
        return Some(Obstacle::Order);
    }
    if !from.iter().all(|tile| to.contains(tile)) {
        return Some(Obstacle::Block);
    }
    match &block.group {
        Group::Trivial | Group::Symmetric => None,
        Group::Cyclic => {
            let turned = (0..to.len()).any(|turn| from[turn..].iter().chain(&from[..turn]).eq(&to));
            (!turned).then_some(Obstacle::Order)
        }
        Group::Alternating => {
            let there =
                cells.iter().fold(goal.board(), |board, &cell| board.with(cell, start.board().tile(cell)));
            is_odd(there, goal.board(), layout.cells()).then_some(Obstacle::Parity)
        }
        Group::Theta(theta) => {
            let gate = block.gate();
            let reached = theta.reaches(layout, start.led_to(layout, gate), goal.led_to(layout, gate));
            (!reached).then_some(Obstacle::Block)
        }
    }
}

/// Whether an odd number of swaps turns one board into the other: cells less cycles.
fn is_odd(start: Board, goal: Board, cells: usize) -> bool {
    let mut place_in_goal = [0; MAX_CELLS];
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
