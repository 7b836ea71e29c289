//! The canonical form: what all boards that differ only in names and in the way
//! they are held have in common. It knows no search and no cache.
//!
//! A [`Frame`] is chosen from layout and goal's blank alone: the symmetry that
//! brings that blank to the first cell it can reach (and a grid to the orientation
//! with no more rows than columns). Tiles are then renamed so that the goal is the
//! standard one, 1, 2, ... around its blank. On 3x3 three goals are left: blank in a
//! corner, on an edge, in the centre. A graph has but the trivial frame.

use std::sync::LazyLock;

use super::layout::Shape;
use super::{Board, Cell, Direction, Instance, Layout, MAX_CELLS, Shared, Tile};

/// How a caller's board is held to be looked at canonically.
#[derive(Debug)]
pub struct Frame {
    layout: Shared<Layout>,
    /// Where each of the caller's cells comes to lie.
    cell_to: [Cell; MAX_CELLS],
    /// Which of the caller's cells comes to lie at each.
    cell_from: [Cell; MAX_CELLS],
    /// The caller's direction for each canonical one.
    direction_from: [Direction; 4],
}

/// The frames of each grid, one for each cell of its goal's blank.
static FRAMES: LazyLock<Vec<Vec<Shared<Frame>>>> = LazyLock::new(|| {
    let blanks = |grid: &Shared<Layout>| (0..).take(grid.cells());
    Layout::grids()
        .map(|grid| blanks(grid).map(|blank| Shared::leaked(Frame::of_grid(grid, blank))).collect())
        .collect()
});

impl Frame {
    /// The frame of a layout and its goal's blank.
    #[must_use]
    pub fn of(layout: &Shared<Layout>, goal_blank: Cell) -> Shared<Self> {
        match layout.shape() {
            Shape::Grid { index, .. } => FRAMES[usize::from(index)][usize::from(goal_blank)].clone(),
            Shape::Graph => Shared::counted(Self::trivial(layout)),
        }
    }

    /// Of the eight ways to hold a grid, the one that lays `blank` on the first cell.
    fn of_grid(grid: &Shared<Layout>, blank: Cell) -> Self {
        let ways = (0..8).filter_map(|way| Self::held(grid, way & 1 != 0, way & 2 != 0, way & 4 != 0));
        ways.min_by_key(|frame| frame.to(blank)).expect("a grid can be held with no more rows than columns")
    }

    /// A grid turned upside down, mirrored, then transposed, or not; `None` when
    /// more rows than columns come of it.
    fn held(grid: &Shared<Layout>, upside_down: bool, mirrored: bool, transposed: bool) -> Option<Self> {
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
        let mut frame = Self { layout: layout.clone(), ..Self::trivial(grid) };
        for cell in (0..).take(grid.cells()) {
            frame.cell_to[usize::from(cell)] = lies(cell);
            frame.cell_from[usize::from(lies(cell))] = cell;
        }
        // On a line as well, where only one of the axes is ever walked.
        frame.direction_from = Direction::ALL.map(|canonical| {
            let callers = canonical as usize ^ if transposed { 2 } else { 0 };
            let flipped = if callers < 2 { upside_down } else { mirrored };
            Direction::ALL[callers ^ usize::from(flipped)]
        });
        Some(frame)
    }

    fn trivial(layout: &Shared<Layout>) -> Self {
        let cells = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        Self { layout: layout.clone(), cell_to: cells, cell_from: cells, direction_from: Direction::ALL }
    }

    /// The canonical layout.
    #[must_use]
    pub fn layout(&self) -> &Shared<Layout> {
        &self.layout
    }

    /// Where a cell of the caller comes to lie.
    #[must_use]
    pub fn to(&self, cell: Cell) -> Cell {
        self.cell_to[usize::from(cell)]
    }

    /// The caller's cell that comes to lie at a canonical one.
    #[must_use]
    pub fn from(&self, cell: Cell) -> Cell {
        self.cell_from[usize::from(cell)]
    }

    /// The caller's word for a canonical one, each as of [`Path::Word`](super::Path::Word).
    #[must_use]
    pub fn word_from(&self, word: u64) -> u64 {
        /// The bit of each direction that tells Down from Up and Right from Left.
        const SIGNS: u64 = 0x5555_5555_5555_5555;
        let all = |flag: bool| if flag { SIGNS } else { 0 };
        let turned = |canonical: Direction, bit: u8| {
            (self.direction_from(canonical) as u8 ^ canonical as u8) & bit != 0
        };
        let sideways = word >> 1 & SIGNS;
        // On a line one of the two never occurs, so each speaks for itself alone.
        let changed =
            |bit| !sideways & all(turned(Direction::Up, bit)) | sideways & all(turned(Direction::Left, bit));
        let (flips, turns) = (changed(1) & SIGNS, (changed(2) & SIGNS) << 1);
        let moves = (1 << word.ilog2()) - 1;
        word ^ (flips | turns) & moves
    }

    /// The caller's direction for a canonical one.
    #[must_use]
    pub fn direction_from(&self, direction: Direction) -> Direction {
        self.direction_from[direction as usize]
    }
}

/// A goal in its canonical form, and how its boards are brought there.
#[derive(Clone, Debug)]
pub struct Goal {
    frame: Shared<Frame>,
    /// The canonical name of each of the caller's tiles; the blank's is 0.
    names: [Tile; 16],
    board: Board,
    blank: Cell,
}

/// What goals have in common exactly when they are the same: the layout's code and
/// the whole board, not a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    layout: u128,
    goal: Board,
}

impl Goal {
    /// The canonical form of a goal on a layout.
    #[must_use]
    pub fn new(layout: &Shared<Layout>, goal: Board) -> Self {
        Self::in_frame(Frame::of(layout, goal.cell_of(0)), goal)
    }

    /// The goal held as its caller holds it, only the tiles renamed: smallest paths to
    /// it are the caller's own smallest paths.
    #[must_use]
    pub fn as_held(layout: &Shared<Layout>, goal: Board) -> Self {
        Self::in_frame(Shared::counted(Frame::trivial(layout)), goal)
    }

    fn in_frame(frame: Shared<Frame>, goal: Board) -> Self {
        let cells = frame.layout.cells();
        let blank = frame.to(goal.cell_of(0));
        let board = Board::standard(cells, blank);
        let mut names = [0; 16];
        for (tile, &cell) in goal.tiles(cells).zip(&frame.cell_to) {
            names[usize::from(tile)] = board.tile(cell);
        }
        Self { frame, names, board, blank }
    }

    /// The canonical form of a board on the way to this goal.
    #[must_use]
    pub fn canonical(&self, start: Board) -> Board {
        let tiles = start.tiles(self.frame.layout.cells()).zip(&self.frame.cell_to);
        Board::from_bits(
            tiles.fold(0, |bits, (tile, cell)| bits | u64::from(self.names[usize::from(tile)]) << (4 * cell)),
        )
    }

    /// How the caller's boards are held.
    #[must_use]
    pub fn frame(&self) -> &Shared<Frame> {
        &self.frame
    }

    /// The canonical goal: the standard board around its blank.
    #[must_use]
    pub fn board(&self) -> Board {
        self.board
    }

    /// Where its blank is.
    #[must_use]
    pub fn blank(&self) -> Cell {
        self.blank
    }

    /// Its layout and board.
    #[must_use]
    pub fn problem(&self) -> Problem {
        Problem { layout: self.frame.layout.code(), goal: self.board }
    }
}

/// The goal that a caller asked for last, since most ask for one goal again and again.
#[derive(Debug, Default)]
pub struct LastGoal(Option<(Written, Goal)>);

/// A goal as it was written down: its layout's code, the board, and whether it is held as it is.
type Written = (u128, Board, bool);

impl LastGoal {
    /// The canonical form of an instance, or with `as_held` that of [`Canonical::as_held`].
    #[must_use]
    pub fn canonical(&mut self, instance: &Instance, as_held: bool) -> Canonical {
        let written = (instance.layout().code(), instance.goal(), as_held);
        if let Some((last, goal)) = &self.0
            && *last == written
        {
            return Canonical::towards(goal.clone(), instance.start());
        }
        let canonical = if as_held { Canonical::as_held(instance) } else { Canonical::of(instance) };
        self.0 = Some((written, canonical.goal.clone()));
        canonical
    }
}

/// An instance in its canonical form.
#[derive(Clone, Debug)]
pub struct Canonical {
    goal: Goal,
    start: Board,
}

/// What two canonical forms have in common exactly when they are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    problem: Problem,
    start: Board,
}

impl Canonical {
    /// The canonical form of an instance.
    #[must_use]
    pub fn of(instance: &Instance) -> Self {
        Self::towards(Goal::new(instance.layout(), instance.goal()), instance.start())
    }

    /// The form of an instance held as its caller holds it; see [`Goal::as_held`].
    #[must_use]
    pub fn as_held(instance: &Instance) -> Self {
        Self::towards(Goal::as_held(instance.layout(), instance.goal()), instance.start())
    }

    fn towards(goal: Goal, start: Board) -> Self {
        Self { start: goal.canonical(start), goal }
    }

    /// The goal.
    #[must_use]
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// The canonical start.
    #[must_use]
    pub fn start(&self) -> Board {
        self.start
    }

    /// The key of another canonical board on the way to the same goal.
    #[must_use]
    pub fn key_of(&self, start: Board) -> Key {
        Key { problem: self.goal.problem(), start }
    }

    /// Its own key.
    #[must_use]
    pub fn key(&self) -> Key {
        self.key_of(self.start)
    }
}
