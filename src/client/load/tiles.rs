//! Boards of at most nine cells in one word each, their cells, and the moves of the blank.
//!
//! It must never know: how boards are drawn, sent or solved.

use super::super::board::{Board, Layout};
use crate::service::pb;

/// The most cells of a board that is sent.
pub(super) const MAX_CELLS: usize = 9;
/// Bits of a cell.
const BITS: usize = 4;
/// Where no move leads.
const NOWHERE: u8 = u8::MAX;

/// The tile of each cell, four bits each, the first cell lowest; 0 is the blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tiles(pub(super) u64);

impl Tiles {
    /// Tiles in the order of cells.
    pub(super) fn new(tiles: impl IntoIterator<Item = u8>) -> Self {
        let word = tiles
            .into_iter()
            .enumerate()
            .fold(0, |word, (cell, tile)| word | u64::from(tile) << (BITS * cell));
        Self(word)
    }

    /// The tile of a cell.
    pub(super) fn get(self, cell: usize) -> u8 {
        u8::try_from(self.0 >> (BITS * cell) & 15).expect("four bits")
    }

    /// The same board with another tile in a cell.
    pub(super) fn with(self, cell: usize, tile: u8) -> Self {
        Self(self.0 & !(15 << (BITS * cell)) | u64::from(tile) << (BITS * cell))
    }

    /// The first so many tiles.
    pub(super) fn iter(self, cells: usize) -> impl Iterator<Item = u8> {
        (0..cells).map(move |cell| self.get(cell))
    }

    /// The blank has gone from one cell to another.
    fn moved(self, from: usize, to: usize) -> Self {
        let tile = self.0 >> (BITS * to) & 15;
        Self(self.0 ^ tile << (BITS * to) ^ tile << (BITS * from))
    }

    /// The first cell with the blank.
    fn blank(self, cells: usize) -> Option<usize> {
        (0..cells).find(|&cell| self.get(cell) == 0)
    }
}

/// The cells of a board and where the blank may go from each.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    /// The layout, as it is sent.
    pub(super) layout: pb::sliding_puzzle::Layout,
    /// How many there are.
    pub(super) count: usize,
    /// On a grid where U, D, L and R lead from each cell.
    ways: [[u8; 4]; MAX_CELLS],
    /// A bit for each cell that is adjacent to this one.
    adjacent: [u16; MAX_CELLS],
}

impl Cells {
    /// The cells of boards like this one, if there are few enough.
    pub(super) fn of(board: &Board) -> Option<Self> {
        let count = board.tiles.len();
        if !(1..=MAX_CELLS).contains(&count) {
            return None;
        }
        let mut ways = [[NOWHERE; 4]; MAX_CELLS];
        let mut adjacent = [0; MAX_CELLS];
        let layout = match &board.layout {
            Layout::Grid(shape) => {
                let columns = shape.columns as usize;
                for (cell, ways) in ways.iter_mut().enumerate().take(count) {
                    let column = cell % columns;
                    let to = [
                        cell.checked_sub(columns),
                        Some(cell + columns).filter(|&to| to < count),
                        cell.checked_sub(1).filter(|_| column > 0),
                        Some(cell + 1).filter(|_| column + 1 < columns),
                    ];
                    *ways = to.map(|to| to.and_then(|to| u8::try_from(to).ok()).unwrap_or(NOWHERE));
                    adjacent[cell] = to.into_iter().flatten().fold(0, |mask, to| mask | 1 << to);
                }
                pb::sliding_puzzle::Layout::Grid(pb::Grid { rows: shape.rows, columns: shape.columns })
            }
            Layout::Graph(graph) => {
                for (from, mask) in (1..).zip(adjacent.iter_mut()).take(count) {
                    *mask = (1..)
                        .take(count)
                        .filter(|&to| graph.joins(from, to))
                        .fold(0, |m, to| m | 1 << (to - 1));
                }
                let vertices = u32::try_from(count).expect("few");
                let edges = graph.edges.iter().map(|&(a, b)| pb::Edge { a, b }).collect();
                pb::sliding_puzzle::Layout::Graph(pb::Graph { vertices, edges })
            }
        };
        Some(Self { layout, count, ways, adjacent })
    }

    /// Whether these are the cells of a grid.
    pub(super) fn is_grid(&self) -> bool {
        matches!(self.layout, pb::sliding_puzzle::Layout::Grid(_))
    }

    /// Every board one move away.
    pub(super) fn next(&self, tiles: Tiles) -> impl Iterator<Item = Tiles> {
        let from = tiles.blank(self.count);
        let mask = from.map_or(0, |from| self.adjacent[from]);
        let from = from.unwrap_or_default();
        (0..self.count).filter(move |to| mask >> to & 1 == 1).map(move |to| tiles.moved(from, to))
    }

    /// The board after ways of the blank on a grid: 0 to 3 for U, D, L, R. None if one leads off the board.
    pub(super) fn walk(&self, mut tiles: Tiles, ways: impl Iterator<Item = u8>) -> Option<Tiles> {
        let mut from = tiles.blank(self.count)?;
        for way in ways {
            let to = usize::from(*self.ways[from].get(usize::from(way))?);
            if to >= self.count {
                return None;
            }
            tiles = tiles.moved(from, to);
            from = to;
        }
        Some(tiles)
    }

    /// The board after the blank has entered these vertices, counted from 1. None if there is no edge to one.
    pub(super) fn enter(&self, mut tiles: Tiles, vertices: impl Iterator<Item = u8>) -> Option<Tiles> {
        let mut from = tiles.blank(self.count)?;
        for vertex in vertices {
            let to = usize::from(vertex.checked_sub(1)?);
            if to >= self.count || self.adjacent[from] >> to & 1 == 0 {
                return None;
            }
            tiles = tiles.moved(from, to);
            from = to;
        }
        Some(tiles)
    }
}

/// The tiles of a board, if it has each tile once.
///
/// # Errors
/// What is wrong with it.
pub(super) fn permutation(board: &Board) -> Result<Tiles, String> {
    let count = board.tiles.len();
    if !(1..=MAX_CELLS).contains(&count) {
        return Err(format!("{count} cells, expected 1 to {MAX_CELLS}"));
    }
    let mut seen = [false; MAX_CELLS];
    for &tile in &board.tiles {
        match seen.get_mut(tile as usize).filter(|_| (tile as usize) < count) {
            None => return Err(format!("tile {tile}, expected each of 0 to {} once", count - 1)),
            Some(true) => return Err(format!("tile {tile} twice, expected each of 0 to {} once", count - 1)),
            Some(seen) => *seen = true,
        }
    }
    Ok(Tiles::new(board.tiles.iter().filter_map(|&tile| u8::try_from(tile).ok())))
}

#[cfg(test)]
mod tests {
    use super::super::super::gather::one;
    use super::*;

    #[test]
    fn moves_are_those_of_the_blank() {
        let board = one("1 2 3/4 0 5/7 8 6", None).unwrap();
        let (cells, tiles) = (Cells::of(&board).unwrap(), permutation(&board).unwrap());
        let goal = permutation(&one("123456780", None).unwrap()).unwrap();
        assert_eq!(cells.walk(tiles, [3, 1].into_iter()), Some(goal));
        assert_eq!(cells.walk(tiles, [3, 3].into_iter()), None);
        assert_eq!(cells.walk(tiles, [4].into_iter()), None);
        assert_eq!(cells.next(tiles).count(), 4);
        assert_eq!(cells.next(goal).count(), 2);
    }

    #[test]
    fn moves_on_a_graph_follow_edges() {
        let layout = Layout::Graph(std::sync::Arc::new("1-2,2-3".parse().unwrap()));
        let board = one("1 0 2", Some(&layout)).unwrap();
        let (cells, tiles) = (Cells::of(&board).unwrap(), permutation(&board).unwrap());
        assert_eq!(cells.enter(tiles, [3].into_iter()), Some(Tiles::new([1, 2, 0])));
        assert_eq!(cells.enter(tiles, [1, 3].into_iter()), None);
        assert_eq!(cells.enter(tiles, [0].into_iter()), None);
        assert_eq!(cells.enter(tiles, [4].into_iter()), None);
    }

    #[test]
    fn what_is_no_permutation_is_said() {
        let said = |text: &str| permutation(&one(text, None).unwrap()).unwrap_err();
        assert!(said("1 1/2 0").starts_with("tile 1 twice"));
        assert!(said("1 7/2 0").starts_with("tile 7, expected each of 0 to 3"));
        assert!(said("1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0").starts_with("16 cells"));
    }
}
