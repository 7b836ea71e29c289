//! Paths that need not be shortest: what is said of them is proven, and every one is replayed.

use taquin::domain::sliding::{Board, Position, WideSpace};
use taquin::heuristic::{DistanceSum, LinearConflict};
use taquin::search::{Budget, a_star, weighted_a_star};
use taquin::service::pb::{self, answer::Outcome};
use taquin::space::Cost;

use crate::cli::client;
use crate::graphs::graph_job;
use crate::instances::{Random, layout};
use crate::support::{Talk, budget, job, run, serve_and_connect};
use crate::wide::{FARTHEST, answer, followed, korf, patient, solution, wide_job};
use crate::{boards, instances};

fn within(job: pb::Job, max_ratio: f64) -> pb::Job {
    pb::Job { allow_suboptimal: Some(pb::AllowSuboptimal { max_ratio }), ..patient(job) }
}

fn nodes(job: pb::Job, max_nodes: u64) -> pb::Job {
    budget(job, pb::Budget { max_nodes, max_time_ms: 60_000, max_moves: None })
}

/// The length of a path in letters that leads from a 4x4 board to the default goal.
fn replayed(start: &[u32], path: &pb::Path) -> Cost {
    assert_eq!(followed(start, &path.moves), Board::standard(16, 15));
    assert_eq!(path.moves.len(), path.length as usize);
    path.length
}

/// Korf's boards turned by half a turn, so that the blank of their goal is last; and their lengths.
fn turned_korf() -> Vec<(Vec<u32>, Cost)> {
    let turned = |line: &Vec<u32>| line[2..].iter().rev().map(|tile| (16 - tile) % 16).collect();
    korf().iter().map(|line| (turned(line), line[1])).collect()
}

#[test]
fn weighted_a_star_stays_within_its_weight() {
    let space = WideSpace::new(layout(2, 5).clone());
    let goal = Board::standard(10, 0);
    let boards = instances::reached(space.layout(), goal);
    let mut boards: Vec<Board> = boards.into_iter().collect();
    boards.sort_unstable_by_key(|board| board.tiles(10).collect::<Vec<_>>());
    let (distances, conflicts) = (DistanceSum::new(&space, goal), LinearConflict::new(&space, goal));
    let mut random = Random::new(5);
    for _ in 0..200 {
        let start = Position::new(boards[random.below(boards.len())]);
        let goal = Position::new(goal);
        let shortest = a_star::search(&space, &conflicts, &start, &goal, &mut Budget::unlimited());
        let shortest = shortest.unwrap().unwrap().len();
        for percent in [100, 120, 150, 300, 1000] {
            let paths = [
                weighted_a_star::search(&space, &distances, percent, &start, &goal, &mut Budget::unlimited()),
                weighted_a_star::search(&space, &conflicts, percent, &start, &goal, &mut Budget::unlimited()),
            ];
            for path in paths.map(|path| path.unwrap().unwrap()) {
                assert_eq!(path.iter().fold(start, |at, &to| at.slid(to)), goal);
                assert!((shortest..=shortest * percent as usize / 100).contains(&path.len()), "{start:?}");
            }
        }
    }
}

#[test]
fn what_weighted_a_star_has_proven_by_its_end_holds() {
    let space = WideSpace::new(layout(2, 5).clone());
    let (start, goal) = (Board::new(&[7, 0, 3, 8, 5, 6, 1, 2, 9, 4]), Board::standard(10, 9));
    let bound = DistanceSum::new(&space, goal);
    for nodes in [1, 10, 100, 1000] {
        let mut part = Budget::unlimited().part(nodes);
        let (start, goal) = (Position::new(start), Position::new(goal));
        let path = weighted_a_star::search(&space, &bound, 200, &start, &goal, &mut part);
        // 30 moves, as tests/it/wide.rs has from every search.
        assert!(part.proven() <= 30 && (path.is_ok() || part.expanded() == nodes));
        assert!(path.ok().flatten().is_none_or(|path| path.len() <= 2 * part.proven() as usize));
    }
}

#[test]
fn a_path_within_the_ratio_is_enough() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        for max_ratio in [1.0, 1.1, 1.5, 3.0, 100.0] {
            let mut unproven = 0;
            for (start, shortest) in turned_korf().into_iter().take(8) {
                talk.send(within(wide_job("within", 4, 4, &start), max_ratio));
                match answer(&mut talk).await.outcome.unwrap() {
                    Outcome::Solution(solution) => assert_eq!(solution.distance, shortest),
                    Outcome::Suboptimal(pb::Suboptimal { path: Some(path), lower_bound }) => {
                        let length = replayed(&start, &path);
                        assert!(lower_bound <= shortest && shortest <= length && lower_bound < length);
                        assert!(f64::from(length) <= max_ratio * f64::from(lower_bound), "{path:?}");
                        unproven += 1;
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert!(
                if max_ratio > 1.0 { max_ratio < 1.5 || unproven > 0 } else { unproven == 0 },
                "{max_ratio}"
            );
        }
    });
}

#[test]
fn a_ratio_gives_the_same_path_whatever_the_cache_holds() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let (start, shortest) = turned_korf().swap_remove(0);
        let ask = || within(wide_job("ratio", 4, 4, &start), 3.0);
        talk.send(ask());
        let Some(Outcome::Suboptimal(first)) = answer(&mut talk).await.outcome else { panic!() };
        talk.send(patient(wide_job("shortest", 4, 4, &start)));
        assert_eq!(solution(&answer(&mut talk).await).distance, shortest);
        talk.send(ask());
        let Some(Outcome::Suboptimal(again)) = answer(&mut talk).await.outcome else { panic!() };
        assert_eq!(first.path, again.path);
    });
}

#[test]
fn up_to_nine_cells_a_path_is_always_shortest() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let board = boards::at(31, 1);
        talk.send(within(job("small", board), 100.0));
        assert_eq!(solution(&answer(&mut talk).await).distance, 31);
    });
}

#[test]
fn a_limit_comes_with_the_best_path_known_where_it_is_asked_for() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let hard = || wide_job("hard", 4, 4, &FARTHEST);
        for best_path in [true, false] {
            talk.send(pb::Job { best_path, ..nodes(hard(), 60_000) });
            let Some(Outcome::LimitReached(reached)) = answer(&mut talk).await.outcome else { panic!() };
            assert_eq!(reached.best_path.is_some(), best_path);
            let length = reached.best_path.map_or(80, |path| replayed(&FARTHEST, &path));
            assert!(reached.lower_bound <= 80 && length >= 80, "{} {length}", reached.lower_bound);
        }
        // One that is longer than is of interest is not told, and too few states find none.
        let at_most = |max_nodes, max_moves| pb::Budget { max_nodes, max_time_ms: 60_000, max_moves };
        for limits in [at_most(60_000, Some(79)), at_most(10, None)] {
            talk.send(pb::Job { best_path: true, ..budget(hard(), limits) });
            let Some(Outcome::LimitReached(reached)) = answer(&mut talk).await.outcome else { panic!() };
            assert_eq!(reached.best_path, None);
        }
        // What can be proven is.
        let (start, shortest) = turned_korf().swap_remove(11);
        talk.send(pb::Job { best_path: true, ..patient(wide_job("near", 4, 4, &start)) });
        assert_eq!(solution(&answer(&mut talk).await).distance, shortest);
    });
}

#[test]
fn the_best_path_on_a_graph_is_of_vertices_in_the_callers_order() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        // The 4x4 grid as a graph.
        let across = (1..16).filter(|v| v % 4 != 0).map(|v| (v, v + 1));
        let edges: Vec<(u32, u32)> = across.chain((1..13).map(|v| (v, v + 4))).collect();
        let goal: Vec<u32> = (1..16).chain([0]).collect();
        let job = graph_job(16, &edges, FARTHEST.to_vec(), goal.clone());
        talk.send(pb::Job { best_path: true, ..nodes(job, 60_000) });
        let Some(Outcome::LimitReached(reached)) = answer(&mut talk).await.outcome else { panic!() };
        let path = reached.best_path.unwrap();
        let mut at = FARTHEST.to_vec();
        for &to in &path.vertices {
            let blank = at.iter().position(|&tile| tile == 0).unwrap();
            let from = u32::try_from(blank + 1).unwrap();
            assert!(edges.contains(&(from, to)) || edges.contains(&(to, from)));
            at.swap(blank, to as usize - 1);
        }
        assert_eq!(at, goal);
        assert_eq!(path.vertices.len(), path.length as usize);
        assert!(path.length >= 80 && reached.lower_bound <= 80);
    });
}

/// How far its quick search goes is the job's own affair, even where its limits are widened by one who joins.
#[test]
fn the_best_path_is_that_of_the_jobs_own_budget() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let ask = |id: &str, max_nodes| pb::Job {
            best_path: true,
            ..nodes(wide_job(id, 4, 4, &FARTHEST), max_nodes)
        };
        let mut paths = Vec::new();
        for together in [false, true] {
            talk.send(ask("few", 4000));
            if together {
                talk.send(ask("many", 60_000));
            }
            for _ in 0..=usize::from(together) {
                let answer = answer(&mut talk).await;
                let Some(Outcome::LimitReached(reached)) = answer.outcome else { panic!("{answer:?}") };
                if answer.request_id == "few" {
                    paths.push(reached.best_path);
                }
            }
        }
        assert!(paths[0].is_some() && paths[0] == paths[1], "{paths:?}");
        assert_eq!(server.engine().coalesced(), 0);
    });
}

#[test]
fn those_who_want_the_same_share_a_search_and_others_do_not() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        for (id, max_ratio) in [("a", 1.01), ("b", 1.01), ("c", 1.02)] {
            let hard = within(wide_job(id, 4, 4, &FARTHEST), max_ratio);
            talk.send(budget(hard, pb::Budget { max_time_ms: 400, ..pb::Budget::default() }));
        }
        for _ in 0..3 {
            let Some(Outcome::LimitReached(_) | Outcome::Suboptimal(_)) = answer(&mut talk).await.outcome
            else {
                panic!("an 80-move board is not proven within 400 ms");
            };
        }
        assert_eq!(server.engine().coalesced(), 1);
    });
}

#[test]
fn the_client_tells_a_path_that_is_not_proven_from_one_that_is() {
    let far = "0 11 9 13/12 15 10 14/3 7 6 2/4 8 5 1";
    let ran = client(&["solve", "--max-ratio", "2", far], "");
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    let [bound, length, moves] = words[..] else { panic!("{ran:?}") };
    let length: usize = length.parse().unwrap();
    assert!(bound.starts_with("suboptimal>=") && moves.len() == length && length >= 80, "{ran:?}");
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = client(&["solve", "--max-nodes", "60000", "--best-path", "--output", "json", far], "");
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["outcome"], "limit");
    assert!(answer["distance"].as_u64().unwrap() >= 80 && answer["lower_bound"].as_u64().unwrap() <= 80);
    assert_eq!(ran.code, 1, "{ran:?}");
    for wrong in ["0.9", "101", "nan"] {
        let ran = client(&["solve", "--max-ratio", wrong, far], "");
        assert!(ran.stderr.contains("job.allow_suboptimal.max_ratio"), "{ran:?}");
    }
    assert_eq!(client(&["solve", "--max-ratio", "2", "--smallest", far], "").code, 2);
}
