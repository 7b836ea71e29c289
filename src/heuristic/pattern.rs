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

use super::placement::{Placement, Placements};
use crate::domain::sliding::{Board, Cell, Layout, Shared, Tile};
use crate::search::{Budget, Stop};
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

/// A placement and where the blank is: a state of the search that fills a table.
#[derive(Clone, Copy)]
struct State(Placement, Cell);

impl PatternTable {
    /// The table of some tiles for a goal, on a grid of so many columns.
    ///
    /// # Errors
    /// The budget's [`Stop`]; a placement counts as a state expanded.
    pub(super) fn new(
        layout: &Shared<Layout>,
        tiles: &[Tile],
        columns: usize,
        goal: Board,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let placements = Placements::new(layout, tiles, columns);
        let root = State(placements.of(goal), goal.cell_of(0));
        let words = placements.len().div_ceil(64);
        let mut table = Self {
            goal: placements.place(root.0, root.1),
            homes: tiles.iter().map(|&tile| goal.cell_of(tile)).collect(),
            placements,
            bits: vec![0; words],
        };
        table.fill(root, budget)?;
        Ok(table)
    }

    /// Breadth-first from the goal: a move of a tile costs one, the blank's way in its region nothing.
    fn fill(&mut self, root: State, budget: &mut Budget) -> Result<(), Stop> {
        let mut seen = vec![0_u64; self.bits.len()];
        set(&mut seen, self.goal);
        let mut level = vec![root];
        for value in 1_u32.. {
            let mut next = Vec::new();
            for &state in &level {
                budget.expand()?;
                self.for_each_step(state, |state, place| {
                    if !is_set(&seen, place) {
                        set(&mut seen, place);
                        next.push((state, place));
                    }
                });
            }
            if value & 2 != 0 {
                for &(_, place) in &next {
                    set(&mut self.bits, place);
                }
            }
            level = next.into_iter().map(|(state, _)| state).collect();
            if level.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Every step of a tile into the blank's region, and the place it leads to.
    fn for_each_step(&self, State(placement, blank): State, mut visit: impl FnMut(State, usize)) {
        let region = self.placements.region(placement, blank);
        for (number, from) in self.placements.standing(placement) {
            for &to in self.placements.layout().neighbours(from) {
                if region >> to & 1 != 0 {
                    let stepped = self.placements.stepped(placement, number, from, to);
                    visit(State(stepped, from), self.placements.place(stepped, from));
                }
            }
        }
    }

    /// The pattern's tiles in order.
    pub(super) fn tiles(&self) -> &[Tile] {
        self.placements.tiles()
    }

    /// Where the tiles of a board stand, and the value there.
    pub(super) fn look_up(&self, board: Board) -> (Placement, u8) {
        let placement = self.placements.of(board);
        let mut state = State(placement, board.cell_of(0));
        let mut place = self.placements.place(state.0, state.1);
        let mut low = self.parity(placement) | self.bit(place) << 1;
        let mut value = 0;
        // Down to the goal, a value lower with each step: it is known but for multiples of four.
        while place != self.goal {
            let wanted = low.wrapping_sub(1) & 3;
            let mut lower = None;
            self.for_each_step(state, |next, place| {
                if self.bit(place) << 1 == wanted & 2 {
                    lower = Some((next, place));
                }
            });
            (state, place) = lower.expect("a place above the goal has one a step below it");
            low = wanted;
            value += 1;
        }
        (placement, value)
    }

    /// The placement and the value once a tile has stepped from its cell into the blank's.
    #[inline]
    pub(super) fn follow(
        &self,
        (placement, value): (Placement, u8),
        number: usize,
        from: Cell,
        to: Cell,
    ) -> (Placement, u8) {
        let stepped = self.placements.stepped(placement, number, from, to);
        let up = value + 1;
        let bit = self.bit(self.placements.place(stepped, from));
        // One below 0 has the second bit of three, so at 0 it is always one up.
        (stepped, if up >> 1 & 1 == bit { up } else { value - 1 })
    }

    fn bit(&self, place: usize) -> u8 {
        u8::from(is_set(&self.bits, place))
    }

    /// Whether the tiles' way home is odd.
    fn parity(&self, placement: Placement) -> u8 {
        let layout = self.placements.layout();
        let way = |(number, cell)| layout.distance(cell, self.homes[number]).map_or(0, Cost::from);
        u8::from(self.placements.standing(placement).map(way).sum::<Cost>() % 2 == 1)
    }

    /// The cells of its layout.
    pub(super) fn cells(&self) -> usize {
        self.placements.layout().cells()
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.bits[..]) + self.placements.bytes()
    }
}

fn is_set(bits: &[u64], place: usize) -> bool {
    bits[place / 64] >> (place % 64) & 1 != 0
}

fn set(bits: &mut [u64], place: usize) {
    bits[place / 64] |= 1 << (place % 64);
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use super::*;
    use crate::domain::sliding::MAX_CELLS;

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
            check(Layout::grid(rows, columns).unwrap(), columns, blank, tiles);
        }
        // A cycle of even length with a chord, its neighbours far from each other by number.
        let cycle = (0..12).map(|cell| (cell * 5 % 12, (cell + 1) * 5 % 12)).chain([(0, 3)]);
        check(&Layout::graph(12, &cycle.collect::<Vec<_>>()).unwrap(), MAX_CELLS, 4, &[1, 6, 11]);
        // Every cell of one side beside every one of the other; and a cell beside none.
        let sides = (0..5).flat_map(|a| (5..10).map(move |b| (a, b)));
        check(&Layout::graph(11, &sides.collect::<Vec<_>>()).unwrap(), MAX_CELLS, 2, &[1, 3, 4, 9]);
    }

    fn check(layout: &Shared<Layout>, columns: usize, blank: Cell, tiles: &[Tile]) {
        let goal = Board::standard(layout.cells(), blank);
        let table = PatternTable::new(layout, tiles, columns, goal, &mut Budget::unlimited()).unwrap();
        let values = values(layout, tiles, goal);
        assert!(values.len() > 1000);
        for (board, value) in values {
            assert_eq!(table.look_up(Board::new(&board)).1, value, "{board:?}");
        }
    }
}
