//! Accepts connections: a bounded number, of peers that greet, without delay for small
//! packets, and patiently when the system has no file descriptor left. Of the protocol
//! it knows how long the greeting is.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::sockopt::set_tcp_user_timeout;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout_at};
use tokio_rustls::server::TlsStream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::either::Either;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::Connected;

use super::connection::Connection;
use super::metrics::{Metrics, Present};
use super::tls::Tls;
use crate::config::{GREETING_TIMEOUT_MS, LimitsConfig};

/// How long a peer may take to greet, the handshake of TLS before it included.
const GREETING_TIME: Duration = Duration::from_millis(GREETING_TIMEOUT_MS as u64);
/// Bytes of the greeting, HTTP/2's connection preface.
const GREETING_BYTES: usize = 24;
/// How long to wait after the system refused a connection, as at EMFILE.
pub(super) const REFUSED_PAUSE: Duration = Duration::from_millis(50);

/// An open connection, and its place among those that may be.
pub(super) struct Peer {
    stream: Either<TcpStream, TlsStream<TcpStream>>,
    greeting: Option<Greeting>,
    connection: Arc<Connection>,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: OwnedSemaphorePermit,
    _counted: Present,
}

/// What a peer has yet to say, and until when, to keep its place.
struct Greeting {
    bytes_missing: usize,
    end: Pin<Box<Sleep>>,
}

impl Peer {
    /// A peer that has been accepted, once its handshake is done if there is one to do.
    ///
    /// # Errors
    /// When it does not come so far in time.
    async fn new(
        stream: TcpStream,
        tls: Option<&Tls>,
        connection: Arc<Connection>,
        place: OwnedSemaphorePermit,
        counted: Present,
    ) -> io::Result<Self> {
        let end = Instant::now() + GREETING_TIME;
        let stream = match tls {
            None => Either::Left(stream),
            Some(tls) => Either::Right(timeout_at(end, tls.accept(stream)).await??),
        };
        let greeting = Greeting { bytes_missing: GREETING_BYTES, end: Box::pin(sleep_until(end)) };
        let closed = Box::pin(connection.closed().cancelled_owned());
        Ok(Self { stream, greeting: Some(greeting), connection, closed, _place: place, _counted: counted })
    }
}

impl Peer {
    /// What came of a step, or an error when it would wait for a peer whose connection is to be closed.
    /// To write waits too: one who reads nothing of his socket keeps the transport from reading it.
    fn unless_closed<T>(&mut self, cx: &mut Context, step: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if step.is_pending() && self.closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        step
    }
}

/// The connections of a listener until `stop`, at most so many of them open at once: one
/// more waits in the system's own queue.
pub(super) fn incoming(
    listener: TcpListener,
    limits: LimitsConfig,
    tls: Option<Arc<Tls>>,
    metrics: Metrics,
    stop: CancellationToken,
) -> ReceiverStream<io::Result<Peer>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        // The listener is closed then, so that whoever comes too late is refused, not kept waiting.
        tokio::select! {
            () = accept(listener, &limits, tls.as_ref(), &metrics, &sender) => {}
            () = sender.closed() => {}
            () = stop.cancelled() => {}
        }
    });
    ReceiverStream::new(receiver)
}

async fn accept(
    listener: TcpListener,
    limits: &LimitsConfig,
    tls: Option<&Arc<Tls>>,
    metrics: &Metrics,
    peers: &mpsc::Sender<io::Result<Peer>>,
) {
    let places = Arc::new(Semaphore::new(limits.max_connections as usize));
    // Side by side, since each takes as long as its peer likes; they end with this.
    let mut handshakes = JoinSet::new();
    loop {
        let place = Arc::clone(&places).acquire_owned().await.expect("never closed");
        match listener.accept().await {
            Ok((stream, address)) => {
                // Answers are small and must not wait for more; refused, they only come later.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "a connection keeps its delay");
                }
                // One who reads nothing of his socket keeps the transport from everything else.
                if let Err(error) = set_tcp_user_timeout(&stream, limits.unread_socket_timeout_ms()) {
                    tracing::debug!(%error, "a connection may be left unread");
                }
                let connection = Connection::new(Some(address), limits.max_in_flight_per_connection);
                let (tls, counted, peers) = (tls.cloned(), metrics.connection(), peers.clone());
                while handshakes.try_join_next().is_some() {}
                handshakes.spawn(async move {
                    match Peer::new(stream, tls.as_deref(), connection, place, counted).await {
                        // Nobody takes it any more when the server has failed.
                        Ok(peer) => drop(peers.send(Ok(peer)).await),
                        Err(error) => tracing::debug!(%error, "a handshake failed"),
                    }
                });
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
        self.unless_closed(cx, read)
    }
}

impl AsyncWrite for Peer {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.unless_closed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context,
        bufs: &[IoSlice],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.unless_closed(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.unless_closed(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.unless_closed(cx, shut)
    }
}
