//! A peer that speaks HTTP/2 frame by frame, and need not keep to what it says.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_HEADERS: u8 = 4;
/// The setting that bounds what may come unasked on a stream.
pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long the server may take nothing before a peer gives up.
const PATIENCE: Duration = Duration::from_millis(500);

/// A frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A setting, as the payload of its frame has it.
pub(crate) fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// The headers of a call, each written out in full.
pub(crate) fn headers(method: &str) -> Vec<u8> {
    let path = format!("/taquin.v1.SolverService/{method}");
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    // POST, http; then names by their number in HPACK's table: path, authority, content-type.
    let mut block = vec![0x83, 0x86, 0x04];
    block.extend(text(&path));
    block.push(0x01);
    block.extend(text("localhost"));
    block.extend([0x0f, 0x10]);
    block.extend(text("application/grpc"));
    block.push(0);
    block.extend([text("te"), text("trailers")].concat());
    block
}

/// A connection.
pub(crate) struct Wire {
    pub(crate) socket: TcpStream,
}

impl Wire {
    /// Greets, with these settings.
    pub(crate) async fn connect(address: SocketAddr, settings: &[u8]) -> Self {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.set_nodelay(true).unwrap();
        socket.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, settings)].concat()).await.unwrap();
        Self { socket }
    }

    /// Whether the server has taken all of it.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        matches!(timeout(PATIENCE, self.socket.write_all(bytes)).await, Ok(Ok(())))
    }

    /// Begins a call.
    pub(crate) async fn open(&mut self, stream: u32, method: &str) -> bool {
        self.send(&frame(HEADERS, END_HEADERS, stream, &headers(method))).await
    }

    /// The next frame: its kind, its stream, its payload; `None` once the connection is closed.
    pub(crate) async fn next(&mut self) -> Option<(u8, u32, Vec<u8>)> {
        let mut head = [0; 9];
        self.socket.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, _, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.socket.read_exact(&mut payload).await.ok()?;
        Some((kind, u32::from_be_bytes(stream), payload))
    }

    /// Whether the server closes the connection in time, whatever it says before.
    pub(crate) async fn is_closed(&mut self, within: Duration) -> bool {
        timeout(within, async { while self.next().await.is_some() {} }).await.is_ok()
    }
}
