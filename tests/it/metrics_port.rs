//! The port for metrics: what it answers, how it outlives a drain, and peers that mean it no good.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use taquin::config::{MAX_METRICS_CONNECTIONS, MAX_METRICS_HEADER_BYTES, METRICS_TIMEOUT_MS};
use taquin::service::Metrics;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::boards;
use crate::process::{Worker, command};
use crate::raw::until_closed;
use crate::scrape::{self, Scrape, get, send};
use crate::support::{AT_ONCE, Talk, assert_solves, job, run};

#[test]
fn a_drain_is_seen_from_outside_until_the_process_is_gone() {
    run(async {
        let mut worker = Worker::spawn(&["--metrics-listen", "127.0.0.1:0", "--workers", "1"]);
        let address = worker.metrics_address.unwrap();
        let client = worker.connect().await;
        let mut busy = Talk::open(&client).await;
        let board = boards::at(20, 0);
        busy.send(job("taken#delay-ms=3000", board));
        assert_solves(&busy.ask(job("mark", boards::SOLVED)).await, boards::SOLVED);
        let ready = get(address, "/readyz").await;
        assert_eq!((ready.status, ready.body.as_str()), (200, "serving\n"));
        assert_eq!(Scrape::of(address).await.count("taquin_draining"), 0);

        worker.signal(Signal::TERM);
        let start = Instant::now();
        let mut ready = get(address, "/readyz").await;
        while ready.status == 200 {
            assert!(start.elapsed() < AT_ONCE, "still ready");
            ready = get(address, "/readyz").await;
        }
        assert_eq!((ready.status, ready.body.as_str()), (503, "draining\n"));
        let healthy = get(address, "/healthz").await;
        assert_eq!((healthy.status, healthy.body.as_str()), (200, "whole\n"));
        let scrape = Scrape::of(address).await;
        assert_eq!((scrape.count("taquin_draining"), scrape.count("taquin_jobs_in_flight")), (1, 1));
        let resident = scrape.value("process_resident_memory_bytes");
        assert!((1e6..1e9).contains(&resident), "{resident}");
        assert!((5.0..200.0).contains(&scrape.value("process_open_fds")));
        assert!(scrape.value("process_cpu_seconds_total") > 0.0);

        assert_solves(&busy.answer().await, board);
        assert_eq!(worker.exit_code(Duration::from_secs(4)).await, 0);
        assert!(TcpStream::connect(address).await.is_err());
    });
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let failed = command().args(["--listen", "127.0.0.1:0", "--metrics-listen", &address]).output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8(failed.stderr).unwrap();
    assert!(said.contains(&address) && said.contains("--metrics-listen"), "{said}");
}

#[test]
fn what_is_not_asked_rightly_is_told_so() {
    run(async {
        let port = scrape::open(&Metrics::default()).await;
        let address = port.address();
        let ask = async |line: &str| {
            send(address, format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap()
        };
        for line in ["POST /metrics", "DELETE /healthz", "OPTIONS /", "BREW /readyz"] {
            let page = ask(line).await;
            assert_eq!(page.status, 405, "{line}");
            assert!(page.head.contains("allow: get, head"), "{}", page.head);
        }
        for line in ["GET /", "GET /metrics/", "GET /metrics/../etc/passwd", "GET //metrics"] {
            assert_eq!(ask(line).await.status, 404, "{line}");
        }
        assert_eq!(ask("GET /metrics?name=value").await.status, 200);
        let head = ask("HEAD /metrics").await;
        assert_eq!((head.status, head.body.as_str()), (200, ""));
        for nonsense in ["nonsense\r\n\r\n", "GET\r\n\r\n", "\0\0\0\0\r\n\r\n"] {
            assert_eq!(send(address, nonsense.as_bytes()).await.unwrap().status, 400, "{nonsense:?}");
        }
        // The first bytes of HTTP/2.
        let other = send(address, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
        assert!(other.is_none_or(|page| page.status >= 400));
        assert_eq!(get(address, "/metrics").await.status, 200);
    });
}

#[test]
fn a_head_may_have_so_many_bytes() {
    run(async {
        let port = scrape::open(&Metrics::default()).await;
        let of_bytes = |bytes: usize| {
            let (begin, end) = ("GET /healthz HTTP/1.1\r\nX: ", "\r\n\r\n");
            [begin, &"x".repeat(bytes - begin.len() - end.len()), end].concat()
        };
        let max = MAX_METRICS_HEADER_BYTES as usize;
        assert_eq!(send(port.address(), of_bytes(max).as_bytes()).await.unwrap().status, 200);
        assert_eq!(send(port.address(), of_bytes(max + 1).as_bytes()).await.unwrap().status, 431);
        // One that has no end: refused before it is all there.
        let endless = of_bytes(64 << 20);
        if let Some(page) = send(port.address(), endless.as_bytes()).await {
            assert_eq!(page.status, 431);
        }
        assert_eq!(get(port.address(), "/healthz").await.status, 200);
    });
}

/// Connections that say nothing, or the beginning of something.
async fn silent(address: SocketAddr, count: u32, word: &[u8]) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(word).await.unwrap();
        open.push(stream);
    }
    open
}

#[test]
fn one_connection_too_many_closes_the_oldest() {
    run(async {
        let port = scrape::open(&Metrics::default()).await;
        let open = silent(port.address(), MAX_METRICS_CONNECTIONS, b"").await;
        for stream in &open {
            assert!(!until_closed(stream, Duration::from_millis(20)).await, "one was closed at the limit");
        }
        let start = Instant::now();
        assert_eq!(get(port.address(), "/healthz").await.status, 200);
        assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
        assert!(until_closed(&open[0], AT_ONCE).await);
        assert!(!until_closed(&open[1], Duration::from_millis(100)).await);
        // Those who come and go, and those who stay, keep nobody out.
        for _ in 0..20 {
            drop(silent(port.address(), MAX_METRICS_CONNECTIONS, b"GET ").await);
            let _more = silent(port.address(), MAX_METRICS_CONNECTIONS, b"GET /metr").await;
            assert_eq!(get(port.address(), "/healthz").await.status, 200);
        }
    });
}

#[test]
fn a_slow_peer_is_closed_in_time() {
    run(async {
        let port = scrape::open(&Metrics::default()).await;
        let time = Duration::from_millis(METRICS_TIMEOUT_MS.into());
        let start = Instant::now();
        let mut mute = TcpStream::connect(port.address()).await.unwrap();
        let mut trickling = TcpStream::connect(port.address()).await.unwrap();
        let trickle = async {
            while trickling.write_all(b"G").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        // Neither silence nor a byte now and then keeps a connection.
        let within = time + 5 * AT_ONCE;
        let closed = async { scrape::said(&mut mute).await };
        let both = tokio::time::timeout(within, async { tokio::join!(trickle, closed) }).await;
        assert!(both.is_ok(), "still open after {within:?}");
        assert!(start.elapsed() > time / 2, "{:?}", start.elapsed());
    });
}
