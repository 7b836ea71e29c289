//! Flights that wait for a worker: bounded, highest priority first, then first come
//! first served. It knows nothing of what waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Priority;
use super::flight::Flight;

/// Where a flight stands in the queue: those before it are taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Reverse<Priority>, u64);

impl Place {
    pub(super) fn priority(self) -> Priority {
        self.0.0
    }
}

/// See the module.
pub(super) struct Queue {
    waiting: Mutex<BTreeMap<Place, Arc<Flight>>>,
    max_len: usize,
    arrivals: AtomicU64,
    arrived: Notify,
}

impl Queue {
    pub(super) fn new(max_len: usize) -> Self {
        Self { waiting: Mutex::default(), max_len, arrivals: AtomicU64::new(0), arrived: Notify::new() }
    }

    pub(super) fn max_len(&self) -> usize {
        self.max_len
    }

    pub(super) fn len(&self) -> usize {
        self.waiting().len()
    }

    /// Where the next flight of a priority will stand.
    pub(super) fn next_place(&self, priority: Priority) -> Place {
        Place(Reverse(priority), self.arrivals.fetch_add(1, Relaxed))
    }

    /// Puts a flight at a place of its own; `false` when there is no room.
    pub(super) fn push(&self, place: Place, flight: Arc<Flight>) -> bool {
        {
            let mut waiting = self.waiting();
            if waiting.len() >= self.max_len {
                return false;
            }
            waiting.insert(place, flight);
        }
        self.arrived.notify_one();
        true
    }

    /// Moves a flight that still waits to a higher priority, before those that came
    /// later; says where it stands now.
    pub(super) fn raise(&self, place: Place, priority: Priority) -> Place {
        let raised = Place(Reverse(priority), place.1);
        let mut waiting = self.waiting();
        if let Some(flight) = waiting.remove(&place) {
            waiting.insert(raised, flight);
        }
        raised
    }

    /// Takes a flight out that nobody waits for any more.
    pub(super) fn remove(&self, place: Place) {
        self.waiting().remove(&place);
    }

    /// The next flight, when there is one.
    pub(super) async fn pop(&self) -> Arc<Flight> {
        loop {
            let mut arrived = pin!(self.arrived.notified());
            // Before the look, so that no arrival between look and wait is missed by all.
            arrived.as_mut().enable();
            if let Some((_, flight)) = self.waiting().pop_first() {
                return flight;
            }
            arrived.await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<Place, Arc<Flight>>> {
        // Every change under this lock is one map operation: a panic can't leave it half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
