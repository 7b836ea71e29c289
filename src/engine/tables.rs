//! What is kept of whole goals: the tables of the three standard 3x3 goals, swept at
//! the start; tables for other goals that are asked often; and the goal's halves of
//! two-ended searches. It knows neither jobs nor who makes a sweep.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use crate::cache::{Cache, Weigh};
use crate::domain::sliding::{
    Board, Cell, Goal, Layout, MAX_DENSE_CELLS, Position, Problem, Shape, SlidingSpace,
};
use crate::search::bidirectional::GoalHalf;
use crate::search::{Budget, Stop};
use crate::table::Table;

/// Searches towards one goal before it gets a table of its own: a sweep of nine cells costs
/// about as much as a few hundred searches, and one that was asked so often will be again.
const ASKED_OFTEN: u32 = 64;
/// States of a goal's half: enough that a random 3x3 board is some 60 expansions from
/// it, and few enough to be made in a millisecond.
const HALF_STATES: usize = 16384;
/// What a search must be allowed to expand to make a goal's half: more than most of them need.
const HALF_BUDGET_NODES: u64 = 100_000;
/// Bytes that goal halves may take: some thirty.
const HALVES_BYTES: u64 = 8 << 20;
/// Bytes that counts of goals asked may take: some thousands.
const COUNTS_BYTES: u64 = 1 << 20;
/// The cells of the blank of the standard 3x3 goals: corner, edge, centre.
const STANDARD_BLANKS: [Cell; 3] = [0, 1, 4];

/// The same for every engine, and there for good once they are swept: to refer to one counts
/// nothing, so threads that do not meet.
static STANDARD: OnceLock<[Arc<Table>; 3]> = OnceLock::new();

type Half = GoalHalf<SlidingSpace>;

/// See the module.
pub(super) struct Tables {
    /// Whether the standard ones are used, once they are there.
    has_standard: bool,
    swept: Cache<Problem, Arc<Table>>,
    halves: Cache<Problem, Arc<Half>>,
    asked: Cache<Problem, Arc<AtomicU32>>,
    max_bytes: u64,
}

/// A table that is held.
pub enum Held {
    /// One of the standard ones.
    Standard(&'static Arc<Table>),
    /// Another.
    Swept(Arc<Table>),
}

impl Deref for Held {
    type Target = Table;

    fn deref(&self) -> &Table {
        match self {
            Self::Standard(table) => table,
            Self::Swept(table) => table,
        }
    }
}

impl Held {
    /// The table, to be held for longer.
    pub(super) fn share(&self) -> Arc<Table> {
        match self {
            Self::Standard(table) => Arc::clone(table),
            Self::Swept(table) => Arc::clone(table),
        }
    }
}

/// Which of the standard goals a goal is.
fn standard_class(goal: &Goal) -> Option<usize> {
    let is_3x3 = matches!(goal.frame().layout().shape(), Shape::Grid { rows: 3, columns: 3, .. });
    STANDARD_BLANKS.iter().position(|&blank| is_3x3 && blank == goal.blank())
}

impl Weigh for Arc<Table> {
    fn heap_bytes(&self) -> usize {
        self.bytes()
    }
}

impl Weigh for Arc<Half> {
    fn heap_bytes(&self) -> usize {
        self.bytes()
    }
}

impl Weigh for Arc<AtomicU32> {
    fn heap_bytes(&self) -> usize {
        // The count and the two of its `Arc`.
        3 * size_of::<usize>()
    }
}

/// What is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStatistics {
    /// Whether the standard tables are there.
    pub standard_ready: bool,
    /// Their bytes.
    pub standard_bytes: u64,
    /// Other tables.
    pub swept: u64,
    /// Their bytes.
    pub swept_bytes: u64,
}

impl Tables {
    pub(super) fn new(max_bytes: u64, has_standard: bool) -> Self {
        Self {
            has_standard,
            swept: Cache::new(max_bytes),
            halves: Cache::new(HALVES_BYTES),
            asked: Cache::new(COUNTS_BYTES),
            max_bytes,
        }
    }

    /// Sweeps the standard goals; meant for a thread of its own.
    pub(super) fn sweep_standard() {
        let layout = Layout::grid(3, 3).expect("nine cells");
        let sweep = |blank| {
            let goal = Board::standard(layout.cells(), blank);
            let table = Table::sweep(layout, goal, &mut Budget::unlimited());
            Arc::new(table.expect("nothing ends an unlimited budget"))
        };
        STANDARD.get_or_init(|| STANDARD_BLANKS.map(sweep));
    }

    /// The table of a goal.
    pub(super) fn find(&self, goal: &Goal) -> Option<Held> {
        if let Some(standard) = self.standard()
            && let Some(class) = standard_class(goal)
        {
            return Some(Held::Standard(&standard[class]));
        }
        self.swept.get(&goal.problem()).map(Held::Swept)
    }

    fn standard(&self) -> Option<&'static [Arc<Table>; 3]> {
        STANDARD.get().filter(|_| self.has_standard)
    }

    /// Keeps the table of a goal that is not standard.
    pub(super) fn keep(&self, goal: &Goal, table: Arc<Table>) {
        if !self.is_standard(goal) {
            self.swept.insert(goal.problem(), table);
        }
    }

    /// Whether a goal's table is one of the standard ones, there or on the way.
    fn is_standard(&self, goal: &Goal) -> bool {
        self.has_standard && standard_class(goal).is_some()
    }

    /// Counts a search towards a goal; `true` now and then when it is asked often and
    /// its table would be kept.
    pub(super) fn is_asked_often(&self, goal: &Goal) -> bool {
        if self.is_standard(goal) || goal.frame().layout().cells() > MAX_DENSE_CELLS {
            return false;
        }
        let problem = goal.problem();
        let Some(count) = self.asked.get(&problem) else {
            self.asked.insert(problem, Arc::new(AtomicU32::new(1)));
            return false;
        };
        // Counting starts again, for a table may be evicted, or find no room in the queue.
        let counted = count.fetch_add(1, Relaxed) + 1;
        let bytes = || Table::max_bytes(goal.frame().layout(), goal.board()) as u64;
        counted.is_multiple_of(ASKED_OFTEN) && bytes() < self.max_bytes
    }

    /// The goal's half of a two-ended search. One that is not there is made now, at the
    /// cost of the search that asks first, unless its budget is too small for that.
    ///
    /// # Errors
    /// The budget's [`Stop`].
    pub(super) fn half(
        &self,
        space: &SlidingSpace,
        goal: &Goal,
        budget: &mut Budget,
    ) -> Result<Option<Arc<Half>>, Stop> {
        let problem = goal.problem();
        if let Some(half) = self.halves.get(&problem) {
            return Ok(Some(half));
        }
        if budget.nodes_left() < HALF_BUDGET_NODES {
            return Ok(None);
        }
        let root = Position::new(goal.board());
        let half = Arc::new(GoalHalf::new(space, &root, HALF_STATES, budget)?);
        self.halves.insert(problem, Arc::clone(&half));
        Ok(Some(half))
    }

    pub(super) fn statistics(&self) -> TableStatistics {
        let swept = self.swept.statistics();
        let standard = self.standard();
        TableStatistics {
            standard_ready: standard.is_some(),
            standard_bytes: standard
                .map_or(0, |tables| tables.iter().map(|table| table.bytes() as u64).sum()),
            swept: swept.entries,
            swept_bytes: swept.weight,
        }
    }
}
