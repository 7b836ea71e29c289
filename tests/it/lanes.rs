//! Boards that wait for pattern databases, and boards that take long: neither holds up
//! what is quick, and each ends as it is told to.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use taquin::domain::sliding::Canonical;
use taquin::engine::{
    Algorithm, Answer, Caller, Engine, EngineConfig, Failure, Fault, FaultOf, Priority, Query, Reply, Verdict,
};
use taquin::service::Embedded;
use taquin::service::pb::{self, Source, answer::Outcome, cancel::Which, limit_reached::Limit};
use taquin::space::Cost;
use tonic::Code;

use crate::boards;
use crate::instances::instance;
use crate::support::{
    AT_ONCE, Talk, assert_cancelled, assert_solves, budget, cancel, error_of, job, limit_of, run,
    serve_and_connect, wait_until,
};
use crate::wide::{FARTHEST, PATIENCE, answer, patient, solution, wide_job};

/// What IDA* may expand before it leaves the light lane.
const QUICK_NODES: u64 = 50_000;

/// The tiles in falling order, the last two in the other if that makes it solvable: far from its goal.
fn backwards(rows: u8, columns: u8) -> Vec<u8> {
    let tiles = rows * columns - 1;
    let mut start: Vec<u8> = (0..=tiles).rev().collect();
    if tiles * (tiles - 1) / 2 % 2 == 1 {
        let last = usize::from(tiles) - 1;
        start.swap(last - 1, last);
    }
    start
}

/// A board that waits for pattern databases; the name may hold switches.
fn far(id: &str, rows: u8, columns: u8) -> pb::Job {
    let start: Vec<u32> = backwards(rows, columns).into_iter().map(u32::from).collect();
    patient(wide_job(id, rows.into(), columns.into(), &start))
}

/// Returns when the only worker has set aside what was sent before.
async fn set_aside(server: &Embedded, talk: &mut Talk, waiting: usize) {
    // One that may take long too, and is the last of those.
    let near = wide_job("after it", 3, 4, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11]);
    let last = pb::Job { bypass_cache: true, priority: pb::Priority::Low.into(), ..near };
    let answer = talk.ask(last).await;
    assert_eq!((answer.request_id.as_str(), solution(&answer).distance), ("after it", 1));
    assert_eq!((server.engine().in_flight(), server.engine().queued()), (waiting, waiting));
}

#[test]
fn a_board_that_waits_for_pattern_databases_holds_up_nobody() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.send(far("waits#maker#delay-ms=20000", 4, 4));
        set_aside(&server, &mut talk, 1).await;
        let begun = Instant::now();
        for n in 0..100 {
            let board = boards::at(20, n);
            assert_solves(&talk.ask(job(n.to_string(), board)).await, board);
        }
        // Of another goal, near enough to need nothing.
        let near = talk.ask(wide_job("near", 3, 4, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11])).await;
        assert_eq!(solution(&near).distance, 1);
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
        let begun = Instant::now();
        talk.cancel("waits#maker#delay-ms=20000");
        let cancelled = talk.answer().await;
        assert_cancelled(&cancelled, "waits#maker#delay-ms=20000");
        assert_eq!(cancelled.statistics.unwrap().expanded, QUICK_NODES);
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
        assert_eq!((server.engine().in_flight(), server.engine().queued()), (0, 0));
    });
}

#[test]
fn what_nobody_waits_for_any_more_is_not_made_to_its_end() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.send(far("gone#maker#delay-ms=60000", 4, 4));
        talk.send(far("stays", 2, 5));
        set_aside(&server, &mut talk, 2).await;
        talk.cancel("gone#maker#delay-ms=60000");
        assert_cancelled(&talk.answer().await, "gone#maker#delay-ms=60000");
        // The maker has turned to it: a minute would be the end of the test.
        assert!(solution(&answer(&mut talk).await).distance > 30);
        assert_eq!(server.engine().pattern_statistics().goals, 1);
        // Another who waits for the same goal keeps it being made.
        talk.send(far("leaves#maker#delay-ms=1500", 3, 4));
        set_aside(&server, &mut talk, 1).await;
        talk.send(patient(pb::Job { bypass_cache: true, ..far("waits", 3, 4) }));
        set_aside(&server, &mut talk, 2).await;
        talk.cancel("leaves#maker#delay-ms=1500");
        assert_cancelled(&talk.answer().await, "leaves#maker#delay-ms=1500");
        assert!(solution(&answer(&mut talk).await).distance > 30);
        assert_eq!(server.engine().pattern_statistics().goals, 2);
    });
}

#[test]
fn time_ends_the_wait_for_pattern_databases() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let tight = pb::Budget { max_time_ms: 300, ..pb::Budget::default() };
        let begun = Instant::now();
        let late = talk.ask(budget(far("#maker#delay-ms=20000", 4, 4), tight)).await;
        assert!(begun.elapsed() < 300 * Duration::from_millis(1) + AT_ONCE, "{:?}", begun.elapsed());
        let (limit, bound) = limit_of(&late);
        assert!(limit == Limit::Time && bound > 30, "{late:?}");
        let cost = late.statistics.unwrap();
        assert_eq!(cost.expanded, QUICK_NODES);
        assert!(cost.queue_time_us > cost.solve_time_us, "the time set aside is no search: {cost:?}");
        assert_eq!((server.engine().in_flight(), server.engine().queued()), (0, 0));
    });
}

#[test]
fn what_was_expanded_in_either_lane_counts() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        for (max_nodes, id) in [
            (QUICK_NODES - 1, "#maker#delay-ms=20000"),
            (QUICK_NODES, "#maker#delay-ms=20000"),
            (QUICK_NODES + 1000, "made"),
        ] {
            let nodes = pb::Budget { max_nodes, max_time_ms: 60_000, max_moves: None };
            talk.send(budget(far(id, 4, 4), nodes));
            let answer = answer(&mut talk).await;
            assert_eq!(limit_of(&answer).0, Limit::Nodes);
            assert_eq!(answer.statistics.unwrap().expanded, max_nodes);
        }
    });
}

#[test]
fn goals_are_made_in_turn_and_all_who_wait_for_one_go_on_together() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.send(far("1#maker#delay-ms=2500", 2, 5));
        talk.send(far("2", 3, 4));
        talk.send(far("given up", 2, 6));
        // Another board of the first goal.
        talk.send(patient(wide_job("1 too", 2, 5, &[9, 8, 7, 6, 5, 4, 3, 2, 0, 1])));
        set_aside(&server, &mut talk, 4).await;
        talk.cancel("given up");
        assert_cancelled(&talk.answer().await, "given up");
        let mut order = Vec::new();
        for _ in 0..3 {
            let answer = answer(&mut talk).await;
            assert!(solution(&answer).distance > 30, "{answer:?}");
            assert!(answer.statistics.unwrap().expanded > QUICK_NODES, "{answer:?}");
            order.push(answer.request_id);
        }
        order[..2].sort_unstable();
        assert_eq!(order, ["1 too", "1#maker#delay-ms=2500", "2"]);
        // What nobody waits for is not made; what is asked for again is.
        assert_eq!(server.engine().pattern_statistics().goals, 2);
        talk.send(far("asked again", 2, 6));
        solution(&answer(&mut talk).await);
        assert_eq!(server.engine().pattern_statistics().goals, 3);
        assert_eq!((server.engine().in_flight(), server.engine().queued()), (0, 0));
    });
}

#[test]
fn who_matters_more_has_his_goal_made_first() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let with = |priority: pb::Priority, job: pb::Job| pb::Job { priority: priority.into(), ..job };
        talk.send(far("first#maker#delay-ms=2500", 2, 5));
        set_aside(&server, &mut talk, 1).await;
        talk.send(far("normal", 3, 4));
        talk.send(with(pb::Priority::Low, far("raised", 2, 6)));
        set_aside(&server, &mut talk, 3).await;
        talk.send(with(pb::Priority::High, far("raises", 2, 6)));
        let mut order = Vec::new();
        for _ in 0..4 {
            let answer = answer(&mut talk).await;
            solution(&answer);
            order.push((answer.request_id, server.engine().pattern_statistics().goals));
        }
        let ids: Vec<&str> = order.iter().map(|(id, _)| id.as_str()).collect();
        let normal = order.iter().find(|(id, _)| id == "normal").unwrap();
        assert!(ids.contains(&"raised") && ids.contains(&"raises"), "{order:?}");
        assert_eq!(normal.1, 3, "the goal that was raised was made before: {order:?}");
        assert_eq!(server.engine().coalesced(), 1);
    });
}

#[test]
fn a_search_that_goes_by_two_names_is_made_once() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.send(far("auto#maker#delay-ms=200", 2, 5));
        set_aside(&server, &mut talk, 1).await;
        talk.send(pb::Job { algorithm: pb::Algorithm::IdaStar.into(), ..far("named", 2, 5) });
        for (id, source) in [("auto#maker#delay-ms=200", Source::Search), ("named", Source::Coalesced)] {
            let answer = answer(&mut talk).await;
            solution(&answer);
            assert_eq!((answer.request_id.as_str(), answer.source()), (id, source));
        }
    });
}

#[test]
fn a_panic_of_the_maker_costs_the_job_it_worked_for_alone() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.send(far("hold#maker#delay-ms=300", 3, 4));
        talk.send(far("bad#maker#panic", 2, 5));
        talk.send(patient(wide_job("good", 2, 5, &[9, 8, 7, 6, 5, 4, 3, 2, 0, 1])));
        set_aside(&server, &mut talk, 3).await;
        for _ in 0..3 {
            let answer = answer(&mut talk).await;
            if answer.request_id.starts_with("bad") {
                assert_eq!(error_of(&answer).code(), Code::Internal);
            } else {
                solution(&answer);
            }
        }
        talk.send(far("again", 2, 5));
        solution(&answer(&mut talk).await);
        assert!(server.engine().is_whole());
        assert_eq!((server.engine().in_flight(), server.engine().queued()), (0, 0));
    });
}

#[test]
fn an_engine_that_stops_answers_what_is_set_aside() {
    run(async {
        let config = EngineConfig {
            workers: 1,
            max_in_flight: 100,
            max_queue: 100,
            max_cache_bytes: 0,
            max_table_bytes: 0,
            sweep: false,
            make_large: false,
        };
        let engine = Engine::start(config).unwrap();
        let fault = Fault { of: FaultOf::Maker, delay: 2 * PATIENCE, panic: false };
        let (sender, answers) = mpsc::channel::<Answer>();
        // Held, since a ticket that is dropped gives its job up.
        let tickets = [(2, 5), (3, 4), (2, 6)].map(|(rows, columns)| {
            let (start, sender) = (backwards(rows, columns), sender.clone());
            let goal: Vec<u8> = (1..rows * columns).chain([0]).collect();
            let query = Query {
                canonical: Canonical::of(&instance(rows.into(), columns.into(), &start, &goal)),
                algorithm: Algorithm::Auto,
                time: PATIENCE,
                deadline: None,
                max_nodes: 1_000_000_000,
                max_moves: Cost::MAX,
                priority: Priority::Normal,
                caller: Caller::default(),
                bypass_cache: true,
                bypass_table: true,
                best_path: false,
                ratio: None,
                fault: Some(fault),
            };
            engine
                .ask(&query, || Reply::new(tracing::Span::none(), move |answer| sender.send(answer).unwrap()))
                .unwrap()
        });
        drop(sender);
        // Each has had its quick try once all wait again.
        tokio::time::sleep(AT_ONCE).await;
        assert_eq!((engine.in_flight(), engine.queued()), (3, 3));
        let begun = Instant::now();
        drop(engine);
        for _ in 0..3 {
            let answer = answers.recv().unwrap();
            assert!(matches!(answer.verdict, Verdict::Failed(Failure::Stopped)), "{answer:?}");
            assert_eq!(answer.statistics.expanded, QUICK_NODES);
        }
        drop(tickets);
        // No more of them, for whoever could answer again is gone.
        assert!(answers.recv().is_err());
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    });
}

/// So many nine-cell boards that must be searched, sent as fast as they are taken; the slowest of a hundred.
async fn p99(talk: &mut Talk, boards: usize) -> Duration {
    let begun = Instant::now();
    for n in 0..boards {
        let job = job(format!("light {n}"), boards::at(22, n));
        talk.send(pb::Job { bypass_cache: true, ..job });
    }
    let mut took = Vec::new();
    for _ in 0..boards {
        let answer = talk.answer().await;
        let n = answer.request_id.strip_prefix("light ").unwrap().parse().unwrap();
        assert_solves(&answer, boards::at(22, n));
        took.push(begun.elapsed());
    }
    took[boards * 99 / 100]
}

#[test]
fn however_many_far_boards_were_sent_before_a_light_one_is_next() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.send(far("first#maker#delay-ms=60000", 4, 4));
        // Each of a goal that has no pattern databases, and will have none for a minute.
        let tiles: Vec<u32> = backwards(4, 4).into_iter().map(u32::from).collect();
        for n in 0..300 {
            let mut start = tiles.clone();
            // Two swaps, so that it stays solvable.
            start.swap(n % 7, 7 + n / 7 % 7);
            start.swap(14, n / 49);
            talk.send(patient(wide_job(&format!("far {n}"), 4, 4, &start)));
        }
        let board = boards::at(12, 0);
        let begun = Instant::now();
        let light = pb::Job { bypass_cache: true, ..job("light", board) };
        talk.send(light);
        let answer = loop {
            let answer = talk.answer().await;
            if answer.request_id == "light" {
                break answer;
            }
        };
        assert_solves(&answer, board);
        // The far ones' tries take some seconds together.
        assert!(begun.elapsed() < 4 * AT_ONCE, "{:?}", begun.elapsed());
        assert!(server.engine().queued() > 200, "{} far ones wait", server.engine().queued());
    });
}

#[test]
fn a_quick_try_heeds_the_moves_of_interest() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let near = pb::Budget { max_moves: Some(5), ..pb::Budget::default() };
        let answer = talk.ask(budget(far("#maker#delay-ms=20000", 4, 4), near)).await;
        assert_eq!(limit_of(&answer), (Limit::Moves, 6));
        assert_eq!(answer.statistics.map_or(0, |cost| cost.expanded), 0);
    });
}

#[test]
fn the_hardest_boards_hold_up_no_light_one() {
    const LIGHT: usize = 1000;
    run(async {
        let (server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        p99(&mut talk, LIGHT).await;
        let idle = p99(&mut talk, LIGHT).await;
        let lines = include_str!("../data/antipodes15.txt").lines().filter(|line| !line.starts_with('#'));
        let hardest: Vec<Vec<u32>> = lines
            .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
            .take(8)
            .collect();
        assert!(hardest.iter().all(|line| line[1] == 80) && hardest[0][2..] == FARTHEST);
        for line in &hardest {
            talk.send(patient(wide_job(&format!("hard {}", line[0]), 4, 4, &line[2..])));
        }
        let behind = p99(&mut talk, LIGHT).await;
        wait_until("all workers search", PATIENCE, || {
            server.engine().pattern_statistics().goals == 1 && server.engine().queued() == 6
        })
        .await;
        let busy = p99(&mut talk, LIGHT).await;
        assert_eq!(server.engine().in_flight(), 8, "none of the hard ones is over");
        assert!(behind.max(busy) < Duration::from_secs(2), "idle {idle:?}, behind {behind:?}, busy {busy:?}");
        talk.say(cancel(Which::All(true)));
        for _ in 0..8 {
            let answer = talk.answer().await;
            assert!(matches!(answer.outcome, Some(Outcome::Cancelled(_))), "{answer:?}");
        }
        wait_until("nothing is left", Duration::from_secs(1), || {
            server.engine().in_flight() == 0 && server.engine().queued() == 0
        })
        .await;
        let after = p99(&mut talk, LIGHT).await;
        assert!(after < Duration::from_secs(2), "{after:?}");
    });
}
