//! Limits, counters and the cancel flag of one search, written once for every
//! algorithm. It knows nothing of what is searched.
//!
//! [`Limits`] are shared: whoever waits for a search may widen or cancel it while
//! it runs, and read what it has proven. [`Budget`] is the search's own side.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::Stop;
use crate::space::Cost;

/// Expansions between two looks at clock and cancel flag: some 20 microseconds of
/// nine-cell search, far below the 100 ms in which a cancelled job must stop.
const CHECK_INTERVAL_NODES: u64 = 256;

/// How far a search may go, and how far it has got.
///
/// All accesses are relaxed: each value stands alone, and a search that sees one
/// late only runs a moment longer.
#[derive(Debug)]
pub struct Limits {
    epoch: Instant,
    deadline_us: AtomicU64,
    nodes: AtomicU64,
    moves: AtomicU32,
    cancelled: AtomicBool,
    proven: AtomicU32,
    expanded: AtomicU64,
    generated: AtomicU64,
}

impl Limits {
    /// Limits that hold from now: at most `nodes` states expanded, no path longer
    /// than `moves`, nothing after `deadline`.
    #[must_use]
    pub fn new(deadline: Instant, nodes: u64, moves: Cost) -> Self {
        let epoch = Instant::now();
        Self {
            epoch,
            deadline_us: AtomicU64::new(micros(deadline.saturating_duration_since(epoch))),
            nodes: AtomicU64::new(nodes),
            moves: AtomicU32::new(moves),
            cancelled: AtomicBool::new(false),
            proven: AtomicU32::new(0),
            expanded: AtomicU64::new(0),
            generated: AtomicU64::new(0),
        }
    }

    /// Limits that end nothing, for sweeps and tests.
    #[must_use]
    pub fn unlimited() -> Self {
        let limits = Self::new(Instant::now(), u64::MAX, Cost::MAX);
        limits.deadline_us.store(u64::MAX, Relaxed);
        limits
    }

    /// Lets the search go at least this far; never narrows it.
    pub fn widen(&self, deadline: Instant, nodes: u64, moves: Cost) {
        self.deadline_us.fetch_max(micros(deadline.saturating_duration_since(self.epoch)), Relaxed);
        self.nodes.fetch_max(nodes, Relaxed);
        self.moves.fetch_max(moves, Relaxed);
    }

    /// Ends the search with [`Stop::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    /// Whether a search that has expanded so many states must stop for this reason,
    /// as the limits are now.
    #[must_use]
    pub fn call_for(&self, stop: Stop, expanded: u64) -> bool {
        match stop {
            Stop::Time => self.is_over(),
            Stop::Nodes => expanded >= self.nodes.load(Relaxed),
            // Nobody who waits can change that.
            Stop::Kept | Stop::Enough => true,
            Stop::Moves => self.proven() > self.moves.load(Relaxed),
            Stop::Cancelled => self.is_cancelled(),
        }
    }

    fn is_over(&self) -> bool {
        let deadline_us = self.deadline_us.load(Relaxed);
        deadline_us != u64::MAX && micros(self.epoch.elapsed()) >= deadline_us
    }

    /// States expanded and successors generated when the search last looked up.
    #[must_use]
    pub fn spent(&self) -> (u64, u64) {
        (self.expanded.load(Relaxed), self.generated.load(Relaxed))
    }

    /// No path is shorter than this.
    #[must_use]
    pub fn proven(&self) -> Cost {
        self.proven.load(Relaxed)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// What a search spends, under [`Limits`].
#[derive(Debug)]
pub struct Budget {
    limits: Arc<Limits>,
    expanded: u64,
    generated: u64,
    /// States that may still be kept.
    room: u64,
    /// States after which its turn is over.
    turn: u64,
    /// The lower bound that is enough for whoever asked.
    enough: Cost,
}

impl Budget {
    /// A budget of which nothing is spent.
    #[must_use]
    pub fn new(limits: Arc<Limits>) -> Self {
        Self { limits, expanded: 0, generated: 0, room: u64::MAX, turn: u64::MAX, enough: Cost::MAX }
    }

    /// The budget of a search that keeps at most so many states.
    #[must_use]
    pub fn keeping(self, states: u64) -> Self {
        Self { room: states, ..self }
    }

    /// A budget without end, for sweeps and tests.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(Arc::new(Limits::unlimited()))
    }

    /// States whose successors were generated.
    #[must_use]
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    /// States that may still be expanded.
    #[must_use]
    pub fn nodes_left(&self) -> u64 {
        self.limits.nodes.load(Relaxed).saturating_sub(self.expanded)
    }

    /// Successors generated.
    #[must_use]
    pub fn generated(&self) -> u64 {
        self.generated
    }

    /// No path is shorter than this, as has been proven under these limits before.
    #[must_use]
    pub fn proven(&self) -> Cost {
        self.limits.proven()
    }

    /// The same budget for at most so many more states, to try what may be quick before what is
    /// paid for.
    #[must_use]
    pub fn part(&self, nodes: u64) -> Self {
        let limits = Arc::clone(&self.limits);
        Self { limits, turn: self.expanded.saturating_add(nodes), ..*self }
    }

    /// Counts what a [`part`](Self::part) has spent.
    pub fn take_back(&mut self, part: &Self) {
        (self.expanded, self.generated) = (part.expanded, part.generated);
        self.tell();
    }

    /// Asks to expand one more state.
    ///
    /// # Errors
    /// [`Stop::Nodes`], [`Stop::Time`] or [`Stop::Cancelled`]: then it must not be expanded.
    pub fn expand(&mut self) -> Result<(), Stop> {
        self.heed(Stop::Nodes)?;
        if self.expanded >= self.turn {
            return Err(Stop::Nodes);
        }
        if self.expanded.is_multiple_of(CHECK_INTERVAL_NODES) {
            self.check()?;
        }
        self.expanded += 1;
        Ok(())
    }

    /// Counts one successor.
    pub fn generate(&mut self) {
        self.generated += 1;
    }

    /// Asks to keep one more state.
    ///
    /// # Errors
    /// [`Stop::Kept`]: then it must not be kept.
    pub fn keep(&mut self) -> Result<(), Stop> {
        self.room = self.room.checked_sub(1).ok_or(Stop::Kept)?;
        Ok(())
    }

    /// Says that no path is shorter than `bound`.
    ///
    /// # Errors
    /// [`Stop::Moves`] when only shorter ones are of interest, [`Stop::Enough`] when that is all
    /// that was wanted.
    pub fn prove(&mut self, bound: Cost) -> Result<(), Stop> {
        let proven = self.limits.proven.fetch_max(bound, Relaxed).max(bound);
        self.heed(Stop::Moves)?;
        if proven >= self.enough { Err(Stop::Enough) } else { Ok(()) }
    }

    /// Takes a proof that no path is shorter than `enough` for as good as a path.
    ///
    /// # Errors
    /// [`Stop::Enough`] when that has been proven already.
    pub fn content_with(&mut self, enough: Cost) -> Result<(), Stop> {
        self.enough = enough;
        self.prove(0)
    }

    fn heed(&self, stop: Stop) -> Result<(), Stop> {
        if self.limits.call_for(stop, self.expanded) { Err(stop) } else { Ok(()) }
    }

    fn check(&self) -> Result<(), Stop> {
        self.tell();
        self.heed(Stop::Cancelled)?;
        self.heed(Stop::Time)
    }

    /// Tells whoever waits what is spent.
    fn tell(&self) {
        self.limits.expanded.store(self.expanded, Relaxed);
        self.limits.generated.store(self.generated, Relaxed);
    }
}
