//! The biconnected blocks of a graph, and which rearrangements one blank can make in each
//! of them. It knows no boards.
//!
//! A *block* is an edge that is on no cycle, or as many cycles as hang together by more
//! than a vertex. Blocks share cut vertices alone, so from where the blank is each has one
//! *gate*, by which the blank comes in and leaves. A walk that is taken back undoes itself;
//! so all that the blank's ways home do is done block by block, between entering by the
//! gate and leaving there, and the tiles on its way to the gate stand afterwards as before.
//! What can be made of a board with the blank at home is therefore, independently in each
//! block, what can be made of the tiles beside its gate (D. Kornhauser, G. Miller and
//! P. Spirakis, "Coordinating pebble motion on graphs", 1984), and that is known: R. M.
//! Wilson, "Graph puzzles, homotopy, and the alternating group" (1974).

use super::{Cell, Layout, MAX_CELLS, theta};

/// See the module.
#[derive(Debug)]
pub(super) struct Block {
    /// The gate, then all others; of a cycle in its order.
    cells: Vec<Cell>,
    pub(super) group: Group,
}

/// What the blank can make of the tiles of a block while it begins and ends at the gate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// The one tile of an edge stays.
    Trivial,
    /// The tiles of a cycle keep their order around it.
    Cyclic,
    /// Where every cycle is even, every even permutation.
    Alternating,
    /// Those of θ₀.
    Theta(theta::Theta),
    /// Every permutation.
    Symmetric,
}

impl Block {
    fn new(layout: &Layout, mut cells: Vec<Cell>) -> Self {
        let degree = |cell: &Cell| layout.neighbours_among(*cell, &cells).count();
        let group = if cells.len() == 2 {
            Group::Trivial
        } else if cells.iter().all(|cell| degree(cell) == 2) {
            cells = around(layout, &cells);
            Group::Cyclic
        } else if is_bipartite(layout, &cells) {
            Group::Alternating
        } else if let Some(theta) = theta::recognise(layout, &cells) {
            Group::Theta(theta)
        } else {
            Group::Symmetric
        };
        Self { cells, group }
    }

    /// Where the blank comes in and leaves.
    pub(super) fn gate(&self) -> Cell {
        self.cells[0]
    }

    /// Its cells but the gate.
    pub(super) fn beside_gate(&self) -> &[Cell] {
        &self.cells[1..]
    }
}

/// The blocks of a cell's component, each seen from this cell: Hopcroft and Tarjan's
/// depth-first search ("Efficient algorithms for graph manipulation", 1973).
pub(super) fn blocks(layout: &Layout, home: Cell) -> Vec<Block> {
    let mut search =
        Search { layout, entered: [0; MAX_CELLS], count: 0, open: Vec::new(), blocks: Vec::new() };
    search.enter(home);
    search.blocks
}

struct Search<'l> {
    layout: &'l Layout,
    /// When each cell was entered, from 1; 0 before.
    entered: [usize; MAX_CELLS],
    count: usize,
    /// Cells whose block is not complete.
    open: Vec<Cell>,
    blocks: Vec<Block>,
}

impl Search<'_> {
    /// Searches on from a cell, and returns when the first cell was entered that an edge leads back to.
    fn enter(&mut self, cell: Cell) -> usize {
        self.count += 1;
        self.entered[usize::from(cell)] = self.count;
        let (begun, mut least) = (self.count, self.count);
        for &next in self.layout.neighbours(cell) {
            let entered = self.entered[usize::from(next)];
            if entered != 0 {
                least = least.min(entered);
                continue;
            }
            let from = self.open.len();
            self.open.push(next);
            let back = self.enter(next);
            least = least.min(back);
            // Nothing behind leads past this cell: it is the gate.
            if back >= begun {
                let cells = std::iter::once(cell).chain(self.open.drain(from..)).collect();
                self.blocks.push(Block::new(self.layout, cells));
            }
        }
        least
    }
}

/// The cells of a cycle in its order, from the first of them.
fn around(layout: &Layout, cells: &[Cell]) -> Vec<Cell> {
    let mut ring = vec![cells[0]];
    while let Some(next) =
        layout.neighbours_among(ring[ring.len() - 1], cells).find(|cell| !ring.contains(cell))
    {
        ring.push(next);
    }
    ring
}

/// Whether the cells of a block fall into two colours; ways as short as any stay in the block.
fn is_bipartite(layout: &Layout, cells: &[Cell]) -> bool {
    let colour = |cell| layout.distance(cells[0], cell).map(|distance| distance % 2);
    cells.iter().all(|&cell| layout.neighbours_among(cell, cells).all(|next| colour(next) != colour(cell)))
}
