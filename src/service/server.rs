//! Listens, limits, and drains. Socket and stop signal are its caller's, so tests
//! bind port 0 and stop it at will. It knows no board.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tonic::transport::Server;
use tonic_health::server::HealthReporter;
use tonic_health::{ServingStatus, pb::FILE_DESCRIPTOR_SET as HEALTH_DESCRIPTORS};

use super::SERVICE_NAME;
use super::deadline::Punctual;
use super::guard::Guarded;
use super::incoming::incoming;
use super::metrics::Metrics;
use super::pb::FILE_DESCRIPTOR_SET;
use super::pb::solver_service_server::SolverServiceServer;
use super::security::Security;
use super::shared::{Drain, Shared};
use super::solver::Solver;
use crate::config::{LimitsConfig, MAX_UNREAD_BYTES, ServerConfig, SetSource, Sweep};
use crate::engine::{Engine, EngineConfig};
use crate::heuristic::load_large;

/// How often a peer that says nothing is asked whether it is there, and how long it may take to say so.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(30);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);
/// h2 takes unread frames of less than 256 bytes for an attack once what they lack of
/// that is half of the connection's window. The smallest job makes a frame of 25 bytes,
/// so the unread window of one stream lacks up to ten times its own size.
const CONNECTION_WINDOW_PER_STREAM: u32 = 2 * 10 * MAX_UNREAD_BYTES;
/// The largest window of HTTP/2.
const MAX_WINDOW_BYTES: u32 = i32::MAX.cast_unsigned();
/// Bytes of request headers; ours are a few hundred.
const MAX_HEADER_BYTES: u32 = 16 << 10;
/// Streams that a peer may have reset before it is no longer served; the rapid-reset attack makes thousands.
const MAX_RESET_STREAMS: usize = 128;
/// After the last answer, how long it may take to leave before connections are cut.
const FLUSH_TIME: Duration = Duration::from_secs(1);

/// Starts the engine of a server with these settings, the tables of `--tables` read and checked first.
///
/// # Errors
/// When the settings do not go together, a table is not as it must be, or the system gives no thread.
///
/// # Panics
/// Outside a tokio runtime.
pub fn start_configured(config: &ServerConfig) -> Result<Engine, Box<dyn std::error::Error + Send + Sync>> {
    let source = config.set_source()?;
    // Refused before a worker is started.
    let large = match source {
        SetSource::LargeFrom(folder) => Some(load_large(folder).map_err(|error| {
            let folder = folder.display();
            format!("{error} (`taquin-server tables build --dir {folder}` writes what is missing or damaged)")
        })?),
        SetSource::Small | SetSource::LargeOnDemand => None,
    };
    let make_large = source == SetSource::LargeOnDemand;
    let small = engine_config(&config.limits, config.workers(), config.sweep);
    let engine = Engine::start(EngineConfig { make_large, ..small })?;
    if let Some(large) = large {
        engine.prefer_patterns(large);
    }
    Ok(engine)
}

/// Starts the engine of a server with these limits.
///
/// # Errors
/// When the system gives no thread.
///
/// # Panics
/// Outside a tokio runtime.
pub fn start_engine(limits: &LimitsConfig, workers: usize, sweep: Sweep) -> io::Result<Engine> {
    Engine::start(engine_config(limits, workers, sweep))
}

fn engine_config(limits: &LimitsConfig, workers: usize, sweep: Sweep) -> EngineConfig {
    EngineConfig {
        workers,
        max_in_flight: limits.max_in_flight as usize,
        max_queue: limits.max_queue as usize,
        max_cache_bytes: limits.max_cache_bytes,
        max_table_bytes: limits.max_table_bytes,
        sweep: sweep == Sweep::On,
        make_large: false,
    }
}

/// How a server came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Everything taken was answered.
    Cleanly,
    /// The drain's time was over first.
    CutOff,
}

/// Serves until `shutdown`, then drains: it takes no more jobs, finishes what it has
/// taken, and is gone within the drain's time whatever the peers do. What it does is counted in `metrics`.
///
/// # Errors
/// When the transport fails, or reflection can't be built.
pub async fn serve(
    listener: TcpListener,
    engine: Engine,
    limits: LimitsConfig,
    metrics: Metrics,
    security: &Security,
    shutdown: impl Future<Output = ()>,
) -> Result<Drained, Box<dyn std::error::Error + Send + Sync>> {
    let drain = Drain::default();
    let calls = Arc::new(Semaphore::new(limits.max_streams as usize));
    let solver = Solver(Shared {
        engine: engine.clone(),
        limits,
        drain: drain.clone(),
        calls: Arc::clone(&calls),
        metrics: metrics.clone(),
    });
    let solver =
        SolverServiceServer::new(solver).max_decoding_message_size(limits.max_message_bytes as usize);
    let (health, health_service) = tonic_health::server::health_reporter();
    report(&health, ServingStatus::NotServing).await;
    let (v1, v1alpha) = if security.reflects() {
        (Some(reflection().build_v1()?), Some(reflection().build_v1alpha()?))
    } else {
        (None, None)
    };
    let router = Server::builder()
        .max_concurrent_streams(limits.max_streams_per_connection)
        .initial_stream_window_size(MAX_UNREAD_BYTES)
        .initial_connection_window_size(connection_window_bytes(limits.max_streams_per_connection))
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        .http2_max_pending_accept_reset_streams(Some(MAX_RESET_STREAMS))
        .http2_max_local_error_reset_streams(Some(MAX_RESET_STREAMS))
        .add_service(Guarded::new(Punctual::new(solver, limits.max_call()), security.callers()))
        .add_service(health_service)
        .add_optional_service(v1.map(|v1| Guarded::new(v1, security.callers())))
        .add_optional_service(v1alpha.map(|v1alpha| Guarded::new(v1alpha, security.callers())));
    let peers = incoming(listener, limits, security.tls(), metrics.clone(), drain.token());
    let mut serving =
        std::pin::pin!(router.serve_with_incoming_shutdown(peers, drain.token().cancelled_owned()));
    report(&health, ServingStatus::Serving).await;
    metrics.serves(&engine, &limits);

    tokio::select! {
        served = &mut serving => return served.map(|()| Drained::Cleanly).map_err(Into::into),
        () = shutdown => {}
    }
    report(&health, ServingStatus::NotServing).await;
    metrics.drains();
    drain.begin();
    let answered = async {
        // Every permit is back when no call is open. Calls of health and reflection are not
        // waited for: a peer that watches our health does so for ever.
        drop(calls.acquire_many(limits.max_streams).await);
        tokio::time::timeout(FLUSH_TIME, &mut serving).await
    };
    match tokio::time::timeout(limits.drain_timeout(), answered).await {
        Ok(Ok(served)) => served.map(|()| Drained::Cleanly).map_err(Into::into),
        Ok(Err(_)) => Ok(Drained::Cleanly),
        Err(_) => Ok(Drained::CutOff),
    }
}

/// So much that each of its streams may stop being read without costing the connection.
fn connection_window_bytes(streams: u32) -> u32 {
    CONNECTION_WINDOW_PER_STREAM.saturating_mul(streams).min(MAX_WINDOW_BYTES)
}

/// Tells health of the service and of the server as a whole.
async fn report(health: &HealthReporter, status: ServingStatus) {
    health.set_service_status(SERVICE_NAME, status).await;
    health.set_service_status("", status).await;
}

fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(HEALTH_DESCRIPTORS)
}
