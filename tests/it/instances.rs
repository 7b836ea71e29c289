//! Instances, layouts and boards for tests that ask no server.

use std::collections::HashSet;

use taquin::domain::sliding::{Board, Instance, Layout, Position, Setup, Shared};

/// `n!` by `n`.
pub(crate) const FACTORIALS: [usize; 10] = [1, 1, 2, 6, 24, 120, 720, 5040, 40_320, 362_880];

/// Every arrangement of 0 to `cells - 1`, in lexicographic order.
pub(crate) fn permutations(cells: usize) -> impl Iterator<Item = Vec<u8>> {
    let first: Vec<u8> = (0..u8::try_from(cells).unwrap()).collect();
    std::iter::successors(Some(first), |tiles| {
        let mut next = tiles.clone();
        let pivot = next.windows(2).rposition(|pair| pair[0] < pair[1])?;
        let swap = next.iter().rposition(|tile| *tile > next[pivot])?;
        next.swap(pivot, swap);
        next[pivot + 1..].reverse();
        Some(next)
    })
}

/// A grid that is known to be one.
pub(crate) fn layout(rows: usize, columns: usize) -> &'static Shared<Layout> {
    Layout::grid(rows, columns).unwrap()
}

/// The grids of at most nine cells: their boards can be searched to the last one.
pub(crate) fn small_grids() -> impl Iterator<Item = &'static Shared<Layout>> {
    Layout::grids().filter(|grid| grid.cells() <= 9)
}

/// Every board that moves lead to, by nothing but the layout's cells.
pub(crate) fn reached(layout: &Layout, goal: Board) -> HashSet<Board> {
    let goal = Position::new(goal);
    let mut seen = HashSet::from([goal.board()]);
    let mut stack = vec![goal];
    while let Some(position) = stack.pop() {
        for &to in layout.neighbours(position.blank()) {
            let next = position.slid(to);
            if seen.insert(next.board()) {
                stack.push(next);
            }
        }
    }
    seen
}

/// A well-formed instance.
pub(crate) fn instance(rows: usize, columns: usize, start: &[u8], goal: &[u8]) -> Instance {
    let wide = |tiles: &[u8]| tiles.iter().copied().map(u32::from).collect::<Vec<_>>();
    Instance::try_from(Setup { layout: layout(rows, columns), start: &wide(start), goal: &wide(goal) })
        .unwrap()
}

/// Numbers that look random and are the same in every run (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize;
        high % bound
    }

    pub(crate) fn permutation(&mut self, cells: usize) -> Vec<u8> {
        let mut tiles: Vec<u8> = (0..u8::try_from(cells).unwrap()).collect();
        for cell in (1..cells).rev() {
            tiles.swap(cell, self.below(cell + 1));
        }
        tiles
    }
}
