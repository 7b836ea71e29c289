//! The sum of pattern databases whose patterns share no tile, looked up on the board as
//! it is and as a symmetry of the grid shows it; the larger counts. Admissible.

use std::array;
use std::sync::Arc;
use std::thread;

use super::pattern::PatternTable;
use super::placement::Placement;
use crate::domain::sliding::{Board, Cell, Layout, Position, Shape, Shared, Tile, WideSpace};
use crate::search::{Budget, Limits, Stop};
use crate::space::{Cost, Guide, Lead};
const CHUNK: usize = 64;

/// Tiles of a pattern: six of sixteen cells take 1.4 MB and a second to fill.
const PATTERN_TILES: usize = 6;
/// The most patterns: fifteen tiles.
const MAX_PATTERNS: usize = 3;
/// The board as it is, and as a symmetry shows it.
const MAX_VIEWS: usize = 2;
/// The cells of each pattern of the 4x4 goal whose blank is on the first. Of several that
/// were tried these had the fewest nodes on Korf's boards; `benches/README.md` has the figures.
const FOUR_BY_FOUR: &[&[Cell]] = &[&[1, 4, 5, 8, 9, 12], &[2, 3, 6, 7, 10, 11], &[13, 14, 15]];

/// See the module.
#[derive(Debug)]
pub struct PatternSum {
    tables: Vec<PatternTable>,
    views: Vec<View>,
}

/// A way to look at a board.
#[derive(Debug)]
struct View {
    /// Where each cell is seen.
    cells: [Cell; 16],
    /// As which tile each is seen.
    tiles: [Tile; 16],
    /// By tile of the board: the table of the tile it is seen as, and its number there.
    seats: [(u8, u8); 16],
}

/// What is kept of a board, as each view has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatternMark([Seen; MAX_VIEWS]);

/// Placement and value in each table, and the sum of the values. Each of a kind stands together: a
/// mark is copied often, and so it is small.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    orders: [u32; MAX_PATTERNS],
    cells: [u16; MAX_PATTERNS],
    values: [u8; MAX_PATTERNS],
    sum: u8,
}

impl PatternSum {
    /// Whether there are such sums for a layout: for grids of more than nine cells and two rows or more.
    #[must_use]
    pub fn suits(layout: &Layout) -> bool {
        matches!(layout.shape(), Shape::Grid { rows: 2.., columns: 2.., .. }) && layout.cells() > 9
    }

    /// The sums for a goal, each pattern filled by a thread of its own.
    ///
    /// # Errors
    /// [`Stop::Cancelled`] when the limits are cancelled.
    ///
    /// # Panics
    /// On a layout that they do not suit.
    pub fn new(layout: &Shared<Layout>, goal: Board, limits: &Arc<Limits>) -> Result<Self, Stop> {
        assert!(Self::suits(layout), "no patterns for this layout");
        let Shape::Grid { columns, .. } = layout.shape() else { unreachable!("they suit grids alone") };
        let patterns = patterns(layout, goal);
        let tables = patterns
            .iter()
            .map(|tiles| PatternTable::new(layout, tiles, goal, limits))
            .collect::<Result<Vec<PatternTable>, Stop>>()?;
        let views = symmetries(layout, goal.cell_of(0));
        let views = views.into_iter().take(MAX_VIEWS).map(|cells| View::new(cells, goal, layout, &tables));
        Ok(Self { views: views.collect(), tables })
    }

    /// Bytes that its tables take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(PatternTable::bytes).sum()
    }
}

impl View {
    fn new(cells: [Cell; 16], goal: Board, layout: &Layout, tables: &[PatternTable]) -> Self {
        let mut tiles = [0; 16];
        for (cell, tile) in goal.tiles(layout.cells()).enumerate() {
            tiles[usize::from(tile)] = goal.tile(cells[cell]);
        }
        let seat = |tile: Tile| {
            let number = |table: &PatternTable| table.tiles().iter().position(|&of_table| of_table == tile);
            tables.iter().enumerate().find_map(|(table, of)| Some((table, number(of)?)))
        };
        let small = |(table, number)| {
            let small = |number| u8::try_from(number).expect("three tables of six tiles");
            (small(table), small(number))
        };
        Self { cells, seats: tiles.map(|tile| seat(tile).map_or((0, 0), small)), tiles }
    }

    /// The board as it is seen.
    fn seen(&self, board: Board, cells: usize) -> Board {
        let mut seen = [0; 16];
        for (cell, tile) in board.tiles(cells).enumerate() {
            seen[usize::from(self.cells[cell])] = self.tiles[usize::from(tile)];
        }
        Board::new(&seen[..cells])
    }
}

impl Guide<WideSpace> for PatternSum {
    type Mark = PatternMark;

    fn mark(&self, position: &Position) -> (PatternMark, Cost) {
        let mut mark = PatternMark::default();
        let cells = self.tables[0].cells();
        for (view, seen) in self.views.iter().zip(&mut mark.0) {
            let board = view.seen(position.board(), cells);
            for (number, table) in self.tables.iter().enumerate() {
                let (Placement { cells, order }, value) = table.look_up(board);
                (seen.cells[number], seen.orders[number], seen.values[number]) = (cells, order, value);
                seen.sum += value;
            }
        }
        let most = mark.0.iter().map(|seen| seen.sum).max().unwrap_or(0);
        (mark, most.into())
    }

    fn sift(&self, leads: &mut Vec<Lead<WideSpace, PatternMark>>) -> Option<Cost> {
        let mut out = Cost::MAX;
        for number in 0..self.views.len() {
            out = out.min(self.sift_view(number, leads));
        }
        (out != Cost::MAX).then_some(out)
    }
}

impl PatternSum {
    #[inline]
    fn sift_view(&self, number: usize, leads: &mut Vec<Lead<WideSpace, PatternMark>>) -> Cost {
        let view = &self.views[number];
        let mut out = Cost::MAX;
        let mut kept = 0;
        let mut begun = 0;
        while begun < leads.len() {
            let chunk = &mut leads[begun..];
            let count = chunk.len().min(CHUNK);
            let chunk = &mut chunk[..count];
            let mut places = [0_usize; CHUNK];
            let mut which = [0_u8; CHUNK];
            for (lead, (place, which)) in chunk.iter_mut().zip(places.iter_mut().zip(&mut which)) {
                let tile = usize::from(lead.state.board().tile(lead.action));
                *which = view.seats[tile].0;
                let table = usize::from(*which);
                let (from, to) =
                    (view.cells[usize::from(lead.action)], view.cells[usize::from(lead.state.blank())]);
                let seen = &mut lead.mark.0[number];
                let before = Placement { cells: seen.cells[table], order: seen.orders[table] };
                let placement = before.stepped(from, to);
                (seen.cells[table], seen.orders[table]) = (placement.cells, placement.order);
                *place = self.tables[table].place(placement, from);
            }
            let mut bits = [0_u8; CHUNK];
            for ((&place, &which), bit) in places.iter().zip(&which).zip(&mut bits).take(count) {
                *bit = self.tables[usize::from(which)].bit(place);
            }
            for at in 0..count {
                leads[kept] = leads[begun + at];
                let lead = &mut leads[kept];
                let value = &mut lead.mark.0[number].values[usize::from(which[at])];
                let up = *value + 1;
                let rise = up >> 1 & 1 == bits[at];
                *value = if rise { up } else { *value - 1 };
                let sum = &mut lead.mark.0[number].sum;
                *sum = if rise { *sum + 1 } else { *sum - 1 };
                let (sum, left) = (Cost::from(*sum), lead.left);
                let within = sum <= left;
                out = out.min(if within { Cost::MAX } else { sum - left });
                kept += usize::from(within);
            }
            begun += count;
        }
        leads.truncate(kept);
        out
    }
}

/// The tiles of each pattern.
fn patterns(layout: &Layout, goal: Board) -> Vec<Vec<Tile>> {
    let Shape::Grid { rows, columns, .. } = layout.shape() else { unreachable!("they suit grids alone") };
    let blank = goal.cell_of(0);
    let tiles = |cells: &[Cell]| cells.iter().map(|&cell| goal.tile(cell)).collect();
    if (rows, columns) == (4, 4) {
        // A blank elsewhere leaves its place to the tile on the first cell.
        let instead = |&cell: &Cell| if cell == blank { 0 } else { cell };
        let cells: &[&[Cell]] = if std::env::var("LARGE").is_ok() {
            &[&[1, 4, 5, 8, 9, 12, 13], &[2, 3, 6, 7, 10, 11, 14, 15]]
        } else {
            FOUR_BY_FOUR
        };
        return cells.iter().map(|cells| tiles(&cells.iter().map(instead).collect::<Vec<_>>())).collect();
    }
    // Column by column: tiles that are near each other hinder each other most.
    let by_column = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
    let cells: Vec<Cell> = by_column.filter(|&cell| cell != blank).collect();
    cells.chunks(PATTERN_TILES).map(tiles).collect()
}

/// Where each cell goes in each symmetry of a grid that leaves the goal's blank in place, the trivial one first.
fn symmetries(layout: &Layout, blank: Cell) -> Vec<[Cell; 16]> {
    let Shape::Grid { rows, columns, .. } = layout.shape() else { unreachable!("they suit grids alone") };
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
