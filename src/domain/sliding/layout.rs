//! Cells and which are adjacent. A grid is a layout that knows its rows and
//! columns. It knows no tiles.

use std::sync::LazyLock;

use super::Shared;

/// A cell's number; in a grid counted row by row from the top left.
pub type Cell = u8;

/// The most cells a layout may have.
pub const MAX_CELLS: usize = 16;

/// Where the blank goes in a grid. The order U < D < L < R is the order of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Direction {
    /// To the row above.
    Up,
    /// To the row below.
    Down,
    /// To the column on the left.
    Left,
    /// To the column on the right.
    Right,
}

impl Direction {
    /// All four in order; a direction's place is its number in two bits.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// `U`, `D`, `L` or `R`.
    #[must_use]
    pub fn letter(self) -> char {
        ['U', 'D', 'L', 'R'][self as usize]
    }
}

/// What a layout is besides its adjacency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Rows and columns, each at least 1.
    Grid {
        /// Rows.
        rows: u8,
        /// Columns.
        columns: u8,
        /// Its place among [`Layout::grids`].
        index: u8,
    },
    /// Edges alone.
    Graph,
}

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    cells: usize,
    /// The neighbours of each cell in the order of moves: U D L R in a grid, by number in a graph.
    neighbours: [Neighbours; MAX_CELLS],
    /// The fewest steps from cell to cell; `None` where there is no way.
    distances: [[Option<u8>; MAX_CELLS]; MAX_CELLS],
    code: u128,
}

/// The first `count` of `cells`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Neighbours {
    count: usize,
    cells: [Cell; MAX_CELLS - 1],
}

/// Every grid, by rows and then by columns.
static GRIDS: LazyLock<Vec<Shared<Layout>>> = LazyLock::new(|| {
    let sides = (1..=MAX_CELLS).flat_map(|rows| (1..=MAX_CELLS / rows).map(move |columns| (rows, columns)));
    sides
        .enumerate()
        .map(|(index, (rows, columns))| Shared::leaked(Layout::new_grid(index, rows, columns)))
        .collect()
});

/// The place of each grid in [`GRIDS`], by rows and columns.
static GRID_INDEX: LazyLock<[[Option<u8>; MAX_CELLS + 1]; MAX_CELLS + 1]> = LazyLock::new(|| {
    let mut places = [[None; MAX_CELLS + 1]; MAX_CELLS + 1];
    for grid in GRIDS.iter() {
        if let Shape::Grid { rows, columns, index } = grid.shape {
            places[usize::from(rows)][usize::from(columns)] = Some(index);
        }
    }
    places
});

impl Layout {
    /// The grid of so many rows and columns; each is made once and shared. `None`
    /// when a side is 0 or there would be more than [`MAX_CELLS`] cells.
    #[must_use]
    pub fn grid(rows: usize, columns: usize) -> Option<&'static Shared<Self>> {
        let index = (*GRID_INDEX.get(rows)?.get(columns)?)?;
        GRIDS.get(usize::from(index))
    }

    /// Every grid there is.
    pub fn grids() -> impl Iterator<Item = &'static Shared<Self>> {
        GRIDS.iter()
    }

    /// The layout of `cells` cells with these edges, of which each may be given more
    /// than once. `None` with no cell, more than [`MAX_CELLS`], an edge to a cell
    /// outside, or one from a cell to itself.
    #[must_use]
    pub fn graph(cells: usize, edges: &[(Cell, Cell)]) -> Option<Shared<Self>> {
        if !(1..=MAX_CELLS).contains(&cells) {
            return None;
        }
        let mut neighbours = vec![Vec::new(); cells];
        for &(a, b) in edges {
            if a == b || usize::from(a.max(b)) >= cells {
                return None;
            }
            neighbours[usize::from(a)].push(b);
            neighbours[usize::from(b)].push(a);
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Some(Shared::counted(Self::new(Shape::Graph, &neighbours)))
    }

    fn new_grid(index: usize, rows: usize, columns: usize) -> Self {
        let small = |number: usize| u8::try_from(number).expect("at most MAX_CELLS");
        let neighbours: Vec<Vec<Cell>> = (0..rows * columns)
            .map(|cell| {
                let (row, column) = (cell / columns, cell % columns);
                let steps = [
                    (row > 0, cell.wrapping_sub(columns)),
                    (row + 1 < rows, cell + columns),
                    (column > 0, cell.wrapping_sub(1)),
                    (column + 1 < columns, cell + 1),
                ];
                steps.into_iter().filter(|(inside, _)| *inside).map(|(_, to)| small(to)).collect()
            })
            .collect();
        Self::new(
            Shape::Grid { rows: small(rows), columns: small(columns), index: small(index) },
            &neighbours,
        )
    }

    fn new(shape: Shape, lists: &[Vec<Cell>]) -> Self {
        let mut neighbours = [Neighbours::default(); MAX_CELLS];
        let mut distances = [[None; MAX_CELLS]; MAX_CELLS];
        for (from, list) in lists.iter().enumerate() {
            neighbours[from].count = list.len();
            neighbours[from].cells[..list.len()].copy_from_slice(list);
            distances[from] = distances_from(from, lists);
        }
        Self { code: code(shape, lists), shape, cells: lists.len(), neighbours, distances }
    }

    /// What it is besides its adjacency.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How many cells it has.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The cells next to one, in the order of moves.
    #[must_use]
    pub fn neighbours(&self, cell: Cell) -> &[Cell] {
        let Neighbours { count, cells } = &self.neighbours[usize::from(cell)];
        &cells[..*count]
    }

    /// Those of the cells next to one that are among some.
    pub(super) fn neighbours_among(&self, cell: Cell, cells: &[Cell]) -> impl Iterator<Item = Cell> {
        self.neighbours(cell).iter().copied().filter(|next| cells.contains(next))
    }

    /// The fewest steps between two cells, `None` where there is no way.
    #[must_use]
    pub fn distance(&self, from: Cell, to: Cell) -> Option<u8> {
        self.distances[usize::from(from)][usize::from(to)]
    }

    /// Whether every cycle is even: no edge joins two cells that are as far from a third.
    #[must_use]
    pub fn is_bipartite(&self) -> bool {
        let cells = || (0..).take(self.cells);
        cells().all(|from| {
            let far = |cell| self.distance(from, cell);
            cells().all(|a| self.neighbours(a).iter().all(|&b| far(a).is_none() || far(a) != far(b)))
        })
    }

    /// A number that no other layout has: its whole description, not a hash. The
    /// low bits hold the sides of a grid, or one bit for each pair of cells of a
    /// graph; above them stand the number of cells and the kind.
    #[must_use]
    pub fn code(&self) -> u128 {
        self.code
    }

    /// Where the blank goes from a cell of a grid to a neighbour; `None` in a graph
    /// or between cells that are not adjacent.
    #[must_use]
    pub fn direction(&self, from: Cell, to: Cell) -> Option<Direction> {
        let Shape::Grid { columns, .. } = self.shape else { return None };
        if self.distance(from, to)? != 1 {
            return None;
        }
        Some(match (from / columns).cmp(&(to / columns)) {
            std::cmp::Ordering::Greater => Direction::Up,
            std::cmp::Ordering::Less => Direction::Down,
            std::cmp::Ordering::Equal if from > to => Direction::Left,
            std::cmp::Ordering::Equal => Direction::Right,
        })
    }

    /// The neighbour of a grid's cell in a direction, if there is one.
    #[must_use]
    pub fn step(&self, from: Cell, direction: Direction) -> Option<Cell> {
        self.neighbours(from).iter().copied().find(|&to| self.direction(from, to) == Some(direction))
    }
}

/// See [`Layout::code`].
fn code(shape: Shape, neighbours: &[Vec<Cell>]) -> u128 {
    let cells = (neighbours.len() as u128) << 120;
    match shape {
        Shape::Grid { rows, columns, .. } => cells | u128::from(rows) << 8 | u128::from(columns),
        Shape::Graph => {
            let pairs =
                (0..).zip(neighbours).flat_map(|(b, next)| (0..b).map(move |a: Cell| next.contains(&a)));
            let edges = pairs.enumerate().map(|(bit, adjacent)| u128::from(adjacent) << bit);
            1 << 127 | cells | edges.sum::<u128>()
        }
    }
}

fn distances_from(from: usize, neighbours: &[Vec<Cell>]) -> [Option<u8>; MAX_CELLS] {
    let mut distances = [None; MAX_CELLS];
    distances[from] = Some(0);
    let mut level = vec![from];
    for depth in 1.. {
        let mut next = Vec::new();
        for &to in level.iter().flat_map(|&cell| &neighbours[cell]) {
            let distance = &mut distances[usize::from(to)];
            if distance.is_none() {
                *distance = Some(depth);
                next.push(usize::from(to));
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    distances
}
