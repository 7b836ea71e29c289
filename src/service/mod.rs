//! The only place that knows gRPC: wire types come in here and go no further.

mod allowance;
mod batches;
mod callers;
mod certificates;
mod connection;
mod conversation;
mod convert;
mod deadline;
mod dial;
mod embedded;
mod exposition;
mod files;
#[cfg(feature = "faults")]
pub mod fuzz;
mod grpc_timeout;
mod guard;
mod health;
mod incoming;
mod jobs;
mod metrics;
mod metrics_port;
mod packed;
pub mod pb;
mod security;
mod server;
mod shared;
mod solver;
mod status;
mod tally;
mod tls;
mod trace;
mod usage;

pub use dial::{Authorized, Dial, DialOptions, Target, causes};
pub use embedded::{Embedded, embedded, embedded_by_default, embedded_secured};
pub use files::FileError;
pub use health::{ask_health, check_health, check_health_by, loopback_endpoint};
pub use metrics::Metrics;
pub use metrics_port::MetricsPort;
pub use security::Security;
pub use server::{Drained, serve, start_configured, start_engine};

/// The name of the service, as health is asked of it.
pub const SERVICE_NAME: &str = "taquin.v1.SolverService";
