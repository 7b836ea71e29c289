//! Time, nodes, moves and the caller's own deadline: each ends its job in time and
//! says no more than was proven.

use std::time::{Duration, Instant};

use prost::Message;
use taquin::config::LimitsConfig;
use taquin::service::pb::{self, Algorithm, limit_reached::Limit};
use tonic::{Code, Request};

use crate::boards::{self, SOLVED};
use crate::raw::{self, Then, framed};
use crate::support::{
    AT_ONCE, Talk, assert_solves, blocker, budget, connect, job, limit_of, request, run, serve,
    serve_and_connect, soon, wait_until,
};

const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::Unspecified,
    Algorithm::BreadthFirst,
    Algorithm::Bidirectional,
    Algorithm::AStar,
    Algorithm::AStarMisplaced,
];

fn time(ms: u32) -> pb::Budget {
    pb::Budget { max_time_ms: ms, ..pb::Budget::default() }
}

fn moves(moves: u32) -> pb::Budget {
    pb::Budget { max_moves: Some(moves), ..pb::Budget::default() }
}

#[test]
fn time_ends_a_job_whether_it_flies_or_waits() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let start = Instant::now();
        talk.send(budget(job("flies#delay-ms=5000", boards::at(20, 0)), time(50)));
        talk.send(budget(job("waits", boards::at(20, 1)), time(20)));
        for id in ["waits", "flies#delay-ms=5000"] {
            let answer = talk.answer().await;
            assert_eq!(answer.request_id, id);
            let (limit, bound) = limit_of(&answer);
            assert!(limit == Limit::Time && bound <= 20, "{answer:?}");
        }
        let elapsed = start.elapsed();
        assert!(
            elapsed >= Duration::from_millis(50) && elapsed < Duration::from_millis(50) + AT_ONCE,
            "{elapsed:?}"
        );
        assert_eq!(server.engine().in_flight(), 0);
        assert_solves(&talk.ask(job("next", boards::at(20, 0))).await, boards::at(20, 0));
        assert!(start.elapsed() < Duration::from_millis(50) + 2 * AT_ONCE);
    });
}

#[test]
fn a_job_that_says_nothing_has_the_default_budget() {
    run(async {
        let limits = LimitsConfig { default_time_ms: 50, default_nodes: 10, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let mut talk = Talk::open(&connect(&server).await).await;
        let board = boards::at(31, 0);
        assert_eq!(limit_of(&talk.ask(job("nodes", board)).await).0, Limit::Nodes);
        let answer = talk.ask(job("time#delay-ms=5000", board)).await;
        assert_eq!(limit_of(&answer).0, Limit::Time);
        // Those who ask for more get it.
        let more = pb::Budget { max_time_ms: 10_000, max_nodes: 1_000_000, max_moves: None };
        assert_solves(&talk.ask(budget(job("more#delay-ms=100", board), more)).await, board);
    });
}

#[test]
fn nodes_end_a_search_with_a_bound_that_holds() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        for (distance, algorithm) in [2, 14, 24, 31].into_iter().flat_map(|d| ALGORITHMS.map(|a| (d, a))) {
            let board = boards::at(distance, 1);
            for max_nodes in [1, 2, 10, 100, 1000, 10_000, 500_000] {
                let tight = pb::Budget { max_nodes, ..pb::Budget::default() };
                let alone =
                    pb::Job { bypass_cache: true, algorithm: algorithm.into(), ..job("tight", board) };
                let answer = talk.ask(budget(alone, tight)).await;
                let expanded = answer.statistics.unwrap().expanded;
                assert!(expanded <= max_nodes, "{algorithm:?}: {expanded} of {max_nodes}");
                if let Some(pb::answer::Outcome::LimitReached(_)) = answer.outcome {
                    let (limit, bound) = limit_of(&answer);
                    assert_eq!(limit, Limit::Nodes);
                    assert!((1..=distance).contains(&bound), "{algorithm:?}: {bound} for {distance}");
                    assert_eq!(expanded, max_nodes, "{algorithm:?} stopped before its limit");
                } else {
                    assert_solves(&answer, board);
                }
            }
        }
    });
}

#[test]
fn moves_at_the_distance_solve_and_one_below_do_not() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        for (distance, algorithm) in [1, 2, 13, 22, 31].into_iter().flat_map(|d| ALGORITHMS.map(|a| (d, a))) {
            let board = boards::at(distance, 0);
            // Twice, so that the second may come from the cache: it must say the same.
            for bypass_cache in [true, false, false] {
                let ask = |max: u32| {
                    let job = job(max.to_string(), board);
                    budget(pb::Job { bypass_cache, algorithm: algorithm.into(), ..job }, moves(max))
                };
                let below = talk.ask(ask(distance - 1)).await;
                assert_eq!(limit_of(&below), (Limit::Moves, distance), "{algorithm:?}");
                assert_solves(&talk.ask(ask(distance)).await, board);
                let none = talk.ask(ask(0)).await;
                assert_eq!(limit_of(&none), (Limit::Moves, 1), "{algorithm:?}");
            }
        }
        assert_solves(&talk.ask(budget(job("solved", SOLVED), moves(0))).await, SOLVED);
    });
}

#[test]
fn answers_that_need_no_search_have_no_budget() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let tight = pb::Budget { max_time_ms: 1, max_nodes: 1, max_moves: None };
        let board = boards::at(28, 0);
        assert_solves(&talk.ask(budget(job("rule", SOLVED), tight)).await, SOLVED);
        assert_solves(&talk.ask(job("search", board)).await, board);
        let cached = talk.ask(budget(job("cache", board), tight)).await;
        assert_solves(&cached, board);
        assert_eq!(cached.source(), pb::Source::Cache);
    });
}

#[test]
fn a_deadline_bounds_the_body_of_a_stream() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        // An idle one, a busy one, one that was answered and waits, one that half-closed.
        let slow = || vec![framed(&request(blocker("slow")).encode_to_vec())];
        let done = vec![framed(&request(job("done", SOLVED)).encode_to_vec())];
        let cases = [
            (Vec::new(), Then::StaySilent),
            (slow(), Then::StaySilent),
            (done, Then::StaySilent),
            (slow(), Then::HalfClose),
        ];
        for (body, then) in cases {
            let start = Instant::now();
            let (status, _) = raw::call(server.address(), "SolveStream", Some("150m"), body, then).await;
            assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
            let elapsed = start.elapsed();
            assert!(elapsed >= Duration::from_millis(140), "{elapsed:?}");
            assert!(elapsed < Duration::from_millis(150) + AT_ONCE, "{elapsed:?}");
            wait_until("its jobs are given up", AT_ONCE, || server.engine().in_flight() == 0).await;
        }
        // One that is never idle.
        let endless = tokio_stream::iter((0..).map(|n| request(job(n.to_string(), SOLVED))));
        let mut endless = Request::new(endless);
        endless.set_timeout(Duration::from_millis(150));
        let start = Instant::now();
        let mut answers = client.clone().solve_stream(endless).await.unwrap().into_inner();
        let status = loop {
            match soon(answers.message()).await {
                Ok(answer) => assert!(answer.is_some(), "no end but the deadline"),
                Err(status) => break status,
            }
        };
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
        assert!(start.elapsed() < Duration::from_millis(150) + 2 * AT_ONCE, "{:?}", start.elapsed());
    });
}
