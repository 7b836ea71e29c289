//! The Lehmer rank of a board (Cantor expansion): its place, from 0, among all
//! arrangements of its tiles in lexicographic order. It knows no layout.

use super::{Board, Cell, Tile};

/// The rank of a board of so many cells, below `cells!`.
#[must_use]
pub fn rank(board: Board, cells: usize) -> u32 {
    // Bit t is set while tile t has not been passed.
    let mut left: u32 = (1 << cells) - 1;
    board.tiles(cells).enumerate().fold(0, |rank, (cell, tile)| {
        left &= !(1 << tile);
        let smaller = (left & ((1 << tile) - 1)).count_ones();
        let places = u32::try_from(cells - cell).expect("at most sixteen");
        rank * places + smaller
    })
}

/// The board of so many cells that has a rank.
///
/// # Panics
/// When the rank is not below `cells!`.
#[must_use]
pub fn unrank(mut rank: u32, cells: usize) -> Board {
    let mut digits = [0; super::MAX_CELLS];
    for (place, digit) in (1..).zip(digits[..cells].iter_mut().rev()) {
        *digit = rank % place;
        rank /= place;
    }
    assert!(rank == 0, "no board has a rank so high");
    let mut left: Vec<Tile> = (0..Cell::try_from(cells).expect("at most sixteen")).collect();
    let tiles: Vec<Tile> = digits[..cells].iter().map(|&digit| left.remove(digit as usize)).collect();
    Board::new(&tiles)
}
