//! Puzzles on graphs: what theory decides, against complete search; and the worker.

use std::collections::{HashMap, HashSet};

use taquin::domain::sliding::{Board, Cell, Layout, Obstacle, Position, obstacle};
use taquin::service::pb::{self, answer::Outcome};

use crate::instances::{Random, permutations};
use crate::support::{Talk, error_of, run, serve_and_connect};

type Edges = Vec<(Cell, Cell)>;

fn pairs(vertices: usize) -> Edges {
    (0..Cell::try_from(vertices).unwrap()).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
}

fn is_connected(vertices: usize, edges: &Edges) -> bool {
    let mut seen = HashSet::from([0]);
    let mut grown = true;
    while grown {
        let reached =
            edges.iter().filter(|(a, b)| seen.contains(a) || seen.contains(b)).flat_map(|&(a, b)| [a, b]);
        let reached: Vec<Cell> = reached.collect();
        grown = reached.into_iter().any(|vertex| seen.insert(vertex));
    }
    seen.len() == vertices
}

/// One of each kind of connected graph: the one with the least edge bits among its relabellings.
fn connected_graphs(vertices: usize) -> Vec<Edges> {
    let pairs = pairs(vertices);
    let bit: HashMap<(Cell, Cell), usize> = pairs.iter().copied().zip(0..).collect();
    let relabellings: Vec<Vec<usize>> = permutations(vertices)
        .map(|to| {
            let image = |&(a, b): &(Cell, Cell)| {
                let (a, b) = (to[usize::from(a)], to[usize::from(b)]);
                bit[&(a.min(b), a.max(b))]
            };
            pairs.iter().map(image).collect()
        })
        .collect();
    let mut seen = HashSet::new();
    let mut graphs = Vec::new();
    for bits in 0..1_u32 << pairs.len() {
        if seen.contains(&bits) {
            continue;
        }
        for relabelling in &relabellings {
            let image = (0..pairs.len())
                .filter(|bit| bits & 1 << bit != 0)
                .fold(0, |image, bit| image | 1 << relabelling[bit]);
            seen.insert(image);
        }
        let edges: Edges =
            pairs.iter().zip(0..).filter(|(_, bit)| bits & 1 << bit != 0).map(|(pair, _)| *pair).collect();
        if is_connected(vertices, &edges) {
            graphs.push(edges);
        }
    }
    graphs
}

/// Every board that moves lead to, by nothing but the graph.
fn reached(graph: &Layout, goal: Board) -> HashSet<Board> {
    let goal = Position::new(goal);
    let mut seen = HashSet::from([goal.board()]);
    let mut stack = vec![goal];
    while let Some(position) = stack.pop() {
        for &to in graph.neighbours(position.blank()) {
            let next = position.slid(to);
            if seen.insert(next.board()) {
                stack.push(next);
            }
        }
    }
    seen
}

/// What theory says is true of a board, given what search has reached; whether it decided.
fn check(graph: &Layout, start: Board, goal: Board, reached: &HashSet<Board>, decided: bool) {
    let obstacle = obstacle(graph, start, goal);
    assert_ne!(obstacle, Some(Obstacle::Exhausted));
    let solvable = reached.contains(&start);
    assert!(obstacle.is_none() || !solvable, "{graph:?}: {start:?} to {goal:?} is no {obstacle:?}");
    assert!(!decided || obstacle.is_none() == solvable, "{graph:?}: {start:?} to {goal:?} is left open");
}

/// Whether no vertex cuts a graph of three vertices or more: then theory decides all.
fn is_one_block(vertices: usize, edges: &Edges) -> bool {
    (0..Cell::try_from(vertices).unwrap()).all(|cut| {
        let name = |vertex: Cell| if vertex > cut { vertex - 1 } else { vertex };
        let rest: Edges =
            edges.iter().filter(|(a, b)| *a != cut && *b != cut).map(|&(a, b)| (name(a), name(b))).collect();
        is_connected(vertices - 1, &rest)
    })
}

#[test]
fn theory_agrees_with_complete_search_on_every_connected_graph_of_up_to_six_vertices() {
    let mut graphs = 0;
    for vertices in 1..=6 {
        for edges in connected_graphs(vertices) {
            graphs += 1;
            let graph = Layout::graph(vertices, &edges).unwrap();
            let decided = vertices < 3 || is_one_block(vertices, &edges);
            for blank in 0..Cell::try_from(vertices).unwrap() {
                let goal = Board::standard(vertices, blank);
                let reached = reached(&graph, goal);
                for tiles in permutations(vertices) {
                    check(&graph, Board::new(&tiles), goal, &reached, decided);
                }
            }
        }
    }
    assert_eq!(graphs, 143);
}

#[test]
fn theory_agrees_with_complete_search_on_random_graphs_of_seven_to_nine_vertices() {
    let mut random = Random::new(1974);
    let mut blocks = 0;
    for vertices in [7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 9, 9] {
        let pairs = pairs(vertices);
        let density = vertices + random.below(vertices);
        let edges: Edges = pairs.iter().copied().filter(|_| random.below(pairs.len()) < density).collect();
        let graph = Layout::graph(vertices, &edges).unwrap();
        let decided = is_connected(vertices, &edges) && is_one_block(vertices, &edges);
        blocks += usize::from(decided);
        let goal = Board::new(&random.permutation(vertices));
        let reached = reached(&graph, goal);
        for tiles in permutations(vertices).step_by(7) {
            check(&graph, Board::new(&tiles), goal, &reached, decided);
        }
    }
    assert!(blocks >= 3, "random graphs must have blocks among them: {blocks}");
}

#[test]
fn blocks_of_seven_and_eight_are_decided_whatever_their_kind() {
    let ring = |n: Cell| (0..n).map(move |vertex| (vertex, (vertex + 1) % n));
    let theta: Edges = ring(6).chain([(0, 6), (6, 3)]).collect();
    let cases: [(&str, usize, Edges, usize); 5] = [
        ("theta-0", 7, theta, 7 * 120),
        ("a cycle of seven", 7, ring(7).collect(), 7 * 6),
        ("a cycle of seven with a chord", 7, ring(7).chain([(0, 2)]).collect(), 5040),
        ("a bipartite cycle of eight with a chord", 8, ring(8).chain([(0, 3)]).collect(), 20_160),
        ("another of seven vertices and eight edges", 7, ring(6).chain([(0, 6), (6, 2)]).collect(), 2520),
    ];
    for (name, vertices, edges, size) in cases {
        // Named backwards too, so that nothing hangs on the order of vertices.
        for edges in
            [edges.clone(), edges.iter().map(|&(a, b)| (last(vertices) - a, last(vertices) - b)).collect()]
        {
            let graph = Layout::graph(vertices, &edges).unwrap();
            let goal = Board::standard(vertices, 2);
            let reached = reached(&graph, goal);
            assert_eq!(reached.len(), size, "{name}");
            for tiles in permutations(vertices) {
                check(&graph, Board::new(&tiles), goal, &reached, true);
            }
        }
    }
}

fn last(vertices: usize) -> Cell {
    Cell::try_from(vertices - 1).unwrap()
}

#[test]
fn what_the_blank_can_not_reach_must_agree() {
    // A square, and a pair that the blank can't come to.
    let graph = Layout::graph(6, &[(0, 1), (1, 2), (2, 3), (3, 0), (4, 5)]).unwrap();
    let why = |start: [u8; 6], goal: [u8; 6]| obstacle(&graph, Board::new(&start), Board::new(&goal));
    assert_eq!(why([0, 1, 2, 3, 4, 5], [1, 2, 3, 0, 4, 5]), None);
    assert_eq!(why([0, 1, 2, 3, 4, 5], [0, 2, 1, 3, 4, 5]), Some(Obstacle::Order));
    assert_eq!(why([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 4]), Some(Obstacle::Component));
    assert_eq!(why([0, 1, 2, 3, 4, 5], [4, 1, 2, 3, 0, 5]), Some(Obstacle::Component));
}

fn graph_job(vertices: u32, edges: &[(u32, u32)], start: Vec<u32>, goal: Vec<u32>) -> pb::Job {
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
fn what_no_rule_settles_is_searched_once_and_remembered() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        // A square with a tail of one: the cut vertex leaves it open, and two tiles can't be swapped.
        let edges = [(1, 2), (2, 3), (3, 4), (4, 1), (1, 5)];
        let ask = |start: Vec<u32>| graph_job(5, &edges, start, vec![1, 2, 3, 4, 0]);
        let mut sources = Vec::new();
        for _ in 0..2 {
            let answer = talk.ask(ask(vec![1, 3, 2, 4, 0])).await;
            let Some(Outcome::Unsolvable(why)) = answer.outcome else { panic!("{answer:?}") };
            assert_eq!(why.reason(), pb::unsolvable::Reason::Exhausted);
            sources.push(answer.source());
        }
        assert_eq!(sources, [pb::Source::Search, pb::Source::Cache]);
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
            (0, &[], "job.sliding.graph.vertices: is 0, expected 1 to 9 (max_graph_vertices)"),
            (10, &[], "job.sliding.graph.vertices: is 10, expected 1 to 9 (max_graph_vertices)"),
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

#[test]
fn layouts_of_the_same_graph_share_their_code() {
    let one = Layout::graph(4, &[(0, 1), (1, 2)]).unwrap();
    let same = Layout::graph(4, &[(2, 1), (1, 0), (0, 1)]).unwrap();
    assert_eq!((one.code(), &*one), (same.code(), &*same));
    assert!(!std::ptr::eq(&raw const *one, &raw const *same));
}
