//! Boards that benches are made of: the same ones in every run.

use taquin::domain::sliding::{Instance, Layout, Setup, obstacle};

/// The numbers of `SplitMix64` (S. Vigna) from a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % end as u64).expect("below a usize")
    }
}

/// So many random boards of a square grid that can be brought to `goal`; of an empty one, 1, 2, ..., blank last.
pub(crate) fn random(count: usize, side: usize, goal: &[u32]) -> Vec<Instance> {
    let layout = Layout::grid(side, side).expect("at most sixteen cells");
    let mut random = Random(1379);
    let shuffled = std::iter::repeat_with(|| {
        let mut start: Vec<u32> = (0..).take(layout.cells()).collect();
        (1..start.len()).rev().for_each(|last| start.swap(last, random.below(last + 1)));
        Instance::try_from(Setup { layout, start: &start, goal }).expect("a permutation")
    });
    shuffled
        .filter(|board| obstacle(board.layout(), board.start(), board.goal()).is_none())
        .take(count)
        .collect()
}
