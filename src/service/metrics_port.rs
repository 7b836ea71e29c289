//! The port of those who watch a worker, over plain HTTP/1: `/metrics`, `/healthz`,
//! `/readyz`. It asks nobody who he is and holds nobody's time: one request a connection, few of them,
//! each for a few seconds at most. It knows no board.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::exposition;
use super::incoming::REFUSED_PAUSE;
use super::metrics::{Metrics, Phase};
use crate::config::{MAX_METRICS_CONNECTIONS, MAX_METRICS_HEADER_BYTES, METRICS_TIMEOUT_MS};

/// How long a connection may take, whatever its peer does.
const TIME: Duration = Duration::from_millis(METRICS_TIMEOUT_MS as u64);

/// A port that answers as long as this is held.
pub struct MetricsPort {
    address: SocketAddr,
    _answering: AbortOnDropHandle<()>,
}

impl MetricsPort {
    /// Listens, and answers from now on.
    ///
    /// # Errors
    /// When the system does not give the address.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn open(listen: SocketAddr, metrics: Metrics) -> io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        Ok(Self { address, _answering: AbortOnDropHandle::new(tokio::spawn(accept(listener, metrics))) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Takes connections; one too many closes the oldest, so that peers who say nothing keep nobody out.
async fn accept(listener: TcpListener, metrics: Metrics) {
    let mut open = VecDeque::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                open.retain(|connection: &AbortOnDropHandle<()>| !connection.is_finished());
                if open.len() >= MAX_METRICS_CONNECTIONS as usize {
                    open.pop_front();
                }
                open.push_back(AbortOnDropHandle::new(tokio::spawn(converse(stream, metrics.clone()))));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection for metrics was refused");
                sleep(REFUSED_PAUSE).await;
            }
        }
    }
}

/// Answers one request.
async fn converse(stream: TcpStream, metrics: Metrics) {
    let answer = service_fn(|request| ready(Ok::<_, Infallible>(answer(&request, &metrics))));
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_header_size(MAX_METRICS_HEADER_BYTES as usize)
        .serve_connection(TokioIo::new(stream), answer);
    match timeout(TIME, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a connection for metrics failed"),
        Err(_) => tracing::debug!("a connection for metrics took too long"),
    }
}

fn answer(request: &Request<Incoming>, metrics: &Metrics) -> Response<String> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut answer = word(StatusCode::METHOD_NOT_ALLOWED, "GET or HEAD");
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    match request.uri().path() {
        "/metrics" => match exposition::text(metrics) {
            Ok(text) => of_type(StatusCode::OK, exposition::CONTENT_TYPE, text),
            Err(error) => word(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        },
        "/healthz" if metrics.is_whole() => word(StatusCode::OK, "whole"),
        "/healthz" => word(StatusCode::SERVICE_UNAVAILABLE, "broken"),
        "/readyz" => match metrics.phase() {
            Phase::Starting => word(StatusCode::SERVICE_UNAVAILABLE, "starting"),
            Phase::Serving => word(StatusCode::OK, "serving"),
            Phase::Draining => word(StatusCode::SERVICE_UNAVAILABLE, "draining"),
        },
        _ => word(StatusCode::NOT_FOUND, "/metrics, /healthz or /readyz"),
    }
}

fn word(status: StatusCode, word: &str) -> Response<String> {
    of_type(status, "text/plain; charset=utf-8", format!("{word}\n"))
}

fn of_type(status: StatusCode, media_type: &'static str, body: String) -> Response<String> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    answer
}
