//! The pattern databases of goals on wide layouts: made in the background, one goal at a
//! time, kept by weight. Who needs one that is not there waits for it, under his budget. The large
//! set of the 4x4 corner goals, once it is there, goes before the small one.
//! It knows neither jobs nor searches.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cache::{Cache, Weigh};
use crate::domain::sliding::{Goal, Problem};
use crate::heuristic::{PatternSet, PatternSum, make_large};
use crate::search::{Budget, Limits, Stop};

/// Bytes that pattern databases may take: some twenty goals of 4x4.
pub const MAX_PATTERN_BYTES: u64 = 64 << 20;
/// Between two looks at the budget of one who waits.
const LOOK: Duration = Duration::from_millis(20);

/// See the module.
#[derive(Clone)]
pub(super) struct Guides(Arc<Inner>);

struct Inner {
    large: OnceLock<(Problem, Arc<PatternSum>)>,
    /// Ends the making of the large set.
    large_limits: Arc<Limits>,
    made: Cache<Problem, Arc<PatternSum>>,
    making: Mutex<Making>,
    done: Condvar,
}

/// What is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternStatistics {
    /// Goals with pattern databases.
    pub goals: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether the large set is among them.
    pub large: bool,
}

/// What is being made.
enum Making {
    Nothing,
    /// One goal's; the limits end it.
    One(Arc<Limits>),
    /// Nothing any more.
    Stopped,
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
        let mut making = self.0.making();
        if let Making::One(_) = *making {
            *making = Making::Nothing;
        }
        drop(making);
        self.0.done.notify_all();
    }
}

impl Inner {
    fn making(&self) -> MutexGuard<'_, Making> {
        // Nothing that may panic runs under this lock.
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, goal: &Goal, limits: &Arc<Limits>) {
        let _made = Made(self);
        let begun = Instant::now();
        if let Ok(guide) = PatternSum::new(PatternSet::Small, goal.frame().layout(), goal.board(), limits) {
            let (milliseconds, bytes) = (begun.elapsed().as_millis(), guide.bytes());
            tracing::info!(layout = ?goal.frame().layout().shape(), milliseconds, bytes, "pattern databases made");
            self.made.insert(goal.problem(), Arc::new(guide));
        }
    }
}

impl Guides {
    pub(super) fn new() -> Self {
        let (made, making) = (Cache::new(MAX_PATTERN_BYTES), Mutex::new(Making::Nothing));
        let (large, large_limits) = (OnceLock::new(), Arc::new(Limits::unlimited()));
        Self(Arc::new(Inner { large, large_limits, made, making, done: Condvar::new() }))
    }

    /// Has the large set looked at first from now on; the first one that is given stays.
    pub(super) fn prefer(&self, large: PatternSum) {
        let (layout, board) = large.goal();
        let problem = Goal::new(layout, board).problem();
        // A second one would be the same.
        let _ = self.0.large.set((problem, Arc::new(large)));
    }

    /// Makes the large set on this thread, and prefers it.
    pub(super) fn make_large(&self) {
        let begun = Instant::now();
        if let Ok(large) = make_large(&self.0.large_limits) {
            let (milliseconds, bytes) = (begun.elapsed().as_millis(), large.bytes());
            tracing::info!(milliseconds, bytes, "large set of pattern databases made");
            self.prefer(large);
        }
    }

    fn large(&self, goal: &Goal) -> Option<&Arc<PatternSum>> {
        let (problem, large) = self.0.large.get()?;
        (*problem == goal.problem()).then_some(large)
    }

    /// The pattern databases of a goal, if they are made.
    pub(super) fn find(&self, goal: &Goal) -> Option<Arc<PatternSum>> {
        self.large(goal).cloned().or_else(|| self.0.made.get(&goal.problem()))
    }

    /// The pattern databases of a goal that they suit, made first if need be.
    ///
    /// # Errors
    /// The budget's [`Stop`]; the making goes on, for others may ask.
    pub(super) fn wait_for(&self, goal: &Goal, budget: &Budget) -> Result<Arc<PatternSum>, Stop> {
        loop {
            if let Some(guide) = self.find(goal) {
                return Ok(guide);
            }
            budget.check()?;
            self.make_soon(goal);
            let making = self.0.making();
            if self.0.made.peek(&goal.problem()).is_none() {
                drop(self.0.done.wait_timeout(making, LOOK).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// Has a goal's pattern databases made, unless others are, by a thread that is as nice as its
    /// caller, a worker's.
    pub(super) fn make_soon(&self, goal: &Goal) {
        if self.large(goal).is_some() {
            return;
        }
        let mut making = self.0.making();
        if !matches!(*making, Making::Nothing) || self.0.made.peek(&goal.problem()).is_some() {
            return;
        }
        let limits = Arc::new(Limits::unlimited());
        let (inner, for_goal, until) = (Arc::clone(&self.0), goal.clone(), Arc::clone(&limits));
        let maker = thread::Builder::new().name("taquin-patterns".to_owned());
        match maker.spawn(move || inner.make(&for_goal, &until)) {
            Ok(_) => *making = Making::One(limits),
            Err(error) => tracing::warn!(%error, "no thread to make pattern databases"),
        }
    }

    /// Ends what is being made, and has nothing made any more.
    pub(super) fn stop(&self) {
        self.0.large_limits.cancel();
        if let Making::One(limits) = std::mem::replace(&mut *self.0.making(), Making::Stopped) {
            limits.cancel();
        }
    }

    pub(super) fn statistics(&self) -> PatternStatistics {
        let held = self.0.made.statistics();
        let large = self.0.large.get().map(|(_, large)| large.bytes() as u64);
        PatternStatistics {
            goals: held.entries + u64::from(large.is_some()),
            bytes: held.weight + large.unwrap_or(0),
            large: large.is_some(),
        }
    }
}
