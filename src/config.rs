//! What can be set, where its defaults stand, and the limits that come of it. It
//! knows nothing of what it sets.
#![expect(clippy::doc_markdown, reason = "doc comments are the help text, which is no Markdown")]

pub mod file;
#[cfg(feature = "faults")]
pub mod fuzz;
pub mod layers;
mod security;
mod setting;

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;

pub use self::security::{MAX_CALLERS, MAX_TOKEN_BYTES, MIN_TOKEN_BYTES, Reflection, SecurityConfig};
use crate::telemetry::{LogFormat, directives};

/// Bytes of a request id; not to be set, since answers repeat it.
pub const MAX_REQUEST_ID_BYTES: usize = 128;
/// Milliseconds a new connection may take to greet; from then on keep-alive asks after it.
pub const GREETING_TIMEOUT_MS: u32 = 5000;
/// Bytes that a call may send ahead of our reading: some thousand jobs.
pub const MAX_UNREAD_BYTES: u32 = 65_535;
/// Packed messages of one stream that may wait for a worker; with the boards of a message
/// bounded, this bounds what a stream holds.
pub const MAX_PACKED_WAITING: u32 = 16;
/// Connections open on the port for metrics; one more closes the oldest.
pub const MAX_METRICS_CONNECTIONS: u32 = 32;
/// Bytes of the head of a request on the port for metrics.
pub const MAX_METRICS_HEADER_BYTES: u32 = 8192;
/// Milliseconds a connection on the port for metrics may take in all.
pub const METRICS_TIMEOUT_MS: u32 = 5000;

/// The settings of a server; each flag has an environment variable, and a key in the
/// file. What holds between settings is not clap's to say (`requires`,
/// `conflicts_with`), which does not see the file: [`check`](ServerConfig::check) says it.
#[derive(Clone, Debug, Args)]
pub struct ServerConfig {
    /// Address to listen on, as IP:PORT (a name is none); port 0 lets the system choose
    #[arg(long, env = "TAQUIN_LISTEN", default_value = "127.0.0.1:50051")]
    pub listen: SocketAddr,

    /// Worker tasks that search, at least 1, and as many more for searches that take long; by default one for each core this process may use
    #[arg(long, env = "TAQUIN_WORKERS", default_value_t = available(), value_parser = workers)]
    pub workers: NonZeroUsize,

    /// Whether the standard 3x3 goals are swept into a table, and the pattern databases of the 4x4 corner goals made, at the start
    #[arg(long, env = "TAQUIN_SWEEP", value_enum, default_value_t)]
    pub sweep: Sweep,

    /// Which pattern databases the fifteen puzzle is solved with; by default the large ones with --tables or --on-demand, small ones without
    #[arg(long, env = "TAQUIN_SET", value_enum)]
    pub set: Option<TableSet>,

    /// Folder of the large set, as `tables build` wrote it; read and checked before anything is served
    #[arg(long, env = "TAQUIN_TABLES", value_name = "DIR")]
    pub tables: Option<PathBuf>,

    /// Make the large set in the background of the running worker, which switches over when it is there
    #[arg(long, env = "TAQUIN_ON_DEMAND", value_parser = BoolishValueParser::new())]
    pub on_demand: bool,

    /// What a client may ask for, and how much of it.
    #[command(flatten)]
    pub limits: LimitsConfig,

    /// Who may ask.
    #[command(flatten)]
    pub security: SecurityConfig,

    /// Address for metrics, as IP:PORT: /metrics for Prometheus, /healthz and /readyz for probes, over plain HTTP, to anyone who can reach it; by default nowhere
    #[arg(long, env = "TAQUIN_METRICS_LISTEN", value_name = "IP:PORT")]
    pub metrics_listen: Option<SocketAddr>,

    /// How log lines look
    #[arg(long, env = "TAQUIN_LOG_FORMAT", value_enum, default_value_t)]
    pub log_format: LogFormat,

    /// OpenTelemetry collector that is sent the spans of calls, as http://host:4317 (OTLP over gRPC); by default none
    #[cfg(feature = "otlp")]
    #[arg(long, env = "TAQUIN_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,

    /// Which log lines are written: a level, or directives as of tracing-subscriber's EnvFilter
    #[arg(long, env = "TAQUIN_LOG", default_value = "info", value_parser = directives)]
    pub log: String,
}

/// A switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sweep {
    /// In the background; until it is done, boards are searched
    #[default]
    On,
    /// Boards are searched; goals get tables only when they are asked often, or in bulk
    Off,
}

/// A set of pattern databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableSet {
    /// 3 MB, made at the start
    Small,
    /// 196 MB, some eight times as fast, read (--tables) or made while boards are served (--on-demand)
    Large,
}

/// The limits of a server that was told none.
const DEFAULT: LimitsConfig = LimitsConfig {
    max_message_bytes: 4 << 20,
    max_in_flight_per_stream: 1024,
    max_in_flight_per_connection: 8192,
    max_in_flight: 65_536,
    max_queue: 16_384,
    max_connections: 1024,
    max_streams_per_connection: 128,
    max_streams: 4096,
    max_cache_bytes: 64 << 20,
    default_time_ms: 10_000,
    max_time_ms: 60_000,
    default_nodes: 10_000_000,
    max_nodes: 1_000_000_000,
    stall_timeout_ms: 30_000,
    max_stream_age_ms: 3_600_000,
    drain_timeout_ms: 10_000,
    max_table_bytes: 16 << 20,
    max_packed_boards: 16_384,
};

impl Default for LimitsConfig {
    fn default() -> Self {
        DEFAULT
    }
}

/// Every limit of a server. What is not counted in bytes or milliseconds is counted in pieces.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitsConfig {
    /// Bytes of one request message
    #[arg(long, env = "TAQUIN_MAX_MESSAGE_BYTES", default_value_t = DEFAULT.max_message_bytes, value_parser = positive_u32)]
    pub max_message_bytes: u32,

    /// Jobs in flight on one stream; at this limit the server stops reading it
    #[arg(long, env = "TAQUIN_MAX_IN_FLIGHT_PER_STREAM", default_value_t = DEFAULT.max_in_flight_per_stream, value_parser = positive_u32)]
    pub max_in_flight_per_stream: u32,

    /// Jobs in flight on one connection; at this limit the server stops reading its streams, and a unary call is answered RESOURCE_EXHAUSTED
    #[arg(long, env = "TAQUIN_MAX_IN_FLIGHT_PER_CONNECTION", default_value_t = DEFAULT.max_in_flight_per_connection, value_parser = positive_u32)]
    pub max_in_flight_per_connection: u32,

    /// Jobs in flight in all; one more is answered RESOURCE_EXHAUSTED
    #[arg(long, env = "TAQUIN_MAX_IN_FLIGHT", default_value_t = DEFAULT.max_in_flight, value_parser = positive_u32)]
    pub max_in_flight: u32,

    /// Searches that wait for a worker or for pattern databases, so many that are soon done and so many that may take long; one more is answered RESOURCE_EXHAUSTED
    #[arg(long, env = "TAQUIN_MAX_QUEUE", default_value_t = DEFAULT.max_queue, value_parser = positive_u32)]
    pub max_queue: u32,

    /// Open connections; one more waits to be accepted
    #[arg(long, env = "TAQUIN_MAX_CONNECTIONS", default_value_t = DEFAULT.max_connections, value_parser = positive_u32)]
    pub max_connections: u32,

    /// Calls open at once on one connection; one more waits in the client
    #[arg(long, env = "TAQUIN_MAX_STREAMS_PER_CONNECTION", default_value_t = DEFAULT.max_streams_per_connection, value_parser = positive_u32)]
    pub max_streams_per_connection: u32,

    /// Calls open at once in all; one more is answered RESOURCE_EXHAUSTED
    #[arg(long, env = "TAQUIN_MAX_STREAMS", default_value_t = DEFAULT.max_streams, value_parser = positive_u32)]
    pub max_streams: u32,

    /// Bytes the cache of solved boards may weigh; 0 keeps nothing
    #[arg(long, env = "TAQUIN_MAX_CACHE_BYTES", default_value_t = DEFAULT.max_cache_bytes, value_parser = any_u64)]
    pub max_cache_bytes: u64,

    /// Milliseconds a job may take when it does not say
    #[arg(long, env = "TAQUIN_DEFAULT_TIME_MS", default_value_t = DEFAULT.default_time_ms, value_parser = positive_u32)]
    pub default_time_ms: u32,

    /// The most milliseconds a job may ask for
    #[arg(long, env = "TAQUIN_MAX_TIME_MS", default_value_t = DEFAULT.max_time_ms, value_parser = positive_u32)]
    pub max_time_ms: u32,

    /// States a job may expand when it does not say
    #[arg(long, env = "TAQUIN_DEFAULT_NODES", default_value_t = DEFAULT.default_nodes, value_parser = positive_u64)]
    pub default_nodes: u64,

    /// The most states a job may ask for
    #[arg(long, env = "TAQUIN_MAX_NODES", default_value_t = DEFAULT.max_nodes, value_parser = positive_u64)]
    pub max_nodes: u64,

    /// Milliseconds a reader may leave answers unread before its stream is ended
    #[arg(long, env = "TAQUIN_STALL_TIMEOUT_MS", default_value_t = DEFAULT.stall_timeout_ms, value_parser = positive_u32)]
    pub stall_timeout_ms: u32,

    /// Milliseconds, 10 % more or less, after which a stream is ended with UNAVAILABLE, when all it has in flight is answered; 0 for no limit
    #[arg(long, env = "TAQUIN_MAX_STREAM_AGE_MS", default_value_t = DEFAULT.max_stream_age_ms)]
    pub max_stream_age_ms: u32,

    /// Milliseconds from the signal to stop to the end, whatever the peers do
    #[arg(long, env = "TAQUIN_DRAIN_TIMEOUT_MS", default_value_t = DEFAULT.drain_timeout_ms, value_parser = positive_u32)]
    pub drain_timeout_ms: u32,

    /// Bytes that tables made for layouts and goals that are asked often may take
    #[arg(long, env = "TAQUIN_MAX_TABLE_BYTES", default_value_t = DEFAULT.max_table_bytes, value_parser = any_u64)]
    pub max_table_bytes: u64,

    /// Boards of one packed message
    #[arg(long, env = "TAQUIN_MAX_PACKED_BOARDS", default_value_t = DEFAULT.max_packed_boards, value_parser = positive_u32)]
    pub max_packed_boards: u32,
}

/// Where the pattern databases of the fifteen puzzle come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetSource<'a> {
    /// The small set, made at the start.
    Small,
    /// The large set, read from this folder.
    LargeFrom(&'a Path),
    /// The large set, made while boards are served.
    LargeOnDemand,
}

impl ServerConfig {
    /// As many workers as are to be.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers.get()
    }

    /// Whether the settings go together.
    ///
    /// # Errors
    /// Which do not, by flag.
    pub fn check(&self) -> Result<(), &'static str> {
        self.security.check()?;
        self.set_source().map(|_| ())
    }

    /// The set that was asked for, and where it comes from.
    ///
    /// # Errors
    /// When `--set`, `--tables` and `--on-demand` do not go together.
    pub fn set_source(&self) -> Result<SetSource<'_>, &'static str> {
        match (self.set, &self.tables, self.on_demand) {
            (_, Some(_), true) => {
                Err("--tables does not go with --on-demand: the large set is read or made, not both")
            }
            (Some(TableSet::Small), Some(_), _) | (Some(TableSet::Small), _, true) => {
                Err("--set small goes with neither --tables nor --on-demand: both are of the large set")
            }
            (Some(TableSet::Large), None, false) => {
                Err("--set large wants a folder of tables (--tables), or --on-demand to make them")
            }
            (_, Some(folder), false) => Ok(SetSource::LargeFrom(folder)),
            (_, None, true) => Ok(SetSource::LargeOnDemand),
            (_, None, false) => Ok(SetSource::Small),
        }
    }
}

/// One worker for each core this process may use by affinity and by its cgroup.
#[must_use]
pub fn available_workers() -> usize {
    available().get()
}

fn available() -> NonZeroUsize {
    available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

impl LimitsConfig {
    /// How long a reader may leave answers unread.
    #[must_use]
    pub fn stall_timeout(&self) -> Duration {
        Duration::from_millis(self.stall_timeout_ms.into())
    }

    /// How old a stream may become, if that is bounded.
    #[must_use]
    pub fn max_stream_age(&self) -> Option<Duration> {
        (self.max_stream_age_ms > 0).then(|| Duration::from_millis(self.max_stream_age_ms.into()))
    }

    /// How long a call of one board may take: what a job may, and what a peer may stand still.
    #[must_use]
    pub fn max_call(&self) -> Duration {
        Duration::from_millis(self.max_time_ms.into()) + self.stall_timeout()
    }

    /// Milliseconds in which a peer must take something of what has been sent to his socket: as long
    /// again as a reader may leave answers unread.
    #[must_use]
    pub fn unread_socket_timeout_ms(&self) -> u32 {
        self.stall_timeout_ms.saturating_mul(2)
    }

    /// How long a drain may take.
    #[must_use]
    pub fn drain_timeout(&self) -> Duration {
        Duration::from_millis(self.drain_timeout_ms.into())
    }
}

fn positive_u32(text: &str) -> Result<u32, String> {
    whole(text, 1, u32::MAX.into()).map(NonZeroU32::get)
}

fn positive_u64(text: &str) -> Result<u64, String> {
    whole(text, 1, u64::MAX).map(NonZeroU64::get)
}

fn any_u64(text: &str) -> Result<u64, String> {
    whole(text, 0, u64::MAX)
}

fn workers(text: &str) -> Result<NonZeroUsize, String> {
    whole(text, 1, usize::MAX as u64)
}

/// A number of a type that goes from `least` to `most`.
fn whole<N: FromStr>(text: &str, least: u64, most: u64) -> Result<N, String> {
    text.parse().map_err(|_| format!("expected a whole number from {least} to {most}"))
}
