//! Ends jobs when their time is over, whether they wait or fly. It runs beside the
//! network, since every thread of the pool may be searching, and knows no search.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use tokio::sync::Notify;
use tokio::time::sleep_until;

use super::Shared;
use super::flight::{Flight, WaiterId};

type Due = BTreeMap<(Instant, WaiterId), Weak<Flight>>;

/// Which waiter of which flight is due when.
#[derive(Default)]
pub(super) struct Clock {
    due: Mutex<Due>,
    /// A new first deadline, or the engine is gone.
    changed: Notify,
}

impl Clock {
    pub(super) fn watch(&self, deadline: Instant, waiter: WaiterId, flight: &Arc<Flight>) {
        let mut due = self.due();
        due.insert((deadline, waiter), Arc::downgrade(flight));
        if due.first_key_value().is_some_and(|(first, _)| *first == (deadline, waiter)) {
            self.changed.notify_one();
        }
    }

    pub(super) fn forget(&self, deadline: Instant, waiter: WaiterId) {
        self.due().remove(&(deadline, waiter));
    }

    /// Lets [`run`] see that the engine is gone.
    pub(super) fn wake(&self) {
        self.changed.notify_one();
    }

    fn next(&self) -> Option<Instant> {
        self.due().first_key_value().map(|((deadline, _), _)| *deadline)
    }

    /// Takes out one waiter whose time is over.
    fn pop(&self, now: Instant) -> Option<(WaiterId, Weak<Flight>)> {
        let mut due = self.due();
        let first = due.first_entry().filter(|first| first.key().0 <= now)?;
        let ((_, waiter), flight) = first.remove_entry();
        Some((waiter, flight))
    }

    fn due(&self) -> MutexGuard<'_, Due> {
        // Every change under this lock is one map operation: a panic can't leave it half done.
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs until the engine is gone.
pub(super) async fn run(clock: Arc<Clock>, shared: Weak<Shared>) {
    while shared.strong_count() > 0 {
        match clock.next() {
            None => clock.changed.notified().await,
            Some(next) => tokio::select! {
                () = sleep_until(next.into()) => {}
                () = clock.changed.notified() => {}
            },
        }
        let Some(shared) = shared.upgrade() else { return };
        while let Some((waiter, flight)) = clock.pop(Instant::now()) {
            if let Some(flight) = flight.upgrade() {
                flight.expire(&shared, waiter);
            }
        }
    }
}
