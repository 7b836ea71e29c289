//! Jobs in flight, on one stream and in all, and the queue behind them.

use prost::Message;
use taquin::config::LimitsConfig;
use taquin::service::pb;

use crate::boards::{self, SOLVED};
use crate::raw;
use crate::support::{
    AT_ONCE, Talk, assert_cancelled, assert_shed, assert_solves, blocker, connect, error_of, job, request,
    run, serve, wait_until,
};

#[test]
fn a_stream_at_its_limit_is_not_read_and_all_are_answered() {
    run(async {
        let limits = LimitsConfig { max_in_flight_per_stream: 4, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let client = connect(&server).await;
        let talk = Talk::open(&client).await;
        (0..40).for_each(|n| talk.send(job(format!("{n}#delay-ms=25"), boards::at(20, n))));
        wait_until("four in flight", AT_ONCE, || server.engine().in_flight() == 4).await;
        let looks = async {
            loop {
                assert!(server.engine().in_flight() <= 4);
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        let answers = tokio::select! {
            answers = talk.rest() => answers,
            () = looks => unreachable!("it never ends"),
        };
        assert_eq!(answers.len(), 40);
    });
}

#[test]
fn the_limit_of_a_stream_holds_for_it_alone() {
    run(async {
        let limits = LimitsConfig { max_in_flight_per_stream: 1, ..LimitsConfig::default() };
        let server = serve(limits, 2).await;
        let client = connect(&server).await;
        let (busy, mut other) = (Talk::open(&client).await, Talk::open(&client).await);
        busy.send(blocker("busy"));
        // Not even read, so not answered.
        busy.send(job("behind", SOLVED));
        wait_until("it is in flight", AT_ONCE, || server.engine().in_flight() == 1).await;
        for n in 0..20 {
            assert_solves(&other.ask(job(n.to_string(), boards::at(10, n))).await, boards::at(10, n));
        }
    });
}

#[test]
fn a_stream_that_is_not_read_may_send_frames_as_small_as_it_likes() {
    run(async {
        let limits = LimitsConfig { max_in_flight_per_stream: 1, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let slow = request(job("slow#delay-ms=300", boards::at(9, 0)));
        let jobs = (0..20_000).map(|_| request(job("", SOLVED)));
        let frames = std::iter::once(slow).chain(jobs).map(|job| raw::framed(&job.encode_to_vec())).collect();
        let (status, bytes) =
            raw::call(server.address(), "SolveStream", None, frames, raw::Then::HalfClose).await;
        assert_eq!(status.code(), tonic::Code::Ok, "{status:?}");
        assert!(bytes > 20_000 * 5, "{bytes}");
    });
}

#[test]
fn one_job_too_many_in_flight_is_shed_at_once() {
    run(async {
        let server = serve(LimitsConfig { max_in_flight: 2, ..LimitsConfig::default() }, 1).await;
        let client = connect(&server).await;
        let mut talk = Talk::open(&client).await;
        let cached = boards::at(12, 0);
        assert_solves(&talk.ask(job("cached", cached)).await, cached);
        let first = blocker("first");
        let id = first.request_id.clone();
        talk.send(first.clone());
        talk.send(job("second", boards::at(12, 1)));
        let refused = talk.ask(job("third", boards::at(12, 2))).await;
        assert_eq!(refused.request_id, "third");
        assert_shed(&error_of(&refused));
        // On another stream too; even one that would only join a search holds a place.
        let mut other = Talk::open(&client).await;
        assert_shed(&error_of(&other.ask(pb::Job { request_id: "joins".into(), ..first }).await));
        // What needs no search is answered all the same.
        assert_solves(&talk.ask(job("cached", cached)).await, cached);
        assert_solves(&talk.ask(job("solved", SOLVED)).await, SOLVED);
        talk.cancel(&id);
        assert_cancelled(&talk.answer().await, &id);
        assert_solves(&talk.answer().await, boards::at(12, 1));
        assert_solves(&talk.ask(job("third", boards::at(12, 2))).await, boards::at(12, 2));
    });
}

#[test]
fn one_search_too_many_in_the_queue_is_shed_at_once() {
    run(async {
        let server = serve(LimitsConfig { max_queue: 2, ..LimitsConfig::default() }, 1).await;
        let client = connect(&server).await;
        let mut talk = Talk::open(&client).await;
        let first = blocker("first");
        let id = first.request_id.clone();
        talk.send(first);
        let flies = || server.engine().in_flight() == 1 && server.engine().queued() == 0;
        wait_until("the first flies", AT_ONCE, flies).await;
        (0..2).for_each(|n| talk.send(job(n.to_string(), boards::at(12, n))));
        let refused = talk.ask(job("2", boards::at(12, 2))).await;
        assert_shed(&error_of(&refused));
        assert_eq!((refused.request_id.as_str(), server.engine().in_flight()), ("2", 3));
        // To join a search that waits needs no room, nor does what needs no search.
        talk.send(job("joins", boards::at(12, 1)));
        assert_solves(&talk.ask(job("solved", SOLVED)).await, SOLVED);
        talk.cancel(&id);
        assert_cancelled(&talk.answer().await, &id);
        let mut ids = Vec::new();
        for _ in 0..3 {
            let answer = talk.answer().await;
            assert!(matches!(answer.outcome, Some(pb::answer::Outcome::Solution(_))), "{answer:?}");
            ids.push(answer.request_id);
        }
        assert_eq!(ids, ["0", "1", "joins"]);
        assert_eq!((server.engine().queued(), server.engine().in_flight()), (0, 0));
    });
}

#[test]
fn a_cancel_is_heard_when_as_many_jobs_are_in_flight_as_may_be() {
    run(async {
        let limits = LimitsConfig { max_in_flight_per_stream: 2, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let mut talk = Talk::open(&connect(&server).await).await;
        talk.send(blocker("one"));
        talk.send(blocker("two"));
        wait_until("both are in flight", AT_ONCE, || server.engine().in_flight() == 2).await;
        let asked = std::time::Instant::now();
        talk.cancel("two#delay-ms=20000");
        assert_cancelled(&talk.answer().await, "two#delay-ms=20000");
        // One more is read at the limit and waits; what comes behind it is not read.
        talk.send(blocker("three"));
        talk.send(blocker("four"));
        wait_until("three is in flight", AT_ONCE, || server.engine().in_flight() == 2).await;
        talk.cancel("one#delay-ms=20000");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!(server.engine().in_flight(), 2);
        assert!(asked.elapsed() < AT_ONCE);
    });
}
