//! Every board that can reach a goal, with its distance: breadth-first from the goal, in the client's own code, so
//! that an error of the server's tables can't hide here.
//!
//! It must never know: anything of the wire, or what the boards are for.

use std::ops::{Range, RangeInclusive};

use super::tiles::{Cells, MAX_CELLS, Tiles};

/// The distance of what can't reach the goal.
const UNREACHED: u16 = u16::MAX;

/// All boards of a goal.
#[derive(Debug)]
pub(super) struct Table {
    cells: usize,
    /// By rank.
    distances: Vec<u16>,
    /// The nearest first, without the ninth tile, which follows from the others: so those of 3x3 take 0.7 MB, which
    /// a processor has beside it.
    boards: Vec<u32>,
    /// How many boards are at most so far.
    within: Vec<usize>,
}

impl Table {
    /// Sweeps all boards that reach the goal.
    pub(super) fn sweep(cells: &Cells, goal: Tiles) -> Self {
        let mut distances = vec![UNREACHED; (1..=cells.count).product()];
        distances[rank(goal, cells.count)] = 0;
        let (mut boards, mut within) = (vec![short(goal)], vec![1]);
        let mut wave = 0..1;
        for distance in 1.. {
            for number in wave.clone() {
                for next in cells.next(whole(boards[number], cells.count)) {
                    let place = &mut distances[rank(next, cells.count)];
                    if *place == UNREACHED {
                        *place = distance;
                        boards.push(short(next));
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
        let distance = self.within.partition_point(|&end| end <= number);
        (whole(self.boards[number], self.cells), u16::try_from(distance).expect("a distance"))
    }

    /// How many boards reach the goal.
    pub(super) fn len(&self) -> usize {
        self.boards.len()
    }
}

/// The first eight tiles.
fn short(tiles: Tiles) -> u32 {
    u32::try_from(tiles.0 & u64::from(u32::MAX)).expect("as many bits")
}

/// All tiles of a board of so many cells, of which the first eight are known.
fn whole(short: u32, cells: usize) -> Tiles {
    /// The sum of the tiles of nine cells.
    const SUM: u32 = 36;
    if cells < MAX_CELLS {
        return Tiles(short.into());
    }
    // The sums of pairs, then of all, which are below 64.
    let pairs = (short & 0x0f0f_0f0f) + (short >> 4 & 0x0f0f_0f0f);
    let sum = pairs.wrapping_mul(0x0101_0101) >> 24;
    Tiles(u64::from(short) | u64::from(SUM - sum) << 32)
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
