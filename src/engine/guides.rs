//! The pattern databases of goals on wide layouts: made in the background, one goal at a
//! time, kept by weight. Who needs one that is not there waits for it, under his budget.
//! It knows neither jobs nor searches.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::pool::be_nice;
use crate::cache::{Cache, Weigh};
use crate::domain::sliding::{Goal, Problem};
use crate::heuristic::PatternSum;
use crate::search::{Budget, Limits, Stop};

/// Bytes that pattern databases may take: some twenty goals of 4x4.
const GUIDES_BYTES: u64 = 64 << 20;
/// Between two looks at the budget of one who waits.
const LOOK: Duration = Duration::from_millis(20);

/// See the module.
#[derive(Clone)]
pub(super) struct Guides(Arc<Inner>);

struct Inner {
    made: Cache<Problem, Arc<PatternSum>>,
    /// What ends the one that is being made.
    making: Mutex<Option<Arc<Limits>>>,
    done: Condvar,
}

impl Weigh for Arc<PatternSum> {
    fn heap_bytes(&self) -> usize {
        self.bytes()
    }
}

/// Says, however the making ends, that it has.
struct Made<'a>(&'a Inner);

impl Drop for Made<'_> {
    fn drop(&mut self) {
        *self.0.making() = None;
        self.0.done.notify_all();
    }
}

impl Inner {
    fn making(&self) -> MutexGuard<'_, Option<Arc<Limits>>> {
        // Nothing that may panic runs under this lock.
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, goal: &Goal, limits: &Arc<Limits>) {
        let _made = Made(self);
        be_nice();
        let begun = Instant::now();
        if let Ok(guide) = PatternSum::new(goal.frame().layout(), goal.board(), limits) {
            let (milliseconds, bytes) = (begun.elapsed().as_millis(), guide.bytes());
            tracing::info!(layout = ?goal.frame().layout().shape(), milliseconds, bytes, "pattern databases made");
            self.made.insert(goal.problem(), Arc::new(guide));
        }
    }
}

impl Guides {
    pub(super) fn new() -> Self {
        let (made, making) = (Cache::new(GUIDES_BYTES), Mutex::new(None));
        Self(Arc::new(Inner { made, making, done: Condvar::new() }))
    }

    /// The pattern databases of a goal that they suit, made first if need be.
    ///
    /// # Errors
    /// The budget's [`Stop`]; the making goes on, for others may ask.
    pub(super) fn wait_for(&self, goal: &Goal, budget: &Budget) -> Result<Arc<PatternSum>, Stop> {
        loop {
            if let Some(guide) = self.0.made.get(&goal.problem()) {
                return Ok(guide);
            }
            budget.check()?;
            self.make_soon(goal);
            let making = self.0.making();
            if making.is_some() {
                drop(self.0.done.wait_timeout(making, LOOK).unwrap_or_else(PoisonError::into_inner));
            } else {
                // It has just been made, or no thread could be had for it.
                drop(making);
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Has a goal's pattern databases made, unless others are.
    pub(super) fn make_soon(&self, goal: &Goal) {
        let mut making = self.0.making();
        if making.is_some() || self.0.made.peek(&goal.problem()).is_some() {
            return;
        }
        let limits = Arc::new(Limits::unlimited());
        let (inner, for_goal, until) = (Arc::clone(&self.0), goal.clone(), Arc::clone(&limits));
        let maker = thread::Builder::new().name("taquin-patterns".to_owned());
        match maker.spawn(move || inner.make(&for_goal, &until)) {
            Ok(_) => *making = Some(limits),
            Err(error) => tracing::warn!(%error, "no thread to make pattern databases"),
        }
    }

    /// Ends what is being made.
    pub(super) fn stop(&self) {
        if let Some(limits) = &*self.0.making() {
            limits.cancel();
        }
    }
}
