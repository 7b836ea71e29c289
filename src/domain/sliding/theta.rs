//! The graph θ₀: a hexagon and a seventh vertex between two opposite ones. It is the
//! one biconnected graph that is neither a cycle nor bipartite and yet does not reach
//! every rearrangement (Wilson 1974): of the 720 of its six tiles, 120.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Cell, Layout, Position, Tile};

/// The hexagon's vertices in order; the seventh lies between the first and the fourth.
const HEXAGON: usize = 6;

/// Every arrangement of tiles around the hexagon that can be made of the one in order
/// while the blank ends where it began, on the seventh vertex.
static GROUP: LazyLock<HashSet<[Tile; HEXAGON]>> = LazyLock::new(|| {
    let first: [Tile; HEXAGON] = [1, 2, 3, 4, 5, 6];
    let (mut group, mut left) = (HashSet::from([first]), vec![first]);
    while let Some(tiles) = left.pop() {
        for next in [around(tiles, [0, 1, 2, 3]), around(tiles, [0, 5, 4, 3])] {
            if group.insert(next) {
                left.push(next);
            }
        }
    }
    group
});

/// The blank goes from the seventh vertex along one side and back: each tile of that
/// side comes one place nearer to where the blank set out, and the last one crosses.
fn around(mut tiles: [Tile; HEXAGON], side: [usize; 4]) -> [Tile; HEXAGON] {
    let first = tiles[side[0]];
    for pair in side.windows(2) {
        tiles[pair[0]] = tiles[pair[1]];
    }
    tiles[side[3]] = first;
    tiles
}

/// Where a θ₀ lies in a graph.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Theta {
    hexagon: [Cell; HEXAGON],
    middle: Cell,
}

/// The θ₀ that a block is; `None` when it is none.
pub(super) fn recognise(layout: &Layout, cells: &[Cell]) -> Option<Theta> {
    let next = |cell: Cell| layout.neighbours_among(cell, cells);
    let of_degree = |degree| cells.iter().copied().filter(move |&cell| next(cell).count() == degree);
    let ends: Vec<Cell> = of_degree(3).collect();
    let (&[one, other], 7, 5) = (&ends[..], cells.len(), of_degree(2).count()) else { return None };
    // The three ways between the ends: one over the middle, two over two vertices each.
    let middle = next(one).find(|&cell| next(other).any(|end| end == cell))?;
    let mut sides = next(one).filter(|&cell| cell != middle && cell != other).map(|near| {
        let far = next(near).find(|&cell| cell != one)?;
        next(other).any(|end| end == far).then_some((near, far))
    });
    let (left, right) = (sides.next()??, sides.next()??);
    Some(Theta { hexagon: [one, left.0, left.1, other, right.1, right.0], middle })
}

impl Theta {
    /// Whether its tiles can be brought from one position, whose blank is in it, to another
    /// that holds the same tiles there.
    pub(super) fn reaches(&self, layout: &Layout, start: Position, goal: Position) -> bool {
        let order = |position: Position| {
            let board = position.led_to(layout, self.middle).board();
            self.hexagon.map(|cell| board.tile(cell))
        };
        let (from, to) = (order(start), order(goal));
        let arrangement = to.map(|tile| {
            let place = from.iter().position(|&other| other == tile).expect("they hold the same tiles");
            Tile::try_from(place + 1).expect("at most six")
        });
        GROUP.contains(&arrangement)
    }
}
