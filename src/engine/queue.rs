//! Work that waits: bounded, highest priority first, then what is soon done, then first come
//! first served, in lanes of which each has its own takers. Work that was taken may come back, to wait at
//! its old place in another lane. It knows nothing of what waits, nor what for.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Priority;

/// Where work stands in its lane: those before it are taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Reverse<Priority>, Length, u64);

/// How long work may take, as far as one knows before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Length {
    /// It is soon done.
    Short,
    /// It may have all its time in the light lane, and more elsewhere.
    Open,
}

impl Place {
    pub(super) fn priority(self) -> Priority {
        self.0.0
    }
}

/// What work waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// One of the workers that are soon free again. All work begins here.
    Light,
    /// A worker that has time for it.
    Heavy,
    /// To be recalled: nobody takes it.
    Aside,
}

const LANES: usize = 3;

/// Work that waits, by what it waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStatistics {
    /// One of the workers that are soon free again.
    pub light: usize,
    /// A worker that has time for a long search.
    pub heavy: usize,
    /// Pattern databases.
    pub aside: usize,
}

type Waiting<W> = [BTreeMap<Place, W>; LANES];

/// See the module.
pub(super) struct Queue<W> {
    waiting: Mutex<Waiting<W>>,
    max_len: usize,
    arrivals: AtomicU64,
    arrived: [Notify; LANES],
}

impl<W: Clone> Queue<W> {
    pub(super) fn new(max_len: usize) -> Self {
        Self { waiting: Mutex::default(), max_len, arrivals: AtomicU64::new(0), arrived: Default::default() }
    }

    pub(super) fn max_len(&self) -> usize {
        self.max_len
    }

    pub(super) fn len(&self) -> usize {
        len(&self.waiting())
    }

    pub(super) fn statistics(&self) -> QueueStatistics {
        let waiting = self.waiting();
        let [light, heavy, aside] = std::array::from_fn(|lane| waiting[lane].len());
        QueueStatistics { light, heavy, aside }
    }

    /// Where the next work of a priority and length will stand.
    pub(super) fn next_place(&self, priority: Priority, length: Length) -> Place {
        Place(Reverse(priority), length, self.arrivals.fetch_add(1, Relaxed))
    }

    /// Puts work at a place of its own; `false` when there is no room.
    pub(super) fn push(&self, place: Place, work: W) -> bool {
        {
            let mut waiting = self.waiting();
            if len(&waiting) >= self.max_len {
                return false;
            }
            waiting[Lane::Light as usize].insert(place, work);
        }
        self.arrived[Lane::Light as usize].notify_one();
        true
    }

    /// Puts work back at its place. There is room, since it was let in once: workers hold
    /// no more of it than they are.
    pub(super) fn put_back(&self, lane: Lane, place: Place, work: W) {
        self.waiting()[lane as usize].insert(place, work);
        self.arrived[lane as usize].notify_one();
    }

    /// Has work that was set aside go on among the heavy, each at its place.
    pub(super) fn recall(&self, which: impl Fn(&W) -> bool) {
        {
            let [_, heavy, aside] = &mut *self.waiting();
            heavy.extend(aside.extract_if(.., |_, work| which(work)));
        }
        self.arrived[Lane::Heavy as usize].notify_waiters();
    }

    /// Moves work that still waits to a higher priority, before those that came
    /// later; says where it stands now.
    pub(super) fn raise(&self, place: Place, priority: Priority) -> Place {
        let raised = Place(Reverse(priority), place.1, place.2);
        for lane in &mut *self.waiting() {
            if let Some(work) = lane.remove(&place) {
                lane.insert(raised, work);
            }
        }
        raised
    }

    /// Takes work out that nobody waits for any more.
    pub(super) fn remove(&self, place: Place) {
        for lane in &mut *self.waiting() {
            lane.remove(&place);
        }
    }

    /// Takes the next work of a lane, when there is some.
    pub(super) async fn pop(&self, lane: Lane) -> W {
        self.when_there(lane, |waiting| waiting.pop_first().map(|(_, work)| work)).await
    }

    /// The first work of a lane, left where it is.
    pub(super) fn peek(&self, lane: Lane) -> Option<W> {
        first(&self.waiting()[lane as usize])
    }

    /// The first work of a lane, when there is some, left where it is.
    pub(super) async fn first(&self, lane: Lane) -> W {
        self.when_there(lane, |waiting| first(waiting)).await
    }

    async fn when_there(&self, lane: Lane, look: impl Fn(&mut BTreeMap<Place, W>) -> Option<W>) -> W {
        loop {
            let mut arrived = pin!(self.arrived[lane as usize].notified());
            // Before the look, so that no arrival between look and wait is missed by all.
            arrived.as_mut().enable();
            if let Some(work) = look(&mut self.waiting()[lane as usize]) {
                return work;
            }
            arrived.await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting<W>> {
        // No change under this lock may panic half done: each is a few operations of maps.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn len<W>(waiting: &Waiting<W>) -> usize {
    waiting.iter().map(BTreeMap::len).sum()
}

fn first<W: Clone>(waiting: &BTreeMap<Place, W>) -> Option<W> {
    waiting.first_key_value().map(|(_, work)| work.clone())
}
