//! Whether a goal can be reached, where theory decides it. It never searches.
//!
//! *Grids* with both sides of 2 or more: every even rearrangement can be made, and
//! each move swaps the blank with a tile, so start and goal are connected exactly when
//! the permutation between them, blank included, is as odd as the blank's way
//! (W. E. Story, "Notes on the 15 puzzle", 1879). *Lines*: no tile passes another.
//!
//! *Graphs*: tiles outside the blank's component never move. A component that is one
//! biconnected block is decided by R. M. Wilson, "Graph puzzles, homotopy, and the
//! alternating group" (1974): a cycle only rotates; a bipartite graph keeps parity as
//! a grid does; the graph θ₀ has a group of its own, of order 120; every other reaches
//! everything. Components with cut vertices are left open.

use super::layout::Shape;
use super::theta::theta_reaches;
use super::{Board, Cell, Layout, MAX_CELLS};

/// Why no sequence of moves reaches the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Obstacle {
    /// The permutation has the wrong parity for the blank's way.
    Parity,
    /// The tiles stand on a line or around a cycle in another order.
    Order,
    /// Tiles that the blank's component does not hold, or its blank, differ.
    Component,
    /// The permutation is not in the group of θ₀.
    Block,
    /// No rule decided: everything that can be reached was searched.
    Exhausted,
}

/// What keeps `start` from `goal`, if theory knows of anything. On a grid, and on a
/// graph that is one block, `None` means that the goal can be reached.
#[must_use]
pub fn obstacle(layout: &Layout, start: Board, goal: Board) -> Option<Obstacle> {
    match layout.shape() {
        Shape::Graph => graph_obstacle(layout, start, goal),
        Shape::Grid { rows: 1, .. } | Shape::Grid { columns: 1, .. } => {
            let order = |board: Board| board.tiles(layout.cells()).filter(|&tile| tile != 0);
            (!order(start).eq(order(goal))).then_some(Obstacle::Order)
        }
        Shape::Grid { .. } => parity_obstacle(layout, start, goal),
    }
}

fn parity_obstacle(layout: &Layout, start: Board, goal: Board) -> Option<Obstacle> {
    let blank_way = layout.distance(start.cell_of(0), goal.cell_of(0))?;
    let odd = is_odd(start, goal, layout.cells());
    (odd != (blank_way % 2 == 1)).then_some(Obstacle::Parity)
}

fn graph_obstacle(layout: &Layout, start: Board, goal: Board) -> Option<Obstacle> {
    let blank = start.cell_of(0);
    let outside = |cell: Cell| layout.distance(blank, cell).is_none();
    let cells = || (0..).take(layout.cells());
    if outside(goal.cell_of(0)) || cells().any(|cell| outside(cell) && start.tile(cell) != goal.tile(cell)) {
        return Some(Obstacle::Component);
    }
    let component: Vec<Cell> = cells().filter(|&cell| !outside(cell)).collect();
    let degree = |cell: Cell| layout.neighbours(cell).len();
    let edges = component.iter().map(|&cell| degree(cell)).sum::<usize>() / 2;
    if component.iter().all(|&cell| degree(cell) <= 2) {
        let closed = edges == component.len();
        return ring_obstacle(layout, &component, start, goal, closed);
    }
    if !is_biconnected(layout, &component) {
        return None;
    }
    if is_bipartite(layout, &component) {
        return parity_obstacle(layout, start, goal);
    }
    let reached = theta_reaches(layout, &component, start, goal)?;
    (!reached).then_some(Obstacle::Block)
}

/// On a path the order of the tiles must be the same, around a cycle the same but for
/// a rotation.
fn ring_obstacle(
    layout: &Layout,
    component: &[Cell],
    start: Board,
    goal: Board,
    closed: bool,
) -> Option<Obstacle> {
    let first = component.iter().copied().find(|&cell| layout.neighbours(cell).len() < 2);
    let mut ring = vec![first.unwrap_or(component[0])];
    while let Some(&next) = layout.neighbours(ring[ring.len() - 1]).iter().find(|cell| !ring.contains(cell)) {
        ring.push(next);
    }
    let order = |board: Board| -> Vec<_> {
        ring.iter().map(|&cell| board.tile(cell)).filter(|&tile| tile != 0).collect()
    };
    let (mut from, to) = (order(start), order(goal));
    let rotations = if closed { from.len() } else { 1 };
    let same = from.is_empty()
        || (0..rotations).any(|_| {
            from.rotate_left(usize::from(closed));
            from == to
        });
    (!same).then_some(Obstacle::Order)
}

/// Whether a component of three vertices or more has no cut vertex.
fn is_biconnected(layout: &Layout, component: &[Cell]) -> bool {
    component.iter().all(|&cut| {
        let rest = component.iter().copied().find(|&cell| cell != cut).expect("three vertices at least");
        let (mut seen, mut stack) = (1_u16 << rest | 1 << cut, vec![rest]);
        while let Some(cell) = stack.pop() {
            for &next in layout.neighbours(cell) {
                if seen & 1 << next == 0 {
                    seen |= 1 << next;
                    stack.push(next);
                }
            }
        }
        seen.count_ones() as usize == component.len()
    })
}

fn is_bipartite(layout: &Layout, component: &[Cell]) -> bool {
    let colour = |cell| layout.distance(component[0], cell).map(|distance| distance % 2);
    component.iter().all(|&cell| layout.neighbours(cell).iter().all(|&next| colour(next) != colour(cell)))
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
