//! The real server, started in this process on a loopback port of the system's choice, and spoken to by gRPC as
//! any other.
//!
//! It must never know: what the server does.

use std::io;

use crate::config::{LimitsConfig, Sweep};
use crate::service::{Embedded, embedded};

/// Starts a server with the limits that a server has by default, and a worker for each core.
///
/// # Errors
/// The system gives no port or no thread.
pub(crate) async fn start() -> io::Result<Embedded> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    embedded(LimitsConfig::default(), workers, Sweep::On).await
}
