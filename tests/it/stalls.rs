//! Readers that read late, slowly, or not at all.

use std::time::{Duration, Instant};

use taquin::config::LimitsConfig;
use taquin::service::pb;
use taquin::service::pb::solver_service_client::SolverServiceClient;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;
use tonic::{Code, Status, Streaming};

use crate::boards;
use crate::process::Worker;
use crate::support::{Client, connect, details, endpoint, job, request, run, serve, soon};

const MANY: usize = 200_000;

fn jobs(count: usize) -> impl Iterator<Item = pb::SolveStreamRequest> {
    let boards = &boards::all()[20_000..20_200];
    (0..count).map(|n| request(job(n.to_string(), boards[n % boards.len()])))
}

/// Writes everything before it reads anything.
async fn write_then_read(client: &mut Client, count: usize) -> (Streaming<pb::SolveStreamResponse>, bool) {
    let (sender, receiver) = mpsc::channel(64);
    let answers = client.solve_stream(ReceiverStream::new(receiver)).await.unwrap().into_inner();
    for job in jobs(count) {
        if soon(sender.send(job)).await.is_err() {
            return (answers, false);
        }
    }
    (answers, true)
}

async fn count(answers: &mut Streaming<pb::SolveStreamResponse>) -> (usize, Option<Status>) {
    let mut read = 0;
    loop {
        match soon(answers.message()).await {
            Ok(Some(_)) => read += 1,
            Ok(None) => return (read, None),
            Err(status) => return (read, Some(status)),
        }
    }
}

fn assert_stalled(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    let details = details(status);
    let info = details.error_info().expect("google.rpc.ErrorInfo");
    assert_eq!((info.reason.as_str(), info.domain.as_str()), ("READER_STALLED", "taquin"));
}

#[test]
fn a_client_that_writes_all_before_it_reads_is_told_and_never_hangs() {
    run(async {
        // The shorter time is over long before everything is written.
        for stall_timeout_ms in [500, 20] {
            let server = serve(LimitsConfig { stall_timeout_ms, ..LimitsConfig::default() }, 2).await;
            let mut client = connect(&server).await;
            let (mut answers, _) = write_then_read(&mut client, MANY).await;
            let (read, status) = count(&mut answers).await;
            assert!(read > 0 && read < MANY, "{read}");
            assert_stalled(&status.expect("it was too many to be sent unread"));
            assert_eq!(server.engine().in_flight(), 0);
        }
    });
}

#[test]
fn a_client_that_reads_meanwhile_gets_all() {
    run(async {
        let server = serve(LimitsConfig { stall_timeout_ms: 500, ..LimitsConfig::default() }, 2).await;
        let mut client = connect(&server).await;
        let mut answers = client.solve_stream(tokio_stream::iter(jobs(MANY))).await.unwrap().into_inner();
        let (read, status) = count(&mut answers).await;
        assert_eq!(read, MANY, "{status:?}");
        assert!(status.is_none());
    });
}

#[test]
fn a_client_that_reads_slowly_is_not_cut_off() {
    run(async {
        const STALL: Duration = Duration::from_secs(1);
        let server = serve(LimitsConfig { stall_timeout_ms: 1000, ..LimitsConfig::default() }, 2).await;
        // A small window: what was read is known to the server soon.
        let channel = endpoint(&server).initial_stream_window_size(8 << 10).connect().await.unwrap();
        let mut client = SolverServiceClient::new(channel);
        let mut answers = client.solve_stream(tokio_stream::iter(jobs(20_000))).await.unwrap().into_inner();
        let (start, mut slowly) = (Instant::now(), 0);
        while start.elapsed() < 4 * STALL {
            tokio::time::sleep(Duration::from_millis(10)).await;
            for _ in 0..20 {
                soon(answers.message()).await.unwrap().expect("more are to come");
                slowly += 1;
            }
        }
        let (read, status) = count(&mut answers).await;
        assert_eq!(slowly + read, 20_000, "{status:?}");
        assert!(status.is_none());
    });
}

#[test]
fn a_client_that_waits_for_slow_searches_is_not_cut_off() {
    run(async {
        let server = serve(LimitsConfig { stall_timeout_ms: 50, ..LimitsConfig::default() }, 1).await;
        let client = connect(&server).await;
        let mut talk = crate::support::Talk::open(&client).await;
        // Nothing to read is no stall, neither before the first answer nor between two.
        for n in 0..2 {
            let board = boards::at(12, n);
            crate::support::assert_solves(&talk.ask(job(format!("{n}#delay-ms=400"), board)).await, board);
        }
        assert!(talk.rest().await.is_empty());
    });
}

#[test]
fn memory_is_flat_under_readers_that_stall_and_clients_that_go() {
    run(async {
        let worker =
            Worker::spawn(&["--stall-timeout-ms", "60000", "--max-cache-bytes", "1000000", "--workers", "2"]);
        let connect = async || {
            let endpoint =
                Endpoint::from_shared(worker.endpoint()).unwrap().initial_stream_window_size(64 << 10);
            Client::new(soon(endpoint.connect()).await.unwrap())
        };
        let mut client = connect().await;
        let (read, _) =
            count(&mut client.solve_stream(tokio_stream::iter(jobs(50_000))).await.unwrap().into_inner())
                .await;
        assert_eq!(read, 50_000);
        let before = worker.resident_bytes();
        for _ in 0..8 {
            // Writes as much as the server takes, reads nothing, and goes.
            let mut client = connect().await;
            let (sender, receiver) = mpsc::channel(1);
            let answers = client.solve_stream(ReceiverStream::new(receiver)).await.unwrap();
            for job in jobs(MANY) {
                if tokio::time::timeout(Duration::from_millis(200), sender.send(job)).await.is_err() {
                    break;
                }
            }
            let grown = worker.resident_bytes().saturating_sub(before);
            assert!(grown < 32 << 20, "{grown} bytes more");
            drop(answers);
        }
    });
}
