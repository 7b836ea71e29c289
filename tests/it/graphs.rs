//! Puzzles on graphs, asked of the worker.

use taquin::service::pb::{self, answer::Outcome};

use crate::support::{Talk, error_of, run, serve_and_connect};

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
fn what_has_cut_vertices_is_settled_by_rule() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        // A square with a tail of one: two of its tiles can't be swapped, nor one with the tail's.
        let edges = [(1, 2), (2, 3), (3, 4), (4, 1), (1, 5)];
        let cases = [
            (vec![1, 3, 2, 4, 0], pb::unsolvable::Reason::Order),
            (vec![2, 1, 3, 4, 0], pb::unsolvable::Reason::Order),
        ];
        for (start, reason) in cases {
            let answer = talk.ask(graph_job(5, &edges, start, vec![1, 2, 3, 4, 0])).await;
            let Some(Outcome::Unsolvable(why)) = answer.outcome else { panic!("{answer:?}") };
            assert_eq!((why.reason(), answer.source), (reason, pb::Source::Rule.into()));
        }
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
