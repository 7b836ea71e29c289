//! A client below gRPC: it sends any headers and bytes and keeps no time of its
//! own, so what it sees is what the server said.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tonic::codegen::http::{HeaderMap, Request};
use tonic::{Code, Status};

use crate::support::soon;

/// A message with the five bytes gRPC puts before it.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0], &length[..], message].concat()
}

/// What the body of a call does after its bytes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Then {
    HalfClose,
    StaySilent,
}

/// The status of a call, of which each message or so goes in a frame of its own, and
/// how many bytes came before it.
pub(crate) async fn call(
    address: SocketAddr,
    method: &str,
    timeout: Option<&str>,
    frames: Vec<Vec<u8>>,
    then: Then,
) -> (Status, usize) {
    let timeout: Vec<_> = timeout.map(|timeout| ("grpc-timeout", timeout)).into_iter().collect();
    call_with(address, method, &timeout, frames, then).await
}

/// The same, with these headers besides.
pub(crate) async fn call_with(
    address: SocketAddr,
    method: &str,
    headers: &[(&str, &str)],
    frames: Vec<Vec<u8>>,
    then: Then,
) -> (Status, usize) {
    soon(async {
        let socket = TcpStream::connect(address).await.unwrap();
        let (requests, connection) = h2::client::handshake(socket).await.unwrap();
        let connection = tokio::spawn(connection);
        let uri = format!("http://{address}/taquin.v1.SolverService/{method}");
        let request = Request::post(uri).header("content-type", "application/grpc").header("te", "trailers");
        let request = headers.iter().fold(request, |request, &(name, value)| request.header(name, value));
        let mut requests = requests.ready().await.unwrap();
        let (response, mut sender) = requests.send_request(request.body(()).unwrap(), false).unwrap();
        let last = frames.len().checked_sub(1);
        for (n, frame) in frames.into_iter().enumerate() {
            // The server may have answered already.
            drop(sender.send_data(frame.into(), then == Then::HalfClose && Some(n) == last));
        }
        let (head, mut body) = response.await.unwrap().into_parts();
        let mut bytes = 0;
        while let Some(data) = body.data().await {
            let data = data.unwrap();
            bytes += data.len();
            body.flow_control().release_capacity(data.len()).unwrap();
        }
        let trailers = body.trailers().await.unwrap().unwrap_or(head.headers);
        connection.abort();
        (status(&trailers), bytes)
    })
    .await
}

fn status(trailers: &HeaderMap) -> Status {
    let code = trailers.get("grpc-status").map_or(b"2".as_slice(), |code| code.as_bytes());
    let message = trailers.get("grpc-message").map_or("", |message| message.to_str().unwrap());
    Status::new(Code::from_bytes(code), message)
}

/// What a peer reads until its connection is closed.
pub(crate) async fn until_closed(socket: &TcpStream, within: Duration) -> bool {
    let drained = async {
        loop {
            socket.readable().await.unwrap();
            match socket.try_read(&mut [0; 1024]) {
                Ok(0) => return,
                Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => return,
                _ => {}
            }
        }
    };
    tokio::time::timeout(within, drained).await.is_ok()
}
