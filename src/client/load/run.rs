//! What all drivers of a run share: the numbers to send, the clock, and the two ends, of sending and of waiting.
//!
//! It must never know: how a board is sent.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::progress::Live;
use super::quota::Quota;
use super::schedule::Schedule;
use super::workload::WARM;

/// Nanoseconds since the run began, its warm-up included.
pub(super) type Nanos = u64;

/// See the module.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) quota: Quota,
    /// When what is numbered is due, in an open loop.
    pub(super) pace: Option<Pace>,
    /// When the part begins that counts.
    pub(super) counts_from: Nanos,
    /// How long an answer may take.
    pub(super) timeout: Duration,
    /// No more is sent.
    pub(super) stop: CancellationToken,
    /// No more is waited for.
    pub(super) cut: CancellationToken,
    /// The run has begun.
    pub(super) started: CancellationToken,
    pub(super) begin: OnceLock<Instant>,
    /// When the last board was done.
    pub(super) last_answer: AtomicU64,
    pub(super) live: Arc<Live>,
    /// Wakes each driver when something is due.
    pub(super) wakes: Vec<Notify>,
}

/// When each of the numbers is due.
#[derive(Debug)]
pub(super) struct Pace {
    /// Of boards.
    pub(super) schedule: Schedule,
    /// Boards of a number: 1, or those of a packed message.
    pub(super) boards: u64,
    /// The first number that is not of the warm-up.
    pub(super) warm: u64,
}

impl Pace {
    /// When a number is due.
    pub(super) fn due(&self, number: u64) -> Duration {
        self.schedule.due(number * self.boards)
    }
}

/// Numbers that a driver has taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) numbers: Range<u64>,
    /// Of the warm-up of a closed loop.
    is_warm: bool,
    now: Nanos,
}

impl Run {
    /// Begins now.
    pub(super) fn start(&self) {
        self.begin.get_or_init(Instant::now);
        self.started.cancel();
    }

    /// The time.
    pub(super) fn now(&self) -> Nanos {
        self.nanos(Instant::now())
    }

    /// A time of the clock.
    pub(super) fn nanos(&self, instant: Instant) -> Nanos {
        let since =
            self.begin.get().map_or(Duration::ZERO, |begin| instant.saturating_duration_since(*begin));
        nanos(since)
    }

    /// Whether nothing more will be sent, but what is sent again.
    pub(super) fn is_over(&self) -> bool {
        self.stop.is_cancelled() || self.quota.is_spent()
    }

    /// At most so many numbers that are due.
    pub(super) fn take(&self, room: usize, now: Nanos) -> Taken {
        let is_warm = self.pace.is_none() && now < self.counts_from;
        let numbers = match room as u64 {
            _ if self.stop.is_cancelled() => 0..0,
            room if is_warm => self.quota.take_warm(room),
            room => self.quota.take(room),
        };
        Taken { numbers, is_warm, now }
    }

    /// The number by which the workload knows one that was taken, and when it was due.
    pub(super) fn place(&self, number: u64, taken: &Taken) -> (u64, Nanos) {
        match &self.pace {
            None if taken.is_warm => (number | WARM, taken.now),
            None => (number, taken.now),
            Some(pace) => {
                let due = nanos(pace.due(number));
                number.checked_sub(pace.warm).map_or((number | WARM, due), |counted| (counted, due))
            }
        }
    }

    /// A time as the report counts it.
    pub(super) fn counted(&self, time: Nanos) -> Duration {
        Duration::from_nanos(time.saturating_sub(self.counts_from))
    }
}

/// A duration in nanoseconds, of which there are enough for centuries.
pub(super) fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
