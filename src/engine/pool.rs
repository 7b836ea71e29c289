//! The workers: tasks on a runtime of their own, one for each thread, niced below
//! the network's. A worker asks for a flight only when it is free. A search that
//! panics costs its own callers their answer and nobody else anything.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use super::flight::{Flight, Landing};
use super::{Shared, choice};
use crate::domain::sliding::Path;
use crate::search::Budget;

/// How much nicer a worker's thread is than the network's: enough that on a full
/// machine a connection is served before a search goes on.
const WORKER_NICENESS: i32 = 5;

/// Runs the workers until it is dropped.
pub(super) struct Pool {
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
    alive: Arc<AtomicUsize>,
}

impl Pool {
    pub(super) fn start(shared: &Arc<Shared>, workers: usize) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers)
            .thread_name("taquin-worker")
            .on_thread_start(|| {
                // On Linux this is the thread's own niceness. Refused, the search only competes harder.
                if let Err(error) = rustix::process::nice(WORKER_NICENESS) {
                    tracing::debug!(%error, "worker threads keep their niceness");
                }
            })
            .build()?;
        let alive = Arc::new(AtomicUsize::new(workers));
        for _ in 0..workers {
            runtime.spawn(work(Arc::clone(shared), Alive(Arc::clone(&alive))));
        }
        Ok(Self { runtime: Some(runtime), shared: Arc::clone(shared), alive })
    }

    pub(super) fn alive(&self) -> usize {
        self.alive.load(Relaxed)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.flights.stop(&self.shared);
        self.shared.clock.wake();
        if let Some(runtime) = self.runtime.take() {
            // In the background, since the last handle may be dropped inside a runtime.
            runtime.shutdown_background();
        }
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
        let flight = shared.queue.pop().await;
        // A wake-up passed on by `pop` may have put another worker behind this one on
        // its own thread; it must be taken by a free thread before this one is busy.
        yield_now().await;
        fly(&shared, &flight);
    }
}

fn fly(shared: &Shared, flight: &Arc<Flight>) {
    if !flight.take_off() {
        return;
    }
    let mut budget = Budget::new(Arc::clone(flight.limits()));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "faults")]
        if let Some(fault) = flight.fault() {
            fault.strike(flight.limits());
        }
        choice::solve(flight.canonical(), flight.algorithm(), &mut budget)
    }));
    let landing = match outcome {
        Ok(Ok(Some(path))) => Landing::Path(remember(shared, flight, &path)),
        Ok(Ok(None)) => Landing::Unreachable,
        Ok(Err(stop)) => Landing::Stopped(stop),
        Err(panic) => {
            tracing::error!(panic = message(panic.as_ref()), "a search panicked");
            Landing::Panicked
        }
    };
    flight.land(shared, &landing, (budget.expanded(), budget.generated()));
}

/// Keeps the path of every board along a path, and returns the first of them.
fn remember(shared: &Shared, flight: &Flight, cells: &[u8]) -> Path {
    let canonical = flight.canonical();
    let mut position = crate::domain::sliding::Position::new(canonical.start());
    let mut paths = Path::along(canonical.frame().layout(), position.blank(), cells);
    let first = paths.next().expect("the path of the start");
    if flight.is_remembered() {
        shared.cache.insert(canonical.key(), first.clone());
        for (&cell, path) in cells.iter().zip(paths) {
            position = position.slid(cell);
            shared.cache.insert(canonical.key_of(position.board()), path);
        }
    }
    first
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
