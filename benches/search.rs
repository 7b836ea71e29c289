//! How much faster the searches are than the textbook's, on the same boards in the same
//! run: a breadth-first search over strings against the two-ended search, with both
//! halves made for each board and with the goal's half kept.
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

mod boards;
mod textbook;

use std::time::{Duration, Instant};

use taquin::domain::sliding::{
    Board, Canonical, Direction, Goal, Instance, Layout, Packed32, Path, Position, SlidingSpace,
};
use taquin::search::bidirectional::{self, GoalHalf};
use taquin::search::{Budget, Outcome, breadth_first};
use taquin::space::StateSpace;

/// The goal of Luogu P1379.
const GOAL: [u32; 9] = [1, 2, 3, 8, 0, 4, 7, 6, 5];
const RANDOM_BOARDS: usize = 200;
/// Of the boards at depth 30 so many are searched; there are 221.
const FAR_BOARDS: usize = 20;
/// The boards are searched in so many parts, by all searches in turn.
const PARTS: usize = 10;
/// The fast searches go over each part so many times, the middle one counts.
const ROUNDS: usize = 21;
/// States of a goal's half, as in the engine.
const HALF_STATES: usize = 16384;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let random = boards::random(RANDOM_BOARDS, 3, &GOAL);
    println!("| boards | search | µs a board | expanded a board | times faster |\n|---|---|--:|--:|--:|");
    compare("200 random, goal 123804765", canonical(&random));
    for depth in [30, 31] {
        let (goal, mut far) = at_distance(depth);
        far.truncate(FAR_BOARDS);
        compare(&format!("{} at depth {depth}", far.len()), (goal, far));
    }
}

/// What a search took and expanded, over several boards.
#[derive(Clone, Copy, Default)]
struct Cost {
    time: Duration,
    expanded: u64,
}

/// The goal of instances that share it, and their starts, as the engine searches them.
fn canonical(instances: &[Instance]) -> (Board, Vec<Board>) {
    let canonical: Vec<Canonical> = instances.iter().map(Canonical::of).collect();
    (canonical[0].goal().board(), canonical.iter().map(Canonical::start).collect())
}

/// The canonical goal with its blank in the corner, and the boards so far from it.
fn at_distance(distance: u32) -> (Board, Vec<Board>) {
    let layout = Layout::grid(3, 3).expect("nine cells");
    let goal = Goal::new(layout, Board::standard(9, 8)).board();
    let space = SlidingSpace::<Packed32>::new(layout.clone());
    let mut boards = Vec::new();
    breadth_first::sweep(&space, &Position::new(goal), &mut Budget::unlimited(), |packed, depth| {
        if depth == distance {
            boards.push(space.unpack(packed).board());
        }
    })
    .expect("nothing ends an unlimited budget");
    (goal, boards)
}

fn compare(name: &str, (goal, boards): (Board, Vec<Board>)) {
    let layout = Layout::grid(3, 3).expect("nine cells");
    let space = SlidingSpace::<Packed32>::new(layout.clone());
    let root = Position::new(goal);
    let half = GoalHalf::new(&space, &root, HALF_STATES, &mut Budget::unlimited()).expect("no limit");
    let both_ends =
        |start: &Position, budget: &mut Budget| bidirectional::search(&space, start, &root, budget);
    let kept_half = |start: &Position, budget: &mut Budget| half.search(&space, start, budget);
    let mut costs = [Cost::default(); 3];
    for part in boards.chunks(boards.len().div_ceil(PARTS)) {
        let (textbook, letters) = by_textbook(part, goal);
        let (both, both_letters) = repeated(layout, part, both_ends);
        let (kept, kept_letters) = repeated(layout, part, kept_half);
        for ((textbook, both), kept) in letters.iter().zip(both_letters).zip(kept_letters) {
            assert_eq!((textbook.len(), &both), (both.len(), &kept), "the searches disagree");
        }
        for (sum, cost) in costs.iter_mut().zip([textbook, both, kept]) {
            sum.time += cost.time;
            sum.expanded += cost.expanded;
        }
    }
    let searches = ["textbook", "two-ended, both halves made", "two-ended, goal's half kept"];
    for (search, cost) in searches.into_iter().zip(costs) {
        let count = boards.len() as u64;
        println!(
            "| {name} | {search} | {:.2} | {} | {:.0} |",
            cost.time.as_secs_f64() * 1e6 / boards.len() as f64,
            cost.expanded / count,
            costs[0].time.as_secs_f64() / cost.time.as_secs_f64(),
        );
    }
}

fn by_textbook(boards: &[Board], goal: Board) -> (Cost, Vec<String>) {
    let digits = |board: Board| board.tiles(9).map(|tile| char::from(b'0' + tile)).collect::<String>();
    let (starts, goal): (Vec<String>, String) = (boards.iter().copied().map(digits).collect(), digits(goal));
    let mut expanded = 0;
    let since = Instant::now();
    let solved = starts.iter().map(|start| {
        let (path, count) = textbook::solve(start, &goal);
        expanded += count;
        path.expect("a board that can be solved")
    });
    let letters = solved.collect();
    (Cost { time: since.elapsed(), expanded }, letters)
}

/// The boards one after another, several times over; the middle time, and the paths in letters.
fn repeated(
    layout: &Layout,
    boards: &[Board],
    search: impl Fn(&Position, &mut Budget) -> Outcome<u8>,
) -> (Cost, Vec<String>) {
    let starts: Vec<Position> = boards.iter().copied().map(Position::new).collect();
    let mut times = [Duration::ZERO; ROUNDS];
    let (mut expanded, mut paths) = (0, Vec::new());
    for time in &mut times {
        (expanded, paths) = (0, Vec::with_capacity(starts.len()));
        let since = Instant::now();
        for start in &starts {
            let mut budget = Budget::unlimited();
            paths.push(search(start, &mut budget).expect("no limit").expect("a board that can be solved"));
            expanded += budget.expanded();
        }
        *time = since.elapsed();
    }
    times.sort_unstable();
    let letters = starts.iter().zip(&paths).map(|(start, cells)| {
        let whole = Path::along(layout, start.blank(), cells).next().expect("at least the goal's");
        let Path::Word(word) = whole else { unreachable!("at most 31 moves") };
        Path::directions_of(word).map(Direction::letter).collect()
    });
    (Cost { time: times[ROUNDS / 2], expanded }, letters.collect())
}
