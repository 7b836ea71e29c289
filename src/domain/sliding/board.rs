//! A board: which tile stands on which cell. It knows no layout; whether it is a
//! permutation is checked where it is made.

use super::{Cell, MAX_CELLS};

/// A tile's number; 0 is the blank.
pub type Tile = u8;

/// The tiles of up to sixteen cells, four bits each: cell `i` in bits `4 i` to
/// `4 i + 3`. Cells a board does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board(u64);

/// 1, 2, ..., a tile a cell.
const IN_ORDER: u64 = 0x0FED_CBA9_8765_4321;
/// One in each of four bits.
const ONES: u64 = 0x1111_1111_1111_1111;

impl Board {
    /// The board with these tiles, cell by cell.
    ///
    /// # Panics
    /// With more than sixteen tiles or a tile above 15.
    #[must_use]
    pub fn new(tiles: &[Tile]) -> Self {
        assert!(tiles.len() <= 16 && tiles.iter().all(|&tile| tile < 16), "not a board: {tiles:?}");
        Self(tiles.iter().enumerate().fold(0, |bits, (cell, &tile)| bits | u64::from(tile) << (4 * cell)))
    }

    /// The board of so many cells that holds 1, 2, ... with the blank at a cell.
    ///
    /// # Panics
    /// When there is no such cell, or more than [`MAX_CELLS`].
    #[must_use]
    pub fn standard(cells: usize, blank: Cell) -> Self {
        assert!(usize::from(blank) < cells && cells <= MAX_CELLS, "no cell {blank} of {cells}");
        let (before, all) = ((1 << (4 * blank)) - 1, u64::MAX >> (64 - 4 * cells));
        Self(IN_ORDER & before | (IN_ORDER & !before) << 4 & all)
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// The tile on a cell.
    #[must_use]
    pub fn tile(self, cell: Cell) -> Tile {
        (self.0 >> (4 * cell) & 15) as Tile
    }

    /// The tiles of the first `cells` cells in order.
    pub fn tiles(self, cells: usize) -> impl Iterator<Item = Tile> {
        (0..cells).map(move |cell| (self.0 >> (4 * cell) & 15) as Tile)
    }

    /// The cell of a tile of a board that holds it; anything else has no meaning.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "at most sixteen")]
    pub fn cell_of(self, tile: Tile) -> Cell {
        // The lowest four bits that are 0 once the tile is taken off each: a borrow can
        // only reach above them ("Bit Twiddling Hacks", determine if a word has a zero byte).
        let bits = self.0 ^ (ONES * u64::from(tile));
        let zeros = bits.wrapping_sub(ONES) & !bits & (ONES << 3);
        (zeros.trailing_zeros() / 4) as Cell
    }

    /// The board with another tile on a cell.
    #[must_use]
    pub(super) fn with(self, cell: Cell, tile: Tile) -> Self {
        Self(self.0 & !(15 << (4 * cell)) | u64::from(tile) << (4 * cell))
    }

    /// Brings the tile on `from` into the blank at `blank`, which is then at `from`.
    #[must_use]
    pub(super) fn slide(self, blank: Cell, from: Cell) -> Self {
        let tile = self.0 >> (4 * from) & 15;
        Self(self.0 ^ (tile << (4 * from) | tile << (4 * blank)))
    }
}
