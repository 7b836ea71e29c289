//! Jobs given up: by name, all at once, by a client that goes.

use std::time::{Duration, Instant};

use taquin::service::pb::{self, cancel::Which};

use crate::boards;
use crate::process::Worker;
use crate::support::{
    AT_ONCE, Client, Talk, assert_cancelled, assert_solves, blocker, cancel, endpoint, job, run,
    serve_and_connect, wait_until,
};
use crate::wide::{PATIENCE, antipodes, patient, wide_job};

#[test]
fn a_job_under_way_is_cancelled_by_its_id() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let slow = blocker("slow");
        let id = slow.request_id.clone();
        talk.send(slow);
        wait_until("it flies", 10 * AT_ONCE, || {
            server.engine().in_flight() == 1 && server.engine().queued() == 0
        })
        .await;
        let start = Instant::now();
        talk.cancel(&id);
        let answer = talk.answer().await;
        assert_cancelled(&answer, &id);
        assert_eq!(answer.source(), pb::Source::Unspecified);
        // Answered, and its worker is free for the next.
        assert_solves(&talk.ask(job("next", boards::at(9, 0))).await, boards::at(9, 0));
        assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
        assert_eq!(server.engine().in_flight(), 0);
    });
}

#[test]
fn a_job_that_waits_is_cancelled_while_the_others_go_on() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.send(job("busy#delay-ms=300", boards::at(9, 0)));
        (0..3).for_each(|n| talk.send(job(n.to_string(), boards::at(15, n))));
        wait_until("three wait", 10 * AT_ONCE, || server.engine().queued() == 3).await;
        talk.cancel("1");
        assert_cancelled(&talk.answer().await, "1");
        wait_until("two wait", AT_ONCE, || server.engine().queued() == 2).await;
        let ids: Vec<_> = talk.rest().await.into_iter().map(|answer| answer.request_id).collect();
        assert_eq!(ids, ["busy#delay-ms=300", "0", "2"]);
    });
}

#[test]
fn everything_is_cancelled_at_once() {
    run(async {
        let (server, client) = serve_and_connect(2).await;
        let (mut talk, other) = (Talk::open(&client).await, Talk::open(&client).await);
        (0..20).for_each(|n| talk.send(job(format!("{n}#delay-ms=20000"), boards::at(20, n))));
        other.send(job("of another stream#delay-ms=20000", boards::at(20, 20)));
        wait_until("all in flight", 10 * AT_ONCE, || server.engine().in_flight() == 21).await;
        let start = Instant::now();
        talk.say(cancel(Which::All(true)));
        let mut ids: Vec<u32> = Vec::new();
        for _ in 0..20 {
            let answer = talk.answer().await;
            assert_cancelled(&answer, &answer.request_id);
            ids.push(answer.request_id.split('#').next().unwrap().parse().unwrap());
        }
        assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..20));
        assert_eq!(server.engine().in_flight(), 1, "the other stream's goes on");
        assert!(talk.rest().await.is_empty());
    });
}

#[test]
fn what_is_not_in_flight_is_passed_over() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.cancel("never heard of");
        talk.say(cancel(Which::All(true)));
        assert_solves(&talk.ask(job("done", boards::at(9, 0))).await, boards::at(9, 0));
        talk.cancel("done");
        assert_solves(&talk.ask(job("more", boards::at(10, 0))).await, boards::at(10, 0));
        assert!(talk.rest().await.is_empty());
    });
}

#[test]
fn jobs_and_cancels_that_race_are_each_answered_once() {
    run(async {
        let (server, client) = serve_and_connect(2).await;
        let talk = Talk::open(&client).await;
        for n in 0..2000 {
            talk.send(pb::Job { bypass_cache: n % 2 == 0, ..job(n.to_string(), boards::at(15, n % 50)) });
            talk.cancel(&n.saturating_sub(n % 3).to_string());
        }
        let mut ids: Vec<u32> =
            talk.rest().await.iter().map(|answer| answer.request_id.parse().unwrap()).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..2000));
        assert_eq!(server.engine().in_flight(), 0);
    });
}

#[test]
fn a_client_that_goes_frees_its_workers() {
    /// What of the client goes; what is left is returned and kept.
    type Leaves = fn(Talk, Client) -> Box<dyn std::any::Any>;
    let ways: [(&str, Leaves); 3] = [
        ("it has half-closed", |talk, client| {
            drop(talk.requests);
            Box::new((talk.answers, client)) as Box<dyn std::any::Any>
        }),
        ("the stream", |talk, client| {
            drop(talk);
            Box::new(client)
        }),
        ("the connection", |talk, client| {
            drop((talk, client));
            Box::new(())
        }),
    ];
    run(async {
        let (server, client) = serve_and_connect(2).await;
        for (what, leave) in ways {
            let own = Client::new(endpoint(&server).connect().await.unwrap());
            let talk = Talk::open(&own).await;
            (0..6).for_each(|n| talk.send(job(format!("{n}#delay-ms=20000"), boards::at(20, n))));
            wait_until("all in flight", 10 * AT_ONCE, || server.engine().in_flight() == 6).await;
            let kept = leave(talk, own);
            if what == "it has half-closed" {
                // Still there, so still served; only now it goes.
                tokio::time::sleep(Duration::from_millis(50)).await;
                assert_eq!(server.engine().in_flight(), 6, "a half-close is no cancel");
                drop(kept);
            }
            wait_until(what, AT_ONCE, || server.engine().in_flight() == 0).await;
            let start = Instant::now();
            let mut next = Talk::open(&client).await;
            let board = boards::at(17, 0);
            assert_solves(&next.ask(pb::Job { bypass_cache: true, ..job("next", board) }).await, board);
            assert!(start.elapsed() < AT_ONCE, "{what}: {:?}", start.elapsed());
        }
    });
}

#[test]
fn eight_abandoned_boards_of_80_moves_leave_the_processor_idle_within_a_second() {
    run(async {
        let worker = Worker::spawn(&["--workers", "2"]);
        let (client, mut other) = (worker.connect().await, worker.connect().await);
        let talk = Talk::open(&client).await;
        for line in antipodes().into_iter().take(8) {
            talk.send(patient(wide_job(&line[0].to_string(), 4, 4, &line[2..])));
        }
        // All of them are searched for once the pattern databases are there.
        let start = Instant::now();
        while other
            .get_server_info(pb::GetServerInfoRequest {})
            .await
            .unwrap()
            .into_inner()
            .tables
            .unwrap()
            .pattern_goals
            == 0
        {
            assert!(start.elapsed() < PATIENCE, "no pattern databases");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // Their threads are niced, so beside other work it may take a while until they have their turn.
        let start = Instant::now();
        while worker.busy_within(Duration::from_secs(1)).await <= Duration::from_millis(100) {
            assert!(start.elapsed() < PATIENCE, "nothing was searched");
        }
        drop((talk, client));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let idle = worker.busy_within(Duration::from_secs(1)).await;
        assert!(idle <= Duration::from_millis(100), "busy for {idle:?} of a second");
        let (start, board) = (Instant::now(), boards::at(17, 0));
        let request = pb::SolveRequest { job: Some(job("next", board)) };
        assert_solves(&other.solve(request).await.unwrap().into_inner().answer.unwrap(), board);
        assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    });
}
