//! A pattern database: for each placement of a pattern's tiles, and each region of the
//! blank, how many moves *of these tiles* it takes to bring them to their places
//! (J. C. Culberson and J. Schaeffer, 1998; R. E. Korf and A. Felner, "Disjoint pattern
//! database heuristics", 2002). Moves of other tiles count nothing, so the values of
//! patterns that share no tile may be added.
//!
//! One bit a place: every move of one of its tiles changes the value by exactly one, up
//! or down (on a bipartite layout it has the parity of the tiles' way, and a move can be
//! taken back), so who knows the value before a move needs but the second bit of the one
//! after it. The value to begin with is found by walking down to the goal.

use std::sync::Arc;

use super::pattern_fill::fill;
use super::placement::{Placement, Placements, Step};
use crate::domain::sliding::{Board, Cell, Layout, Shared, Tile};
use crate::search::{Limits, Stop};
use crate::space::Cost;

/// See the module.
#[derive(Debug)]
pub(super) struct PatternTable {
    placements: Placements,
    /// The goal's place.
    goal: usize,
    /// Where the goal has each tile.
    homes: Vec<Cell>,
    /// The second bit of the value of each place.
    bits: Vec<u64>,
}

impl PatternTable {
    /// The table of some tiles for a goal; `filled` is told how many places each value has.
    ///
    /// # Errors
    /// The limits' [`Stop`].
    pub(super) fn new(
        layout: &Shared<Layout>,
        tiles: &[Tile],
        goal: Board,
        limits: &Arc<Limits>,
        filled: &(dyn Fn(u64) + Sync),
    ) -> Result<Self, Stop> {
        let table = Self::empty(layout, tiles, goal);
        let bits = fill(&table.placements, table.goal, limits, filled)?;
        Ok(Self { bits, ..table })
    }

    /// The table without its bits.
    pub(super) fn empty(layout: &Shared<Layout>, tiles: &[Tile], goal: Board) -> Self {
        let placements = Placements::new(layout, tiles);
        Self {
            goal: placements.place(placements.of(goal), goal.cell_of(0)),
            homes: tiles.iter().map(|&tile| goal.cell_of(tile)).collect(),
            placements,
            bits: Vec::new(),
        }
    }

    /// The table with the bits that it was found to have.
    pub(super) fn with(self, bits: Vec<u64>) -> Self {
        assert_eq!(bits.len(), self.words(), "not the bits of this table");
        Self { bits, ..self }
    }

    /// Words that its bits take.
    pub(super) fn words(&self) -> usize {
        self.placements.len() / 64
    }

    pub(super) fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// Places that have a value.
    pub(super) fn places(&self) -> u64 {
        self.placements.reachable() as u64
    }

    /// The pattern's tiles in order.
    pub(super) fn tiles(&self) -> &[Tile] {
        self.placements.tiles()
    }

    /// Where the tiles of a board stand, and the value there.
    pub(super) fn look_up(&self, board: Board) -> (Placement, u8) {
        let start = self.placements.of(board);
        let (mut placement, mut blank) = (start, board.cell_of(0));
        let mut low = self.parity(placement) | self.bit(self.placements.place(placement, blank)) << 1;
        let mut value = 0;
        // Down to the goal, a value lower with each step: it is known but for multiples of four.
        while self.placements.place(placement, blank) != self.goal {
            low = low.wrapping_sub(1) & 3;
            let region = self.placements.region(placement.cells, blank);
            let below = |&(from, to): &(Cell, Cell)| {
                self.bit(self.placements.place(placement.stepped(Step::new(from, to)), from)) == low >> 1
            };
            let mut steps = self.placements.steps(placement.cells, region);
            let (from, to) = steps.find(below).expect("a place above the goal has one a step below it");
            (placement, blank) = (placement.stepped(Step::new(from, to)), from);
            value += 1;
        }
        (start, value)
    }

    /// The place of a placement with the blank at a free cell.
    #[inline]
    pub(super) fn place(&self, placement: Placement, blank: Cell) -> usize {
        self.placements.place(placement, blank)
    }

    /// The second bit of the value of a place.
    #[inline]
    pub(super) fn bit(&self, place: usize) -> u8 {
        (self.bits[place / 64] >> (place % 64) & 1) as u8
    }

    /// Whether the tiles' way home is odd.
    fn parity(&self, placement: Placement) -> u8 {
        let layout = self.placements.layout();
        let way = |(number, cell)| layout.distance(cell, self.homes[number]).map_or(0, Cost::from);
        u8::from(placement.standing().map(way).sum::<Cost>() % 2 == 1)
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.bits[..]) + self.placements.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use super::*;

    /// The moves of a pattern's tiles from every placement and every cell of the blank, by a search that
    /// knows no regions and no ranks: tiles of the pattern where they stand, all others 15.
    fn values(layout: &Layout, tiles: &[Tile], goal: Board) -> HashMap<Vec<Tile>, u8> {
        let seen = |tile: Tile| if tile == 0 || tiles.contains(&tile) { tile } else { 15 };
        let root: Vec<Tile> = goal.tiles(layout.cells()).map(seen).collect();
        let mut values = HashMap::from([(root.clone(), 0)]);
        let mut open = VecDeque::from([(root, 0)]);
        while let Some((board, value)) = open.pop_front() {
            if values[&board] < value {
                continue;
            }
            let blank = board.iter().position(|&tile| tile == 0).unwrap();
            for &next in layout.neighbours(u8::try_from(blank).unwrap()) {
                let mut moved = board.clone();
                moved.swap(blank, next.into());
                let costs = u8::from(moved[blank] != 15);
                if values.get(&moved).is_none_or(|&known| known > value + costs) {
                    values.insert(moved.clone(), value + costs);
                    let end = if costs == 0 { VecDeque::push_front } else { VecDeque::push_back };
                    end(&mut open, (moved, value + costs));
                }
            }
        }
        values
    }

    #[test]
    fn entries_are_those_of_a_search_of_all_placements() {
        for (rows, columns, blank, tiles) in [
            (2, 5, 0, &[1, 2, 6][..]),
            (2, 5, 3, &[4, 7, 8, 9]),
            (3, 4, 5, &[1, 5, 11]),
            (4, 4, 0, &[1, 4, 14]),
        ] {
            check(Layout::grid(rows, columns).unwrap(), blank, tiles);
        }
        // A cycle of even length with a chord, its neighbours far from each other by number.
        let cycle = (0..12).map(|cell| (cell * 5 % 12, (cell + 1) * 5 % 12)).chain([(0, 3)]);
        check(&Layout::graph(12, &cycle.collect::<Vec<_>>()).unwrap(), 4, &[1, 6, 11]);
        // Every cell of one side beside every one of the other; and a cell beside none.
        let sides = (0..5).flat_map(|a| (5..10).map(move |b| (a, b)));
        check(&Layout::graph(11, &sides.collect::<Vec<_>>()).unwrap(), 2, &[1, 3, 4, 9]);
    }

    fn check(layout: &Shared<Layout>, blank: Cell, tiles: &[Tile]) {
        let goal = Board::standard(layout.cells(), blank);
        let limits = Arc::new(Limits::unlimited());
        let table = PatternTable::new(layout, tiles, goal, &limits, &|_| ()).unwrap();
        let values = values(layout, tiles, goal);
        assert!(values.len() > 1000);
        for (board, value) in values {
            assert_eq!(table.look_up(Board::new(&board)).1, value, "{board:?}");
        }
    }
}
