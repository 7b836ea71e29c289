//! Accepts connections: a bounded number, of peers that greet, without delay for small
//! packets, and patiently when the system has no file descriptor left. Of the protocol
//! it knows how long the greeting is.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Sleep, sleep};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::Connected;

use super::connection::Connection;
use crate::config::{GREETING_TIMEOUT_MS, LimitsConfig};

/// How long a peer may take to greet.
const GREETING_TIME: Duration = Duration::from_millis(GREETING_TIMEOUT_MS as u64);
/// Bytes of the greeting, HTTP/2's connection preface.
const GREETING_BYTES: usize = 24;
/// How long to wait after the system refused a connection, as at EMFILE.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);

/// An open connection, and its place among those that may be.
pub(super) struct Peer {
    stream: TcpStream,
    greeting: Option<Greeting>,
    connection: Arc<Connection>,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: OwnedSemaphorePermit,
}

/// What a peer has yet to say, and until when, to keep its place.
struct Greeting {
    bytes_missing: usize,
    end: Pin<Box<Sleep>>,
}

impl Peer {
    fn new(stream: TcpStream, connection: Arc<Connection>, place: OwnedSemaphorePermit) -> Self {
        let greeting = Greeting { bytes_missing: GREETING_BYTES, end: Box::pin(sleep(GREETING_TIME)) };
        let closed = Box::pin(connection.closed().cancelled_owned());
        Self { stream, greeting: Some(greeting), connection, closed, _place: place }
    }
}

/// The connections of a listener until `stop`, at most so many of them open at once: one
/// more waits in the system's own queue.
pub(super) fn incoming(
    listener: TcpListener,
    limits: LimitsConfig,
    stop: CancellationToken,
) -> ReceiverStream<io::Result<Peer>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        // The listener is closed then, so that whoever comes too late is refused, not kept waiting.
        tokio::select! {
            () = accept(listener, &limits, &sender) => {}
            () = sender.closed() => {}
            () = stop.cancelled() => {}
        }
    });
    ReceiverStream::new(receiver)
}

async fn accept(listener: TcpListener, limits: &LimitsConfig, peers: &mpsc::Sender<io::Result<Peer>>) {
    let places = Arc::new(Semaphore::new(limits.max_connections as usize));
    loop {
        let place = Arc::clone(&places).acquire_owned().await.expect("never closed");
        match listener.accept().await {
            Ok((stream, address)) => {
                // Answers are small and must not wait for more; refused, they only come later.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "a connection keeps its delay");
                }
                let connection = Connection::new(Some(address), limits.max_in_flight_per_connection);
                if peers.send(Ok(Peer::new(stream, connection, place))).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was refused");
                sleep(REFUSED_PAUSE).await;
            }
        }
    }
}

impl Connected for Peer {
    type ConnectInfo = Arc<Connection>;

    fn connect_info(&self) -> Arc<Connection> {
        Arc::clone(&self.connection)
    }
}

impl AsyncRead for Peer {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context, buf: &mut ReadBuf) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if let Some(greeting) = &mut self.greeting {
            greeting.bytes_missing = greeting.bytes_missing.saturating_sub(buf.filled().len() - before);
            if greeting.bytes_missing == 0 {
                self.greeting = None;
            } else if read.is_pending() && greeting.end.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        if read.is_pending() && self.closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        read
    }
}

impl AsyncWrite for Peer {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context,
        bufs: &[IoSlice],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
