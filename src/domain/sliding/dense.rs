//! A place for each board that may reach a goal, without gaps worth the name: the
//! blank's cell, then the Lehmer rank of the tiles around it. It knows no table.
//!
//! On a grid with both sides of 2 or more half of all boards can't reach the goal. Of
//! two boards that differ in a swap of their last two tiles one can, so the pair
//! shares a place, and the parity of the tiles tells which of them is meant.

use super::layout::Shape;
use super::{Board, Cell, Layout};

/// The places of one layout's boards towards a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseIndex {
    cells: usize,
    /// Places for each cell of the blank.
    per_blank: usize,
    /// On a halved grid, by cell of the blank, whether the tiles must be an odd permutation.
    odd: Option<[bool; MAX_DENSE_CELLS]>,
}

/// The most cells of a layout whose boards are counted.
pub const MAX_DENSE_CELLS: usize = 9;

/// Bits `4 t` to `4 t + 3`: how many tiles that are not passed yet are less than `t`.
const SMALLER: u64 = 0x0007_6543_2100;
/// Of how many orders the tiles behind one are, by their number.
const FACTORIALS: [usize; MAX_DENSE_CELLS - 1] = [1, 1, 2, 6, 24, 120, 720, 5040];
/// One in each of four bits.
const ONES: u64 = 0x1111_1111_1111_1111;

impl DenseIndex {
    /// The places of boards that lead to `goal`.
    #[must_use]
    pub fn new(layout: &Layout, goal: Board) -> Self {
        let cells = layout.cells();
        let all: usize = (1..cells).product();
        let mut index = Self { cells, per_blank: all, odd: None };
        let Shape::Grid { rows: 2.., columns: columns @ 2.., .. } = layout.shape() else { return index };
        let row = |cell: Cell| cell / columns;
        let goal_blank = goal.cell_of(0);
        let (_, goal_odd) = index.rank(goal, goal_blank);
        let mut odd = [false; MAX_DENSE_CELLS];
        for (blank, odd) in (0..).zip(&mut odd[..cells]) {
            // A step to another row takes a tile past all others of a row but one.
            let passes = row(blank).abs_diff(row(goal_blank)) * (columns - 1);
            *odd = goal_odd != (passes % 2 == 1);
        }
        index.odd = Some(odd);
        index.per_blank = all.div_ceil(2);
        index
    }

    /// How many places there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells * self.per_blank
    }

    /// Whether there is no place; there is always one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of a board whose blank is at a cell; `None` when its parity keeps it
    /// from the goal.
    #[must_use]
    pub fn place(&self, board: Board, blank: Cell) -> Option<usize> {
        let (rank, odd) = self.rank(board, blank);
        match &self.odd {
            None => Some(usize::from(blank) * self.per_blank + rank),
            Some(needed) if needed[usize::from(blank)] == odd => {
                Some(usize::from(blank) * self.per_blank + rank / 2)
            }
            Some(_) => None,
        }
    }

    /// The Lehmer rank of the tiles but the blank, and whether they are an odd permutation.
    fn rank(&self, board: Board, blank: Cell) -> (usize, bool) {
        // With the number known the loop is unrolled, and its products stand side by side.
        if self.cells == MAX_DENSE_CELLS {
            lehmer(board, blank, MAX_DENSE_CELLS)
        } else {
            lehmer(board, blank, self.cells)
        }
    }
}

#[inline]
fn lehmer(board: Board, blank: Cell, cells: usize) -> (usize, bool) {
    // The tiles in order, the blank's four bits taken out.
    let below = (1_u64 << (4 * blank)) - 1;
    let tiles = board.bits() & below | board.bits() >> 4 & !below;
    let (mut smaller, mut rank, mut inversions) = (SMALLER, 0, 0);
    for place in 0..cells - 1 {
        let shift = 4 * (tiles >> (4 * place) & 15);
        let digit = (smaller >> shift & 15) as usize;
        smaller = smaller.wrapping_sub(ONES << shift << 4);
        rank += digit * FACTORIALS[cells - 2 - place];
        inversions += digit;
    }
    (rank, inversions % 2 == 1)
}
