//! Puzzles on graphs, asked of the worker.

use std::time::Duration;

use taquin::domain::sliding::{Board, Cell, Layout, Position, WideSpace};
use taquin::search::{Budget, breadth_first};
use taquin::service::pb::{self, answer::Outcome};
use taquin::space::Cost;
use tokio::time::timeout;

use crate::support::{Talk, budget, error_of, limit_of, run, serve_and_connect};

pub(crate) fn graph_job(vertices: u32, edges: &[(u32, u32)], start: Vec<u32>, goal: Vec<u32>) -> pb::Job {
    let edges = edges.iter().map(|&(a, b)| pb::Edge { a, b }).collect();
    let layout = Some(pb::sliding_puzzle::Layout::Graph(pb::Graph { vertices, edges }));
    let problem = Some(pb::job::Problem::Sliding(pb::SlidingPuzzle { layout, start, goal }));
    pb::Job { request_id: "graph".into(), problem, ..pb::Job::default() }
}

/// Moves the blank along vertices counted from 1.
fn replayed(edges: &[(u32, u32)], mut tiles: Vec<u32>, path: &[u32]) -> Vec<u32> {
    for &to in path {
        let blank = tiles.iter().position(|&tile| tile == 0).unwrap();
        let from = u32::try_from(blank).unwrap() + 1;
        assert!(edges.contains(&(from, to)) || edges.contains(&(to, from)), "{from} to {to} is no edge");
        tiles.swap(blank, to as usize - 1);
    }
    tiles
}

/// Piece j on vertex `pieces[j]` of nine, as ABC224 D and the field cases have it.
fn tiles_of(pieces: &[u32]) -> Vec<u32> {
    let mut tiles = vec![0; 9];
    for (&vertex, piece) in pieces.iter().zip(1..) {
        tiles[vertex as usize - 1] = piece;
    }
    tiles
}

#[test]
fn graph_lines_of_the_field_cases_have_their_answers() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        let numbers = |value: &serde_json::Value| -> Vec<u32> {
            value
                .as_array()
                .unwrap()
                .iter()
                .map(|number| u32::try_from(number.as_u64().unwrap()).unwrap())
                .collect()
        };
        let lines = include_str!("../data/field_cases.jsonl").lines();
        let cases: Vec<serde_json::Value> = lines
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|case: &serde_json::Value| case["kind"] == "graph8")
            .collect();
        assert_eq!(cases.len(), 5);
        for case in cases {
            let edges: Vec<(u32, u32)> = case["edges"]
                .as_array()
                .unwrap()
                .iter()
                .map(numbers)
                .map(|edge| (edge[0], edge[1]))
                .collect();
            let start = tiles_of(&numbers(&case["pieces"]));
            for algorithm in [
                pb::Algorithm::Unspecified,
                pb::Algorithm::BreadthFirst,
                pb::Algorithm::Bidirectional,
                pb::Algorithm::AStar,
                pb::Algorithm::AStarMisplaced,
            ] {
                let job = graph_job(9, &edges, start.clone(), vec![]);
                let answer =
                    talk.ask(pb::Job { algorithm: algorithm.into(), bypass_cache: true, ..job }).await;
                match answer.outcome.unwrap() {
                    Outcome::Solution(solution) => {
                        assert_eq!(i64::from(solution.distance), case["answer"].as_i64().unwrap(), "{case}");
                        assert_eq!(
                            replayed(&edges, start.clone(), &solution.vertices),
                            [1, 2, 3, 4, 5, 6, 7, 8, 0]
                        );
                    }
                    Outcome::Unsolvable(_) => assert_eq!(case["answer"], -1, "{case}"),
                    other => panic!("{case}: {other:?}"),
                }
            }
        }
    });
}

#[test]
fn what_has_cut_vertices_is_settled_by_rule() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        // A square with a tail of one: two of its tiles can't be swapped, nor one with the tail's.
        let edges = [(1, 2), (2, 3), (3, 4), (4, 1), (1, 5)];
        let cases = [
            (vec![1, 3, 2, 4, 0], pb::unsolvable::Reason::Order),
            (vec![2, 1, 3, 4, 0], pb::unsolvable::Reason::Block),
        ];
        for (start, reason) in cases {
            let answer = talk.ask(graph_job(5, &edges, start, vec![1, 2, 3, 4, 0])).await;
            let Some(Outcome::Unsolvable(why)) = answer.outcome else { panic!("{answer:?}") };
            assert_eq!((why.reason(), answer.source), (reason, pb::Source::Rule.into()));
        }
    });
}

/// Some boards of each distance from 1, 2, ..., last vertex empty, from a complete sweep.
fn sample(vertices: u32, edges: &[(u32, u32)], of_each: usize) -> Vec<(Vec<u32>, Cost)> {
    let small = |vertex: u32| Cell::try_from(vertex - 1).unwrap();
    let edges: Vec<(Cell, Cell)> = edges.iter().map(|&(a, b)| (small(a), small(b))).collect();
    let cells = vertices as usize;
    let space = WideSpace::new(Layout::graph(cells, &edges).unwrap());
    let goal = Position::new(Board::standard(cells, small(vertices)));
    let mut boards: Vec<Vec<Board>> = Vec::new();
    breadth_first::sweep(&space, &goal, &mut Budget::unlimited(), |board, depth| {
        boards.resize_with(boards.len().max(depth as usize + 1), Vec::new);
        boards[depth as usize].push(board);
    })
    .unwrap();
    let mut sample = Vec::new();
    for (depth, boards) in (0..).zip(boards) {
        for board in boards.iter().step_by(boards.len().div_ceil(of_each)) {
            sample.push((board.tiles(cells).map(u32::from).collect(), depth));
        }
    }
    sample
}

/// Vertices 1 to n, one after another and around.
fn ring(n: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=n).map(move |vertex| (vertex, vertex % n + 1))
}

#[test]
fn every_search_agrees_with_a_complete_sweep_on_graphs_of_ten_to_sixteen_vertices() {
    let petersen = ring(5).chain((1..=5).flat_map(|v| [(v, v + 5), (v + 5, (v + 1) % 5 + 6)]));
    let hexagons = ring(6).chain([(1, 7), (7, 8), (8, 9), (9, 10), (10, 11), (11, 1)]).chain([
        (8, 12),
        (12, 13),
        (13, 14),
        (14, 15),
        (15, 16),
        (16, 8),
    ]);
    // Two blocks with a bridge between and a tail.
    let mixed = ring(5).chain([(1, 3), (5, 6), (6, 7), (7, 8), (8, 9), (9, 10), (10, 6), (10, 7)]);
    let graphs = [
        (10, petersen.collect::<Vec<_>>(), 2),
        (10, ring(10).chain([(1, 6)]).collect(), 1),
        (16, hexagons.collect(), 3),
        (11, mixed.chain([(11, 4)]).collect(), 2),
    ];
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        for (vertices, edges, of_each) in graphs {
            let goal: Vec<u32> = (1..vertices).chain([0]).collect();
            for (start, distance) in sample(vertices, &edges, of_each) {
                let mut algorithms = vec![pb::Algorithm::Unspecified, pb::Algorithm::Bidirectional];
                // The others see too many boards to be asked for every one.
                if distance <= 14 {
                    algorithms.extend([pb::Algorithm::BreadthFirst, pb::Algorithm::AStar]);
                    algorithms.extend([pb::Algorithm::AStarMisplaced, pb::Algorithm::IdaStar]);
                }
                let mut paths = Vec::new();
                for algorithm in algorithms {
                    let job = graph_job(vertices, &edges, start.clone(), vec![]);
                    let job = pb::Job { algorithm: algorithm.into(), bypass_cache: true, ..job };
                    talk.send(budget(job, pb::Budget { max_time_ms: 60_000, ..pb::Budget::default() }));
                    let answer =
                        timeout(Duration::from_mins(2), talk.next()).await.unwrap().unwrap().unwrap();
                    let Some(Outcome::Solution(solution)) = answer.outcome else { panic!("{answer:?}") };
                    assert_eq!(solution.distance, distance, "{algorithm:?}: {start:?} on {edges:?}");
                    assert_eq!(replayed(&edges, start.clone(), &solution.vertices), goal);
                    paths.push(solution.vertices);
                }
                paths.dedup();
                assert_eq!(paths.len(), 1, "{start:?} on {edges:?}: {paths:?}");
            }
        }
    });
}

#[test]
fn a_graph_of_too_many_boards_is_answered_or_has_a_bound() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        // Every vertex with every other: each tile one step from its place, all of them around.
        let whole: Vec<(u32, u32)> = (1..=16).flat_map(|b| (1..b).map(move |a| (a, b))).collect();
        let start: Vec<u32> = (2..16).chain([1, 0]).collect();
        let answer = talk.ask(graph_job(16, &whole, start, vec![])).await;
        let Some(Outcome::Solution(solution)) = answer.outcome else { panic!("{answer:?}") };
        assert_eq!(solution.distance, 16);
        // A cycle with a chord has few choices and ways of hundreds of moves; with odd cycles no patterns.
        let chord: Vec<(u32, u32)> = ring(16).chain([(1, 5)]).collect();
        let start: Vec<u32> = vec![15, 3, 8, 1, 12, 6, 10, 2, 14, 9, 5, 13, 4, 11, 7, 0];
        let job = budget(
            graph_job(16, &chord, start, vec![]),
            pb::Budget { max_nodes: 100_000, ..Default::default() },
        );
        let (limit, bound) = limit_of(&talk.ask(job).await);
        assert_eq!(limit, pb::limit_reached::Limit::Nodes);
        assert!(bound >= 30, "{bound}");
    });
}

/// Vertices, edges, and what is said of them.
type Wrong<'a> = (u32, &'a [(u32, u32)], &'a str);

#[test]
fn a_wrong_graph_is_named() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let cases: [Wrong; 6] = [
            (0, &[], "job.sliding.graph.vertices: is 0, expected 1 to 16 (max_graph_vertices)"),
            (17, &[], "job.sliding.graph.vertices: is 17, expected 1 to 16 (max_graph_vertices)"),
            (
                3,
                &[(1, 2), (2, 2)],
                "job.sliding.graph.edges[1]: leads from 2 to itself, expected two different vertices",
            ),
            (3, &[(0, 2)], "job.sliding.graph.edges[0].a: is 0, expected a vertex from 1 to 3"),
            (3, &[(1, 4)], "job.sliding.graph.edges[0].b: is 4, expected a vertex from 1 to 3"),
            (
                3,
                &[(u32::MAX, 1)],
                "job.sliding.graph.edges[0].a: is 4294967295, expected a vertex from 1 to 3",
            ),
        ];
        for (vertices, edges, message) in cases {
            let answer = talk.ask(graph_job(vertices, edges, vec![1, 2, 0], vec![])).await;
            assert_eq!(error_of(&answer).message(), message);
        }
        // A doubled edge counts once, and no edge at all is a graph too.
        let twice = talk.ask(graph_job(3, &[(1, 2), (2, 1), (1, 2), (2, 3)], vec![0, 1, 2], vec![])).await;
        assert!(
            matches!(twice.outcome, Some(Outcome::Solution(pb::Solution { distance: 2, .. }))),
            "{twice:?}"
        );
        let none = talk.ask(graph_job(9, &[], vec![1, 2, 3, 4, 5, 6, 7, 8, 0], vec![])).await;
        assert!(
            matches!(none.outcome, Some(Outcome::Solution(pb::Solution { distance: 0, .. }))),
            "{none:?}"
        );
        let alone = talk.ask(graph_job(1, &[], vec![0], vec![])).await;
        assert!(
            matches!(alone.outcome, Some(Outcome::Solution(pb::Solution { distance: 0, .. }))),
            "{alone:?}"
        );
    });
}
