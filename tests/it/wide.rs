//! Boards of more than nine cells: golden lengths, agreement with complete sweeps, and what is refused.

use std::sync::Arc;
use std::time::Instant;

use taquin::domain::sliding::{Board, Cell, Layout, Position, WideSpace};
use taquin::heuristic::{DistanceSum, PatternSum};
use taquin::search::{Budget, Limits, breadth_first, ida_star};
use taquin::service::pb::{self, job::Problem};
use taquin::space::{Cost, Guide, StateSpace};

use crate::instances::{Random, layout};
use crate::support::{
    AT_ONCE, Client, Talk, assert_cancelled, error_of, limit_of, run, serve_and_connect, wait_until,
};

/// The goal with the blank in the first corner, and all that searches towards it need.
struct Wide {
    space: WideSpace,
    goal: Board,
    patterns: PatternSum,
}

impl Wide {
    fn new(rows: usize, columns: usize, blank: Cell) -> Self {
        let layout = layout(rows, columns);
        let goal = Board::standard(layout.cells(), blank);
        let patterns = PatternSum::new(layout, goal, &Arc::new(Limits::unlimited())).unwrap();
        Self { space: WideSpace::new(layout.clone()), goal, patterns }
    }

    /// The path of IDA*, replayed to the goal.
    fn path(&self, guide: &impl Guide<WideSpace>, start: Board) -> Vec<Cell> {
        let (start, goal) = (Position::new(start), Position::new(self.goal));
        let path = ida_star::search(&self.space, guide, &start, &goal, &mut Budget::unlimited());
        let path = path.unwrap().unwrap();
        assert_eq!(path.iter().fold(start, |at, &to| at.slid(to)), goal);
        path
    }

    /// So many boards of each distance, from a complete sweep.
    fn sample(&self, of_each: usize) -> Vec<(Board, Cost)> {
        let mut boards: Vec<Vec<Board>> = vec![vec![self.goal]];
        let mut random = Random::new(80);
        let mut seen = 0;
        breadth_first::sweep(
            &self.space,
            &Position::new(self.goal),
            &mut Budget::unlimited(),
            |board, depth| {
                boards.resize_with(boards.len().max(depth as usize + 1), Vec::new);
                let of_depth = &mut boards[depth as usize];
                seen += 1;
                // Each board of a level replaces another with a chance that falls: a sample of the whole level.
                if of_depth.len() < of_each {
                    of_depth.push(board);
                } else if random.below(seen) < of_each {
                    of_depth[random.below(of_each)] = board;
                }
            },
        )
        .unwrap();
        (0..)
            .zip(boards)
            .flat_map(|(depth, boards)| boards.into_iter().map(move |board| (board, depth)))
            .collect()
    }
}

#[test]
fn depth_counts_of_2x5_are_golden() {
    let grid = layout(2, 5);
    let golden = include_str!("../data/depth_distributions.txt");
    let line = golden.lines().find(|line| line.starts_with("single-tile 10-5x2 ")).unwrap();
    let counts: Vec<u64> =
        line.split_once(" : ").unwrap().1.split_whitespace().map(|count| count.parse().unwrap()).collect();
    let goal = Position::new(Board::standard(10, 9));
    let levels = breadth_first::levels(&WideSpace::new(grid.clone()), &goal, &mut Budget::unlimited());
    assert_eq!(levels.unwrap(), counts);
}

#[test]
fn ida_star_agrees_with_a_complete_sweep_and_no_bound_is_too_high() {
    for blank in [0, 2] {
        let wide = Wide::new(2, 5, blank);
        let distances = DistanceSum::new(&wide.space, wide.goal);
        for (board, distance) in wide.sample(4) {
            let start = Position::new(board);
            assert!(wide.patterns.mark(&start).1 <= distance, "{board:?}");
            let path = wide.path(&wide.patterns, board);
            assert_eq!(path.len(), distance as usize, "{board:?}");
            if distance <= 35 {
                // The smallest path, whatever the bound.
                assert_eq!(wide.path(&distances, board), path, "{board:?}");
            }
        }
    }
}

#[test]
fn marks_that_are_kept_up_are_those_of_the_board() {
    for (rows, columns, blank) in [(4, 4, 0), (4, 4, 5), (3, 5, 1), (2, 7, 13), (3, 4, 6)] {
        let wide = Wide::new(rows, columns, blank);
        let mut random = Random::new(16);
        let mut at = Position::new(wide.goal);
        let (mut mark, mut bound) = wide.patterns.mark(&at);
        assert_eq!(bound, 0);
        for _ in 0..400 {
            let steps: Vec<Cell> = wide.space.actions(&at).collect();
            let to = steps[random.below(steps.len())];
            let followed = wide.patterns.follow(&mark, &at, to, Cost::MAX).unwrap();
            at = at.slid(to);
            let (fresh, fresh_bound) = wide.patterns.mark(&at);
            assert_eq!(format!("{followed:?}"), format!("{fresh:?}"), "{rows}x{columns}");
            // Consistent: a move changes it by one at most.
            assert!(fresh_bound.abs_diff(bound) <= 1, "{rows}x{columns}: {bound} to {fresh_bound}");
            (mark, bound) = (fresh, fresh_bound);
        }
    }
}

fn wide_job(id: &str, rows: u32, columns: u32, start: &[u32]) -> pb::Job {
    let layout = pb::sliding_puzzle::Layout::Grid(pb::Grid { rows, columns });
    let sliding = pb::SlidingPuzzle { layout: Some(layout), start: start.to_vec(), goal: Vec::new() };
    pb::Job { request_id: id.into(), problem: Some(Problem::Sliding(sliding)), ..pb::Job::default() }
}

/// 80 moves from the goal 1, 2, ..., 15, blank.
const FARTHEST: [u32; 16] = [0, 11, 9, 13, 12, 15, 10, 14, 3, 7, 6, 2, 4, 8, 5, 1];

/// Waits for the pattern databases of 4x4 by a board of one move.
async fn warm(client: &Client) {
    let near = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 15];
    let mut talk = Talk::open(client).await;
    talk.send(wide_job("near", 4, 4, &near));
    let answer = tokio::time::timeout(60 * AT_ONCE, talk.next()).await.unwrap().unwrap().unwrap();
    let Some(pb::answer::Outcome::Solution(solution)) = answer.outcome else { panic!("{answer:?}") };
    assert_eq!((solution.distance, solution.moves.as_str()), (1, "R"));
}

#[test]
fn korfs_boards_have_their_lengths() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let golden = include_str!("../data/korf100.txt").lines().filter(|line| !line.starts_with('#'));
        let golden: Vec<Vec<u32>> =
            golden.map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect()).collect();
        assert_eq!(golden.len(), 100);
        let mut talk = Talk::open(&client).await;
        let budget = pb::Budget { max_time_ms: 60_000, ..pb::Budget::default() };
        for line in &golden {
            let mut job = wide_job(&line[0].to_string(), 4, 4, &line[2..]);
            if let Some(Problem::Sliding(sliding)) = &mut job.problem {
                sliding.goal = (0..16).collect();
            }
            talk.send(crate::support::budget(job, budget));
        }
        for _ in &golden {
            let answer = tokio::time::timeout(60 * AT_ONCE, talk.next()).await.unwrap().unwrap().unwrap();
            let line = &golden[answer.request_id.parse::<usize>().unwrap() - 1];
            let Some(pb::answer::Outcome::Solution(solution)) = answer.outcome else { panic!("{answer:?}") };
            assert_eq!(solution.distance, line[1], "{line:?}");
            let tiles = line[2..].iter().map(|&tile| u8::try_from(tile).unwrap());
            let mut at = Position::new(Board::new(&tiles.collect::<Vec<u8>>()));
            let grid = layout(4, 4);
            for letter in solution.moves.chars() {
                let step = |&to: &Cell| grid.direction(at.blank(), to).unwrap().letter() == letter;
                at = at.slid(*grid.neighbours(at.blank()).iter().find(|to| step(to)).unwrap());
            }
            assert_eq!((at.board(), solution.moves.len()), (Board::standard(16, 0), line[1] as usize));
        }
    });
}

#[test]
fn a_hard_board_is_stopped_at_once_by_cancel_and_in_time_by_its_budget() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        warm(&client).await;
        let mut talk = Talk::open(&client).await;
        let budget = pb::Budget { max_time_ms: 300, ..pb::Budget::default() };
        let begun = Instant::now();
        let answer = talk.ask(crate::support::budget(wide_job("late", 4, 4, &FARTHEST), budget)).await;
        let (limit, bound) = limit_of(&answer);
        assert_eq!(limit, pb::limit_reached::Limit::Time);
        assert!((50..=80).contains(&bound), "{bound}");
        assert!(begun.elapsed() < 3 * AT_ONCE, "{:?}", begun.elapsed());
        talk.send(wide_job("hard", 4, 4, &FARTHEST));
        wait_until("it flies", AT_ONCE, || server.engine().in_flight() == 1 && server.engine().queued() == 0)
            .await;
        let begun = Instant::now();
        talk.cancel("hard");
        assert_cancelled(&talk.answer().await, "hard");
        wait_until("its worker is free", AT_ONCE, || server.engine().in_flight() == 0).await;
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    });
}

#[test]
fn searches_that_keep_every_board_are_refused_above_nine_cells() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let start: Vec<u32> = (1..10).chain([0]).collect();
        for algorithm in [
            pb::Algorithm::BreadthFirst,
            pb::Algorithm::Bidirectional,
            pb::Algorithm::AStar,
            pb::Algorithm::AStarMisplaced,
        ] {
            let job = pb::Job { algorithm: algorithm.into(), ..wide_job("kept", 2, 5, &start) };
            let refused = error_of(&talk.ask(job).await);
            assert!(refused.message().contains("job.algorithm: keeps every board"), "{refused:?}");
        }
    });
}

#[test]
fn long_lines_and_every_wide_shape_are_answered() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        let budget = pb::Budget { max_time_ms: 60_000, ..pb::Budget::default() };
        for grid in Layout::grids().filter(|grid| grid.cells() > 9) {
            let taquin::domain::sliding::Shape::Grid { rows, columns, .. } = grid.shape() else { panic!() };
            let cells = u32::try_from(grid.cells()).unwrap();
            // The blank one cell before its place, along the row or the column.
            let mut start: Vec<u32> = (1..cells).chain([0]).collect();
            let last = start.len() - 1;
            start.swap(last, last - if columns > 1 { 1 } else { columns.into() });
            let job = wide_job(&format!("{rows}x{columns}"), rows.into(), columns.into(), &start);
            talk.send(crate::support::budget(job.clone(), budget));
            let answer = tokio::time::timeout(60 * AT_ONCE, talk.next()).await.unwrap().unwrap().unwrap();
            let Some(pb::answer::Outcome::Solution(solution)) = &answer.outcome else { panic!("{answer:?}") };
            assert_eq!(solution.distance, 1, "{rows}x{columns}");
        }
    });
}
