//! One search under way, and all who wait for it: under the widest of their budgets
//! and the highest of their priorities. Who leaves takes only itself away; the last
//! one to leave stops the search. It knows no algorithm.
//!
//! Locks: the map of flights before a flight's own state before queue, clock and
//! cache; and no reply is sent under any of them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use hashbrown::{DefaultHashBuilder, HashMap};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Span;

use super::choice::{self, MAX_KEPT_STATES};
use super::job::{Known, Limit, verdict};
use super::queue::{Flow, Lane, Length, Number};
use super::suboptimal::Aim;
use super::{
    Algorithm, Answer, Asked, Failure, Overload, Query, Reply, Shared, Source, Statistics, Verdict, Work,
    guides,
};
use crate::domain::sliding::{Canonical, Cell, Key, Path, Solution};
use crate::search::{Budget, Limits, Stop};
use crate::space::Cost;

/// A waiter's number, never used twice.
pub(super) type WaiterId = u64;

/// Who may share a search: same board, same algorithm and same aim, unless one wants to fly alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FlightKey {
    board: Key,
    algorithm: Algorithm,
    aim: Option<Aim>,
    alone: Option<WaiterId>,
}

/// All flights, one for each key.
#[derive(Default)]
pub(super) struct Flights {
    map: DashMap<FlightKey, Arc<Flight>, DefaultHashBuilder>,
    waiters: AtomicU64,
    coalesced: AtomicU64,
}

impl Flights {
    pub(super) fn coalesced(&self) -> u64 {
        self.coalesced.load(Relaxed)
    }

    /// A number for one who waits.
    pub(super) fn next_waiter(&self) -> WaiterId {
        self.waiters.fetch_add(1, Relaxed)
    }

    /// Ends every flight; its waiters are answered [`Failure::Stopped`].
    pub(super) fn stop(&self, shared: &Shared) {
        let flights: Vec<_> = self.map.iter().map(|entry| Arc::clone(entry.value())).collect();
        for flight in flights {
            flight.limits.cancel();
            let spent = flight.limits.spent();
            let landed = flight.land(shared, &Landing::Stopped(Stop::Cancelled), spent);
            debug_assert!(landed, "a cancel is never taken back");
        }
    }
}

/// One who waits for a flight.
struct Waiter {
    id: WaiterId,
    canonical: Canonical,
    arrived: Instant,
    deadline: Instant,
    max_moves: Cost,
    source: Source,
    reply: Reply<Answer>,
    /// Its place among the jobs in flight.
    permit: OwnedSemaphorePermit,
    /// How long the flight had been searched for when he came.
    flown_before: Duration,
}

impl Waiter {
    /// What his job has cost: all of the search, and the time in which there was none.
    fn statistics(&self, solve_time: Duration, (expanded, generated): (u64, u64)) -> Statistics {
        let queue_time = self.arrived.elapsed().saturating_sub(solve_time.saturating_sub(self.flown_before));
        Statistics { queue_time, solve_time, expanded, generated }
    }

    /// His place is free before he hears, since he may ask again at once.
    fn answer(self, answer: Answer) {
        drop(self.permit);
        self.reply.send(answer);
    }
}

enum Phase {
    /// In the queue, with what is left of the budget.
    Waiting(Budget),
    Flying {
        since: Instant,
    },
    Landed,
}

struct State {
    phase: Phase,
    /// Where it waits when it does: with all who wait for it.
    flows: Vec<Flow>,
    /// The search before it last began to wait.
    flown: Duration,
    waiters: HashMap<WaiterId, Waiter>,
    /// That of the job for which it began, until it is over.
    span: Span,
}

impl State {
    /// Leaves it no span: one that is let go may be sent, which is no work for a lock.
    fn take_span(&mut self) -> Span {
        std::mem::replace(&mut self.span, Span::none())
    }

    /// How long it has been searched for.
    fn flown(&self) -> Duration {
        match self.phase {
            Phase::Flying { since } => self.flown + since.elapsed(),
            Phase::Waiting(_) | Phase::Landed => self.flown,
        }
    }
}

/// How a search ended.
pub(super) enum Landing {
    /// With all there is to know.
    Known(Known),
    /// By its budget.
    Stopped(Stop),
    /// By a panic.
    Panicked,
}

/// See the module.
pub(super) struct Flight {
    key: FlightKey,
    canonical: Canonical,
    limits: Arc<Limits>,
    /// The best path known before a shortest one is proven, where that is wanted; `None` when none was found.
    best: OnceLock<Option<Vec<Cell>>>,
    /// Its number in the queue.
    number: Number,
    length: Length,
    #[cfg(feature = "faults")]
    fault: Option<super::Fault>,
    state: Mutex<State>,
}

/// A waiter's hold on its flight. Dropping it leaves the flight without an answer.
pub struct Ticket {
    shared: Arc<Shared>,
    flight: Arc<Flight>,
    waiter: WaiterId,
}

impl Ticket {
    /// Gives the job up; it is answered [`Verdict::Cancelled`], unless its answer
    /// is on the way already.
    pub fn cancel(&self) {
        if let Some((waiter, statistics)) = self.flight.leave(&self.shared, self.waiter) {
            waiter.answer(Answer { verdict: Verdict::Cancelled, source: Source::None, statistics });
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some((waiter, _)) = self.flight.leave(&self.shared, self.waiter) {
            waiter.reply.forget();
        }
    }
}

/// Boards the flight of a query, or starts it.
///
/// # Errors
/// When there is no room in flight or in the queue.
pub(super) fn board(
    shared: &Arc<Shared>,
    query: &Query,
    reply: impl FnOnce() -> Reply<Answer>,
) -> Result<Asked, Overload> {
    let arrived = Instant::now();
    let due = arrived + query.time;
    let deadline = query.deadline.map_or(due, |deadline| deadline.min(due));
    let limit = shared.config.max_in_flight;
    let permit =
        Arc::clone(&shared.in_flight).try_acquire_owned().map_err(|_| Overload::InFlight { limit })?;
    let id = shared.flights.next_waiter();
    let alone = query.bypass_cache.then_some(id);
    let algorithm = choice::search_of(query.algorithm, query.canonical.goal().frame().layout());
    let key = FlightKey { board: query.canonical.key(), algorithm, aim: Aim::of(query), alone };
    let waiter = |source, flown_before| Waiter {
        id,
        canonical: query.canonical.clone(),
        arrived,
        deadline,
        max_moves: query.max_moves,
        source,
        reply: reply(),
        permit,
        flown_before,
    };
    let ticket = |flight: &Arc<Flight>| {
        Ok(Asked::Later(Ticket { shared: Arc::clone(shared), flight: Arc::clone(flight), waiter: id }))
    };
    let entry = shared.flights.map.entry(key);
    if let Entry::Occupied(entry) = &entry {
        let flight = entry.get();
        let mut state = flight.state();
        if !matches!(state.phase, Phase::Landed) {
            flight.join(shared, &mut state, query, deadline);
            let flown = state.flown();
            state.waiters.insert(id, waiter(Source::Coalesced, flown));
            shared.clock.watch(deadline, id, flight);
            return ticket(flight);
        }
    }
    // A flight that landed since the first look has left its answer in the cache.
    if query.reads_cache()
        && let Some(known) = shared.cache.peek(&key.board)
    {
        return Ok(Asked::Now(query.known(known, Source::Cache)));
    }
    let flight = Arc::new(Flight::new(key, query, deadline, shared.queue.next_number()));
    // Full before it is seen: a worker may take it as soon as it is in the queue.
    let mut state = flight.state();
    if !shared.queue.push(flight.number, flow(query, flight.length), Work::Flight(Arc::clone(&flight))) {
        return Err(Overload::Queue { limit: shared.queue.max_len() });
    }
    let first = waiter(Source::Search, Duration::ZERO);
    state.span = first.reply.span().clone();
    state.waiters.insert(id, first);
    shared.clock.watch(deadline, id, &flight);
    drop(state);
    let taken = ticket(&flight);
    match entry {
        Entry::Occupied(mut landed) => drop(landed.insert(flight)),
        Entry::Vacant(vacant) => drop(vacant.insert(flight)),
    }
    taken
}

impl Flight {
    fn new(key: FlightKey, query: &Query, deadline: Instant, number: Number) -> Self {
        let limits = Arc::new(Limits::new(deadline, query.max_nodes, query.max_moves));
        let length = choice::length_of(key.algorithm, query.canonical.goal().frame().layout());
        let (phase, flows) = (Phase::Waiting(budget(&limits)), vec![flow(query, length)]);
        let (waiters, span) = (HashMap::with_capacity(1), Span::none());
        let state = State { phase, flows, flown: Duration::ZERO, waiters, span };
        Self {
            key,
            canonical: query.canonical.clone(),
            limits,
            best: OnceLock::new(),
            number,
            length,
            #[cfg(feature = "faults")]
            fault: query.fault,
            state: Mutex::new(state),
        }
    }

    pub(super) fn canonical(&self) -> &Canonical {
        &self.canonical
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.key.algorithm
    }

    pub(super) fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    /// A budget of which nothing is spent.
    pub(super) fn budget(&self) -> Budget {
        budget(&self.limits)
    }

    /// Whether its answer is kept.
    pub(super) fn is_remembered(&self) -> bool {
        self.key.alone.is_none()
    }

    pub(super) fn span(&self) -> Span {
        self.state().span.clone()
    }

    /// Finds a path that is quick to find, if one is wanted.
    ///
    /// # Errors
    /// [`Stop::Enough`] when it is as good as what was asked for.
    pub(super) fn find_quick_path(&self, budget: &mut Budget) -> Result<(), Stop> {
        let Some(aim) = self.key.aim else { return Ok(()) };
        let best = self.best.get_or_init(|| aim.quick_path(&self.canonical, budget));
        best.as_ref().map_or(Ok(()), |path| budget.content_with(aim.enough(path)))
    }

    #[cfg(feature = "faults")]
    pub(super) fn fault(&self) -> Option<super::Fault> {
        self.fault
    }

    /// Makes room for one more who waits.
    fn join(&self, shared: &Shared, state: &mut State, query: &Query, deadline: Instant) {
        self.limits.widen(deadline, query.max_nodes, query.max_moves);
        let flow = flow(query, self.length);
        if !flow.is_covered_by(&state.flows) {
            state.flows.push(flow);
            shared.queue.join(self.number, flow);
        }
        shared.flights.coalesced.fetch_add(1, Relaxed);
    }

    /// Begins the search, or goes on with it, unless nobody waits for it any more.
    pub(super) fn take_off(&self) -> Option<Budget> {
        let mut state = self.state();
        match std::mem::replace(&mut state.phase, Phase::Landed) {
            Phase::Waiting(budget) => {
                state.phase = Phase::Flying { since: Instant::now() };
                Some(budget)
            }
            Phase::Flying { .. } => unreachable!("what flies is in no queue"),
            Phase::Landed => None,
        }
    }

    /// Has it wait at its old place, in the lane in which it is to go on, unless nobody
    /// waits for it any more.
    pub(super) fn wait_again(self: &Arc<Self>, shared: &Shared, lane: Lane, budget: Budget) {
        let mut state = self.state();
        if matches!(state.phase, Phase::Landed) {
            return;
        }
        state.flown = state.flown();
        state.phase = Phase::Waiting(budget);
        shared.queue.put_back(lane, self.number, &state.flows, Work::Flight(Arc::clone(self)));
    }

    /// Answers all who wait; `false` when the search must be made again, since one
    /// who joined after its last look at the limits has widened them.
    #[must_use]
    pub(super) fn land(self: &Arc<Self>, shared: &Shared, landing: &Landing, spent: (u64, u64)) -> bool {
        let (waiters, solve_time, span) = {
            let mut state = self.state();
            if let Landing::Stopped(stop) = landing
                && !self.limits.call_for(*stop, spent.0)
            {
                return false;
            }
            let solve_time = state.flown();
            match std::mem::replace(&mut state.phase, Phase::Landed) {
                Phase::Flying { .. } => {}
                Phase::Waiting(_) => shared.queue.remove(self.number),
                Phase::Landed => return true,
            }
            let mut waiters: Vec<Waiter> = std::mem::take(&mut state.waiters).into_values().collect();
            // First come, first answered.
            waiters.sort_unstable_by_key(|waiter| waiter.id);
            (waiters, solve_time, state.take_span())
        };
        drop(span);
        shared.flights.map.remove_if(&self.key, |_, flight| Arc::ptr_eq(flight, self));
        for waiter in waiters {
            shared.clock.forget(waiter.deadline, waiter.id);
            let statistics = waiter.statistics(solve_time, spent);
            let verdict = self.verdict_for(&waiter, landing);
            let source = if matches!(verdict, Verdict::Failed(_)) { Source::None } else { waiter.source };
            waiter.answer(Answer { verdict, source, statistics });
        }
        true
    }

    fn verdict_for(&self, waiter: &Waiter, landing: &Landing) -> Verdict {
        match landing {
            Landing::Known(known) => verdict(&waiter.canonical, known.clone(), waiter.max_moves),
            Landing::Stopped(Stop::Cancelled) => Verdict::Failed(Failure::Stopped),
            Landing::Stopped(Stop::Time) => self.stopped_by(Limit::Time, waiter),
            Landing::Stopped(Stop::Nodes | Stop::Kept) => self.stopped_by(Limit::Nodes, waiter),
            Landing::Stopped(Stop::Moves) => self.stopped_by(Limit::Moves, waiter),
            Landing::Stopped(Stop::Enough) => self.enough_for(waiter),
            Landing::Panicked => Verdict::Failed(Failure::Panicked),
        }
    }

    /// What one who waited is told of a search that was stopped: when it has proven
    /// that his own number of moves is too small, just that.
    fn stopped_by(&self, limit: Limit, waiter: &Waiter) -> Verdict {
        let max_moves = waiter.max_moves;
        match self.limits.proven() {
            proven if proven > max_moves => {
                Verdict::LimitReached { limit: Limit::Moves, lower_bound: max_moves + 1, best: None }
            }
            // A flight is never that of a solved board, so one move is proven from the start.
            proven => {
                Verdict::LimitReached { limit, lower_bound: proven.max(1), best: self.best_for(waiter) }
            }
        }
    }

    /// What one is told for whom the path known is good enough.
    fn enough_for(&self, waiter: &Waiter) -> Verdict {
        let path = self.best_for(waiter).expect("a path is known before a bound can be enough for it");
        match self.limits.proven() {
            proven if proven == path.distance() => Verdict::Solved(path),
            lower_bound => Verdict::Suboptimal { path, lower_bound },
        }
    }

    /// The best path known, in the labels of one who waits.
    fn best_for(&self, waiter: &Waiter) -> Option<Solution> {
        let (goal, start) = (waiter.canonical.goal(), waiter.canonical.start());
        let path = Path::along(goal.frame().layout(), start.cell_of(0), self.best.get()?.as_ref()?).next();
        path.map(|path| Solution::new(goal, start, path))
    }

    /// Answers one whose time is over.
    pub(super) fn expire(self: &Arc<Self>, shared: &Shared, waiter: WaiterId) {
        if let Some((waiter, statistics)) = self.leave(shared, waiter) {
            let verdict = self.stopped_by(Limit::Time, &waiter);
            let source = waiter.source;
            waiter.answer(Answer { verdict, source, statistics });
        }
    }

    /// Takes one away, with what his job has cost so far; the last one stops the search.
    fn leave(self: &Arc<Self>, shared: &Shared, id: WaiterId) -> Option<(Waiter, Statistics)> {
        let (waiter, solve_time, last, _span) = {
            let mut state = self.state();
            let waiter = state.waiters.remove(&id)?;
            let (solve_time, last) = (state.flown(), state.waiters.is_empty());
            if last && let Phase::Waiting(_) = std::mem::replace(&mut state.phase, Phase::Landed) {
                shared.queue.remove(self.number);
            }
            (waiter, solve_time, last, last.then(|| state.take_span()))
        };
        shared.clock.forget(waiter.deadline, waiter.id);
        if last {
            self.limits.cancel();
            shared.flights.map.remove_if(&self.key, |_, flight| Arc::ptr_eq(flight, self));
            guides::left(shared, self.canonical.goal());
        }
        let statistics = waiter.statistics(solve_time, self.limits.spent());
        Some((waiter, statistics))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that may panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a query has its search of this length wait.
fn flow(query: &Query, length: Length) -> Flow {
    Flow { caller: query.caller, priority: query.priority, length }
}

/// What a search may spend under the limits of its flight.
fn budget(limits: &Arc<Limits>) -> Budget {
    Budget::new(Arc::clone(limits)).keeping(MAX_KEPT_STATES)
}
