//! The end: everything taken is answered, everyone is told, and nobody keeps the
//! process from going in time.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use taquin::config::LimitsConfig;
use taquin::service::pb::answer::Outcome;
use taquin::service::{Drained, SERVICE_NAME, check_health, loopback_endpoint};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::boards;
use crate::process::{Worker, command};
use crate::raw;
use crate::support::{
    AT_ONCE, Talk, assert_solves, blocker, connect, endpoint, job, retry_delay, run, serve, soon, wait_until,
};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Peers that never let go by themselves.
struct Clingers {
    silent: TcpStream,
    preface: TcpStream,
    watch: tonic::Streaming<tonic_health::pb::HealthCheckResponse>,
    _health: HealthClient<tonic::transport::Channel>,
}

async fn cling(address: std::net::SocketAddr) -> Clingers {
    let silent = TcpStream::connect(address).await.unwrap();
    let mut preface = TcpStream::connect(address).await.unwrap();
    preface.write_all(PREFACE).await.unwrap();
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
    let mut health = HealthClient::new(channel.connect().await.unwrap());
    let request = HealthCheckRequest { service: SERVICE_NAME.to_owned() };
    let mut watch = health.watch(request).await.unwrap().into_inner();
    assert_eq!(soon(watch.message()).await.unwrap().unwrap().status(), ServingStatus::Serving);
    Clingers { silent, preface, watch, _health: health }
}

#[test]
fn a_signal_answers_what_was_taken_and_refuses_the_rest() {
    run(async {
        for signal in [Signal::TERM, Signal::INT] {
            let mut worker = Worker::spawn(&["--drain-timeout-ms", "5000", "--workers", "2"]);
            let client = worker.connect().await;
            let mut clingers = cling(worker.address).await;
            let (mut idle, mut busy) = (Talk::open(&client).await, Talk::open(&client).await);
            let board = boards::at(20, 0);
            assert_solves(&idle.ask(job("before", boards::at(5, 0))).await, boards::at(5, 0));
            busy.send(job("taken#delay-ms=600", board));
            // What was answered after it was read after it.
            assert_solves(&busy.ask(job("mark", boards::at(5, 0))).await, boards::at(5, 0));

            let start = Instant::now();
            worker.signal(signal);
            let told = soon(clingers.watch.message()).await.unwrap().unwrap();
            assert_eq!(told.status(), ServingStatus::NotServing);
            let status = idle.end().await;
            assert_eq!(status.code(), Code::Unavailable, "{status:?}");
            assert!(retry_delay(&status).is_some(), "{status:?}");
            assert!(start.elapsed() < AT_ONCE, "an idle stream kept it for {:?}", start.elapsed());

            // Refused, by status on the old connection or at the door on a new one.
            let Err(status) = Talk::try_open(&client).await else { panic!("a stream was opened in a drain") };
            assert_eq!(status.code(), Code::Unavailable, "{status:?}");
            assert!(check_health(&worker.endpoint(), AT_ONCE).await.is_err());
            assert_eq!(worker.exit_code_now(), None, "it went before its job was answered");

            assert_solves(&busy.answer().await, board);
            let status = busy.end().await;
            assert_eq!(status.code(), Code::Unavailable, "{status:?}");
            assert_eq!(worker.exit_code(Duration::from_secs(4)).await, 0);
            for peer in [&clingers.silent, &clingers.preface] {
                assert!(raw::until_closed(peer, AT_ONCE).await);
            }
        }
    });
}

#[test]
fn a_drain_is_over_in_time_whatever_the_jobs_do() {
    run(async {
        let mut worker = Worker::spawn(&["--drain-timeout-ms", "300", "--workers", "1"]);
        let client = worker.connect().await;
        let _clingers = cling(worker.address).await;
        let mut busy = Talk::open(&client).await;
        busy.send(blocker("too slow"));
        assert_solves(&busy.ask(job("mark", boards::SOLVED)).await, boards::SOLVED);
        let start = Instant::now();
        worker.signal(Signal::TERM);
        assert_eq!(worker.exit_code(Duration::from_millis(300) + 2 * AT_ONCE).await, 3);
        assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
        assert!(soon(busy.next()).await.is_err());
    });
}

#[test]
fn a_second_signal_ends_it_at_once() {
    run(async {
        let mut worker = Worker::spawn(&["--drain-timeout-ms", "20000", "--workers", "1"]);
        let client = worker.connect().await;
        let mut clingers = cling(worker.address).await;
        let mut busy = Talk::open(&client).await;
        busy.send(blocker("too slow"));
        assert_solves(&busy.ask(job("mark", boards::SOLVED)).await, boards::SOLVED);
        worker.signal(Signal::TERM);
        assert_eq!(
            soon(clingers.watch.message()).await.unwrap().unwrap().status(),
            ServingStatus::NotServing
        );
        assert_eq!(worker.exit_code_now(), None);
        worker.signal(Signal::INT);
        assert_eq!(worker.exit_code(2 * AT_ONCE).await, 4);
    });
}

#[test]
fn idle_peers_do_not_hold_up_a_drain() {
    run(async {
        let server = serve(LimitsConfig::default(), 1).await;
        let client = connect(&server).await;
        let _clingers = cling(server.address()).await;
        let mut idle = Talk::open(&client).await;
        let start = Instant::now();
        let stopped = tokio::spawn(server.stop());
        let status = idle.end().await;
        assert_eq!(status.code(), Code::Unavailable, "{status:?}");
        assert_eq!(soon(stopped).await.unwrap().unwrap(), Drained::Cleanly);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    });
}

#[test]
fn a_reader_that_stalls_is_cut_off_when_the_drain_is_over() {
    run(async {
        let limits = LimitsConfig { drain_timeout_ms: 500, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let channel = endpoint(&server).initial_stream_window_size(1 << 10).connect().await.unwrap();
        let mut talk = Talk::open(&crate::support::Client::new(channel)).await;
        (0..50_000).for_each(|n| talk.send(job(n.to_string(), boards::at(20, 0))));
        assert_solves(&talk.answer().await, boards::at(20, 0));
        let start = Instant::now();
        let drained = soon(server.stop()).await.unwrap();
        assert_eq!(drained, Drained::CutOff);
        assert!(start.elapsed() < Duration::from_millis(500) + AT_ONCE, "{:?}", start.elapsed());
    });
}

#[test]
fn jobs_sent_into_a_drain_are_answered_or_the_stream_says_unavailable() {
    run(async {
        let server = serve(LimitsConfig::default(), 2).await;
        let client = connect(&server).await;
        let mut talk = Talk::open(&client).await;
        (0..200).for_each(|n| talk.send(job(format!("{n}#delay-ms=2"), boards::at(15, n))));
        assert!(matches!(talk.answer().await.outcome, Some(Outcome::Solution(_))));
        let engine = server.engine().clone();
        let stopped = tokio::spawn(server.stop());
        let status = status_at_the_end(&mut talk).await;
        assert_eq!(status.code(), Code::Unavailable, "{status:?}");
        assert!(retry_delay(&status).is_some());
        assert_eq!(soon(stopped).await.unwrap().unwrap(), Drained::Cleanly);
        wait_until("nothing is in flight", AT_ONCE, || engine.in_flight() == 0).await;
    });
}

async fn status_at_the_end(talk: &mut Talk) -> tonic::Status {
    loop {
        match talk.next().await {
            Ok(Some(answer)) => assert!(matches!(answer.outcome, Some(Outcome::Solution(_))), "{answer:?}"),
            Ok(None) => panic!("the stream ended as if all were heard"),
            Err(status) => return status,
        }
    }
}

#[test]
fn it_is_ready_soon_and_a_health_check_says_so() {
    run(async {
        let worker = Worker::spawn(&[]);
        soon(check_health(&worker.endpoint(), Duration::from_secs(1))).await.unwrap();
        let ready = worker.spawned.elapsed();
        println!("ready {ready:?} after it was started");
        assert!(ready < Duration::from_secs(1), "{ready:?}");

        let check = |arguments: &[&str]| command().arg("healthcheck").args(arguments).output().unwrap();
        assert_eq!(check(&["--endpoint", &worker.endpoint()]).status.code(), Some(0));
        assert_eq!(check(&["--endpoint", &worker.address.to_string()]).status.code(), Some(0));
        let by_listen = command()
            .arg("healthcheck")
            .env("TAQUIN_LISTEN", format!("0.0.0.0:{}", worker.address.port()))
            .output()
            .unwrap();
        assert_eq!(by_listen.status.code(), Some(0), "{by_listen:?}");

        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let refused = check(&["--endpoint", &loopback_endpoint(nobody), "--timeout-ms", "500"]);
        assert_eq!(refused.status.code(), Some(1));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(&format!("can't reach http://{nobody}: Connection refused")), "{said}");
        // One that takes connections and says nothing.
        let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = loopback_endpoint(deaf.local_addr().unwrap());
        let start = Instant::now();
        assert_eq!(check(&["--endpoint", &endpoint, "--timeout-ms", "200"]).status.code(), Some(1));
        assert!(start.elapsed() < Duration::from_millis(200) + 2 * AT_ONCE);
        assert_eq!(check(&["--no-such-flag"]).status.code(), Some(2));
        assert_eq!(check(&["--endpoint", "no address"]).status.code(), Some(1));
    });
}

#[test]
fn a_port_in_use_is_named() {
    run(async {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let failed = command().args(["--listen", &address]).output().unwrap();
        assert_eq!(failed.status.code(), Some(1));
        let said = String::from_utf8(failed.stderr).unwrap();
        assert!(said.contains(&address) && said.contains("--listen"), "{said}");
    });
}
