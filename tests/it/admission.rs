//! Who is let in, and in which turn: connections at their limit, callers beside one who floods,
//! low priorities beside high ones.

use std::time::{Duration, Instant};

use taquin::config::LimitsConfig;
use taquin::service::pb;

use crate::boards::{self, SOLVED};
use crate::support::{
    AT_ONCE, Client, Talk, assert_shed, assert_solves, blocker, connect, error_of, job, run, serve,
    serve_and_connect, wait_until,
};
use crate::wide::wide_job;

/// A job that takes a worker so long, and is searched for itself alone.
fn slow(name: &str, milliseconds: u64, n: usize) -> pb::Job {
    let job = job(format!("{name}#delay-ms={milliseconds}"), boards::at(10, n % 40));
    pb::Job { bypass_cache: true, ..job }
}

async fn solve(client: &Client, job: pb::Job) -> Result<pb::Answer, tonic::Status> {
    let request = pb::SolveRequest { job: Some(job) };
    Ok(client.clone().solve(request).await?.into_inner().answer.unwrap())
}

#[test]
fn a_connection_at_its_limit_is_not_read_and_its_unary_calls_are_shed() {
    run(async {
        let limits = LimitsConfig { max_in_flight_per_connection: 3, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let (client, other) = (connect(&server).await, connect(&server).await);
        let (one, mut two) = (Talk::open(&client).await, Talk::open(&client).await);
        let ids = ["a", "b", "c"].map(|name| blocker(name).request_id);
        one.send(blocker("a"));
        one.send(blocker("b"));
        two.send(blocker("c"));
        wait_until("three in flight", AT_ONCE, || server.engine().in_flight() == 3).await;
        // One past it: on each stream one more is read and waits, and nothing behind it is read.
        two.send(job("waits", SOLVED));
        two.cancel(&ids[2]);
        one.send(job("waits too", SOLVED));
        let shed = solve(&client, job("unary", SOLVED)).await.unwrap_err();
        assert_shed(&shed);
        assert!(shed.message().contains("max_in_flight_per_connection"), "{shed:?}");
        // It is this connection's limit.
        assert_solves(&solve(&other, job("unary", SOLVED)).await.unwrap(), SOLVED);
        assert_eq!(server.engine().in_flight(), 3);
        // A stream that goes makes room for the others of its connection.
        drop(one);
        let mut ids = Vec::from([two.answer().await, two.answer().await].map(|answer| answer.request_id));
        ids.sort_unstable();
        assert_eq!(ids, ["c#delay-ms=20000", "waits"]);
        assert_solves(&solve(&client, job("unary", SOLVED)).await.unwrap(), SOLVED);
    });
}

#[test]
fn a_connection_at_its_limit_gets_every_answer() {
    run(async {
        let limits = LimitsConfig { max_in_flight_per_connection: 3, ..LimitsConfig::default() };
        let server = serve(limits, 2).await;
        let client = connect(&server).await;
        let mut streams = Vec::new();
        for stream in 0..8 {
            let talk = Talk::open(&client).await;
            (0..50).for_each(|n| talk.send(slow(&format!("{stream} {n}"), 1, stream + 8 * n)));
            streams.push(talk);
        }
        let most = std::sync::atomic::AtomicUsize::new(0);
        let looks = async {
            loop {
                most.fetch_max(server.engine().in_flight(), std::sync::atomic::Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let answers = async {
            let mut count = 0;
            for talk in streams {
                count += talk.rest().await.len();
            }
            count
        };
        let count = tokio::select! {
            count = answers => count,
            () = looks => unreachable!("it never ends"),
        };
        assert_eq!((count, most.into_inner()), (8 * 50, 3));
        assert_eq!(server.engine().in_flight(), 0);
    });
}

#[test]
fn a_caller_waits_for_one_of_another_ones_jobs_and_not_for_all() {
    const FLOOD: usize = 1000;
    run(async {
        let server = serve(LimitsConfig::default(), 1).await;
        let (flooding, client) = (connect(&server).await, connect(&server).await);
        let flood = Talk::open(&flooding).await;
        // Some ten seconds of work in its queue, and more behind that.
        (0..10 * FLOOD).for_each(|n| flood.send(slow(&n.to_string(), 10, n)));
        wait_until("the flood is in", 10 * AT_ONCE, || server.engine().queued() > FLOOD).await;
        let mut talk = Talk::open(&client).await;
        let mut waits = Vec::new();
        for n in 0..50 {
            let board = boards::at(12, n);
            let begun = Instant::now();
            assert_solves(
                &talk.ask(pb::Job { bypass_cache: true, ..job(n.to_string(), board) }).await,
                board,
            );
            waits.push(begun.elapsed());
        }
        assert!(server.engine().queued() > FLOOD / 2, "the flood was over");
        waits.sort_unstable();
        // One job of the flood that is under way and one whose turn it was: 20 ms on an idle machine.
        let (median, last) = (waits[25], waits[49]);
        println!("beside a flood: median {median:?}, longest {last:?}");
        assert!(
            median < Duration::from_millis(100) && last < 2 * AT_ONCE,
            "median {median:?}, longest {last:?}"
        );
        // One who joins a search that waits far behind in the flood has it at his own place.
        let shared = job("shared", boards::at(20, 7));
        let behind = Talk::open(&flooding).await;
        behind.send(pb::Job { request_id: "last".into(), ..shared.clone() });
        let in_flight = server.engine().in_flight();
        wait_until("it is in", AT_ONCE, || server.engine().in_flight() > in_flight.min(FLOOD + 24)).await;
        let begun = Instant::now();
        assert_solves(&talk.ask(shared).await, boards::at(20, 7));
        assert!(begun.elapsed() < 2 * AT_ONCE, "{:?}", begun.elapsed());
        assert_eq!(server.engine().coalesced(), 1);
    });
}

#[test]
fn a_small_packed_message_does_not_wait_for_the_tables_of_another_caller() {
    run(async {
        let server = serve(LimitsConfig::default(), 1).await;
        let (flooding, client) = (connect(&server).await, connect(&server).await);
        let flood = Talk::open(&flooding).await;
        (0..1000).for_each(|n| flood.send(slow(&n.to_string(), 10, n)));
        wait_until("the flood is in", 10 * AT_ONCE, || server.engine().queued() > 900).await;
        let message = pb::SolvePackedRequest {
            request_id: "small".into(),
            layout: Some(pb::solve_packed_request::Layout::Grid(pb::Grid { rows: 2, columns: 2 })),
            boards: vec![0x21, 0x03, 0, 0],
            ..pb::SolvePackedRequest::default()
        };
        let begun = Instant::now();
        let mut answers =
            client.clone().solve_packed(tokio_stream::iter([message])).await.unwrap().into_inner();
        let answer = crate::support::soon(answers.message()).await.unwrap().unwrap();
        assert_eq!((answer.request_id.as_str(), answer.outcomes.len()), ("small", 1), "{answer:?}");
        assert!(begun.elapsed() < 2 * AT_ONCE, "{:?}", begun.elapsed());
    });
}

#[test]
fn a_low_priority_is_not_starved_by_high_ones() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let with = |priority: pb::Priority, job: pb::Job| pb::Job { priority: priority.into(), ..job };
        let mut talk = Talk::open(&client).await;
        // Twice as long as it may take, in jobs of high priority that are never all done.
        (0..900).for_each(|n| talk.send(with(pb::Priority::High, slow(&n.to_string(), 10, n))));
        wait_until("they are in", 10 * AT_ONCE, || server.engine().queued() > 800).await;
        let begun = Instant::now();
        talk.send(with(pb::Priority::Low, slow("low", 0, 0)));
        let mut before = 0;
        while !talk.answer().await.request_id.starts_with("low") {
            before += 1;
        }
        // Two priorities higher after two seconds.
        println!("{before} of a high priority went before, {:?}", begun.elapsed());
        assert!(begun.elapsed() > Duration::from_millis(1500), "{:?}", begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(5) && before < 500, "{before} before");
        assert!(server.engine().queued() > 100);
    });
}

#[test]
fn a_queue_full_of_boards_that_take_long_sheds_no_light_one() {
    run(async {
        let server = serve(LimitsConfig { max_queue: 3, ..LimitsConfig::default() }, 1).await;
        let mut talk = Talk::open(&connect(&server).await).await;
        let far = |id: &str, swapped: usize| {
            let mut start: Vec<u32> = (0..16).rev().collect();
            start.swap(13, 14);
            // Two swaps, so that it stays solvable.
            start.swap(0, swapped);
            start.swap(1, 2);
            wide_job(&format!("{id}#maker#delay-ms=20000"), 4, 4, &start)
        };
        for n in 0..3 {
            talk.send(far(&n.to_string(), 3 + n));
        }
        wait_until("all are set aside", 10 * AT_ONCE, || server.engine().queued() == 3).await;
        let refused = talk.ask(far("one too many", 9)).await;
        assert!(refused.request_id.starts_with("one too many"), "{refused:?}");
        assert_shed(&error_of(&refused));
        for n in 0..20 {
            let board = boards::at(15, n);
            assert_solves(
                &talk.ask(pb::Job { bypass_cache: true, ..job(n.to_string(), board) }).await,
                board,
            );
        }
        assert_eq!(server.engine().queued(), 3);
    });
}
