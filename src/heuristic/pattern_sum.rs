//! The sum of pattern databases whose patterns share no tile, looked up on the board as
//! it is and as a symmetry of the grid shows it; the larger counts. Admissible.

use std::array;
use std::sync::Arc;
use std::thread;

use super::pattern::PatternTable;
use super::placement::{self, Placement};
use crate::domain::sliding::{Board, Cell, Layout, MAX_CELLS, Position, Shape, Shared, Tile, WideSpace};
use crate::search::{Budget, Limits, Stop};
use crate::space::{Cost, Guide};

/// Tiles of a pattern: six of sixteen cells take 1.4 MB and a second to fill.
const PATTERN_TILES: usize = 6;
/// The most patterns: fifteen tiles.
const MAX_PATTERNS: usize = 3;
/// The board as it is, and as a symmetry shows it.
const MAX_VIEWS: usize = 2;
/// The cells of each pattern of the 4x4 goal whose blank is on the first. Of several that
/// were tried these had the fewest nodes on Korf's boards; `benches/README.md` has the figures.
const FOUR_BY_FOUR: [&[Cell]; 3] = [&[1, 4, 5, 8, 9, 12], &[2, 3, 6, 7, 10, 11], &[13, 14, 15]];

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

/// Placement and value in each table, and their sum, as each view has them.
#[derive(Clone, Copy, Debug)]
pub struct PatternMark {
    parts: [[(Placement, u8); MAX_PATTERNS]; MAX_VIEWS],
    sums: [u8; MAX_VIEWS],
}

impl PatternSum {
    /// Whether there are such sums for a layout of more than nine cells: for grids of two rows or
    /// more, and for bipartite graphs unless a few tiles can cut them into very many regions.
    #[must_use]
    pub fn suits(layout: &Layout) -> bool {
        layout.cells() > 9
            && match layout.shape() {
                Shape::Grid { rows, columns, .. } => rows > 1 && columns > 1,
                Shape::Graph => layout.is_bipartite() && placement::suits(layout, PATTERN_TILES),
            }
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
        // How far a step leads by the numbers of cells.
        let columns =
            if let Shape::Grid { columns, .. } = layout.shape() { columns.into() } else { MAX_CELLS };
        let patterns = patterns(layout, goal);
        let fill = |tiles: &Vec<Tile>| {
            PatternTable::new(layout, tiles, columns, goal, &mut Budget::new(Arc::clone(limits)))
        };
        let tables = thread::scope(|scope| {
            // Where the system gives no thread, this one fills that table too.
            let begin = |tiles| (tiles, thread::Builder::new().spawn_scoped(scope, move || fill(tiles)));
            let fills: Vec<_> = patterns.iter().map(begin).collect();
            let done = fills.into_iter().map(|(tiles, filling)| match filling {
                Ok(filling) => filling.join().expect("a fill does not panic"),
                Err(_) => fill(tiles),
            });
            done.collect::<Result<Vec<PatternTable>, Stop>>()
        })?;
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
        let mut mark = PatternMark { parts: Default::default(), sums: [0; MAX_VIEWS] };
        let cells = self.tables[0].cells();
        for ((view, parts), sum) in self.views.iter().zip(&mut mark.parts).zip(&mut mark.sums) {
            let seen = view.seen(position.board(), cells);
            for (table, part) in self.tables.iter().zip(parts) {
                *part = table.look_up(seen);
                *sum += part.1;
            }
        }
        let most = mark.sums.iter().max().copied().unwrap_or(0);
        (mark, most.into())
    }

    #[inline]
    fn follow(
        &self,
        mark: &PatternMark,
        position: &Position,
        from: Cell,
        most: Cost,
    ) -> Result<PatternMark, Cost> {
        let mut mark = *mark;
        let tile = usize::from(position.board().tile(from));
        for ((view, parts), sum) in self.views.iter().zip(&mut mark.parts).zip(&mut mark.sums) {
            let (table, number) = view.seats[tile];
            let part = &mut parts[usize::from(table)];
            let (from, to) = (view.cells[usize::from(from)], view.cells[usize::from(position.blank())]);
            let before = part.1;
            *part = self.tables[usize::from(table)].follow(*part, number.into(), from, to);
            *sum = *sum + part.1 - before;
            // A view that is enough spares the others.
            if Cost::from(*sum) > most {
                return Err(Cost::from(*sum));
            }
        }
        Ok(mark)
    }
}

/// The tiles of each pattern.
fn patterns(layout: &Layout, goal: Board) -> Vec<Vec<Tile>> {
    let blank = goal.cell_of(0);
    let Shape::Grid { rows, columns, .. } = layout.shape() else { return near_patterns(layout, goal) };
    let tiles = |cells: &[Cell]| cells.iter().map(|&cell| goal.tile(cell)).collect();
    if (rows, columns) == (4, 4) {
        // A blank elsewhere leaves its place to the tile on the first cell.
        let instead = |&cell: &Cell| if cell == blank { 0 } else { cell };
        return FOUR_BY_FOUR.map(|cells| tiles(&cells.iter().map(instead).collect::<Vec<_>>())).into();
    }
    // Column by column: tiles that are near each other hinder each other most.
    let by_column = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
    let cells: Vec<Cell> = by_column.filter(|&cell| cell != blank).collect();
    cells.chunks(PATTERN_TILES).map(tiles).collect()
}

/// The tiles of the blank's component in groups of cells that are near each other, the first
/// around the cell that is farthest from the blank.
fn near_patterns(layout: &Layout, goal: Board) -> Vec<Vec<Tile>> {
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
fn symmetries(layout: &Layout, blank: Cell) -> Vec<[Cell; 16]> {
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
