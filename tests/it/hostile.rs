//! Peers that mean harm, each against a server process of its own. All the while a neighbour asks it for boards: he
//! loses no answer. Afterwards memory, file descriptors and processor time are as before.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use prost::Message;
use taquin::service::pb;
use tokio::net::TcpSocket;
use tokio::task::JoinHandle;
use tonic::Code;

use crate::boards;
use crate::frames::{
    self, CONTINUATION, DATA, END_HEADERS, HEADERS, INITIAL_WINDOW_SIZE, PING, PREFACE, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, Wire, frame, setting,
};
use crate::packed::{grid, packed};
use crate::process::Worker;
use crate::raw::{self, Then, framed};
use crate::support::{Client, Talk, assert_solves, job, request, run, soon, wait_until};

/// How long the server may take to forget a peer.
const AFTERWARDS: Duration = Duration::from_secs(15);
/// What the allocator may keep of thousands of calls at once, and what more of as many again, besides a tenth.
const MOST_BYTES: u64 = 64 << 20;
const KEPT_BYTES: u64 = 8 << 20;
const METHODS: [&str; 3] = ["SolveStream", "SolvePacked", "Solve"];

/// Who asks for one board after the other over a connection of his own.
struct Neighbour {
    answers: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Neighbour {
    fn beside(client: Client) -> Self {
        let (answers, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stopped) = (Arc::clone(&answers), Arc::clone(&stop));
        let task = tokio::spawn(async move {
            let mut talk = Talk::open(&client).await;
            while !stopped.load(SeqCst) {
                let n = count.load(SeqCst);
                let board = boards::at(20, n % 200);
                let answer =
                    talk.ask(pb::Job { bypass_cache: n % 2 == 0, ..job(n.to_string(), board) }).await;
                assert_eq!(answer.request_id, n.to_string());
                assert_solves(&answer, board);
                count.fetch_add(1, SeqCst);
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            assert!(talk.rest().await.is_empty(), "an answer that nobody asked for");
        });
        Self { answers, stop, task }
    }

    /// Returns when so many more of his boards are answered.
    async fn goes_on(&self, boards: usize) {
        let goal = self.answers.load(SeqCst) + boards;
        let there = || self.answers.load(SeqCst) >= goal || self.task.is_finished();
        wait_until("the neighbour is answered", 2 * AFTERWARDS, there).await;
    }

    async fn end(self) {
        self.stop.store(true, SeqCst);
        soon(self.task).await.unwrap();
    }
}

/// Runs an attack on a server with these settings, and looks at what is left of it. It is made three times: an
/// allocator keeps about as much as was in use at once, and after the second it has found its size.
fn withstands<A: AsyncFn(&Worker)>(settings: &[&str], attack: &A) {
    run(async {
        let worker = Worker::spawn(&[&["--workers", "2"], settings].concat());
        let neighbour = Neighbour::beside(worker.connect().await);
        neighbour.goes_on(200).await;
        let (fresh, files) = (worker.resident_bytes(), worker.open_files());
        let begun = Instant::now();
        let attack = async || {
            attack(&worker).await;
            neighbour.goes_on(50).await;
            wait_until("the connections are gone", AFTERWARDS, || worker.open_files() <= files).await;
            worker.resident_bytes()
        };
        let (first, before, after) = (attack().await, attack().await, attack().await);
        println!("{fresh} bytes, after attacks {first}, {before}, {after}; {:?}", begun.elapsed());
        assert!(first < fresh + MOST_BYTES, "{first} bytes");
        let most = before + before / 10 + KEPT_BYTES;
        wait_until("memory is as before", AFTERWARDS, || worker.resident_bytes() <= most).await;
        neighbour.end().await;
        let spent = worker.busy_within(Duration::from_secs(1)).await;
        assert!(spent <= Duration::from_millis(100), "busy for {spent:?} of a second with nothing to do");
    });
}

/// So many connections, each with so many calls that were begun with `body`.
async fn calls(address: SocketAddr, connections: usize, streams: u32, body: &[u8]) -> Vec<Wire> {
    let mut wires = Vec::new();
    for n in 0..connections {
        let mut wire = Wire::connect(address, &[]).await;
        for stream in (0..streams).map(|n| 2 * n + 1) {
            let method = METHODS[n % METHODS.len()];
            assert!(wire.open(stream, method).await && wire.send(&frame(DATA, 0, stream, body)).await);
        }
        wires.push(wire);
    }
    wires
}

#[test]
fn messages_half_sent() {
    withstands(&[], &async |worker| {
        let message = framed(&request(job("half", boards::at(20, 0))).encode_to_vec());
        let wires = calls(worker.address, 20, 100, &message[..message.len() / 2]).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(wires);
    });
}

#[test]
fn prefixes_that_promise_megabytes() {
    withstands(&[], &async |worker| {
        let before = worker.resident_bytes();
        let wires = calls(worker.address, 20, 100, &[0, 0, 0x40, 0, 0]).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        // 8 GB were promised.
        let grown = worker.resident_bytes().saturating_sub(before);
        assert!(grown < MOST_BYTES, "{grown} bytes more");
        drop(wires);
    });
}

#[test]
fn prefixes_of_nothing() {
    withstands(&[], &async |worker| {
        let mut wires = calls(worker.address, 6, 20, &[0; 5]).await;
        for wire in &mut wires {
            for stream in (0..20).map(|n| 2 * n + 1) {
                // As many as fit a window; nobody reads what is answered.
                if !wire.send(&frame(DATA, 0, stream, &[0; 5 * 3000])).await {
                    break;
                }
            }
        }
    });
}

#[test]
fn calls_that_are_reset_at_once() {
    withstands(&[], &async |worker| {
        for n in 0..10 {
            let mut wire = Wire::connect(worker.address, &[]).await;
            let head = frames::headers(METHODS[n % METHODS.len()]);
            for batch in 0..50 {
                let calls = (0..100).map(|call| 2 * (100 * batch + call) + 1).flat_map(|stream| {
                    let cancelled = 8_u32.to_be_bytes();
                    [frame(HEADERS, END_HEADERS, stream, &head), frame(RST_STREAM, 0, stream, &cancelled)]
                        .concat()
                });
                if !wire.send(&calls.collect::<Vec<u8>>()).await {
                    break;
                }
            }
        }
    });
}

#[test]
fn headers_without_end() {
    withstands(&[], &async |worker| {
        for filler in [&[0x40, 1, b'x', 1, b'y'][..], &[]] {
            let mut wire = Wire::connect(worker.address, &[]).await;
            wire.send(&frame(HEADERS, 0, 1, &frames::headers("SolveStream"))).await;
            let more = frame(CONTINUATION, 0, 1, &filler.repeat(1000));
            for _ in 0..2000 {
                if !wire.send(&more).await {
                    break;
                }
            }
            assert!(wire.is_closed(AFTERWARDS).await, "it is still listened to");
        }
    });
}

/// A gzip file of half a gigabyte of zeros, in one block of back references; smaller than a message may be.
fn bomb() -> Vec<u8> {
    let (mut bits, mut count) = (0_u32, 0);
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let mut put = |code: u32, length: u32| {
        bits |= code << count;
        count += length;
        while count >= 8 {
            file.push((bits & 0xff) as u8);
            bits >>= 8;
            count -= 8;
        }
    };
    // A last block of fixed codes: a zero, then `258 bytes from 1 back` as often as fit. Codes are written
    // from their highest bit.
    put(0b011, 3);
    put(0b0000_1100, 8);
    for _ in 0..(1 << 29) / 258 {
        put(0b1010_0011, 8);
        put(0, 5);
    }
    put(0, 7);
    put(0, 8);
    file
}

#[test]
fn messages_too_large_or_packed_to_burst() {
    withstands(&[], &async |worker| {
        let bomb = bomb();
        let prefix = [&[1], &u32::try_from(bomb.len()).unwrap().to_be_bytes()[..]].concat();
        let before = worker.resident_bytes();
        for method in METHODS {
            let too_long = vec![[&[0], &((4_u32 << 20) + 1).to_be_bytes()[..]].concat()];
            let (status, _) = raw::call(worker.address, method, None, too_long, Then::StaySilent).await;
            assert_eq!(status.code(), Code::OutOfRange, "{method}: {status:?}");
            let body = vec![[&prefix[..], &bomb].concat()];
            let gzip = [("grpc-encoding", "gzip")];
            let (status, _) = raw::call_with(worker.address, method, &gzip, body, Then::HalfClose).await;
            assert_eq!(status.code(), Code::Unimplemented, "{method}: {status:?}");
            // Packed, and not said to be.
            let body = vec![[&prefix[..], &bomb[..1000]].concat()];
            let (status, _) = raw::call(worker.address, method, None, body, Then::HalfClose).await;
            assert_eq!(status.code(), Code::Internal, "{method}: {status:?}");
        }
        assert!(worker.resident_bytes() < before + (32 << 20), "{}", worker.resident_bytes());
        // One byte more than a frame may have.
        for (bytes, is_closed) in [(16_384, false), (16_385, true)] {
            let mut wire = Wire::connect(worker.address, &[]).await;
            wire.open(1, "SolveStream").await;
            wire.send(&frame(DATA, 0, 1, &[&[0, 0, 0, 0x80, 0][..], &vec![0; bytes - 5]].concat())).await;
            assert_eq!(wire.is_closed(Duration::from_secs(1)).await, is_closed, "{bytes} bytes");
        }
    });
}

#[test]
fn floods_of_pings_and_settings() {
    withstands(&[], &async |worker| {
        let floods =
            [frame(PING, 0, 0, &[7; 8]), frame(SETTINGS, 0, 0, &setting(INITIAL_WINDOW_SIZE, 1 << 20))];
        for flood in floods {
            let mut wires = Vec::new();
            for _ in 0..4 {
                let mut wire = Wire::connect(worker.address, &[]).await;
                // None of the answers is read.
                for _ in 0..200 {
                    if !wire.send(&flood.repeat(1000)).await {
                        break;
                    }
                }
                wires.push(wire);
            }
            let resident = worker.resident_bytes();
            assert!(resident < 128 << 20, "{resident} bytes");
        }
    });
}

/// So many jobs on one stream, as a body.
fn jobs(count: usize) -> Vec<u8> {
    (0..count).flat_map(|n| framed(&request(job(n.to_string(), boards::at(12, n))).encode_to_vec())).collect()
}

#[test]
fn readers_that_read_nothing() {
    withstands(&["--stall-timeout-ms", "500"], &async |worker| {
        let mut wires = Vec::new();
        for _ in 0..20 {
            let mut wire = Wire::connect(worker.address, &setting(INITIAL_WINDOW_SIZE, 0)).await;
            for stream in [1, 3] {
                assert!(wire.open(stream, "SolveStream").await);
                assert!(wire.send(&frame(DATA, 0, stream, &jobs(100))).await);
            }
            wires.push(wire);
        }
        // They acknowledge whatever is asked of them on the connection, and keep it open.
        for mut wire in wires {
            assert!(wire.is_closed(AFTERWARDS).await, "it still keeps its connection");
        }
    });
}

/// With windows that are open wide, what stays unread fills the sockets, and the server waits to write.
#[test]
fn readers_that_leave_their_socket_unread() {
    const BOARDS: usize = 15_000;
    const STREAMS: u32 = 60;
    let wanted = grid(3, 3, packed((0..BOARDS).map(|n| boards::at(12, n % 200).to_vec())));
    let message = framed(&wanted.encode_to_vec());
    withstands(&["--stall-timeout-ms", "500"], &async |worker| {
        let files = worker.open_files();
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut wire = Wire { socket: socket.connect(worker.address).await.unwrap() };
        let widest =
            [setting(INITIAL_WINDOW_SIZE, 0x7fff_ffff), frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0, 0, 0])];
        let greeting = [PREFACE, &frame(SETTINGS, 0, 0, &widest[0]), &widest[1]].concat();
        assert!(wire.send(&greeting).await);
        wait_until("it is accepted", AFTERWARDS, || worker.open_files() > files).await;
        // Until it does not take any more, since it waits to write.
        for stream in (0..STREAMS).map(|n| 2 * n + 1) {
            let begin = frame(HEADERS, END_HEADERS, stream, &frames::headers("SolvePacked"));
            let parts = message.chunks(16_384).flat_map(|part| frame(DATA, 0, stream, part));
            if !wire.send(&begin.into_iter().chain(parts).collect::<Vec<u8>>()).await {
                break;
            }
        }
        wait_until("the connection is closed", AFTERWARDS, || worker.open_files() <= files).await;
        drop(wire);
    });
}

#[test]
fn a_reader_that_reads_another_stream_keeps_its_connection() {
    withstands(&["--stall-timeout-ms", "300"], &async |worker| {
        let mut wire = Wire::connect(worker.address, &setting(INITIAL_WINDOW_SIZE, 0)).await;
        for stream in [1, 3] {
            assert!(wire.open(stream, "SolveStream").await);
        }
        assert!(wire.send(&frame(WINDOW_UPDATE, 0, 3, &60_000_u32.to_be_bytes())).await);
        assert!(wire.send(&frame(DATA, 0, 1, &jobs(100))).await);
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert!(wire.send(&frame(DATA, 0, 3, &jobs(1))).await);
        let answered = async {
            loop {
                let (kind, stream, _) = wire.next().await.expect("it was closed");
                if (kind, stream) == (DATA, 3) {
                    return;
                }
            }
        };
        soon(answered).await;
    });
}

#[test]
fn readers_of_one_byte_at_a_time() {
    withstands(&["--stall-timeout-ms", "1000"], &async |worker| {
        let mut wire = Wire::connect(worker.address, &setting(INITIAL_WINDOW_SIZE, 0)).await;
        assert!(wire.open(1, "SolveStream").await && wire.send(&frame(DATA, 0, 1, &jobs(50))).await);
        let mut bytes = 0;
        while bytes < 1500 {
            assert!(wire.send(&frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes())).await);
            loop {
                let (kind, _, payload) = soon(wire.next()).await.expect("it was closed");
                if kind == DATA {
                    bytes += payload.len();
                    break;
                }
            }
        }
    });
}

#[test]
fn peers_that_say_nothing() {
    withstands(&[], &async |worker| {
        let mut silent = Vec::new();
        for _ in 0..200 {
            silent.push(tokio::net::TcpStream::connect(worker.address).await.unwrap());
        }
        let mut greeted = Vec::new();
        for _ in 0..200 {
            let mut wire = Wire::connect(worker.address, &[]).await;
            assert!(wire.send(&PREFACE[..3]).await);
            greeted.push(wire);
        }
        for peer in &silent {
            assert!(raw::until_closed(peer, AFTERWARDS).await, "it still keeps its place");
        }
    });
}

#[test]
fn ten_thousand_that_connect_and_drop() {
    withstands(&[], &async |worker| {
        for batch in 0..100 {
            let mut peers = Vec::new();
            for n in 0..100 {
                let socket = TcpSocket::new_v4().unwrap();
                // Reset, not closed: so the system keeps no port of them.
                socket.set_zero_linger().unwrap();
                let peer = socket.connect(worker.address).await.unwrap();
                if (batch + n) % 2 == 0 {
                    // It may be gone already.
                    drop(peer.try_write(PREFACE));
                }
                peers.push(peer);
            }
        }
    });
}

#[test]
fn peers_that_break_the_protocol() {
    let too_much = (u32::MAX >> 1).to_be_bytes();
    let open = frame(HEADERS, END_HEADERS, 1, &frames::headers("SolveStream"));
    let breaches = [
        frame(WINDOW_UPDATE, 0, 0, &0_u32.to_be_bytes()),
        [&open[..], &frame(WINDOW_UPDATE, 0, 1, &0_u32.to_be_bytes())].concat(),
        frame(WINDOW_UPDATE, 0, 0, &too_much),
        frame(DATA, 0, 1, b"to no call"),
        frame(SETTINGS, 0, 0, b"crooked"),
        frame(SETTINGS, 0, 0, &setting(INITIAL_WINDOW_SIZE, u32::MAX)),
        frame(PING, 0, 0, b"short"),
        frame(CONTINUATION, 0, 1, b"of nothing"),
        frame(HEADERS, END_HEADERS, 2, &frames::headers("SolveStream")),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(10),
    ];
    withstands(&[], &async |worker| {
        for breach in &breaches {
            let mut wire = Wire::connect(worker.address, &[]).await;
            wire.send(breach).await;
            assert!(wire.is_closed(AFTERWARDS).await, "it is still listened to after {breach:?}");
        }
        // On a stream it costs that stream alone.
        let mut wire = Wire::connect(worker.address, &[]).await;
        assert!(wire.open(1, "SolveStream").await && wire.open(3, "SolveStream").await);
        assert!(wire.send(&frame(WINDOW_UPDATE, 0, 1, &too_much)).await);
        assert!(wire.send(&frame(DATA, 0, 3, &jobs(1))).await);
        let mut seen = Vec::new();
        while !(seen.contains(&(RST_STREAM, 1)) && seen.contains(&(DATA, 3))) {
            let (kind, stream, _) = soon(wire.next()).await.expect("it was closed");
            seen.push((kind, stream));
        }
    });
}

#[test]
fn two_thousand_streams() {
    withstands(&[], &async |worker| {
        let mut talks = Vec::new();
        for _ in 0..16 {
            let client = worker.connect().await;
            for _ in 0..125 {
                talks.push(Talk::open(&client).await);
            }
        }
        let board = |n: usize| boards::at(18, n % 300);
        for (n, talk) in talks.iter().enumerate() {
            talk.send(job(n.to_string(), board(n)));
        }
        for (n, talk) in talks.into_iter().enumerate() {
            let answers = talk.rest().await;
            assert_eq!(answers.len(), 1);
            assert_eq!(answers[0].request_id, n.to_string());
            assert_solves(&answers[0], board(n));
        }
    });
}
