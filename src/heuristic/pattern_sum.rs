//! The sum of pattern databases whose patterns share no tile, looked up on the board as
//! it is and as a symmetry of the grid shows it; the larger counts. Admissible.

use std::sync::Arc;

use super::partition::{PATTERN_TILES, PatternSet, patterns, symmetries};
use super::pattern::PatternTable;
use super::placement::{self, Placement, Step};
use crate::domain::sliding::{Board, Cell, Layout, Position, Shape, Shared, Tile, WideSpace};
use crate::search::{Limits, Stop};
use crate::space::{Cost, Guide, Lead};

/// The most patterns: fifteen tiles.
const MAX_PATTERNS: usize = 3;
/// The board as it is, and as a symmetry shows it.
const MAX_VIEWS: usize = 2;
/// Leads that are looked at together: all that a search gives at a time.
const AT_ONCE: usize = 32;

/// See the module.
#[derive(Debug)]
pub struct PatternSum {
    layout: Shared<Layout>,
    goal: Board,
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
    /// By tile of the board: the table of the tile it is seen as.
    tables: [u8; 16],
    /// By the blank's cell and the one it enters: the tile's step as it is seen.
    steps: [[Step; 16]; 16],
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

    /// The sums of a set for a goal, made in memory by as many threads as there are cores.
    ///
    /// # Errors
    /// [`Stop::Cancelled`] when the limits are cancelled.
    ///
    /// # Panics
    /// On a layout that they do not suit.
    pub fn new(
        set: PatternSet,
        layout: &Shared<Layout>,
        goal: Board,
        limits: &Arc<Limits>,
    ) -> Result<Self, Stop> {
        Self::of(set, layout, goal, |tiles| PatternTable::new(layout, tiles, goal, limits, &|_| ()))
    }

    /// The sums of a set for a goal, with the tables that are given for the tiles of each pattern.
    pub(super) fn of<E>(
        set: PatternSet,
        layout: &Shared<Layout>,
        goal: Board,
        table: impl FnMut(&[Tile]) -> Result<PatternTable, E>,
    ) -> Result<Self, E> {
        assert!(Self::suits(layout), "no patterns for this layout");
        let patterns = patterns(set, layout, goal);
        let tables = patterns.iter().map(Vec::as_slice).map(table).collect::<Result<Vec<_>, E>>()?;
        let views = symmetries(layout, goal.cell_of(0));
        let views = views.into_iter().take(MAX_VIEWS).map(|cells| View::new(cells, goal, layout, &tables));
        Ok(Self { layout: layout.clone(), goal, views: views.collect(), tables })
    }

    /// The layout and the goal it is for.
    #[must_use]
    pub fn goal(&self) -> (&Shared<Layout>, Board) {
        (&self.layout, self.goal)
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
        let table_of = |tile: Tile| {
            let table = tables.iter().position(|table| table.tiles().contains(&tile));
            // The blank is in none, and never asked for.
            table.map_or(0, |table| u8::try_from(table).expect("at most three tables"))
        };
        let mut steps = [[Step::default(); 16]; 16];
        for to in (0..).take(layout.cells()) {
            for &from in layout.neighbours(to) {
                let [from_seen, to_seen] = [from, to].map(|cell| cells[usize::from(cell)]);
                steps[usize::from(to)][usize::from(from)] = Step::new(from_seen, to_seen);
            }
        }
        Self { cells, tables: tiles.map(table_of), tiles, steps }
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
        let cells = self.layout.cells();
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

/// What a look-up needs: table and place.
type Spot = (u8, usize);

impl PatternSum {
    /// Keeps the leads that a view has within their bounds; the least by which another is out, or the most there is.
    ///
    /// Three loops, so that no look-up waits for what is made of another: of large tables the memory
    /// then brings many at once.
    fn sift_view(&self, view: usize, leads: &mut Vec<Lead<WideSpace, PatternMark>>) -> Cost {
        let (mut out, mut kept, mut begin) = (Cost::MAX, 0, 0);
        while begin < leads.len() {
            let count = AT_ONCE.min(leads.len() - begin);
            let (mut spots, mut bits): ([Spot; AT_ONCE], _) = ([(0, 0); AT_ONCE], [0; AT_ONCE]);
            for (lead, spot) in leads[begin..].iter_mut().zip(&mut spots) {
                *spot = self.step(view, lead);
            }
            for (&(table, place), bit) in spots[..count].iter().zip(&mut bits) {
                *bit = self.tables[usize::from(table)].bit(place);
            }
            for (at, (&(table, _), &bit)) in spots[..count].iter().zip(&bits).enumerate() {
                let Lead { mark, left, .. } = &leads[begin + at];
                let (change, left) = (mark.0[view].change(table, bit), *left);
                let sum = Cost::from(change.sum);
                // Copied whether it is kept or not, since which it will be can't be foreseen; and only then
                // changed, since a copy of what was just written waits for it.
                leads[kept] = leads[begin + at];
                leads[kept].mark.0[view].apply(change);
                out = out.min(if sum > left { sum - left } else { Cost::MAX });
                kept += usize::from(sum <= left);
            }
            begin += count;
        }
        leads.truncate(kept);
        out
    }

    /// Brings the lead's tile to where it goes.
    #[inline]
    fn step(&self, view: usize, lead: &mut Lead<WideSpace, PatternMark>) -> Spot {
        let (View { tables, steps, .. }, seen) = (&self.views[view], &mut lead.mark.0[view]);
        let step = steps[usize::from(lead.state.blank() % 16)][usize::from(lead.action % 16)];
        let table = tables[usize::from(lead.state.board().tile(lead.action))];
        let number = usize::from(table);
        let before = Placement { cells: seen.cells[number], order: seen.orders[number] };
        let placement = before.stepped(step);
        (seen.cells[number], seen.orders[number]) = (placement.cells, placement.order);
        (table, self.tables[number].place(placement, step.from()))
    }
}

/// What a look-up changes: the value of a table, and the sum.
#[derive(Clone, Copy)]
struct Change {
    table: u8,
    value: u8,
    sum: u8,
}

impl Seen {
    /// The change of a table's value to the one whose second bit is `bit`, one up or one down.
    #[inline]
    fn change(&self, table: u8, bit: u8) -> Change {
        let value = self.values[usize::from(table)];
        // One below 0 has the second bit of three, so at 0 it is always one up.
        let by = if (value + 1) >> 1 & 1 == bit { 1 } else { u8::MAX };
        Change { table, value: value.wrapping_add(by), sum: self.sum.wrapping_add(by) }
    }

    #[inline]
    fn apply(&mut self, Change { table, value, sum }: Change) {
        self.values[usize::from(table)] = value;
        self.sum = sum;
    }
}
