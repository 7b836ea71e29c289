//! A client that does as little as one can, so that the server is what is measured: its
//! messages are encoded beforehand, and of the answers it only looks for the end.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use h2::client::{Builder, SendRequest};
use prost::Message;
use taquin::domain::sliding::{Instance, Packed32};
use taquin::service::pb::{self, solve_stream_request::Kind};
use tokio::net::TcpStream;
use tonic::codegen::Bytes;
use tonic::codegen::http::Request;

use crate::boards;

/// Windows that never hold the server up.
const WINDOW_BYTES: u32 = 64 << 20;
/// Different boards that are sent, over and over.
const BOARDS: usize = 8192;
/// Messages that are written at once: a frame of HTTP/2 holds 16 KiB.
const JOBS_AT_ONCE: usize = 256;

/// What is sent, again and again.
pub(crate) struct Load {
    method: &'static str,
    /// Whole messages, each piece as many.
    pieces: Vec<Bytes>,
    /// Boards of a piece.
    boards: usize,
    /// Calls open at once.
    streams: usize,
}

impl Load {
    /// One board a message.
    pub(crate) fn jobs(streams: usize) -> Self {
        let jobs: Vec<_> = boards::random(BOARDS, 3, &[]).iter().enumerate().map(job).collect();
        let pieces = jobs.chunks(JOBS_AT_ONCE).map(|jobs| jobs.concat().into()).collect();
        Self { method: "SolveStream", pieces, boards: JOBS_AT_ONCE, streams }
    }

    /// All boards in one message.
    pub(crate) fn packed() -> Self {
        let words =
            boards::random(BOARDS, 3, &[]).into_iter().map(|board| Packed32::new(board.start()).bits());
        let request = pb::SolvePackedRequest {
            request_id: "0".to_owned(),
            layout: Some(pb::solve_packed_request::Layout::Grid(GRID)),
            boards: words.flat_map(u32::to_le_bytes).collect(),
            ..pb::SolvePackedRequest::default()
        };
        Self { method: "SolvePacked", pieces: vec![framed(&request).into()], boards: BOARDS, streams: 1 }
    }
}

const GRID: pb::Grid = pb::Grid { rows: 3, columns: 3 };

fn job((number, instance): (usize, &Instance)) -> Vec<u8> {
    let sliding = pb::SlidingPuzzle {
        layout: Some(pb::sliding_puzzle::Layout::Grid(GRID)),
        start: instance.start().tiles(9).map(u32::from).collect(),
        goal: Vec::new(),
    };
    let problem = Some(pb::job::Problem::Sliding(sliding));
    let job = pb::Job { request_id: format!("{number:04}"), problem, ..pb::Job::default() };
    framed(&pb::SolveStreamRequest { kind: Some(Kind::Job(job)) })
}

/// A message with the five bytes gRPC puts before it.
fn framed(message: &impl Message) -> Vec<u8> {
    let length = u32::try_from(message.encoded_len()).expect("a small message").to_be_bytes();
    [&[0], &length[..], &message.encode_to_vec()].concat()
}

/// Sends at least so many boards in all, on one connection, and returns how many it were
/// and how long it took until all were answered.
pub(crate) async fn drive(address: SocketAddr, load: &Load, boards: usize) -> (usize, Duration) {
    let socket = TcpStream::connect(address).await.expect("the server listens");
    socket.set_nodelay(true).expect("a socket");
    let mut builder = Builder::new();
    builder.initial_window_size(WINDOW_BYTES).initial_connection_window_size(WINDOW_BYTES);
    let (requests, connection) = builder.handshake::<_, Bytes>(socket).await.expect("HTTP/2");
    let connection = tokio::spawn(connection);
    let pieces = boards.div_ceil(load.boards * load.streams);
    let since = Instant::now();
    let calls: Vec<_> = (0..load.streams)
        .map(|_| tokio::spawn(call(requests.clone(), address, load.method, load.pieces.clone(), pieces)))
        .collect();
    for call in calls {
        call.await.expect("no panic");
    }
    let time = since.elapsed();
    connection.abort();
    (pieces * load.boards * load.streams, time)
}

async fn call(
    requests: SendRequest<Bytes>,
    address: SocketAddr,
    method: &'static str,
    pieces: Vec<Bytes>,
    count: usize,
) {
    let uri = format!("http://{address}/taquin.v1.SolverService/{method}");
    let request = Request::post(uri).header("content-type", "application/grpc").header("te", "trailers");
    let mut requests = requests.ready().await.expect("room for a call");
    let (response, mut sender) =
        requests.send_request(request.body(()).expect("sound headers"), false).expect("room for a call");
    let written = tokio::spawn(async move {
        for (number, piece) in pieces.iter().cycle().take(count).enumerate() {
            sender.reserve_capacity(piece.len());
            while sender.capacity() < piece.len() {
                poll_fn(|cx| sender.poll_capacity(cx)).await.expect("an open call").expect("an open call");
            }
            sender.send_data(piece.clone(), number + 1 == count).expect("an open call");
        }
    });
    let mut answers = response.await.expect("an answer").into_body();
    while let Some(data) = answers.data().await {
        let length = data.expect("an open call").len();
        answers.flow_control().release_capacity(length).expect("as much as came");
    }
    let trailers = answers.trailers().await.expect("an open call").expect("trailers");
    assert_eq!(trailers["grpc-status"], "0", "{trailers:?}");
    written.await.expect("no panic");
}
