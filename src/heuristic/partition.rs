//! How a goal's tiles are cut into patterns, and which symmetries of a grid show the goal
//! as it is. It knows no table.

use std::array;

use crate::domain::sliding::{Board, Cell, Layout, Shape, Tile};
use crate::space::Cost;

/// Tiles of a pattern of the small set: six of sixteen cells take 1.4 MB.
pub(super) const PATTERN_TILES: usize = 6;
/// The cells of each pattern of the 4x4 goal whose blank is on the first. Of several that
/// were tried these had the fewest nodes on Korf's boards; `benches/README.md` has the figures.
const SMALL: &[&[Cell]] = &[&[1, 4, 5, 8, 9, 12], &[2, 3, 6, 7, 10, 11], &[13, 14, 15]];
const LARGE: &[&[Cell]] = &[&[1, 4, 5, 8, 9, 12, 13], &[2, 3, 6, 7, 10, 11, 14, 15]];

/// How many tiles the patterns of a set have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternSet {
    /// Six at most: some megabytes, made in less than a second.
    Small,
    /// Seven and eight, for the 4x4 goals whose blank is in a corner: 196 MB, made in half a minute.
    Large,
}

/// The tiles of each pattern.
pub(super) fn patterns(set: PatternSet, layout: &Layout, goal: Board) -> Vec<Vec<Tile>> {
    let Shape::Grid { rows, columns, .. } = layout.shape() else { return near(layout, goal) };
    let blank = goal.cell_of(0);
    let tiles = |cells: &[Cell]| cells.iter().map(|&cell| goal.tile(cell)).collect();
    if (rows, columns) == (4, 4) {
        // A blank elsewhere leaves its place to the tile on the first cell.
        let instead = |&cell: &Cell| if cell == blank { 0 } else { cell };
        let cells = match set {
            PatternSet::Small => SMALL,
            PatternSet::Large => LARGE,
        };
        return cells.iter().map(|cells| tiles(&cells.iter().map(instead).collect::<Vec<_>>())).collect();
    }
    // Column by column: tiles that are near each other hinder each other most.
    let by_column = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
    let cells: Vec<Cell> = by_column.filter(|&cell| cell != blank).collect();
    cells.chunks(PATTERN_TILES).map(tiles).collect()
}

/// The tiles of the blank's component in groups of cells that are near each other, the first
/// around the cell that is farthest from the blank.
fn near(layout: &Layout, goal: Board) -> Vec<Vec<Tile>> {
    let blank = goal.cell_of(0);
    let mut left: Vec<Cell> = (0..)
        .take(layout.cells())
        .filter(|&cell| cell != blank && layout.distance(blank, cell).is_some())
        .collect();
    let mut patterns = Vec::new();
    while let Some(&first) = left.iter().max_by_key(|&&cell| layout.distance(blank, cell)) {
        let mut pattern: Vec<Cell> = vec![first];
        left.retain(|&cell| cell != first);
        while pattern.len() < PATTERN_TILES && !left.is_empty() {
            let away = |cell: Cell| -> Cost {
                pattern.iter().filter_map(|&of| layout.distance(cell, of)).map(Cost::from).sum()
            };
            let next = *left.iter().min_by_key(|&&cell| away(cell)).expect("some are left");
            pattern.push(next);
            left.retain(|&cell| cell != next);
        }
        patterns.push(pattern.iter().map(|&cell| goal.tile(cell)).collect());
    }
    patterns
}

/// Where each cell goes in each symmetry of a grid that leaves the goal's blank in place, the trivial one first.
pub(super) fn symmetries(layout: &Layout, blank: Cell) -> Vec<[Cell; 16]> {
    let Shape::Grid { rows, columns, .. } = layout.shape() else {
        return vec![array::from_fn(|cell| Cell::try_from(cell).expect("sixteen"))];
    };
    let ways = if rows == columns { 8 } else { 4 };
    let symmetry = |way: u8| {
        array::from_fn(|cell| {
            let cell = Cell::try_from(cell).expect("sixteen");
            if usize::from(cell) >= layout.cells() {
                return cell;
            }
            let (mut row, mut column) = (cell / columns, cell % columns);
            row = if way & 1 == 0 { row } else { rows - 1 - row };
            column = if way & 2 == 0 { column } else { columns - 1 - column };
            if way & 4 == 0 { row * columns + column } else { column * columns + row }
        })
    };
    let fixes = |cells: &[Cell; 16]| cells[usize::from(blank)] == blank;
    (0..ways).map(symmetry).filter(fixes).collect()
}
