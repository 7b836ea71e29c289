//! Panics that are caught: each is named in the log, without its message, which may hold what a
//! client has sent; and how many there were is counted. It knows nothing of who panicked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// See the module.
#[derive(Default)]
pub(super) struct Panics(AtomicU64);

impl Panics {
    /// Runs something; `None` when it has panicked. What it leaves half done is its caller's to leave alone.
    pub(super) fn catch<T>(&self, what: &str, run: impl FnOnce() -> T) -> Option<T> {
        let done = catch_unwind(AssertUnwindSafe(run)).ok();
        if done.is_none() {
            self.0.fetch_add(1, Relaxed);
            tracing::error!("{what} panicked");
        }
        done
    }

    /// How many were caught.
    pub(super) fn count(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
