//! The only place that knows gRPC: wire types come in here and go no further.

mod batches;
mod connection;
mod conversation;
mod convert;
mod deadline;
mod embedded;
#[cfg(feature = "faults")]
pub mod fuzz;
mod grpc_timeout;
mod health;
mod incoming;
mod jobs;
mod packed;
pub mod pb;
mod server;
mod shared;
mod solver;
mod status;
mod tally;

pub use embedded::{Embedded, embedded, embedded_by_default};
pub use health::{check_health, loopback_endpoint};
pub use server::{Drained, serve, start_configured, start_engine};

/// The name of the service, as health is asked of it.
pub const SERVICE_NAME: &str = "taquin.v1.SolverService";
