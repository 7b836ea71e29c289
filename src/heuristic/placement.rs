//! Where the tiles of a pattern may stand, in what order and with the blank in which
//! part of the board, each counted from 0 ("rank"). It knows no distances.
//!
//! A *pattern* is a set of tiles; all others look alike. A *placement* is the set of
//! cells its tiles stand on, and the order in which they stand there. The cells that it
//! leaves free fall into *regions* in which the blank goes about without moving a tile
//! of the pattern; so blanks of one region count as one.
//!
//! Places are counted set by set of cells, region by region, order by order: those that
//! differ by a tile's step along a row lie far apart, but they are found by a look at two
//! small tables and one product.

use crate::domain::sliding::{Board, Cell, Layout, MAX_CELLS, Shared, Tile};

/// The most tiles of a pattern: their orders are counted in 16 bits.
pub(super) const MAX_PATTERN_TILES: usize = 8;
/// The number of a region takes so many bits; there are at most eight, one free cell each.
const REGION_BITS: usize = 3;
/// Above so many bits of a set's entry stand the regions of its cells; below, its first row.
const ROW_BITS: usize = 16;

/// An order holds so many bits for each tile.
const TILE_BITS: u8 = 3;

/// How many bits are set.
#[inline]
fn ones(bits: u16) -> u8 {
    let [upper, lower] = bits.to_be_bytes();
    ONES[usize::from(upper)] + ONES[usize::from(lower)]
}

/// How many bits of a byte are set.
static ONES: [u8; 256] = {
    let (mut ones, mut byte) = ([0; 256], 0_u8);
    loop {
        // A byte has one bit set more than its half, if it is odd.
        ones[byte as usize] = ones[byte as usize / 2] + (byte & 1);
        if byte == 255 {
            break ones;
        }
        byte += 1;
    }
};

/// The cells of a pattern's tiles, and their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// One bit for each cell.
    pub(super) cells: u16,
    /// The tiles' numbers within the pattern, cell by cell, the first in the lowest [`TILE_BITS`].
    pub(super) order: u32,
}

/// A tile's step from a cell to one next to it, wherever the others stand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// The cells before both, a bit each.
    before: u16,
    /// The cells between both, a bit each.
    between: u16,
    /// Both.
    ends: u16,
    /// The cell it leaves, for the blank.
    from: Cell,
    /// Whether it goes to the later one.
    ahead: bool,
}

/// What a step of a tile does to the order: the tile passes others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Turn {
    /// Bits before those that change, and bits of the tiles that are passed.
    before: u8,
    passed: u8,
    /// Whether it goes behind them.
    ahead: bool,
}

impl Step {
    /// The step between two cells.
    pub(super) fn new(from: Cell, to: Cell) -> Self {
        let (low, high) = (from.min(to), from.max(to));
        Self {
            before: (1 << low) - 1,
            between: ((1 << (high - low - 1)) - 1) << (low + 1),
            ends: 1 << low | 1 << high,
            from,
            ahead: from < to,
        }
    }

    /// The cell it leaves.
    pub(super) fn from(self) -> Cell {
        self.from
    }

    /// What it does to the order of tiles on some cells.
    #[inline]
    pub(super) fn turn(self, cells: u16) -> Turn {
        let bits = |of: u16| TILE_BITS * ones(cells & of);
        Turn { before: bits(self.before), passed: bits(self.between), ahead: self.ahead }
    }
}

impl Turn {
    /// The order after it.
    #[inline]
    pub(super) fn turned(self, order: u32) -> u32 {
        let mask = (1 << (self.passed + TILE_BITS)) - 1;
        let part = order >> self.before & mask;
        let behind = part >> TILE_BITS | part << self.passed & mask;
        let before = part >> self.passed | part << TILE_BITS & mask;
        order ^ (part ^ if self.ahead { behind } else { before }) << self.before
    }

    /// Whether nothing is passed.
    pub(super) fn is_none(self) -> bool {
        self.passed == 0
    }
}

impl Placement {
    /// The placement once a tile has made a step to a free cell.
    #[inline]
    pub(super) fn stepped(self, step: Step) -> Self {
        Self { cells: self.cells ^ step.ends, order: step.turn(self.cells).turned(self.order) }
    }

    /// The tiles' numbers and the cells they stand on.
    pub(super) fn standing(self) -> impl Iterator<Item = (usize, Cell)> {
        let cells = (0..16).filter(move |cell| self.cells >> cell & 1 != 0);
        cells.enumerate().map(move |(place, cell)| (number(self.order, place), cell))
    }
}

/// The tile at a place of an order.
fn number(order: u32, place: usize) -> usize {
    (order >> (place * usize::from(TILE_BITS)) & 7) as usize
}

/// Tiles in an order, as it is packed.
fn packed(tiles: &[u8]) -> u32 {
    tiles.iter().rev().fold(0, |order, &tile| order << TILE_BITS | u32::from(tile))
}

/// The most tiles of half an order.
const HALF: usize = MAX_PATTERN_TILES / 2;
/// Bits of half an order.
const HALF_BITS: usize = HALF * TILE_BITS as usize;

/// A number for each half of an order.
type Ranks = [u16; 1 << HALF_BITS];

/// All orders of some tiles.
#[derive(Debug)]
struct Orders {
    tiles: usize,
    /// The rank of an order is that of its first half plus that of the rest.
    heads: Box<Ranks>,
    tails: Box<Ranks>,
}

impl Orders {
    fn new(tiles: usize) -> Self {
        assert!(tiles <= MAX_PATTERN_TILES, "{tiles} tiles have too many orders");
        let room = || Box::new([0; 1 << HALF_BITS]);
        let (mut heads, mut tails) = (room(), room());
        let head = tiles.min(HALF);
        for list in lists(tiles, head) {
            let others = (0..).take(tiles).filter(|tile| !list.contains(tile));
            let first = list.iter().copied().chain(others).collect::<Vec<u8>>();
            heads[packed(&list) as usize] = rank(&first);
        }
        for list in lists(tiles, tiles - head) {
            tails[packed(&list) as usize] = rank(&list);
        }
        Self { tiles, heads, tails }
    }

    /// How many there are.
    fn len(&self) -> usize {
        (1..=self.tiles).product()
    }

    #[inline]
    fn rank(&self, order: u32) -> u16 {
        let (head, tail) = (order as usize % (1 << HALF_BITS), order as usize >> HALF_BITS);
        self.heads[head] + self.tails[tail % (1 << HALF_BITS)]
    }
}

/// All lists of some of so many tiles, none twice, the smallest first.
fn lists(tiles: usize, length: usize) -> Vec<Vec<u8>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..length {
        let longer = |list: &Vec<u8>| -> Vec<Vec<u8>> {
            let left = (0..).take(tiles).filter(|tile| !list.contains(tile));
            left.map(|tile| [&list[..], &[tile]].concat()).collect()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

/// The place of a list among all orders of its tiles, the smallest first.
fn rank(list: &[u8]) -> u16 {
    let smaller = |place: usize| list[place + 1..].iter().filter(|&&tile| tile < list[place]).count();
    let rank = (0..list.len()).fold(0, |rank, place| rank * (list.len() - place) + smaller(place));
    u16::try_from(rank).expect("eight tiles have 40,320 orders")
}

/// See the module.
#[derive(Debug)]
pub(super) struct Placements {
    layout: Shared<Layout>,
    tiles: Vec<Tile>,
    orders: Orders,
    /// The number of a set of cells is that of its upper eight plus that of its lower eight.
    upper: [u16; 256],
    lower: [u16; 256],
    /// By a set's number: its first row, and the region of each cell.
    sets: Vec<u64>,
    rows: usize,
    /// Places of a row: the orders, and as many more as fill its last word.
    width: usize,
}

impl Placements {
    /// The placements of some tiles.
    pub(super) fn new(layout: &Shared<Layout>, tiles: &[Tile]) -> Self {
        let orders = Orders::new(tiles.len());
        let (mut upper, mut lower, mut of_size) = ([0_u16; 256], [0_u16; 256], [0_u16; 9]);
        for (byte, number) in (0_u8..=255).zip(&mut lower) {
            let size = &mut of_size[byte.count_ones() as usize];
            *number = *size;
            *size += 1;
        }
        let mut count = 0_u16;
        for (byte, number) in (0_u8..=255).zip(&mut upper) {
            *number = count;
            let rest = tiles.len().checked_sub(byte.count_ones() as usize);
            count += rest.and_then(|rest| of_size.get(rest)).copied().unwrap_or(0);
        }
        let mut placements = Self {
            layout: layout.clone(),
            tiles: tiles.to_vec(),
            width: orders.len().next_multiple_of(64),
            orders,
            upper,
            lower,
            sets: vec![0; count.into()],
            rows: 0,
        };
        for cells in sets(layout, tiles.len()) {
            let (regions, count) = regions(layout, cells);
            assert!(count <= 1 << REGION_BITS, "regions are counted in {REGION_BITS} bits");
            let number = placements.number(cells);
            placements.sets[number] = regions << ROW_BITS | placements.rows as u64;
            placements.rows += count;
        }
        assert!(placements.rows < 1 << ROW_BITS, "rows are counted in {ROW_BITS} bits");
        placements
    }

    /// The cells of the tiles and those of the blank, of every row.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u16, u16)> {
        sets(&self.layout, self.tiles.len()).flat_map(move |cells| {
            let (regions, count) = regions(&self.layout, cells);
            let free = move |number: usize| {
                let cells = (0..).take(self.layout.cells()).filter(move |&cell| cells >> cell & 1 == 0);
                let of_region = cells.filter(move |&cell| region(regions << ROW_BITS, cell) == number as u64);
                of_region.fold(0, |cells, cell| cells | 1 << cell)
            };
            (0..count).map(move |number| (cells, free(number)))
        })
    }

    /// How many places a row has, a multiple of 64.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.rows * self.width
    }

    /// Places that stand for something: the others only fill words.
    pub(super) fn reachable(&self) -> usize {
        self.rows * self.orders.len()
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.sets[..])
            + size_of_val(&self.orders.heads[..])
            + size_of_val(&self.orders.tails[..])
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The pattern's tiles in order.
    pub(super) fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Where the tiles of a board stand.
    pub(super) fn of(&self, board: Board) -> Placement {
        let (mut cells, mut list) = (0, Vec::with_capacity(self.tiles.len()));
        for (cell, tile) in board.tiles(self.layout.cells()).enumerate() {
            if let Some(number) = self.tiles.iter().position(|&of_pattern| of_pattern == tile) {
                cells |= 1 << cell;
                list.push(u8::try_from(number).expect("at most eight tiles"));
            }
        }
        Placement { cells, order: packed(&list) }
    }

    /// Every order of the tiles by its rank.
    pub(super) fn orders(&self) -> impl Iterator<Item = u32> {
        lists(self.tiles.len(), self.tiles.len()).into_iter().map(|list| packed(&list))
    }

    /// The rank of an order.
    pub(super) fn rank(&self, order: u32) -> u16 {
        self.orders.rank(order)
    }

    /// The steps of a tile into a region, from cell to cell.
    pub(super) fn steps(&self, cells: u16, region: u16) -> impl Iterator<Item = (Cell, Cell)> {
        let standing = (0..16).filter(move |cell| cells >> cell & 1 != 0);
        standing.flat_map(move |from| {
            let free = self.layout.neighbours(from).iter().filter(move |&&to| region >> to & 1 != 0);
            free.map(move |&to| (from, to))
        })
    }

    /// The row of some cells with the blank at a free one.
    #[inline]
    pub(super) fn row(&self, cells: u16, blank: Cell) -> usize {
        let set = self.set(cells);
        usize::try_from((set & ((1 << ROW_BITS) - 1)) + region(set, blank)).expect("16 bits and a few")
    }

    /// The place of a placement with the blank at a free cell.
    #[inline]
    pub(super) fn place(&self, placement: Placement, blank: Cell) -> usize {
        self.row(placement.cells, blank) * self.width + usize::from(self.orders.rank(placement.order))
    }

    /// The cells of the region that a free cell is in, a bit each.
    pub(super) fn region(&self, cells: u16, blank: Cell) -> u16 {
        let set = self.set(cells);
        let number = region(set, blank);
        let free = (0..).take(self.layout.cells()).filter(|&cell| region(set, cell) == number);
        free.fold(0_u16, |cells, cell| cells | 1 << cell) & !cells
    }

    fn number(&self, cells: u16) -> usize {
        let [upper, lower] = cells.to_be_bytes();
        usize::from(self.upper[usize::from(upper)] + self.lower[usize::from(lower)])
    }

    fn set(&self, cells: u16) -> u64 {
        self.sets[self.number(cells)]
    }
}

/// Every set of so many cells, the smallest first.
fn sets(layout: &Layout, tiles: usize) -> impl Iterator<Item = u16> {
    let all = u16::MAX >> (MAX_CELLS - layout.cells());
    (0..=all).filter(move |cells| cells.count_ones() as usize == tiles)
}

fn region(set: u64, cell: Cell) -> u64 {
    set >> (ROW_BITS + REGION_BITS * usize::from(cell)) & ((1 << REGION_BITS) - 1)
}

/// Whether the regions that so many tiles leave, or fewer, can be numbered.
pub(super) fn suits(layout: &Layout, tiles: usize) -> bool {
    let most = (0..=tiles).flat_map(|tiles| sets(layout, tiles)).map(|cells| regions(layout, cells).1).max();
    most <= Some(1 << REGION_BITS)
}

/// The regions of the cells outside a set, in [`REGION_BITS`] each, and how many there are.
fn regions(layout: &Layout, cells: u16) -> (u64, usize) {
    let (mut seen, mut regions, mut count) = (cells, 0, 0);
    for first in (0..).take(layout.cells()) {
        if seen >> first & 1 != 0 {
            continue;
        }
        seen |= 1 << first;
        let mut stack = vec![first];
        while let Some(cell) = stack.pop() {
            regions |= count << (REGION_BITS * usize::from(cell));
            for &next in layout.neighbours(cell) {
                if seen >> next & 1 == 0 {
                    seen |= 1 << next;
                    stack.push(next);
                }
            }
        }
        count += 1;
    }
    (regions, usize::try_from(count).expect("at most sixteen"))
}
