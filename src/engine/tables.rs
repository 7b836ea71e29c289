//! What is kept of whole goals: the tables of the three standard 3x3 goals, swept at
//! the start; tables for other goals that are asked often; and the goal's halves of
//! two-ended searches. It knows neither jobs nor who makes a sweep.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use crate::cache::{Cache, Weigh};
use crate::domain::sliding::{Board, Cell, Goal, Layout, Position, Problem, Shape, SlidingSpace};
use crate::search::bidirectional::GoalHalf;
use crate::search::{Budget, Stop};
use crate::table::Table;

/// Searches towards one goal before it gets a table of its own: a sweep of nine cells costs
/// about as much as a few hundred searches, and one that was asked so often will be again.
const ASKED_OFTEN: u32 = 64;
/// States of a goal's half: enough that a random 3x3 board is some 130 expansions from
/// it, and few enough to stay near the processor.
const HALF_STATES: usize = 4096;
/// Bytes that goal halves and counts of goals asked may take together: some hundred goals.
const HALVES_BYTES: u64 = 8 << 20;
const COUNTS_BYTES: u64 = 1 << 20;
/// The cells of the blank of the standard 3x3 goals: corner, edge, centre.
const STANDARD_BLANKS: [Cell; 3] = [0, 1, 4];

type Half = GoalHalf<SlidingSpace>;

/// See the module.
pub(super) struct Tables {
    standard: OnceLock<[Table; 3]>,
    swept: Cache<Problem, Arc<Table>>,
    halves: Cache<Problem, Arc<Half>>,
    asked: Cache<Problem, Arc<AtomicU32>>,
    max_bytes: u64,
}

/// A table that is held.
pub enum Held<'a> {
    /// One of the standard ones.
    Standard(&'a Table),
    /// Another.
    Swept(Arc<Table>),
}

impl Deref for Held<'_> {
    type Target = Table;

    fn deref(&self) -> &Table {
        match self {
            Self::Standard(table) => table,
            Self::Swept(table) => table,
        }
    }
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
    pub(super) fn new(max_bytes: u64) -> Self {
        Self {
            standard: OnceLock::new(),
            swept: Cache::new(max_bytes),
            halves: Cache::new(HALVES_BYTES),
            asked: Cache::new(COUNTS_BYTES),
            max_bytes,
        }
    }

    /// Sweeps the standard goals; meant for a thread of its own.
    pub(super) fn sweep_standard(&self) {
        let layout = Layout::grid(3, 3).expect("nine cells");
        let sweep = |blank| {
            let goal = Board::standard(layout.cells(), blank);
            Table::sweep(layout, goal, &mut Budget::unlimited()).expect("nothing ends an unlimited budget")
        };
        self.standard.get_or_init(|| STANDARD_BLANKS.map(sweep));
    }

    /// The table of a goal.
    pub(super) fn find(&self, goal: &Goal) -> Option<Held<'_>> {
        if let Some(standard) = self.standard.get()
            && matches!(goal.frame().layout().shape(), Shape::Grid { rows: 3, columns: 3, .. })
            && let Some(class) = STANDARD_BLANKS.iter().position(|&blank| blank == goal.blank())
        {
            return Some(Held::Standard(&standard[class]));
        }
        self.swept.get(&goal.problem()).map(Held::Swept)
    }

    pub(super) fn keep(&self, problem: Problem, table: Arc<Table>) {
        self.swept.insert(problem, table);
    }

    /// Counts a search towards a goal; `true` now and then when it is asked often and
    /// its table would be kept.
    pub(super) fn is_asked_often(&self, goal: &Goal) -> bool {
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

    /// The goal's half of a two-ended search, made now if it is not there.
    ///
    /// # Errors
    /// The budget's [`Stop`].
    pub(super) fn half(&self, space: &SlidingSpace, goal: &Goal) -> Result<Arc<Half>, Stop> {
        let problem = goal.problem();
        if let Some(half) = self.halves.get(&problem) {
            return Ok(half);
        }
        let root = Position::new(goal.board());
        let half = Arc::new(GoalHalf::new(space, &root, HALF_STATES, &mut Budget::unlimited())?);
        self.halves.insert(problem, Arc::clone(&half));
        Ok(half)
    }

    pub(super) fn statistics(&self) -> TableStatistics {
        let swept = self.swept.statistics();
        let standard = self.standard.get();
        TableStatistics {
            standard_ready: standard.is_some(),
            standard_bytes: standard
                .map_or(0, |tables| tables.iter().map(|table| table.bytes() as u64).sum()),
            swept: swept.entries,
            swept_bytes: swept.weight,
        }
    }
}
