//! The graph θ₀: a hexagon and a seventh vertex between two opposite ones. It is the
//! one biconnected graph that is neither a cycle nor bipartite and yet does not reach
//! every rearrangement (Wilson 1974): of the 720 of its six tiles, 120.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Board, Cell, Layout, Tile};

/// The hexagon's vertices in order; the seventh, 6, lies between 0 and 3.
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

/// Whether `goal` can be reached, when the component is θ₀; `None` when it is not.
pub(super) fn theta_reaches(layout: &Layout, component: &[Cell], start: Board, goal: Board) -> Option<bool> {
    let (hexagon, middle) = recognise(layout, component)?;
    let order = |board| {
        let board = with_blank_on(layout, board, middle);
        hexagon.map(|cell| board.tile(cell))
    };
    let (from, to) = (order(start), order(goal));
    let arrangement = to.map(|tile| {
        let place = from.iter().position(|&other| other == tile).expect("a component keeps its tiles");
        Tile::try_from(place + 1).expect("at most six")
    });
    Some(GROUP.contains(&arrangement))
}

/// The hexagon of θ₀ from one end of its chord around, and the chord's middle.
fn recognise(layout: &Layout, component: &[Cell]) -> Option<([Cell; HEXAGON], Cell)> {
    let next = |cell: Cell| layout.neighbours(cell);
    let of_degree = |degree| component.iter().copied().filter(move |&cell| next(cell).len() == degree);
    let ends: Vec<Cell> = of_degree(3).collect();
    let (&[one, other], 7, 5) = (&ends[..], component.len(), of_degree(2).count()) else { return None };
    // The three ways between the ends: one over the middle, two over two vertices each.
    let middle = *next(one).iter().find(|cell| next(other).contains(cell))?;
    let mut sides = next(one).iter().filter(|&&cell| cell != middle && cell != other).map(|&near| {
        let far = *next(near).iter().find(|&&cell| cell != one)?;
        next(other).contains(&far).then_some((near, far))
    });
    let (left, right) = (sides.next()??, sides.next()??);
    Some(([one, left.0, left.1, other, right.1, right.0], middle))
}

/// The board after its blank has gone to a cell of its component by a shortest way.
fn with_blank_on(layout: &Layout, mut board: Board, target: Cell) -> Board {
    let mut blank = board.cell_of(0);
    while blank != target {
        let nearer = |cell: &&Cell| layout.distance(**cell, target) < layout.distance(blank, target);
        let next = *layout.neighbours(blank).iter().find(nearer).expect("one component");
        board = board.slide(blank, next);
        blank = next;
    }
    board
}
