//! The canonical form: what all boards that differ only in names and in the way
//! they are held have in common. It knows no search and no cache.
//!
//! A [`Frame`] is chosen from layout and goal's blank alone: the symmetry that
//! brings that blank to the first cell it can reach (and a grid to the orientation
//! with no more rows than columns). Tiles are then renamed so that the goal is the
//! standard one, 1, 2, ... around its blank. On 3x3 three goals are left: blank in a
//! corner, on an edge, in the centre. A graph has but the trivial frame.

use std::sync::{Arc, LazyLock};

use super::layout::Shape;
use super::{Board, Cell, Direction, Instance, Layout, MAX_CELLS};

/// How a caller's board is held to be looked at canonically.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    layout: Arc<Layout>,
    /// Where each of the caller's cells comes to lie.
    cell_to: Vec<Cell>,
    /// The caller's direction for each canonical one.
    direction_from: [Direction; 4],
}

/// The frames of each grid, one for each cell of its goal's blank.
static FRAMES: LazyLock<Vec<Vec<Arc<Frame>>>> = LazyLock::new(|| {
    let blanks = |grid: &Arc<Layout>| (0..).take(grid.cells());
    Layout::grids()
        .map(|grid| blanks(grid).map(|blank| Arc::new(Frame::of_grid(grid, blank))).collect())
        .collect()
});

impl Frame {
    /// The frame of a layout and its goal's blank.
    #[must_use]
    pub fn of(layout: &Arc<Layout>, goal_blank: Cell) -> Arc<Self> {
        match layout.shape() {
            Shape::Grid { index, .. } => Arc::clone(&FRAMES[usize::from(index)][usize::from(goal_blank)]),
            Shape::Graph => Arc::new(Self::trivial(layout)),
        }
    }

    /// Of the eight ways to hold a grid, the one that lays `blank` on the first cell.
    fn of_grid(grid: &Arc<Layout>, blank: Cell) -> Self {
        let ways = (0..8).filter_map(|way| Self::held(grid, way & 1 != 0, way & 2 != 0, way & 4 != 0));
        ways.min_by_key(|frame| frame.to(blank)).expect("a grid can be held with no more rows than columns")
    }

    /// A grid turned upside down, mirrored, then transposed, or not; `None` when
    /// more rows than columns come of it.
    fn held(grid: &Arc<Layout>, upside_down: bool, mirrored: bool, transposed: bool) -> Option<Self> {
        let Shape::Grid { rows, columns, .. } = grid.shape() else { return None };
        let (height, width) = if transposed { (columns, rows) } else { (rows, columns) };
        if height > width {
            return None;
        }
        let layout = Layout::grid(height.into(), width.into())?;
        let lies = |cell: Cell| {
            let (row, column) = (cell / columns, cell % columns);
            let row = if upside_down { rows - 1 - row } else { row };
            let column = if mirrored { columns - 1 - column } else { column };
            if transposed { column * width + row } else { row * width + column }
        };
        let cell_to: Vec<Cell> = (0..).take(grid.cells()).map(lies).collect();
        let mut frame = Self { layout: Arc::clone(layout), cell_to, ..Self::trivial(grid) };
        for from in (0..).take(grid.cells()) {
            for &to in grid.neighbours(from) {
                let seen = layout.direction(frame.to(from), frame.to(to)).zip(grid.direction(from, to));
                let (canonical, callers) = seen.expect("adjacent cells stay adjacent");
                frame.direction_from[canonical as usize] = callers;
            }
        }
        Some(frame)
    }

    fn trivial(layout: &Arc<Layout>) -> Self {
        let cell_to = (0..).take(layout.cells()).collect();
        Self { layout: Arc::clone(layout), cell_to, direction_from: Direction::ALL }
    }

    /// The canonical layout.
    #[must_use]
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Where a cell of the caller comes to lie.
    #[must_use]
    pub fn to(&self, cell: Cell) -> Cell {
        self.cell_to[usize::from(cell)]
    }

    /// The caller's direction for a canonical one.
    #[must_use]
    pub fn direction_from(&self, direction: Direction) -> Direction {
        self.direction_from[direction as usize]
    }
}

/// An instance in its canonical form.
#[derive(Clone, Debug)]
pub struct Canonical {
    frame: Arc<Frame>,
    start: Board,
    goal: Board,
}

/// What two canonical forms have in common exactly when they are the same: the
/// layout's code and both whole boards, not a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    layout: u128,
    start: Board,
    goal: Board,
}

impl Canonical {
    /// The canonical form of an instance.
    #[must_use]
    pub fn of(instance: &Instance) -> Self {
        let cells = instance.layout().cells();
        let goal_blank = instance.goal().cell_of(0);
        let frame = Frame::of(instance.layout(), goal_blank);
        let goal = Board::standard(cells, frame.to(goal_blank));
        let mut name = [0; 16];
        for (cell, tile) in (0..).zip(instance.goal().tiles(cells)) {
            name[usize::from(tile)] = goal.tile(frame.to(cell));
        }
        let mut start = [0; MAX_CELLS];
        for (cell, tile) in (0..).zip(instance.start().tiles(cells)) {
            start[usize::from(frame.to(cell))] = name[usize::from(tile)];
        }
        Self { frame, start: Board::new(&start[..cells]), goal }
    }

    /// How the caller's board is held.
    #[must_use]
    pub fn frame(&self) -> &Arc<Frame> {
        &self.frame
    }

    /// The canonical start.
    #[must_use]
    pub fn start(&self) -> Board {
        self.start
    }

    /// The canonical goal: the standard one around its blank.
    #[must_use]
    pub fn goal(&self) -> Board {
        self.goal
    }

    /// The key of a canonical start on the way to the same goal.
    #[must_use]
    pub fn key_of(&self, start: Board) -> Key {
        Key { layout: self.frame.layout.code(), start, goal: self.goal }
    }

    /// Its own key.
    #[must_use]
    pub fn key(&self) -> Key {
        self.key_of(self.start)
    }
}
