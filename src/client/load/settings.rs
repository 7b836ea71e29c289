//! What was run: the settings of a load, in words for its report.
//!
//! It must never know: how any of it is carried out or shown.

use std::time::Duration;

/// What was run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// `unary`, `stream` or `packed`.
    pub(crate) mode: &'static str,
    /// Connections in all.
    pub(crate) connections: u64,
    /// Streams of a connection.
    pub(crate) streams: u64,
    /// Boards, or packed messages, in flight on a stream.
    pub(crate) in_flight: u64,
    /// Boards of a packed message.
    pub(crate) batch: u64,
    /// The schedule, as `1000/s`; none is a closed loop.
    pub(crate) rate: Option<String>,
    /// How many boards were wanted.
    pub(crate) total: Option<u64>,
    /// For how long it was wanted.
    pub(crate) duration: Option<Duration>,
    /// For how long it ran before that.
    pub(crate) warmup: Duration,
    pub(crate) seed: u64,
    /// What the boards are, option by option: its name without dashes, and its value.
    pub(crate) boards: Vec<(&'static str, String)>,
    /// How answers are checked.
    pub(crate) check: String,
    /// The addresses, in the order of [`super::record::Sample::worker`].
    pub(crate) endpoints: Vec<String>,
    /// The version of the server, if it said.
    pub(crate) server: Option<String>,
}

impl Settings {
    /// Whether boards are due at times of their own, whatever came of those before.
    pub(crate) fn is_open_loop(&self) -> bool {
        self.rate.is_some()
    }
}
