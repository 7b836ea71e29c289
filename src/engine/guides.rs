//! The pattern databases of goals on wide layouts, kept by weight, and the task that makes
//! them: one goal at a time, in the order of the work that is set aside for them. A goal
//! for which nobody waits any more is not begun. The large set of the 4x4 corner goals, once it is
//! there, goes before the small one. It knows no search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
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
    /// What ends the making.
    limits: Arc<Limits>,
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
        Self { large: OnceLock::new(), made, limits }
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

    /// Makes the pattern databases of a goal that they suit, unless they are there.
    fn make(&self, goal: &Goal) {
        if self.large(goal).is_some() || self.made.peek(&goal.problem()).is_some() {
            return;
        }
        let begun = Instant::now();
        // Only a stop ends it, and then nobody waits.
        let Ok(guide) = PatternSum::new(PatternSet::Small, goal.frame().layout(), goal.board(), &self.limits)
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
    if shared.config.sweep && catch_unwind(AssertUnwindSafe(|| make_standard(&shared))).is_err() {
        tracing::error!("what is made at the start is not there");
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
    let made = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "faults")]
        first.strike_maker(&shared.guides.limits);
        shared.guides.make(goal);
    }));
    if made.is_ok() {
        shared.queue.recall(|work| work.goal().problem() == problem);
    } else {
        tracing::error!("the making of pattern databases panicked");
        first.fail(shared);
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
        shared.guides.make(&Goal::new(layout, Board::standard(layout.cells(), 0)));
    }
}
