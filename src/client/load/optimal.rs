//! Every board that can reach a goal, with its distance: breadth-first from the goal, in the client's own code, so
//! that an error of the server's tables can't hide here.
//!
//! It must never know: anything of the wire, or what the boards are for.

use std::ops::{Range, RangeInclusive};

use super::tiles::{Cells, Tiles};

/// The distance of what can't reach the goal.
const UNREACHED: u16 = u16::MAX;

/// Bits of the tiles in a word of the table.
const TILE_BITS: u32 = 48;

/// All boards of a goal.
#[derive(Debug)]
pub(super) struct Table {
    cells: usize,
    /// By rank.
    distances: Vec<u16>,
    /// The nearest first, each with its distance above its tiles: a look at a board is a look at one word.
    boards: Vec<u64>,
    /// How many boards are at most so far.
    within: Vec<usize>,
}

impl Table {
    /// Sweeps all boards that reach the goal.
    pub(super) fn sweep(cells: &Cells, goal: Tiles) -> Self {
        let mut distances = vec![UNREACHED; (1..=cells.count).product()];
        distances[rank(goal, cells.count)] = 0;
        let (mut boards, mut within) = (vec![goal.0], vec![1]);
        let mut wave = 0..1;
        for distance in 1.. {
            for number in wave.clone() {
                for next in cells.next(tiles(boards[number])) {
                    let place = &mut distances[rank(next, cells.count)];
                    if *place == UNREACHED {
                        *place = distance;
                        boards.push(next.0 | u64::from(distance) << TILE_BITS);
                    }
                }
            }
            wave = wave.end..boards.len();
            if wave.is_empty() {
                break;
            }
            within.push(wave.end);
        }
        Self { cells: cells.count, distances, boards, within }
    }

    /// The shortest number of moves to the goal, if there is one. The board must have each tile once.
    pub(super) fn distance(&self, tiles: Tiles) -> Option<u16> {
        Some(self.distances[rank(tiles, self.cells)]).filter(|&distance| distance != UNREACHED)
    }

    /// The largest distance.
    pub(super) fn farthest(&self) -> u16 {
        u16::try_from(self.within.len() - 1).expect("a distance")
    }

    /// Whether every board reaches the goal.
    pub(super) fn is_whole(&self) -> bool {
        self.boards.len() == self.distances.len()
    }

    /// Which boards are so far away, if there are any of each distance.
    pub(super) fn range(&self, depths: &RangeInclusive<u16>) -> Option<Range<usize>> {
        let before = depths
            .start()
            .checked_sub(1)
            .map_or(0, |last| self.within.get(usize::from(last)).copied().unwrap_or_default());
        let end = *self.within.get(usize::from(*depths.end()))?;
        (before < end).then_some(before..end)
    }

    /// A board by its number, the nearest first, and its distance.
    pub(super) fn board(&self, number: usize) -> (Tiles, u16) {
        let word = self.boards[number];
        (tiles(word), u16::try_from(word >> TILE_BITS).expect("a distance"))
    }

    /// How many boards reach the goal.
    pub(super) fn len(&self) -> usize {
        self.boards.len()
    }
}

/// The tiles in a word of the table.
fn tiles(word: u64) -> Tiles {
    Tiles(word & ((1 << TILE_BITS) - 1))
}

/// The number of a permutation in lexicographic order.
fn rank(tiles: Tiles, cells: usize) -> usize {
    let (mut unused, mut rank) = (0x1ff_u32, 0);
    for (tile, left) in tiles.iter(cells).zip((1..=cells).rev()) {
        let bit = 1 << tile;
        rank = rank * left + (unused & (bit - 1)).count_ones() as usize;
        unused &= !bit;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::super::super::board::{Board, Layout};
    use super::super::super::gather::one;
    use super::super::tiles::permutation;
    use super::*;

    fn table(goal: &Board) -> Table {
        Table::sweep(&Cells::of(goal).unwrap(), permutation(goal).unwrap())
    }

    fn tiles(text: &str) -> Tiles {
        permutation(&one(text, None).unwrap()).unwrap()
    }

    #[test]
    fn three_by_three_is_as_published() {
        let table = table(&one("123456780", None).unwrap());
        assert_eq!((table.len(), table.farthest(), table.is_whole()), (181_440, 31, false));
        assert_eq!(table.range(&(31..=31)).unwrap().len(), 2);
        assert_eq!(table.range(&(0..=1)).unwrap(), 0..3);
        assert_eq!(table.range(&(31..=32)), None);
        assert_eq!(table.distance(tiles("867254301")), Some(31));
        assert_eq!(table.distance(tiles("2 3 4/1 5 0/7 6 8")), Some(19));
        assert_eq!(table.distance(tiles("213456780")), None);
        for number in [0, 1, 2, 3, 181_438, 181_439] {
            let (board, distance) = table.board(number);
            assert_eq!(table.distance(board), Some(distance));
        }
    }

    #[test]
    fn lines_and_graphs() {
        assert_eq!(table(&one("1/2/3/0", None).unwrap()).len(), 4);
        let graph = Layout::Graph(std::sync::Arc::new("1-2,1-3,1-9,2-9,3-9".parse().unwrap()));
        let table = table(&one("1 2 3 4 5 6 7 8 0", Some(&graph)).unwrap());
        let start = permutation(&one("0 3 1 4 5 6 7 8 2", Some(&graph)).unwrap()).unwrap();
        assert_eq!(table.distance(start), Some(5));
    }
}
