//! Which search for which instance, and who runs it: a cache in front, one flight
//! for each board under way, a bounded queue, a pool of workers of its own. Each
//! job gets exactly one final answer. It knows no wire.

mod choice;
mod clock;
#[cfg(feature = "faults")]
mod fault;
mod flight;
mod found;
mod guides;
mod job;
mod panicked;
mod pool;
mod queue;
mod suboptimal;
mod sweep;
mod tables;

use std::io;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::cache::{Cache, CacheStatistics, Weigh};
use crate::domain::sliding::{Canonical, Goal, Key, Path, obstacle};
use crate::heuristic::PatternSum;
pub use choice::MAX_KEPT_STATES;
use clock::Clock;
pub use flight::Ticket;
use flight::{Flight, Flights};
pub use found::Found;
use guides::Guides;
pub use guides::{MAX_PATTERN_BYTES, PatternStatistics};
use job::Known;
pub use job::{
    Algorithm, Answer, Caller, Failure, Limit, Lost, Overload, Priority, Query, Reply, Source, Statistics,
    Verdict,
};
use panicked::Panics;
use pool::Pool;
use queue::Queue;
pub use queue::QueueStatistics;
pub use suboptimal::Ratio;
use sweep::{Sweep, Sweeps};
pub use sweep::{SweepTicket, Swept};
use tables::Tables;
pub use tables::{Held, TableStatistics};

#[cfg(feature = "faults")]
pub use fault::{Fault, FaultOf};

/// How large an engine may grow.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Worker tasks of each lane, each on a thread of its own.
    pub workers: usize,
    /// Jobs taken and not yet answered.
    pub max_in_flight: usize,
    /// Searches that wait for a worker or for pattern databases: so many of those that are soon done, and
    /// so many of the others.
    pub max_queue: usize,
    /// Bytes the cache may weigh.
    pub max_cache_bytes: u64,
    /// Bytes that tables of goals asked often may take.
    pub max_table_bytes: u64,
    /// Whether the standard 3x3 goals are swept and the pattern databases of 4x4 made at the start.
    pub sweep: bool,
    /// Whether the large set of pattern databases is made in the background.
    pub make_large: bool,
}

/// What became of a question at once.
pub enum Asked {
    /// Theory or the cache knew; the reply was not made.
    Now(Answer),
    /// A table knows, and its answer can be read; the reply was not made.
    Found(Found),
    /// A search will answer through the reply. Dropping the ticket gives the job up.
    Later(Ticket),
}

/// What became of asking for a table.
pub enum TableAsked {
    /// It is there; the reply was not made.
    Now(Held),
    /// A worker will answer through the reply. Dropping the ticket gives that up.
    Later(SweepTicket),
}

type SolvedCache = Cache<Key, Known>;

impl Weigh for Known {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Path(Path::Word(_)) | Self::Unreachable => 0,
            // All boards along a path share its cells, but which of them are kept is not known.
            Self::Path(Path::Cells(cells, _)) => cells.len() + 2 * size_of::<usize>(),
        }
    }
}

/// A handle to the engine; the last one dropped stops it.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
}

/// What waits for a worker.
#[derive(Clone)]
enum Work {
    /// A search.
    Flight(Arc<Flight>),
    /// A table to be made.
    Sweep(Arc<Sweep>),
}

/// What callers, workers and the clock share.
struct Shared {
    cache: SolvedCache,
    flights: Flights,
    queue: Queue<Work>,
    sweeps: Sweeps,
    tables: Tables,
    guides: Guides,
    clock: Arc<Clock>,
    panics: Panics,
    in_flight: Arc<Semaphore>,
    config: EngineConfig,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.clock.wake();
    }
}

impl Engine {
    /// Starts the workers, and on the current runtime the clock that ends jobs in time.
    ///
    /// # Errors
    /// When the system gives no thread.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(config: EngineConfig) -> io::Result<Self> {
        let clock = Arc::new(Clock::default());
        let shared = Arc::new(Shared {
            clock: Arc::clone(&clock),
            cache: Cache::new(config.max_cache_bytes),
            flights: Flights::default(),
            queue: Queue::new(config.max_queue),
            sweeps: Sweeps::default(),
            tables: Tables::new(config.max_table_bytes, config.sweep),
            guides: Guides::new(),
            panics: Panics::default(),
            in_flight: Arc::new(Semaphore::new(config.max_in_flight)),
            config,
        });
        tokio::spawn(clock::run(clock, Arc::downgrade(&shared)));
        let pool = Arc::new(Pool::start(&shared, config.workers)?);
        Ok(Self { shared, pool })
    }

    /// Answers what needs no search at once; otherwise takes the job, to be answered
    /// once through the reply that `reply` makes.
    ///
    /// # Errors
    /// When there is no room; the reply is not made then.
    pub fn ask(&self, query: &Query, reply: impl FnOnce() -> Reply<Answer>) -> Result<Asked, Overload> {
        let canonical = &query.canonical;
        if canonical.start() == canonical.goal().board() {
            return Ok(Asked::Now(query.known(Known::Path(Path::Word(1)), Source::Rule)));
        }
        if !query.bypass_table
            && let Some(table) = self.shared.tables.find(canonical.goal())
        {
            if let Held::Standard(standard) = table
                && let Some(found) = Found::new(standard, canonical, query.max_moves)
            {
                return Ok(Asked::Found(found));
            }
            // The table knows a board that theory rules out too, and theory says why.
            let known = |known| query.known(known, Source::Table);
            return Ok(Asked::Now(match table.path(canonical.start()) {
                Some(path) => known(Known::Path(path)),
                None => ruled_out(canonical).unwrap_or_else(|| known(Known::Unreachable)),
            }));
        }
        if let Some(answer) = ruled_out(canonical) {
            return Ok(Asked::Now(answer));
        }
        if query.reads_cache()
            && let Some(known) = self.shared.cache.get(&canonical.key())
        {
            return Ok(Asked::Now(query.known(known, Source::Cache)));
        }
        if !query.bypass_table && self.shared.tables.is_asked_often(canonical.goal()) {
            self.shared.sweep_soon(canonical.goal(), query.caller);
        }
        flight::board(&self.shared, query, reply)
    }

    /// The table of a goal whose paths are words, when it is there; otherwise a worker
    /// finds or makes the table and gives it to the reply that `reply` makes, since to
    /// walk a table for thousands of boards is a worker's work.
    ///
    /// # Errors
    /// When there is no room to wait for it; the reply is not made then.
    pub fn table(
        &self,
        goal: &Goal,
        caller: Caller,
        reply: impl FnOnce() -> Reply<Swept>,
    ) -> Result<TableAsked, Overload> {
        if let Some(held) = self.shared.tables.find(goal)
            && held.has_words()
        {
            return Ok(TableAsked::Now(held));
        }
        let limit = self.shared.config.max_in_flight;
        let permit = Arc::clone(&self.shared.in_flight).try_acquire_owned();
        let permit = permit.map_err(|_| Overload::InFlight { limit })?;
        sweep::sweep_for(&self.shared, goal, caller, permit, reply).map(TableAsked::Later)
    }

    /// Has a large set of pattern databases used from now on.
    pub fn prefer_patterns(&self, large: PatternSum) {
        self.shared.guides.prefer(large);
    }

    /// The tables it holds.
    #[must_use]
    pub fn table_statistics(&self) -> TableStatistics {
        self.shared.tables.statistics()
    }

    /// The pattern databases it holds.
    #[must_use]
    pub fn pattern_statistics(&self) -> PatternStatistics {
        self.shared.guides.statistics()
    }

    /// The limits it was made with.
    #[must_use]
    pub fn config(&self) -> &EngineConfig {
        &self.shared.config
    }

    /// What its cache holds and has done.
    #[must_use]
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.shared.cache.statistics()
    }

    /// Jobs that joined a search under way.
    #[must_use]
    pub fn coalesced(&self) -> u64 {
        self.shared.flights.coalesced()
    }

    /// Jobs taken and not yet answered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shared.config.max_in_flight - self.shared.in_flight.available_permits()
    }

    /// Searches that wait for a worker or for pattern databases.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.shared.queue.len()
    }

    /// The same, by what they wait for.
    #[must_use]
    pub fn queue_statistics(&self) -> QueueStatistics {
        self.shared.queue.statistics()
    }

    /// Panics of searches, and of the making of tables and pattern databases, since the start.
    #[must_use]
    pub fn panics(&self) -> u64 {
        self.shared.panics.count()
    }

    /// Whether every task that was started still runs, whatever happened to the jobs.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.pool.is_whole()
    }
}

/// The answer to an instance of which theory knows that it has no path.
fn ruled_out(canonical: &Canonical) -> Option<Answer> {
    let goal = canonical.goal();
    let obstacle = obstacle(goal.frame().layout(), canonical.start(), goal.board())?;
    Some(Answer::at_once(Verdict::Unsolvable(obstacle), Source::Rule))
}
