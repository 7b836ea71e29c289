//! One board a call.

use std::time::{Duration, Instant};

use prost::Message;
use taquin::service::pb::{self, answer::Outcome};
use tonic::{Code, Request};

use crate::boards::{self, SOLVED};
use crate::raw::{self, Then, framed};
use crate::support::{
    AT_ONCE, assert_shed, assert_solves, blocker, budget, connect, job, limit_of, run, serve,
    serve_and_connect, soon, wait_until,
};

fn ask(job: pb::Job) -> pb::SolveRequest {
    pb::SolveRequest { job: Some(job) }
}

#[test]
fn solves_and_says_what_it_cost() {
    run(async {
        let (_server, mut client) = serve_and_connect(1).await;
        let board = boards::at(31, 0);
        let answer = client.solve(ask(job("far", board))).await.unwrap().into_inner().answer.unwrap();
        assert_solves(&answer, board);
        assert_eq!((answer.request_id.as_str(), answer.source()), ("far", pb::Source::Search));
        let cost = answer.statistics.unwrap();
        assert!(cost.expanded > 0 && cost.generated > cost.expanded, "{cost:?}");

        let distance = pb::Job { objective: pb::Objective::Distance.into(), ..job("far", board) };
        let answer = client.solve(ask(distance)).await.unwrap().into_inner().answer.unwrap();
        let Some(Outcome::Solution(solution)) = answer.outcome else { panic!("{answer:?}") };
        assert_eq!((solution.distance, solution.moves.as_str()), (31, ""));
    });
}

#[test]
fn a_worker_that_panics_is_internal() {
    run(async {
        let (_server, mut client) = serve_and_connect(1).await;
        let status = client.solve(ask(job("#panic", boards::at(7, 0)))).await.unwrap_err();
        assert_eq!(status.code(), Code::Internal, "{status:?}");
        let answer =
            client.solve(ask(job("next", boards::at(7, 0)))).await.unwrap().into_inner().answer.unwrap();
        assert_solves(&answer, boards::at(7, 0));
    });
}

#[test]
fn a_caller_that_goes_frees_its_worker() {
    run(async {
        let (server, mut client) = serve_and_connect(1).await;
        let call = tokio::spawn({
            let mut client = client.clone();
            async move { client.solve(ask(blocker("gone"))).await }
        });
        wait_until("it flies", AT_ONCE * 10, || server.engine().in_flight() == 1).await;
        call.abort();
        wait_until("its job is given up", AT_ONCE, || server.engine().in_flight() == 0).await;
        let start = Instant::now();
        client.solve(ask(job("next", boards::at(7, 0)))).await.unwrap();
        assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    });
}

#[test]
fn a_deadline_ends_the_call_and_frees_its_worker() {
    run(async {
        let (server, mut client) = serve_and_connect(1).await;
        let mut request = Request::new(ask(blocker("late")));
        request.set_timeout(Duration::from_millis(100));
        let status = client.solve(request).await.unwrap_err();
        // The client keeps time as well, and may be first.
        assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
        wait_until("its job is given up", AT_ONCE, || server.engine().in_flight() == 0).await;

        let body = || vec![framed(&ask(blocker("late")).encode_to_vec())];
        for timeout in ["100m", "20m", "5m", "1m", "1u", "1n", "0m"] {
            let start = Instant::now();
            let (status, _) =
                raw::call(server.address(), "Solve", Some(timeout), body(), Then::HalfClose).await;
            assert_eq!(status.code(), Code::DeadlineExceeded, "{timeout}: {status:?}");
            assert!(
                start.elapsed() < Duration::from_millis(100) + AT_ONCE,
                "{timeout}: {:?}",
                start.elapsed()
            );
            wait_until("its job is given up", AT_ONCE, || server.engine().in_flight() == 0).await;
        }
        let body = vec![framed(&ask(job("in time", SOLVED)).encode_to_vec())];
        let (status, bytes) = raw::call(server.address(), "Solve", Some("10S"), body, Then::HalfClose).await;
        assert!(status.code() == Code::Ok && bytes > 0, "{status:?}");
    });
}

#[test]
fn limits_are_answers_and_a_full_queue_is_a_status() {
    run(async {
        let limits = taquin::config::LimitsConfig { max_queue: 1, ..Default::default() };
        let server = serve(limits, 1).await;
        let mut client = connect(&server).await;
        let tight = pb::Budget { max_nodes: 1, ..pb::Budget::default() };
        let answer = client.solve(ask(budget(job("tight", boards::at(20, 0)), tight))).await.unwrap();
        assert_eq!(limit_of(&answer.into_inner().answer.unwrap()).0, pb::limit_reached::Limit::Nodes);

        let call = |job: pb::Job| {
            let mut client = client.clone();
            tokio::spawn(async move { client.solve(ask(job)).await })
        };
        let first = call(blocker("first"));
        wait_until("the first flies", 10 * AT_ONCE, || server.engine().in_flight() == 1).await;
        wait_until("the first flies", 10 * AT_ONCE, || server.engine().queued() == 0).await;
        let second = call(job("second", boards::at(20, 1)));
        wait_until("the second waits", 10 * AT_ONCE, || server.engine().queued() == 1).await;
        assert_shed(&client.solve(ask(job("third", boards::at(20, 2)))).await.unwrap_err());
        first.abort();
        assert!(soon(second).await.unwrap().is_ok());
    });
}

#[test]
fn a_deadline_ends_a_call_whose_request_never_comes() {
    run(async {
        let (server, _) = serve_and_connect(1).await;
        let (status, _) =
            raw::call(server.address(), "Solve", Some("50m"), Vec::new(), Then::StaySilent).await;
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    });
}
