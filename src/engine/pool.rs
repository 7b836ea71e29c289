//! The workers: each a task with a runtime and a thread to itself, niced below the
//! network's. A worker asks for a flight only when it is free. A search that panics
//! costs its own callers their answer and nobody else anything.
//!
//! Not one runtime of many threads: a search keeps its thread, and with it whatever
//! other worker the scheduler has put behind it there, flight in hand.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::choice::MAX_KEPT_STATES;
use super::flight::{Flight, Landing};
use super::job::Known;
use super::{Failure, Shared, Work, choice};
use crate::domain::sliding::{Board, Goal, Layout, Path, Position};
use crate::search::Budget;

/// How much nicer a worker's thread is than the network's: enough that on a full
/// machine a connection is served before a search goes on.
const WORKER_NICENESS: i32 = 5;

/// Has the workers run until it is dropped.
pub(super) struct Pool {
    stop: CancellationToken,
    shared: Arc<Shared>,
    alive: Arc<AtomicUsize>,
}

impl Pool {
    pub(super) fn start(shared: &Arc<Shared>, workers: usize) -> io::Result<Self> {
        let alive = Arc::new(AtomicUsize::new(workers));
        let pool = Self { stop: CancellationToken::new(), shared: Arc::clone(shared), alive };
        for _ in 0..workers {
            let alive = Alive(Arc::clone(&pool.alive));
            let work = pool.stop.clone().run_until_cancelled_owned(work(Arc::clone(shared), alive));
            let runtime = Builder::new_current_thread().build()?;
            thread::Builder::new().name("taquin-worker".to_owned()).spawn(move || {
                be_nice();
                runtime.block_on(work);
            })?;
        }
        Ok(pool)
    }

    /// Sweeps the standard goals on a thread of its own, so that no worker is kept from
    /// the first boards.
    pub(super) fn sweep_standard(shared: &Arc<Shared>) -> io::Result<()> {
        let shared = Arc::clone(shared);
        thread::Builder::new().name("taquin-sweep".to_owned()).spawn(move || {
            be_nice();
            let begun = Instant::now();
            shared.tables.sweep_standard();
            tracing::info!(milliseconds = begun.elapsed().as_secs_f64() * 1e3, "standard goals swept");
            shared.guides.make_soon(&standard_wide_goal());
        })?;
        Ok(())
    }

    pub(super) fn alive(&self) -> usize {
        self.alive.load(Relaxed)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.flights.stop(&self.shared);
        self.shared.guides.stop();
        // Nobody waits for them, since the last handle may be dropped inside a runtime.
        self.stop.cancel();
    }
}

/// The goal of the fifteen puzzle that is asked most, its blank in a corner.
fn standard_wide_goal() -> Goal {
    let layout = Layout::grid(4, 4).expect("sixteen cells");
    Goal::new(layout, Board::standard(layout.cells(), 0))
}

fn be_nice() {
    // On Linux this is the thread's own niceness. Refused, the search only competes harder.
    if let Err(error) = rustix::process::nice(WORKER_NICENESS) {
        tracing::debug!(%error, "a worker's thread keeps its niceness");
    }
}

/// Counts its worker out, however that ends.
struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

async fn work(shared: Arc<Shared>, _alive: Alive) {
    loop {
        match shared.queue.pop().await {
            Work::Flight(flight) => {
                let flown = catch_unwind(AssertUnwindSafe(|| fly(&shared, &flight)));
                if flown.is_err() {
                    let landed = flight.land(&shared, &Landing::Panicked, (0, 0));
                    debug_assert!(landed, "a panic is no limit that could have been widened");
                }
            }
            Work::Sweep(sweep) => {
                let made = catch_unwind(AssertUnwindSafe(|| sweep.make(&shared)));
                if made.is_err() {
                    sweep.land(&shared, &Err(Failure::Panicked));
                }
            }
        }
    }
}

fn fly(shared: &Shared, flight: &Arc<Flight>) {
    if !flight.take_off() {
        return;
    }
    loop {
        let mut budget = Budget::new(Arc::clone(flight.limits())).keeping(MAX_KEPT_STATES);
        let landing = search(shared, flight, &mut budget);
        if flight.land(shared, &landing, (budget.expanded(), budget.generated())) {
            return;
        }
    }
}

fn search(shared: &Shared, flight: &Flight, budget: &mut Budget) -> Landing {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "faults")]
        if let Some(fault) = flight.fault() {
            fault.strike(flight.limits());
        }
        let kept = flight.is_remembered().then_some(&shared.tables);
        choice::solve(flight.canonical(), flight.algorithm(), kept, &shared.guides, budget)
    }));
    match outcome {
        Ok(Ok(Some(path))) => Landing::Known(Known::Path(remember(shared, flight, &path))),
        Ok(Ok(None)) => {
            if flight.is_remembered() {
                shared.cache.insert(flight.canonical().key(), Known::Unreachable);
            }
            Landing::Known(Known::Unreachable)
        }
        Ok(Err(stop)) => Landing::Stopped(stop),
        Err(panic) => {
            tracing::error!(panic = message(panic.as_ref()), "a search panicked");
            Landing::Panicked
        }
    }
}

/// Keeps the path of every board along a path, and returns the first of them.
fn remember(shared: &Shared, flight: &Flight, cells: &[u8]) -> Path {
    let canonical = flight.canonical();
    let mut position = Position::new(canonical.start());
    let mut paths = Path::along(canonical.goal().frame().layout(), position.blank(), cells);
    let first = paths.next().expect("the path of the start");
    if flight.is_remembered() {
        shared.cache.insert(canonical.key(), Known::Path(first.clone()));
        for (&cell, path) in cells.iter().zip(paths) {
            position = position.slid(cell);
            shared.cache.insert(canonical.key_of(position.board()), Known::Path(path));
        }
    }
    first
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
