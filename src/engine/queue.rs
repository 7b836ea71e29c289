//! Work that waits for a worker: bounded, highest priority first, then first come
//! first served. It knows nothing of what waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Priority;

/// Where work stands in the queue: those before it are taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Reverse<Priority>, u64);

impl Place {
    pub(super) fn priority(self) -> Priority {
        self.0.0
    }
}

/// See the module.
pub(super) struct Queue<W> {
    waiting: Mutex<BTreeMap<Place, W>>,
    max_len: usize,
    arrivals: AtomicU64,
    arrived: Notify,
}

impl<W> Queue<W> {
    pub(super) fn new(max_len: usize) -> Self {
        Self { waiting: Mutex::default(), max_len, arrivals: AtomicU64::new(0), arrived: Notify::new() }
    }

    pub(super) fn max_len(&self) -> usize {
        self.max_len
    }

    pub(super) fn len(&self) -> usize {
        self.waiting().len()
    }

    /// Where the next work of a priority will stand.
    pub(super) fn next_place(&self, priority: Priority) -> Place {
        Place(Reverse(priority), self.arrivals.fetch_add(1, Relaxed))
    }

    /// Puts work at a place of its own; `false` when there is no room.
    pub(super) fn push(&self, place: Place, work: W) -> bool {
        {
            let mut waiting = self.waiting();
            if waiting.len() >= self.max_len {
                return false;
            }
            waiting.insert(place, work);
        }
        self.arrived.notify_one();
        true
    }

    /// Moves work that still waits to a higher priority, before those that came
    /// later; says where it stands now.
    pub(super) fn raise(&self, place: Place, priority: Priority) -> Place {
        let raised = Place(Reverse(priority), place.1);
        let mut waiting = self.waiting();
        if let Some(work) = waiting.remove(&place) {
            waiting.insert(raised, work);
        }
        raised
    }

    /// Takes work out that nobody waits for any more.
    pub(super) fn remove(&self, place: Place) {
        self.waiting().remove(&place);
    }

    /// The next work, when there is some.
    pub(super) async fn pop(&self) -> W {
        loop {
            let mut arrived = pin!(self.arrived.notified());
            // Before the look, so that no arrival between look and wait is missed by all.
            arrived.as_mut().enable();
            if let Some((_, work)) = self.waiting().pop_first() {
                return work;
            }
            arrived.await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<Place, W>> {
        // Every change under this lock is one map operation: a panic can't leave it half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
