//! The workers: each a task with a runtime and a thread to itself, niced below the
//! network's. A worker asks for work only when it is free. A search that panics
//! costs its own callers their answer and nobody else anything.
//!
//! Each lane has workers of its own, those of the heavy one nicer: however many searches
//! take long, a light one finds a worker, and that worker a core.
//!
//! Not one runtime of many threads: a search keeps its thread, and with it whatever
//! other worker the scheduler has put behind it there, flight in hand.

use std::io;
use std::ops::ControlFlow::{Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::choice::{self, Turn};
use super::flight::{Flight, Landing};
use super::job::Known;
use super::queue::Lane;
use super::{Failure, Shared, Work, guides};
use crate::domain::sliding::{Cell, Goal, Path, Position};
use crate::search::{Budget, Outcome};

/// How much nicer a worker's thread is than the network's: enough that on a full
/// machine a connection is served before a search goes on.
const WORKER_NICENESS: i32 = 5;
/// How nice a thread is that may search for a minute: beside a busy worker it has
/// a quarter of a core, and makes way at once for one that wakes.
const HEAVY_NICENESS: i32 = 10;

/// Has the workers run until it is dropped.
pub(super) struct Pool {
    stop: CancellationToken,
    shared: Arc<Shared>,
    started: usize,
    alive: Arc<AtomicUsize>,
}

impl Pool {
    pub(super) fn start(shared: &Arc<Shared>, workers: usize) -> io::Result<Self> {
        let alive = Arc::new(AtomicUsize::new(0));
        let mut pool = Self { stop: CancellationToken::new(), shared: Arc::clone(shared), started: 0, alive };
        for _ in 0..workers {
            pool.run("taquin-worker", WORKER_NICENESS, work(Arc::clone(shared), Lane::Light))?;
            pool.run("taquin-heavy", HEAVY_NICENESS, work(Arc::clone(shared), Lane::Heavy))?;
        }
        // As nice as a worker: what it makes is done in seconds, and others wait for it.
        pool.run("taquin-patterns", WORKER_NICENESS, guides::run(Arc::clone(shared)))?;
        if shared.config.make_large {
            let shared = Arc::clone(shared);
            thread::Builder::new().name("taquin-large".to_owned()).spawn(move || {
                be_nice(HEAVY_NICENESS);
                if catch_unwind(AssertUnwindSafe(|| shared.guides.make_large())).is_err() {
                    tracing::error!("the large set was not made");
                }
            })?;
        }
        Ok(pool)
    }

    /// Runs a task on a thread of its own.
    fn run(
        &mut self,
        name: &str,
        niceness: i32,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let alive = Alive::new(&self.alive);
        let task = self.stop.clone().run_until_cancelled_owned(task);
        let runtime = Builder::new_current_thread().build()?;
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _alive = alive;
            be_nice(niceness);
            runtime.block_on(task);
        })?;
        self.started += 1;
        Ok(())
    }

    pub(super) fn is_whole(&self) -> bool {
        self.alive.load(Relaxed) == self.started
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

fn be_nice(niceness: i32) {
    // On Linux this is the thread's own niceness. Refused, the search only competes harder.
    if let Err(error) = rustix::process::nice(niceness) {
        tracing::debug!(%error, "a worker's thread keeps its niceness");
    }
}

/// Counts its task in, and out however that ends.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Relaxed);
        Self(Arc::clone(alive))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Work {
    pub(super) fn goal(&self) -> &Goal {
        match self {
            Self::Flight(flight) => flight.canonical().goal(),
            Self::Sweep(sweep) => sweep.goal(),
        }
    }

    /// What is to be done of it in a lane.
    fn run(&self, shared: &Shared, lane: Lane) {
        match self {
            Self::Flight(flight) => fly(shared, flight, lane),
            Self::Sweep(sweep) => sweep.make(shared),
        }
    }

    /// Ends it, after whoever did it has panicked.
    pub(super) fn fail(&self, shared: &Shared) {
        match self {
            Self::Flight(flight) => {
                let landed = flight.land(shared, &Landing::Panicked, flight.limits().spent());
                debug_assert!(landed, "a panic is no limit that could have been widened");
            }
            Self::Sweep(sweep) => sweep.land(shared, &Err(Failure::Panicked)),
        }
    }

    #[cfg(feature = "faults")]
    pub(super) fn strike_maker(&self, limits: &crate::search::Limits) {
        if let Self::Flight(flight) = self
            && let Some(fault) = flight.fault()
        {
            fault.strike(super::FaultOf::Maker, limits);
        }
    }
}

async fn work(shared: Arc<Shared>, lane: Lane) {
    loop {
        let work = shared.queue.pop(lane).await;
        if catch_unwind(AssertUnwindSafe(|| work.run(&shared, lane))).is_err() {
            work.fail(&shared);
        }
    }
}

fn fly(shared: &Shared, flight: &Arc<Flight>, lane: Lane) {
    let Some(mut budget) = flight.take_off() else { return };
    loop {
        match search(shared, flight, lane, &mut budget) {
            Continue(lane) => return flight.wait_again(shared, lane, budget),
            Break(landing) => {
                if flight.land(shared, &landing, (budget.expanded(), budget.generated())) {
                    return;
                }
            }
        }
        budget = flight.budget();
    }
}

fn search(shared: &Shared, flight: &Flight, lane: Lane, budget: &mut Budget) -> Turn<Landing> {
    let turn = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "faults")]
        if let Some(fault) = flight.fault() {
            fault.strike(super::FaultOf::Worker, flight.limits());
        }
        if let Err(stop) = flight.find_quick_path(budget) {
            return Break(Err(stop));
        }
        let kept = flight.is_remembered().then_some(&shared.tables);
        choice::solve(flight.canonical(), flight.algorithm(), lane, kept, &shared.guides, budget)
    }));
    let Ok(turn) = turn else {
        tracing::error!("a search panicked");
        return Break(Landing::Panicked);
    };
    turn.map_break(|outcome| landing(shared, flight, outcome))
}

/// Keeps what a search has found.
fn landing(shared: &Shared, flight: &Flight, outcome: Outcome<Cell>) -> Landing {
    match outcome {
        Ok(Some(path)) => Landing::Known(Known::Path(remember(shared, flight, &path))),
        Ok(None) => {
            if flight.is_remembered() {
                shared.cache.insert(flight.canonical().key(), Known::Unreachable);
            }
            Landing::Known(Known::Unreachable)
        }
        Err(stop) => Landing::Stopped(stop),
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
