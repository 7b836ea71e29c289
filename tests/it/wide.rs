//! Boards of more than nine cells: golden lengths, agreement with complete sweeps, and what is refused.

use std::collections::HashSet;
use std::fmt::Debug;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use taquin::domain::sliding::{Board, Cell, Layout, Packed32, Position, Shared, SlidingSpace, WideSpace};
use taquin::heuristic::{DistanceSum, PatternSet, PatternSum, make_large};
use taquin::search::{Budget, Limits, Outcome, Stop, a_star, bidirectional, breadth_first, ida_star};
use taquin::service::pb::{self, job::Problem};
use taquin::space::{Cost, Guide, Lead, StateSpace};
use tokio::time::timeout;

use crate::boards;
use crate::instances::{Random, layout};
use crate::support::{
    AT_ONCE, Talk, assert_cancelled, assert_solves, budget, job, limit_of, run, serve_and_connect, wait_until,
};

/// The goal with the blank in the first corner, and all that searches towards it need.
struct Wide {
    space: WideSpace,
    goal: Board,
    patterns: PatternSum,
}

impl Wide {
    fn new(rows: usize, columns: usize, blank: Cell) -> Self {
        Self::on(layout(rows, columns), blank)
    }

    fn on(layout: &Shared<Layout>, blank: Cell) -> Self {
        let goal = Board::standard(layout.cells(), blank);
        let patterns =
            PatternSum::new(PatternSet::Small, layout, goal, &Arc::new(Limits::unlimited())).unwrap();
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
fn a_search_goes_on_at_the_bound_that_a_quick_try_has_proven() {
    let wide = Wide::new(2, 5, 0);
    let distances = DistanceSum::new(&wide.space, wide.goal);
    let goal = Position::new(wide.goal);
    let far = wide.sample(1).into_iter().filter(|(_, distance)| (30..=38).contains(distance));
    for (board, distance) in far {
        let start = Position::new(board);
        let mut whole = Budget::unlimited();
        let path = ida_star::search(&wide.space, &distances, &start, &goal, &mut whole);
        let mut budget = Budget::unlimited();
        let mut quick = budget.part(whole.expanded() / 4);
        let tried = ida_star::search(&wide.space, &distances, &start, &goal, &mut quick);
        assert_eq!(tried, Err(Stop::Nodes));
        budget.take_back(&quick);
        let bound = budget.proven();
        assert!(bound > Guide::<WideSpace>::mark(&distances, &start).1 && bound <= distance, "{board:?}");
        assert_eq!(ida_star::search(&wide.space, &distances, &start, &goal, &mut budget), path, "{board:?}");
        assert!(budget.expanded() - quick.expanded() < whole.expanded(), "{board:?}");
    }
}

#[test]
fn marks_that_are_kept_up_are_those_of_the_board() {
    let grids = [(4, 4, 0), (4, 4, 5), (3, 5, 1), (2, 7, 13), (3, 4, 6)];
    let mut boards: Vec<Wide> =
        grids.iter().map(|&(rows, columns, blank)| Wide::new(rows, columns, blank)).collect();
    // A 3x5 board with one more cell at its side, and two cycles with a bridge between.
    let pocket = (0..15).flat_map(|cell| [(cell, cell + 1), (cell, cell + 5)]);
    let pocket = pocket.filter(|&(a, b)| b < 15 && (b == a + 5 || b % 5 > 0)).chain([(9, 15)]);
    let cycle = |first: Cell, length: Cell| (0..length).map(move |n| (first + n, first + (n + 1) % length));
    let bridged = cycle(0, 6).chain(cycle(6, 8)).chain([(0, 3), (2, 6), (7, 10)]);
    for (cells, edges, blank) in [(16, pocket.collect::<Vec<_>>(), 15), (14, bridged.collect(), 3)] {
        boards.push(Wide::on(&Layout::graph(cells, &edges).unwrap(), blank));
    }
    for wide in boards {
        let layout = wide.space.layout();
        let mut random = Random::new(16);
        let mut at = Position::new(wide.goal);
        let (mut mark, mut bound) = wide.patterns.mark(&at);
        assert_eq!(bound, 0);
        for _ in 0..400 {
            let steps: Vec<Cell> = wide.space.actions(&at).collect();
            let to = steps[random.below(steps.len())];
            let mut leads =
                vec![Lead::<WideSpace, _> { state: at, action: to, mark, left: Cost::MAX, way: 0 }];
            assert_eq!(wide.patterns.sift(&mut leads), None);
            let followed = leads[0].mark;
            at = at.slid(to);
            let (fresh, fresh_bound) = wide.patterns.mark(&at);
            assert_eq!(format!("{followed:?}"), format!("{fresh:?}"), "{layout:?}");
            // Consistent: a move changes it by one at most.
            assert!(fresh_bound.abs_diff(bound) <= 1, "{layout:?}: {bound} to {fresh_bound}");
            (mark, bound) = (fresh, fresh_bound);
        }
    }
}

/// Half a minute and 1 GB to make the set, and as long to search: `cargo test --release --test it large_set -- --ignored`.
#[test]
#[ignore = "takes a minute and 1 GB"]
fn the_large_set_finds_all_known_lengths() {
    let patterns = make_large(&Arc::new(Limits::unlimited())).unwrap();
    let wide = Wide { space: WideSpace::new(layout(4, 4).clone()), goal: Board::standard(16, 0), patterns };
    // Its goal has the blank last: turned by half a turn it is first.
    let turned = |tiles: &[u8]| -> Vec<u8> { tiles.iter().rev().map(|&tile| (16 - tile) % 16).collect() };
    let as_it_is = |tiles: &[u8]| tiles.to_vec();
    check(&wide, include_str!("../data/korf100.txt"), 100, as_it_is);
    check(&wide, include_str!("../data/antipodes15.txt"), 17, turned);
}

/// The boards of a file, a line each: number, length, tiles.
fn lines<N: FromStr<Err: Debug>>(file: &str) -> Vec<Vec<N>> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect()).collect()
}

/// Korf's hundred boards, goal 0, 1, ..., 15.
pub(crate) fn korf() -> Vec<Vec<u32>> {
    lines(include_str!("../data/korf100.txt"))
}

/// The seventeen boards at 80 moves, goal 1, 2, ..., 15, 0.
pub(crate) fn antipodes() -> Vec<Vec<u32>> {
    lines(include_str!("../data/antipodes15.txt"))
}

/// The board to which moves in letters lead from one of 4x4.
pub(crate) fn followed(start: &[u32], moves: &str) -> Board {
    let tiles: Vec<u8> = start.iter().map(|&tile| u8::try_from(tile).unwrap()).collect();
    let (grid, mut at) = (layout(4, 4), Position::new(Board::new(&tiles)));
    for letter in moves.chars() {
        let step = |&&to: &&Cell| grid.direction(at.blank(), to).unwrap().letter() == letter;
        at = at.slid(*grid.neighbours(at.blank()).iter().find(step).unwrap());
    }
    at.board()
}

/// Searches for so many boards of a file.
fn check(wide: &Wide, file: &str, count: usize, seen: impl Fn(&[u8]) -> Vec<u8>) {
    let boards = lines::<u8>(file);
    assert_eq!(boards.len(), count);
    for board in boards {
        let path = wide.path(&wide.patterns, Board::new(&seen(&board[2..])));
        assert_eq!(path.len(), usize::from(board[1]), "{board:?}");
    }
}

pub(crate) fn wide_job(id: &str, rows: u32, columns: u32, start: &[u32]) -> pb::Job {
    let layout = pb::sliding_puzzle::Layout::Grid(pb::Grid { rows, columns });
    let sliding = pb::SlidingPuzzle { layout: Some(layout), start: start.to_vec(), goal: Vec::new() };
    pb::Job { request_id: id.into(), problem: Some(Problem::Sliding(sliding)), ..pb::Job::default() }
}

/// 80 moves from the goal 1, 2, ..., 15, blank.
pub(crate) const FARTHEST: [u32; 16] = [0, 11, 9, 13, 12, 15, 10, 14, 3, 7, 6, 2, 4, 8, 5, 1];

/// As long as a job may ask for: other tests search beside, and the makers of pattern databases are niced.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn patient(job: pb::Job) -> pb::Job {
    budget(job, pb::Budget { max_time_ms: 60_000, ..pb::Budget::default() })
}

/// The next answer, which may have to wait for pattern databases, and for longer than other answers do.
pub(crate) async fn answer(talk: &mut Talk) -> pb::Answer {
    let message = timeout(2 * PATIENCE, talk.answers.message()).await.unwrap().unwrap();
    message.expect("the stream is over").answer.unwrap()
}

pub(crate) fn solution(answer: &pb::Answer) -> &pb::Solution {
    let Some(pb::answer::Outcome::Solution(solution)) = &answer.outcome else { panic!("{answer:?}") };
    solution
}

#[test]
fn boards_of_sixteen_cells_are_answered_and_hard_ones_stop_when_told() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        every_board_of_korf_has_its_length(&mut talk).await;
        let late = budget(
            wide_job("late", 4, 4, &FARTHEST),
            pb::Budget { max_time_ms: 300, max_nodes: 1_000_000_000, max_moves: None },
        );
        let begun = Instant::now();
        let (limit, bound) = limit_of(&talk.ask(late).await);
        assert_eq!(limit, pb::limit_reached::Limit::Time);
        assert!((50..=80).contains(&bound), "{bound}");
        assert!(begun.elapsed() < 3 * AT_ONCE, "{:?}", begun.elapsed());
        talk.send(patient(wide_job("hard", 4, 4, &FARTHEST)));
        let flies = || server.engine().in_flight() == 1 && server.engine().queued() == 0;
        wait_until("it flies", AT_ONCE, flies).await;
        let begun = Instant::now();
        talk.cancel("hard");
        assert_cancelled(&talk.answer().await, "hard");
        wait_until("its worker is free", AT_ONCE, || server.engine().in_flight() == 0).await;
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    });
}

/// Korf's goal has its blank first, the default goal last: to the engine they are one.
async fn every_board_of_korf_has_its_length(talk: &mut Talk) {
    let golden = korf();
    assert_eq!(golden.len(), 100);
    // One board at a time, the first alone waits.
    for line in &golden {
        let mut job = patient(wide_job(&line[0].to_string(), 4, 4, &line[2..]));
        if let Some(Problem::Sliding(sliding)) = &mut job.problem {
            sliding.goal = (0..16).collect();
        }
        talk.send(job);
        let answer = answer(talk).await;
        let solution = solution(&answer);
        assert_eq!(solution.distance, line[1], "{line:?}");
        let reached = followed(&line[2..], &solution.moves);
        assert_eq!((reached, solution.moves.len()), (Board::standard(16, 0), line[1] as usize));
    }
}

/// Tile 3 can never leave the end of this graph, which no rule of ours says; with hardly a choice on the way,
/// IDA* goes some ten thousand moves deep before its budget ends it. It must not do so on a thread's stack.
#[test]
fn a_search_goes_as_deep_as_its_budget_lets_it() {
    let space = SlidingSpace::<Packed32>::new(Layout::graph(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]).unwrap());
    let (start, goal) = (Board::new(&[1, 2, 0, 3]), Board::new(&[3, 2, 0, 1]));
    let limits = Arc::new(Limits::new(Instant::now() + 2 * PATIENCE, 60_000_000, Cost::MAX));
    let search = move || {
        let guide = DistanceSum::new(&space, goal);
        let (start, goal) = (Position::new(start), Position::new(goal));
        let found = ida_star::search(&space, &guide, &start, &goal, &mut Budget::new(Arc::clone(&limits)));
        assert_eq!(found, Err(Stop::Nodes));
        assert!(limits.proven() > 5000, "{}", limits.proven());
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(search).unwrap().join().unwrap();
}

const NAMED: [pb::Algorithm; 5] = [
    pb::Algorithm::BreadthFirst,
    pb::Algorithm::Bidirectional,
    pb::Algorithm::AStar,
    pb::Algorithm::AStarMisplaced,
    pb::Algorithm::IdaStar,
];

#[test]
fn every_search_answers_a_wide_board_with_the_same_path() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let mut paths = Vec::new();
        for algorithm in NAMED {
            let job = wide_job("wide", 2, 5, &[7, 0, 3, 8, 5, 6, 1, 2, 9, 4]);
            talk.send(patient(pb::Job { algorithm: algorithm.into(), bypass_cache: true, ..job }));
            paths.push(solution(&answer(&mut talk).await).clone());
        }
        assert_eq!(paths[0].distance, 30);
        assert!(paths.iter().all(|path| *path == paths[0]), "{paths:?}");
    });
}

#[test]
fn searches_that_keep_every_board_end_when_they_may_keep_no_more() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        for (algorithm, least) in NAMED.into_iter().zip([15, 28, 45, 15]) {
            talk.send(patient(pb::Job { algorithm: algorithm.into(), ..wide_job("kept", 4, 4, &FARTHEST) }));
            let (limit, bound) = limit_of(&answer(&mut talk).await);
            assert_eq!(limit, pb::limit_reached::Limit::Nodes);
            assert!((least..=80).contains(&bound), "{algorithm:?}: {bound}");
        }
    });
}

/// A search, told only its budget.
type Search<'a> = &'a dyn Fn(&mut Budget) -> Outcome<Cell>;

/// Without room for one state less there is no answer, and with it the same.
#[test]
fn a_search_is_done_at_the_states_it_may_keep() {
    let space = WideSpace::new(layout(2, 5).clone());
    let goal = Position::new(Board::standard(10, 9));
    let mut random = Random::new(25);
    let start = (0..40).fold(goal, |at, _| {
        let steps = space.layout().neighbours(at.blank());
        at.slid(steps[random.below(steps.len())])
    });
    let distances = DistanceSum::new(&space, goal.board());
    let searches: [Search; 3] = [
        &|budget| breadth_first::search(&space, &start, &goal, budget),
        &|budget| bidirectional::search(&space, &start, &goal, budget),
        &|budget| a_star::search(&space, &distances, &start, &goal, budget),
    ];
    for search in searches {
        let path = search(&mut Budget::unlimited()).unwrap();
        let length = Cost::try_from(path.as_ref().unwrap().len()).unwrap();
        let stopped = (0..100_000).find(|&room| {
            let limits = Arc::new(Limits::unlimited());
            let outcome = search(&mut Budget::new(Arc::clone(&limits)).keeping(room));
            assert!(limits.proven() <= length);
            assert!(outcome == Err(Stop::Kept) || outcome.as_ref() == Ok(&path), "{outcome:?}");
            outcome.is_ok()
        });
        assert!(stopped > Some(10));
    }
}

#[test]
fn wide_grids_of_other_shapes_are_answered() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        for (rows, columns) in [(1, 16), (16, 1), (2, 5), (5, 2), (3, 4), (4, 3), (2, 6)] {
            let cells = rows * columns;
            // The blank one cell before its place, along the row or the column.
            let mut start: Vec<u32> = (1..cells).chain([0]).collect();
            let last = start.len() - 1;
            start.swap(last, last - if columns > 1 { 1 } else { columns as usize });
            talk.send(patient(wide_job(&format!("{rows}x{columns}"), rows, columns, &start)));
            assert_eq!(solution(&answer(&mut talk).await).distance, 1, "{rows}x{columns}");
        }
    });
}

/// Eight boards 80 moves from their goal.
fn hard_jobs() -> impl Iterator<Item = pb::Job> {
    let lines = include_str!("../data/antipodes15.txt").lines().filter(|line| !line.starts_with('#'));
    lines.take(8).map(|line| {
        let numbers: Vec<u32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let most = pb::Budget { max_time_ms: 60_000, max_nodes: 1_000_000_000, max_moves: None };
        budget(wide_job(&format!("hard {}", numbers[0]), 4, 4, &numbers[2..]), most)
    })
}

#[test]
fn g35_abandoned_boards_leave_their_workers_idle() {
    run(async {
        let (server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        // With pattern databases there, so that nothing but the searches is to be done.
        talk.send(patient(wide_job("first", 4, 4, &[2, 7, 11, 5, 13, 0, 9, 4, 14, 1, 8, 6, 10, 3, 12, 15])));
        assert_eq!(solution(&answer(&mut talk).await).distance, 40);
        let hard = Talk::open(&client).await;
        hard_jobs().for_each(|job| hard.send(job));
        wait_until("all in flight", PATIENCE, || server.engine().in_flight() == 8).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(hard);
        wait_until("nobody waits", AT_ONCE, || server.engine().in_flight() == 0).await;
        // Both workers are free: each is needed by one of two jobs that take as long.
        let begun = Instant::now();
        for n in 0..2 {
            talk.send(pb::Job { request_id: format!("{n}#delay-ms=200"), bypass_cache: true, ..near() });
        }
        for _ in 0..2 {
            assert_eq!(solution(&talk.answer().await).distance, 1);
        }
        assert!(begun.elapsed() < Duration::from_millis(200) + AT_ONCE, "{:?}", begun.elapsed());
    });
}

/// A board one move from its goal.
fn near() -> pb::Job {
    wide_job("near", 4, 4, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 15])
}

#[test]
fn g41_easy_boards_do_not_wait_for_a_hard_one() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        talk.send(hard_jobs().next().unwrap());
        let easy = |n: usize| boards::at([17, 18, 19, 20, 21][n % 5], n / 5);
        for n in 0..1000 {
            let mut easy = job(n.to_string(), easy(n));
            easy.bypass_table = true;
            talk.send(easy);
        }
        let mut answered = HashSet::new();
        for _ in 0..1000 {
            let answer = answer(&mut talk).await;
            let n: usize = answer.request_id.parse().expect("the hard one comes last");
            assert_solves(&answer, easy(n));
            assert!(answered.insert(n), "{n} twice");
        }
        talk.cancel("hard 1");
        assert_cancelled(&talk.answer().await, "hard 1");
    });
}
