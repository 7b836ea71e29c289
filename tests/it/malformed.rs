//! Bad items of every kind: each is told which field, what it holds and what was
//! expected, and none ends its stream.

use taquin::config::LimitsConfig;
use taquin::service::pb::{self, job::Problem, sliding_puzzle::Layout};
use tonic::{Code, Status};

use crate::boards::{self, SOLVED};
use crate::support::{Talk, assert_solves, budget, details, error_of, job, run, serve_and_connect};

fn sliding(rows: u32, columns: u32, start: &[u32], goal: &[u32]) -> pb::Job {
    let layout = Some(Layout::Grid(pb::Grid { rows, columns }));
    let sliding = pb::SlidingPuzzle { layout, start: start.to_vec(), goal: goal.to_vec() };
    pb::Job { problem: Some(Problem::Sliding(sliding)), ..job("bad", SOLVED) }
}

/// A job, the field that is wrong with it, and words that must be said of it.
fn cases() -> Vec<(pb::Job, &'static str, &'static [&'static str])> {
    const GOOD: [u32; 9] = [1, 2, 3, 4, 5, 6, 7, 0, 8];
    let fine = || job("bad", boards::at(4, 0));
    let ratio = |max_ratio| pb::Job {
        allow_suboptimal: Some(pb::AllowSuboptimal { max_ratio }),
        ..job("bad", boards::at(4, 0))
    };
    let limits = LimitsConfig::default();
    let no_layout = pb::SlidingPuzzle { layout: None, start: GOOD.to_vec(), goal: Vec::new() };
    let too_long = pb::Budget { max_time_ms: limits.max_time_ms + 1, ..pb::Budget::default() };
    let too_many = pb::Budget { max_nodes: limits.max_nodes + 1, ..pb::Budget::default() };
    vec![
        (pb::Job { problem: None, ..fine() }, "job.problem", &["not set"]),
        (
            pb::Job { problem: Some(Problem::Sliding(no_layout)), ..fine() },
            "job.sliding.layout",
            &["not set", "grid"],
        ),
        (sliding(0, 3, &GOOD, &[]), "job.sliding.grid.rows", &["is 0", "at least 1"]),
        (sliding(3, 0, &GOOD, &[]), "job.sliding.grid.columns", &["is 0", "at least 1"]),
        (sliding(2, 9, &GOOD, &[]), "job.sliding.grid", &["2 rows", "9 columns", "18 cells", "at most 16"]),
        (sliding(1, 17, &GOOD, &[]), "job.sliding.grid", &["17 cells", "at most 16"]),
        (sliding(u32::MAX, u32::MAX, &GOOD, &[]), "job.sliding.grid", &["4294967295 rows", "at most 16"]),
        (sliding(3, 3, &[], &[]), "job.sliding.start", &["0 tiles", "expected 9"]),
        (sliding(3, 3, &GOOD[..8], &[]), "job.sliding.start", &["8 tiles", "expected 9"]),
        (sliding(2, 3, &GOOD, &[]), "job.sliding.start", &["9 tiles", "expected 6"]),
        (
            sliding(3, 3, &[1, 2, 3, 4, 5, 6, 7, 8, 9], &[]),
            "job.sliding.start[8]",
            &["is 9", "expected", "to 8"],
        ),
        (sliding(3, 3, &[u32::MAX; 9], &[]), "job.sliding.start[0]", &["is 4294967295", "expected", "to 8"]),
        (sliding(3, 3, &[256, 1, 2, 3, 4, 5, 6, 7, 8], &[]), "job.sliding.start[0]", &["is 256", "expected"]),
        (
            sliding(3, 3, &[1, 2, 3, 4, 4, 6, 7, 0, 8], &[]),
            "job.sliding.start[4]",
            &["is 4", "start[3]", "5 is missing"],
        ),
        (
            sliding(3, 3, &[1, 2, 3, 4, 5, 6, 7, 8, 8], &[]),
            "job.sliding.start[8]",
            &["is 8", "expected", "0 is missing"],
        ),
        (
            sliding(3, 3, &[0, 2, 3, 4, 5, 6, 7, 0, 8], &[]),
            "job.sliding.start[7]",
            &["is 0", "start[0]", "1 is missing"],
        ),
        (sliding(3, 3, &GOOD, &[1, 2, 3]), "job.sliding.goal", &["3 tiles", "expected 9"]),
        (sliding(3, 3, &GOOD, &[9; 9]), "job.sliding.goal[0]", &["is 9", "expected"]),
        (sliding(3, 3, &GOOD, &[0; 9]), "job.sliding.goal[1]", &["is 0", "goal[0]", "1 is missing"]),
        (pb::Job { algorithm: 99, ..fine() }, "job.algorithm", &["is 99", "expected"]),
        (pb::Job { algorithm: -1, ..fine() }, "job.algorithm", &["is -1", "expected"]),
        (pb::Job { objective: 99, ..fine() }, "job.objective", &["is 99", "expected"]),
        (pb::Job { metric: 99, ..fine() }, "job.metric", &["is 99", "expected"]),
        (pb::Job { priority: 99, ..fine() }, "job.priority", &["is 99", "expected"]),
        (budget(fine(), too_long), "job.budget.max_time_ms", &["is 60001", "at most 60000"]),
        (budget(fine(), too_many), "job.budget.max_nodes", &["is 1000000001", "at most 1000000000"]),
        (ratio(0.99), "job.allow_suboptimal.max_ratio", &["is 0.99", "expected 1 to 100"]),
        (ratio(100.5), "job.allow_suboptimal.max_ratio", &["is 100.5", "expected 1 to 100"]),
        (ratio(f64::NAN), "job.allow_suboptimal.max_ratio", &["is NaN", "expected 1 to 100"]),
        (
            pb::Job { objective: pb::Objective::SmallestPath.into(), ..ratio(2.0) },
            "job.allow_suboptimal",
            &["SHORTEST_PATH", "SMALLEST_PATH"],
        ),
        (job("x".repeat(129), SOLVED), "job.request_id", &["129 bytes", "at most 128"]),
    ]
}

fn assert_names(status: &Status, field: &str, words: &[&str]) {
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    let details = details(status);
    let violations = &details.bad_request().expect("google.rpc.BadRequest").field_violations;
    let [violation] = &violations[..] else { panic!("{violations:?}") };
    assert_eq!(violation.field, field);
    for word in words.iter().chain(&["expected"]) {
        assert!(violation.description.contains(word), "{field}: {:?} lacks {word:?}", violation.description);
        assert!(status.message().contains(word) && status.message().contains(field), "{status:?}");
    }
}

#[test]
fn a_bad_item_is_named_and_its_stream_goes_on() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        for (bad, field, words) in cases() {
            let id = bad.request_id.clone();
            let answer = talk.ask(bad).await;
            assert_eq!(answer.request_id, id[..id.len().min(128)]);
            assert_names(&error_of(&answer), field, words);
            let board = boards::at(6, 0);
            assert_solves(&talk.ask(job("good", board)).await, board);
        }
        assert!(talk.rest().await.is_empty());
    });
}

#[test]
fn a_bad_unary_call_is_named_in_its_status() {
    run(async {
        let (_server, mut client) = serve_and_connect(1).await;
        for (bad, field, words) in cases() {
            let status = client.solve(pb::SolveRequest { job: Some(bad) }).await.unwrap_err();
            assert_names(&status, field, words);
        }
        let status = client.solve(pb::SolveRequest { job: None }).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("job"), "{status:?}");
    });
}

#[test]
fn an_id_is_cut_off_between_characters() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        // 127 bytes, then a character of two that ends one past the limit.
        let answer = talk.ask(job(format!("{}é", "x".repeat(127)), SOLVED)).await;
        assert_eq!(answer.request_id, "x".repeat(127));
        assert_names(&error_of(&answer), "job.request_id", &["129 bytes"]);
    });
}
