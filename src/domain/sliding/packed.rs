//! A board as lists and tables of searches hold it: of at most nine cells in 32 bits, of
//! at most sixteen in 64. It knows no layout.

use std::fmt::Debug;
use std::hash::Hash;

use super::Board;

/// A way to hold a board.
pub trait Packing: Copy + Eq + Hash + Debug + 'static {
    /// The most cells of a board that it can hold.
    const CELLS: usize;

    /// Packs a board of at most so many cells.
    #[must_use]
    fn new(board: Board) -> Self;

    /// The board of so many cells that was packed.
    #[must_use]
    fn unpack(self, cells: usize) -> Board;
}

/// Sixteen cells of four bits are 64: a board is held as it is.
impl Packing for Board {
    const CELLS: usize = 16;

    fn new(board: Board) -> Self {
        board
    }

    fn unpack(self, _: usize) -> Board {
        self
    }
}

impl Packing for Packed32 {
    const CELLS: usize = 9;

    fn new(board: Board) -> Self {
        Self::new(board)
    }

    fn unpack(self, cells: usize) -> Board {
        self.unpack(cells)
    }
}

/// Cell `i` of the first eight stands in bits `4 i` to `4 i + 3`. Nine tiles of
/// four bits do not fit; the ninth is the one that is missing among 0 to 8.
/// Cells a board does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Packed32(u32);

/// The exclusive or of all tiles 0 to 8 of a board of nine cells.
const XOR_OF_NINE: u64 = 8;

impl Packed32 {
    /// Packs a board of at most nine cells.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the ninth tile is implied by the others")]
    pub fn new(board: Board) -> Self {
        Self(board.bits() as u32)
    }

    /// The board that bits stand for, as the type describes them; `None` when a tile is
    /// out of range or stands twice.
    #[must_use]
    pub fn read(bits: u32, cells: usize) -> Option<Board> {
        let written = cells.min(8);
        let seen = (0..written).fold(0_u32, |seen, cell| seen | 1 << (bits >> (4 * cell) & 15));
        let missing = ((1_u32 << cells) - 1) ^ seen;
        // Eight tiles of nine leave one out exactly when each is in range and stands once.
        let sound = match cells {
            9 => missing.is_power_of_two(),
            _ => missing == 0 && (written == 8 || bits >> (4 * written) == 0),
        };
        sound.then(|| Self(bits).unpack(cells))
    }

    /// The board of so many cells that was packed.
    #[must_use]
    pub fn unpack(self, cells: usize) -> Board {
        let bits = u64::from(self.0);
        if cells < 9 {
            return Board::from_bits(bits);
        }
        // Folds the eight tiles into one by exclusive or, half by half.
        let folded = [16, 8, 4].into_iter().fold(bits, |folded, half| folded ^ folded >> half);
        Board::from_bits(bits | ((folded ^ XOR_OF_NINE) & 15) << 32)
    }

    /// The bits, as the type describes them.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}
