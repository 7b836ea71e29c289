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

/// How many bits are set of those between two cells, at most fourteen; in a grid of two rows or
/// more at most seven, a table that stays near.
static ONES: [u8; 1 << (MAX_CELLS - 2)] = {
    let (mut ones, mut bits) = ([0; 1 << (MAX_CELLS - 2)], 1);
    while bits < ones.len() {
        ones[bits] = ones[bits / 2] + if bits % 2 == 0 { 0 } else { 1 };
        bits += 1;
    }
    ones
};

/// The cells of a pattern's tiles, and their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// One bit for each cell.
    pub(super) cells: u16,
    /// The rank of the tiles' order among all orders.
    pub(super) order: u16,
}

/// All orders of some tiles.
#[derive(Debug)]
struct Orders {
    tiles: usize,
    /// The tiles' numbers within the pattern, in each order.
    lists: Vec<Vec<u8>>,
    /// By order, tile and passes (`reach` is none): the order once the tile has passed so many others.
    moved: Vec<u16>,
    /// The most tiles that one may pass in a step.
    reach: usize,
    /// Entries of `moved` for each tile, a power of two.
    stride: usize,
}

impl Orders {
    /// All orders of so many tiles, on a grid of so many columns: a step up or down passes
    /// at most the cells between.
    fn new(tiles: usize, columns: usize) -> Self {
        assert!(tiles <= MAX_PATTERN_TILES, "{tiles} tiles have too many orders");
        let reach = columns.min(tiles).saturating_sub(1);
        let stride = (2 * reach + 1).next_power_of_two();
        let mut lists = vec![Vec::new()];
        for _ in 0..tiles {
            let longer = |list: &Vec<u8>| -> Vec<Vec<u8>> {
                let left = (0..).take(tiles).filter(|tile| !list.contains(tile));
                left.map(|tile| [&list[..], &[tile]].concat()).collect()
            };
            lists = lists.iter().flat_map(longer).collect();
        }
        let mut moved = vec![0; lists.len() * tiles * stride];
        for (order, list) in lists.iter().enumerate() {
            for (place, &tile) in list.iter().enumerate() {
                let from = place.saturating_sub(reach);
                for to in from..tiles.min(place + reach + 1) {
                    let mut list = list.clone();
                    list.remove(place);
                    list.insert(to, tile);
                    moved[(order * tiles + usize::from(tile)) * stride + to + reach - place] = rank(&list);
                }
            }
        }
        Self { tiles, lists, moved, reach, stride }
    }

    /// How many there are.
    fn len(&self) -> usize {
        self.lists.len()
    }
}

/// The place of an order among all orders of its tiles, as they are listed.
fn rank(order: &[u8]) -> u16 {
    let smaller = |place: usize| order[place + 1..].iter().filter(|&&tile| tile < order[place]).count();
    let rank = (0..order.len()).fold(0, |rank, place| rank * (order.len() - place) + smaller(place));
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
}

impl Placements {
    /// The placements of some tiles, on a grid of so many columns.
    pub(super) fn new(layout: &Shared<Layout>, tiles: &[Tile], columns: usize) -> Self {
        let orders = Orders::new(tiles.len(), columns);
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
            orders,
            upper,
            lower,
            sets: vec![0; count.into()],
            rows: 0,
        };
        let all = u32::from(u16::MAX >> (MAX_CELLS - layout.cells()));
        for cells in (0..=all).filter(|cells| cells.count_ones() as usize == tiles.len()) {
            let cells = u16::try_from(cells).expect("at most sixteen cells");
            let (regions, count) = regions(layout, cells);
            assert!(count <= 1 << REGION_BITS, "regions are counted in {REGION_BITS} bits");
            let number = placements.number(cells);
            placements.sets[number] = regions << ROW_BITS | placements.rows as u64;
            placements.rows += count;
        }
        assert!(placements.rows < 1 << ROW_BITS, "rows are counted in {ROW_BITS} bits");
        placements
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.rows * self.orders.len()
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let Orders { lists, moved, .. } = &self.orders;
        let lists = lists.len() * (size_of::<Vec<u8>>() + self.tiles.len());
        size_of_val(&self.sets[..]) + size_of_val(&moved[..]) + lists
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
        Placement { cells, order: rank(&list) }
    }

    /// The tiles' numbers and the cells they stand on.
    pub(super) fn standing(&self, placement: Placement) -> impl Iterator<Item = (usize, Cell)> {
        let list = &self.orders.lists[usize::from(placement.order)];
        let cells = (0..16).filter(move |cell| placement.cells >> cell & 1 != 0);
        list.iter().map(|&number| usize::from(number)).zip(cells)
    }

    /// The place of a placement with the blank at a free cell.
    #[inline]
    pub(super) fn place(&self, placement: Placement, blank: Cell) -> usize {
        let set = self.set(placement.cells);
        let row = (set & ((1 << ROW_BITS) - 1)) + region(set, blank);
        usize::try_from(row).expect("16 bits and a few") * self.orders.len() + usize::from(placement.order)
    }

    /// The cells of the region that a free cell is in, a bit each.
    pub(super) fn region(&self, placement: Placement, blank: Cell) -> u16 {
        let set = self.set(placement.cells);
        let number = region(set, blank);
        let free = (0..).take(self.layout.cells()).filter(|&cell| region(set, cell) == number);
        free.fold(0_u16, |cells, cell| cells | 1 << cell) & !placement.cells
    }

    /// The placement once a tile has stepped from its cell to a free one next to it.
    #[inline]
    pub(super) fn stepped(&self, placement: Placement, number: usize, from: Cell, to: Cell) -> Placement {
        let (low, high) = if from < to { (from, to) } else { (to, from) };
        let between = usize::from(placement.cells >> (low + 1) & ((1 << (high - low - 1)) - 1));
        let passed = usize::from(ONES[between % ONES.len()]);
        let column = if from < to { self.orders.reach + passed } else { self.orders.reach - passed };
        let at = (usize::from(placement.order) * self.orders.tiles + number) * self.orders.stride + column;
        Placement { cells: placement.cells ^ (1 << from | 1 << to), order: self.orders.moved[at] }
    }

    fn number(&self, cells: u16) -> usize {
        let [upper, lower] = cells.to_be_bytes();
        usize::from(self.upper[usize::from(upper)] + self.lower[usize::from(lower)])
    }

    fn set(&self, cells: u16) -> u64 {
        self.sets[self.number(cells)]
    }
}

fn region(set: u64, cell: Cell) -> u64 {
    set >> (ROW_BITS + REGION_BITS * usize::from(cell)) & ((1 << REGION_BITS) - 1)
}

/// Whether the regions that so many tiles leave, or fewer, can be numbered.
pub(super) fn suits(layout: &Layout, tiles: usize) -> bool {
    let sets =
        (0..=u16::MAX >> (MAX_CELLS - layout.cells())).filter(|set| set.count_ones() as usize <= tiles);
    sets.map(|set| regions(layout, set).1).max() <= Some(1 << REGION_BITS)
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
