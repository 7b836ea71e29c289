//! The pattern databases of goals on wide layouts, kept by weight, and the task that makes
//! them: one goal at a time, in the order of the work that is set aside for them. A goal
//! for which nobody waits any more is not begun, nor made to its end. The large set of the 4x4 corner goals, once it is
//! there, goes before the small one. It knows no search.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::queue::Lane;
use super::tables::Tables;
use super::{Shared, Work};
use crate::cache::{Cache, Weigh};
use crate::domain::sliding::{Board, Goal, Layout, Problem, Shape};
use crate::heuristic::{PatternSet, PatternSum, make_large};
use crate::search::Limits;

/// Bytes that pattern databases may take: some twenty goals of 4x4.
pub const MAX_PATTERN_BYTES: u64 = 64 << 20;

/// See the module.
pub(super) struct Guides {
    large: OnceLock<(Problem, Arc<PatternSum>)>,
    made: Cache<Problem, Arc<PatternSum>>,
    /// What ends all making.
    limits: Arc<Limits>,
    /// What is being made for somebody, and what ends that.
    making: Mutex<Option<(Problem, Arc<Limits>)>>,
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

impl Weigh for Arc<PatternSum> {
    fn heap_bytes(&self) -> usize {
        self.bytes()
    }
}

impl Guides {
    pub(super) fn new() -> Self {
        let (made, limits) = (Cache::new(MAX_PATTERN_BYTES), Arc::new(Limits::unlimited()));
        Self { large: OnceLock::new(), made, limits, making: Mutex::default() }
    }

    /// Has the large set looked at first from now on.
    pub(super) fn prefer(&self, large: PatternSum) {
        let (layout, board) = large.goal();
        let problem = Goal::new(layout, board).problem();
        // A second one would be the same.
        let _ = self.large.set((problem, Arc::new(large)));
    }

    /// Makes the large set on this thread, and prefers it.
    pub(super) fn make_large(&self) {
        let begun = Instant::now();
        // Only a stop ends it.
        let Ok(large) = make_large(&self.limits) else { return };
        let (milliseconds, bytes) = (begun.elapsed().as_millis(), large.bytes());
        tracing::info!(milliseconds, bytes, "large set of pattern databases made");
        self.prefer(large);
    }

    fn large(&self, goal: &Goal) -> Option<&Arc<PatternSum>> {
        let (problem, large) = self.large.get()?;
        (*problem == goal.problem()).then_some(large)
    }

    /// The pattern databases of a goal, if they are made.
    pub(super) fn find(&self, goal: &Goal) -> Option<Arc<PatternSum>> {
        self.large(goal).cloned().or_else(|| self.made.get(&goal.problem()))
    }

    fn making(&self) -> MutexGuard<'_, Option<(Problem, Arc<Limits>)>> {
        // Nothing that may panic runs under this lock.
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the pattern databases of a goal that they suit, unless they are there.
    fn make(&self, goal: &Goal, limits: &Arc<Limits>) {
        if self.large(goal).is_some() || self.made.peek(&goal.problem()).is_some() {
            return;
        }
        let begun = Instant::now();
        // It is ended when nobody waits.
        let Ok(guide) = PatternSum::new(PatternSet::Small, goal.frame().layout(), goal.board(), limits)
        else {
            return;
        };
        let (milliseconds, bytes) = (begun.elapsed().as_millis(), guide.bytes());
        tracing::info!(goal = written(goal), milliseconds, bytes, "pattern databases made");
        self.made.insert(goal.problem(), Arc::new(guide));
    }

    /// Ends what is being made, and has nothing made any more.
    pub(super) fn stop(&self) {
        self.limits.cancel();
        if let Some((_, limits)) = &*self.making() {
            limits.cancel();
        }
    }

    pub(super) fn statistics(&self) -> PatternStatistics {
        let held = self.made.statistics();
        let large = self.large.get().map(|(_, large)| large.bytes() as u64);
        PatternStatistics {
            goals: held.entries + u64::from(large.is_some()),
            bytes: held.weight + large.unwrap_or(0),
            large: large.is_some(),
        }
    }
}

/// The canonical board of a goal: tiles by rows on a grid, by vertices on a graph, the blank 0.
fn written(goal: &Goal) -> String {
    let layout = goal.frame().layout();
    let a_row = match layout.shape() {
        Shape::Grid { columns, .. } => columns.into(),
        Shape::Graph => layout.cells(),
    };
    let tiles: Vec<String> = goal.board().tiles(layout.cells()).map(|tile| tile.to_string()).collect();
    tiles.chunks(a_row).map(|row| row.join(" ")).collect::<Vec<_>>().join("/")
}

/// Runs until it is dropped, meant for a thread of its own.
pub(super) async fn run(shared: Arc<Shared>) {
    if shared.config.sweep {
        shared.panics.catch("what is made at the start", || make_standard(&shared));
    }
    loop {
        let first = shared.queue.first(Lane::Aside).await;
        make_for(&shared, &first);
    }
}

/// Makes what the first work that is set aside waits for, and recalls all that waits for
/// the same. A panic is that work's alone: whoever else waits has it tried again.
fn make_for(shared: &Shared, first: &Work) {
    let (goal, problem) = (first.goal(), first.goal().problem());
    let limits = Arc::new(Limits::unlimited());
    *shared.guides.making() = Some((problem, Arc::clone(&limits)));
    // Who left, or stopped the engine, before that was there to be ended.
    if shared.guides.limits.is_cancelled() || !is_wanted(shared, &problem) {
        limits.cancel();
    }
    let made = shared.panics.catch("the making of pattern databases", || {
        #[cfg(feature = "faults")]
        first.strike_maker(&limits);
        shared.guides.make(goal, &limits);
    });
    *shared.guides.making() = None;
    match made {
        Some(()) => shared.queue.recall(|work| work.goal().problem() == problem),
        None => first.fail(shared),
    }
}

/// Whether work is set aside for the pattern databases of a goal.
fn is_wanted(shared: &Shared, problem: &Problem) -> bool {
    shared.queue.is_aside(|work| work.goal().problem() == *problem)
}

/// Ends the making for a goal for which nobody waits any more.
pub(super) fn left(shared: &Shared, goal: &Goal) {
    if let Some((making, limits)) = &*shared.guides.making()
        && *making == goal.problem()
        && !is_wanted(shared, making)
    {
        limits.cancel();
    }
}

/// Sweeps the standard goals, and makes the pattern databases of the fifteen puzzle's goal that is asked
/// most, its blank in a corner, unless others are asked for by now.
fn make_standard(shared: &Shared) {
    let begun = Instant::now();
    Tables::sweep_standard();
    tracing::info!(milliseconds = begun.elapsed().as_secs_f64() * 1e3, "standard goals swept");
    if shared.queue.peek(Lane::Aside).is_none() {
        let layout = Layout::grid(4, 4).expect("sixteen cells");
        let goal = Goal::new(layout, Board::standard(layout.cells(), 0));
        shared.guides.make(&goal, &shared.guides.limits);
    }
}
