//! The real server inside this process, on a loopback port that the system chooses:
//! for a client that was given no endpoint, and for tests.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Drained, Metrics, Security, serve, start_engine};
use crate::config::{LimitsConfig, Sweep, available_workers};
use crate::engine::Engine;

type Served = Result<Drained, Box<dyn std::error::Error + Send + Sync>>;

/// A server inside this process; dropping it begins its drain.
pub struct Embedded {
    address: SocketAddr,
    engine: Engine,
    metrics: Metrics,
    stop: DropGuard,
    served: JoinHandle<Served>,
}

impl Embedded {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What it counts.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Drains it and says how that went.
    ///
    /// # Errors
    /// When the transport failed.
    pub async fn stop(self) -> Served {
        drop(self.stop);
        self.served.await?
    }
}

/// Starts a server inside this process, with the settings of a server that was given none.
///
/// # Errors
/// When the system gives no port or no thread.
pub async fn embedded_by_default() -> std::io::Result<Embedded> {
    embedded(LimitsConfig::default(), available_workers(), Sweep::default()).await
}

/// Starts a server inside this process, open to whoever reaches the loopback.
///
/// # Errors
/// When the system gives no port or no thread.
pub async fn embedded(limits: LimitsConfig, workers: usize, sweep: Sweep) -> std::io::Result<Embedded> {
    embedded_secured(limits, workers, sweep, Security::default()).await
}

/// Starts a server inside this process, for those whom `security` lets in.
///
/// # Errors
/// When the system gives no port or no thread.
pub async fn embedded_secured(
    limits: LimitsConfig,
    workers: usize,
    sweep: Sweep,
    security: Security,
) -> std::io::Result<Embedded> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let engine = start_engine(&limits, workers, sweep)?;
    let stop = CancellationToken::new();
    let shutdown = stop.clone().cancelled_owned();
    let metrics = Metrics::default();
    let (serving, counts) = (engine.clone(), metrics.clone());
    let served =
        tokio::spawn(async move { serve(listener, serving, limits, counts, &security, shutdown).await });
    Ok(Embedded { address, engine, metrics, stop: stop.drop_guard(), served })
}
