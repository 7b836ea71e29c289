//! A question, its one answer, and the reply that carries it. They know neither
//! workers nor wire.

use std::time::{Duration, Instant};

use tracing::Span;

use super::suboptimal::{self, Ratio};
use crate::domain::sliding::{Canonical, Obstacle, Path, Solution};
use crate::space::Cost;

/// Which search runs when one has to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The engine chooses.
    #[default]
    Auto,
    /// Breadth-first from the start.
    BreadthFirst,
    /// Breadth-first from both ends.
    Bidirectional,
    /// A* with the sum of distances, on grids of more than nine cells with linear conflict.
    AStar,
    /// A* with the number of misplaced tiles.
    AStarMisplaced,
    /// IDA*, with pattern databases where there are any and elsewhere as A*.
    IdaStar,
}

/// Who goes first when jobs queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// After all others; but what waits rises with time.
    Low,
    /// Between the two.
    #[default]
    Normal,
    /// Before all others that have not waited for longer.
    High,
}

/// Who asks: an opaque number, the same for all that one caller asks. Callers are served in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caller(pub u64);

/// A board and what is asked of it.
#[derive(Clone, Debug)]
pub struct Query {
    /// The board in its canonical form; as it is held when the path must be the smallest in
    /// the caller's own order of moves.
    pub canonical: Canonical,
    /// Which search runs when one has to.
    pub algorithm: Algorithm,
    /// How long it may take until it is answered.
    pub time: Duration,
    /// When its caller waits no longer, if it has said so.
    pub deadline: Option<Instant>,
    /// States that may be expanded.
    pub max_nodes: u64,
    /// The longest path of interest, in moves; `Cost::MAX` for any.
    pub max_moves: Cost,
    /// Who goes first.
    pub priority: Priority,
    /// Who asks.
    pub caller: Caller,
    /// Neither read nor write the cache nor the goal's half of a two-ended search, and fly alone.
    /// Pattern databases are used all the same: without them wide boards are not solved.
    pub bypass_cache: bool,
    /// Do not look in the tables.
    pub bypass_table: bool,
    /// Should a budget end first, the best path known by then is wanted.
    pub best_path: bool,
    /// How many times as long as a shortest path a path may be. Boards of at most nine cells are
    /// answered with shortest ones all the same.
    pub ratio: Option<Ratio>,
    /// What goes wrong on purpose.
    #[cfg(feature = "faults")]
    pub fault: Option<super::Fault>,
}

impl Query {
    /// Whether an answer in the cache is taken. One is a shortest path: where less is enough, what is
    /// answered would depend on whether somebody has asked for more before.
    pub(super) fn reads_cache(&self) -> bool {
        !self.bypass_cache && suboptimal::ratio(self).is_none()
    }

    /// The answer to a board of which all is known.
    pub(super) fn known(&self, known: Known, source: Source) -> Answer {
        Answer::at_once(verdict(&self.canonical, known, self.max_moves), source)
    }
}

/// What is known of a board for good.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// Its smallest shortest path.
    Path(Path),
    /// Its goal can't be reached.
    Unreachable,
}

/// What is known, as a caller is told; a path that is longer than was of interest is not.
pub(super) fn verdict(canonical: &Canonical, known: Known, max_moves: Cost) -> Verdict {
    let Known::Path(path) = known else { return Verdict::Unsolvable(Obstacle::Exhausted) };
    within(Solution::new(canonical.goal(), canonical.start(), path), max_moves)
}

/// A solution, unless it is longer than was of interest.
pub(super) fn within(solution: Solution, max_moves: Cost) -> Verdict {
    if solution.distance() <= max_moves {
        Verdict::Solved(solution)
    } else {
        // What a search under this limit would have proven, so that answers do not
        // depend on what the cache happens to hold.
        Verdict::LimitReached { limit: Limit::Moves, lower_bound: max_moves + 1, best: None }
    }
}

/// The limits of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Its time.
    Time,
    /// Its states expanded, or the states that a search may keep.
    Nodes,
    /// Its moves.
    Moves,
}

/// What came of a job.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Solved, and proven shortest.
    Solved(Solution),
    /// No sequence of moves reaches the goal.
    Unsolvable(Obstacle),
    /// The budget ended first.
    LimitReached {
        /// Which limit.
        limit: Limit,
        /// No path is shorter: proven.
        lower_bound: Cost,
        /// The best path known, where it was asked for and one was found.
        best: Option<Solution>,
    },
    /// A path within the ratio that was asked for.
    Suboptimal {
        /// The path.
        path: Solution,
        /// No path is shorter: proven.
        lower_bound: Cost,
    },
    /// Given up at its caller's wish.
    Cancelled,
    /// No verdict was found.
    Failed(Failure),
}

/// Why a job that was taken has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The search panicked.
    #[error("the worker failed on this board")]
    Panicked,
    /// The engine stopped.
    #[error("the worker stopped before this board was solved")]
    Stopped,
}

/// Why a job was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overload {
    /// As many searches that take as long wait as may.
    #[error("the queue is full: {limit} searches of this kind wait for a worker (max_queue)")]
    Queue {
        /// How many may.
        limit: usize,
    },
    /// As many jobs are in flight as may be.
    #[error("{limit} jobs are in flight, as many as may be (max_in_flight)")]
    InFlight {
        /// How many may.
        limit: usize,
    },
}

/// Where a verdict came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// No verdict.
    None,
    /// Theory decides without search.
    Rule,
    /// A table of all boards of its goal.
    Table,
    /// The cache.
    Cache,
    /// A search under way for another job.
    Coalesced,
    /// A search made for this job.
    Search,
}

/// What an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The wait for a worker, and for pattern databases.
    pub queue_time: Duration,
    /// The search.
    pub solve_time: Duration,
    /// States whose successors were generated.
    pub expanded: u64,
    /// Successors generated.
    pub generated: u64,
}

/// The one final answer to a job.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What came of it.
    pub verdict: Verdict,
    /// Where that came from.
    pub source: Source,
    /// What it cost.
    pub statistics: Statistics,
}

impl Answer {
    /// An answer that cost nothing.
    #[must_use]
    pub fn at_once(verdict: Verdict, source: Source) -> Self {
        Self { verdict, source, statistics: Statistics::default() }
    }
}

/// What one is told who waited for nothing.
pub trait Lost {
    /// The answer of an engine that stopped.
    fn lost() -> Self;
}

impl Lost for Answer {
    fn lost() -> Self {
        Self::at_once(Verdict::Failed(Failure::Stopped), Source::None)
    }
}

/// Where an answer goes: it is sent exactly once. A reply that is dropped unsent says
/// that all is [`Lost`], so no one ever waits for nothing.
pub struct Reply<T: Lost> {
    send: Option<Box<dyn FnOnce(T) + Send>>,
    span: Span,
}

impl<T: Lost> Reply<T> {
    /// A reply that hands its answer to `send`; what is logged of the work on it is logged in `span`.
    pub fn new(span: Span, send: impl FnOnce(T) + Send + 'static) -> Self {
        Self { send: Some(Box::new(send)), span }
    }

    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Sends the answer.
    pub fn send(mut self, answer: T) {
        // Over before anyone hears of it: a thread that is slow to let go must not keep it open.
        self.span = Span::none();
        if let Some(send) = self.send.take() {
            send(answer);
        }
    }

    /// Sends nothing: the caller is gone.
    pub fn forget(mut self) {
        self.send = None;
    }
}

impl<T: Lost> Drop for Reply<T> {
    fn drop(&mut self) {
        if let Some(send) = self.send.take() {
            send(T::lost());
        }
    }
}
