//! Panics that are caught: what each has said goes to the log, and how many there were is
//! counted. It knows nothing of who panicked.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// See the module.
#[derive(Default)]
pub(super) struct Panics(AtomicU64);

impl Panics {
    /// Runs something; `None` when it has panicked. What it leaves half done is its caller's to leave alone.
    pub(super) fn catch<T>(&self, what: &str, run: impl FnOnce() -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(done) => Some(done),
            Err(panic) => {
                self.0.fetch_add(1, Relaxed);
                tracing::error!(panic = message(panic.as_ref()), "{what} panicked");
                None
            }
        }
    }

    /// How many were caught.
    pub(super) fn count(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The message of a panic, if it is text.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
