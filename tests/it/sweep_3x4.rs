//! All 239,500,800 boards of 3x4 that reach the goal, level by level: three minutes and less than 1 GB,
//! so only when asked for (`cargo test --test it -- --ignored sweep_3x4`).

use std::sync::Arc;

use taquin::domain::sliding::{Board, Position, WideSpace, rank, unrank};
use taquin::heuristic::{LinearConflict, PatternSet, PatternSum};
use taquin::search::{Budget, Limits, a_star, bidirectional, ida_star};
use taquin::space::{Cost, Guide, StateSpace};

use crate::instances::{Random, layout};

const CELLS: usize = 12;
/// 12! boards, a bit each.
const WORDS: usize = 479_001_600 / 64;

/// A set of boards by their ranks.
struct Boards(Vec<u64>);

impl Boards {
    fn new() -> Self {
        Self(vec![0; WORDS])
    }

    fn insert(&mut self, board: Board) {
        let rank = rank(board, CELLS);
        self.0[rank as usize / 64] |= 1 << (rank % 64);
    }

    fn for_each(&self, mut visit: impl FnMut(Board)) {
        for (word, &bits) in (0..).zip(&self.0) {
            let mut bits = bits;
            while bits != 0 {
                visit(unrank(64 * word + bits.trailing_zeros(), CELLS));
                bits &= bits - 1;
            }
        }
    }
}

/// How many boards there are at each distance from the goal, and so many of each at random.
fn sweep(space: &WideSpace, goal: Board, of_each: usize) -> (Vec<u64>, Vec<(Board, Cost)>) {
    let (mut seen, mut level) = (Boards::new(), Boards::new());
    level.insert(goal);
    let (mut counts, mut sample, mut random) = (Vec::new(), Vec::new(), Random::new(12));
    for depth in 0.. {
        let (mut next, mut count, mut drawn) = (Boards::new(), 0_usize, Vec::new());
        level.for_each(|board| {
            count += 1;
            // Each replaces another with a chance that falls: a sample of the whole level.
            let place = random.below(count);
            if drawn.len() < of_each {
                drawn.push((board, depth));
            } else if place < of_each {
                drawn[place] = (board, depth);
            }
            let position = Position::new(board);
            for to in space.actions(&position) {
                next.insert(position.slid(to).board());
            }
        });
        if count == 0 {
            break;
        }
        counts.push(count as u64);
        sample.extend(drawn);
        for ((next, seen), level) in next.0.iter_mut().zip(&mut seen.0).zip(&level.0) {
            *seen |= level;
            *next &= !*seen;
        }
        level = next;
    }
    (counts, sample)
}

#[test]
#[ignore = "three minutes and less than 1 GB"]
fn depth_counts_are_golden_and_every_search_agrees_with_a_sample() {
    let space = WideSpace::new(layout(3, 4).clone());
    let goal = Board::standard(CELLS, 11);
    let (counts, sample) = sweep(&space, goal, 2);
    let golden = include_str!("../data/depth_distributions.txt");
    let line = golden.lines().find(|line| line.starts_with("single-tile 12-4x3 ")).unwrap();
    let golden: Vec<u64> =
        line.split_once(" : ").unwrap().1.split_whitespace().map(|count| count.parse().unwrap()).collect();
    assert_eq!(counts, golden);
    assert_eq!(counts.iter().sum::<u64>(), 239_500_800);
    let patterns =
        PatternSum::new(PatternSet::Small, layout(3, 4), goal, &Arc::new(Limits::unlimited())).unwrap();
    let conflict = LinearConflict::new(&space, goal);
    let goal = Position::new(goal);
    for (board, distance) in sample {
        let start = Position::new(board);
        let bounds = [patterns.mark(&start).1, Guide::<WideSpace>::mark(&conflict, &start).1];
        assert!(bounds.iter().all(|&bound| bound <= distance), "{board:?}: {bounds:?} above {distance}");
        let budget = &mut Budget::unlimited();
        let mut paths = vec![
            ida_star::search(&space, &patterns, &start, &goal, budget),
            bidirectional::search(&space, &start, &goal, budget),
            a_star::search(&space, &conflict, &start, &goal, budget),
        ];
        paths.dedup();
        let [Ok(Some(path))] = &paths[..] else { panic!("{board:?}: {paths:?}") };
        assert_eq!(path.len(), distance as usize, "{board:?}");
    }
}
