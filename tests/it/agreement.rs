//! All searches against one breadth-first sweep: on every board of 3x3 for three
//! goals, and on sampled goals and layouts; and the sweeps against golden counts.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use taquin::domain::sliding::{Board, Cell, Layout, Packed32, Position, Shape, Shared, SlidingSpace};
use taquin::heuristic::{DistanceSum, MisplacedTiles};
use taquin::search::{Budget, a_star, bidirectional, breadth_first};
use taquin::space::{Cost, Heuristic, StateSpace};

use crate::instances::{Random, layout, permutations, small_grids};

/// The distance of every board from a goal.
struct Sweep {
    space: SlidingSpace,
    goal: Position,
    distances: HashMap<Packed32, Cost>,
}

impl Sweep {
    fn new(layout: &Shared<Layout>, goal: Board) -> Self {
        let space = SlidingSpace::<Packed32>::new(layout.clone());
        let goal = Position::new(goal);
        let mut distances = HashMap::new();
        breadth_first::sweep(&space, &goal, &mut Budget::unlimited(), |packed, depth| {
            distances.insert(packed, depth);
        })
        .unwrap();
        Self { space, goal, distances }
    }

    fn of_3x3(goal: [u8; 9]) -> Self {
        Self::new(layout(3, 3), Board::new(&goal))
    }

    fn boards(&self) -> Vec<Packed32> {
        let mut boards: Vec<Packed32> = self.distances.keys().copied().collect();
        boards.sort_unstable();
        boards
    }

    /// The smallest shortest path: at each board the first move that leads one nearer.
    fn smallest_path(&self, start: Position) -> Vec<Cell> {
        let (mut position, mut path) = (start, Vec::new());
        let distance = |position: &Position| self.distances[&self.space.pack(position)];
        while distance(&position) > 0 {
            let nearer = |to: &Cell| distance(&position.slid(*to)) < distance(&position);
            let to = self.space.actions(&position).find(nearer).unwrap();
            path.push(to);
            position = position.slid(to);
        }
        path
    }

    fn check(&self, packed: Packed32, algorithms: &[Algorithm]) {
        let start = self.space.unpack(packed);
        let expected = self.smallest_path(start);
        assert_eq!(expected.len(), self.distances[&packed] as usize);
        for algorithm in algorithms {
            let found = algorithm(self, start, &mut Budget::unlimited());
            assert_eq!(found.as_ref(), Some(&expected), "{:?} to {:?}", start.board(), self.goal.board());
        }
    }
}

type Algorithm = fn(&Sweep, Position, &mut Budget) -> Option<Vec<Cell>>;

fn plain(sweep: &Sweep, start: Position, budget: &mut Budget) -> Option<Vec<Cell>> {
    breadth_first::search(&sweep.space, &start, &sweep.goal, budget).unwrap()
}

fn two_ended(sweep: &Sweep, start: Position, budget: &mut Budget) -> Option<Vec<Cell>> {
    bidirectional::search(&sweep.space, &start, &sweep.goal, budget).unwrap()
}

fn a_star_by_distance(sweep: &Sweep, start: Position, budget: &mut Budget) -> Option<Vec<Cell>> {
    let heuristic = DistanceSum::new(&sweep.space, sweep.goal.board());
    a_star::search(&sweep.space, &heuristic, &start, &sweep.goal, budget).unwrap()
}

fn a_star_by_misplaced(sweep: &Sweep, start: Position, budget: &mut Budget) -> Option<Vec<Cell>> {
    let heuristic = MisplacedTiles::new(&sweep.space, sweep.goal.board());
    a_star::search(&sweep.space, &heuristic, &start, &sweep.goal, budget).unwrap()
}

const ALL: [Algorithm; 4] = [plain, two_ended, a_star_by_distance, a_star_by_misplaced];

/// Runs on both cores; the boards are handed out one by one.
fn in_parallel(boards: &[Packed32], check: impl Fn(Packed32) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while let Some(&board) = boards.get(next.fetch_add(1, Relaxed)) {
                    check(board);
                }
            });
        }
    });
}

const GOALS: [[u8; 9]; 3] =
    [[1, 2, 3, 4, 5, 6, 7, 8, 0], [1, 2, 3, 8, 0, 4, 7, 6, 5], [0, 1, 2, 3, 4, 5, 6, 7, 8]];

#[test]
fn two_ended_search_and_a_star_agree_with_breadth_first_on_every_3x3_board() {
    for goal in GOALS {
        let sweep = Sweep::of_3x3(goal);
        let boards = sweep.boards();
        assert_eq!(boards.len(), 181_440);
        in_parallel(&boards, |board| sweep.check(board, &[two_ended, a_star_by_distance]));
    }
}

#[test]
fn every_search_agrees_on_a_sample_of_3x3_boards() {
    for goal in GOALS {
        let sweep = Sweep::of_3x3(goal);
        let boards: Vec<Packed32> = sweep.boards().into_iter().step_by(199).collect();
        in_parallel(&boards, |board| sweep.check(board, &ALL));
    }
}

#[test]
#[ignore = "takes an hour: plain search and A* with misplaced tiles on every board"]
fn every_search_agrees_on_every_3x3_board() {
    for goal in GOALS {
        let sweep = Sweep::of_3x3(goal);
        in_parallel(&sweep.boards(), |board| sweep.check(board, &ALL));
    }
}

#[test]
fn every_search_agrees_on_sampled_goals_of_every_grid() {
    let mut random = Random::new(845);
    for grid in small_grids() {
        for _ in 0..3 {
            let goal = random.permutation(grid.cells());
            let sweep = Sweep::new(grid, Board::new(&goal));
            let boards = sweep.boards();
            let sample: Vec<Packed32> = boards.iter().copied().step_by(boards.len().div_ceil(60)).collect();
            in_parallel(&sample, |board| sweep.check(board, &ALL));
        }
    }
}

#[test]
fn every_search_agrees_on_graphs() {
    let mut random = Random::new(224);
    for _ in 0..60 {
        let cells = 2 + random.below(8);
        let pairs: Vec<(Cell, Cell)> =
            (0..Cell::try_from(cells).unwrap()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let edges: Vec<(Cell, Cell)> =
            pairs.iter().copied().filter(|_| random.below(pairs.len()) < cells + 2).collect();
        let graph = Layout::graph(cells, &edges).unwrap();
        let sweep = Sweep::new(&graph, Board::new(&random.permutation(cells)));
        let boards = sweep.boards();
        let sample: Vec<Packed32> = boards.iter().copied().step_by(boards.len().div_ceil(20)).collect();
        in_parallel(&sample, |board| sweep.check(board, &ALL));
    }
}

#[test]
fn heuristics_are_admissible_and_consistent_on_every_3x3_board() {
    for goal in GOALS {
        let sweep = Sweep::of_3x3(goal);
        let distance = DistanceSum::new(&sweep.space, sweep.goal.board());
        let misplaced = MisplacedTiles::new(&sweep.space, sweep.goal.board());
        let heuristics: [&dyn Heuristic<SlidingSpace>; 2] = [&distance, &misplaced];
        for (&packed, &depth) in &sweep.distances {
            let position = sweep.space.unpack(packed);
            for heuristic in heuristics {
                let estimate = heuristic.estimate(&position);
                assert!(estimate <= depth, "{:?}", position.board());
                for to in sweep.space.actions(&position) {
                    assert!(
                        heuristic.estimate(&position.slid(to)).abs_diff(estimate) <= 1,
                        "{:?}",
                        position.board()
                    );
                }
            }
        }
    }
}

/// The golden counts of a layout, `rows x columns`.
fn golden(name: &str) -> Vec<u64> {
    let text = include_str!("../data/depth_distributions.txt");
    let line =
        text.lines().find(|line| line.split_whitespace().nth(1).is_some_and(|word| word.ends_with(name)));
    line.unwrap()
        .split_once(" : ")
        .unwrap()
        .1
        .split_whitespace()
        .map(|count| count.parse().unwrap())
        .collect()
}

fn levels(rows: usize, columns: usize, blank: Cell) -> Vec<u64> {
    let grid = layout(rows, columns);
    let goal = Position::new(Board::standard(grid.cells(), blank));
    let space = SlidingSpace::<Packed32>::new(grid.clone());
    breadth_first::levels(&space, &goal, &mut Budget::unlimited()).unwrap()
}

#[test]
fn depth_counts_are_golden() {
    assert_eq!(levels(3, 3, 8), golden("09-3x3"));
    assert_eq!(levels(3, 3, 0), golden("09-3x3"));
    assert_eq!(levels(2, 2, 3), golden("04-2x2"));
    for (rows, columns, name, farthest) in [(2, 3, "06-3x2", 21), (2, 4, "08-4x2", 36)] {
        let last = Cell::try_from(rows * columns - 1).unwrap();
        assert_eq!(levels(rows, columns, last), golden(name));
        assert_eq!(levels(columns, rows, last), golden(name));
        assert_eq!(golden(name).len() - 1, farthest);
    }
}

#[test]
fn from_the_centre_148_boards_are_farthest() {
    let counts = levels(3, 3, 4);
    assert_eq!((counts.len() - 1, counts.last()), (30, Some(&148)));
    assert_eq!(counts.iter().sum::<u64>(), 181_440);
}

#[test]
fn every_board_of_a_line_is_as_far_as_its_blank() {
    for grid in small_grids() {
        if let Shape::Grid { rows: 1, columns, .. } = grid.shape() {
            assert_eq!(levels(1, columns.into(), 0), vec![1; columns.into()]);
        }
    }
    assert_eq!(permutations(3).count(), 6);
}
