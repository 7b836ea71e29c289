//! What is known while the load runs: a few counters that all drivers share, and the line on standard error.
//!
//! It must never know: how boards are sent, what a report says.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters that the drivers raise while they run, in steps of as many boards as they like.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// Boards sent for the first time.
    pub(crate) sent: AtomicU64,
    /// Of these, boards that are done: answered or failed.
    pub(crate) done: AtomicU64,
    /// Of these, boards that failed.
    pub(crate) failed: AtomicU64,
}

impl Live {
    /// Boards sent and not done.
    pub(crate) fn in_flight(&self) -> u64 {
        let done = self.done.load(Relaxed);
        self.sent.load(Relaxed).saturating_sub(done)
    }
}
