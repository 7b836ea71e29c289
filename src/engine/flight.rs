//! One search under way, and all who wait for it: under the widest of their budgets
//! and the highest of their priorities. Who leaves takes only itself away; the last
//! one to leave stops the search. It knows no algorithm.
//!
//! Locks: the map of flights before a flight's own state before queue, clock and
//! cache; and no reply is sent under any of them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use hashbrown::{DefaultHashBuilder, HashMap};
use tokio::sync::OwnedSemaphorePermit;

use super::job::{Known, Limit, verdict};
use super::queue::Place;
use super::{
    Algorithm, Answer, Asked, Failure, Overload, Query, Reply, Shared, Source, Statistics, Verdict, Work,
};
use crate::domain::sliding::{Canonical, Key};
use crate::search::{Limits, Stop};
use crate::space::Cost;

/// A waiter's number, never used twice.
pub(super) type WaiterId = u64;

/// Who may share a search: same board and same algorithm, unless one wants to fly alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FlightKey {
    board: Key,
    algorithm: Algorithm,
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
            let landed = flight.land(shared, &Landing::Stopped(Stop::Cancelled), (0, 0));
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
}

impl Waiter {
    /// His place is free before he hears, since he may ask again at once.
    fn answer(self, answer: Answer) {
        drop(self.permit);
        self.reply.send(answer);
    }
}

enum Phase {
    Waiting(Place),
    Flying { since: Instant },
    Landed,
}

struct State {
    phase: Phase,
    waiters: HashMap<WaiterId, Waiter>,
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
    canonical: Canonical,
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
    let key = FlightKey { board: canonical.key(), algorithm: query.algorithm, alone };
    let waiter = |source, canonical| Waiter {
        id,
        canonical,
        arrived,
        deadline,
        max_moves: query.max_moves,
        source,
        reply: reply(),
        permit,
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
            state.waiters.insert(id, waiter(Source::Coalesced, canonical));
            shared.clock.watch(deadline, id, flight);
            return ticket(flight);
        }
    }
    // A flight that landed since the first look has left its answer in the cache.
    if !query.bypass_cache
        && let Some(known) = shared.cache.peek(&key.board)
    {
        return Ok(Asked::Now(query.known(&canonical, known, Source::Cache)));
    }
    let place = shared.queue.next_place(query.priority);
    let flight = Arc::new(Flight::new(key, canonical.clone(), query, deadline, place));
    // Full before it is seen: a worker may take it as soon as it is in the queue.
    let mut state = flight.state();
    if !shared.queue.push(place, Work::Flight(Arc::clone(&flight))) {
        return Err(Overload::Queue { limit: shared.queue.max_len() });
    }
    state.waiters.insert(id, waiter(Source::Search, canonical));
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
    fn new(key: FlightKey, canonical: Canonical, query: &Query, deadline: Instant, place: Place) -> Self {
        Self {
            key,
            canonical,
            limits: Arc::new(Limits::new(deadline, query.max_nodes, query.max_moves)),
            #[cfg(feature = "faults")]
            fault: query.fault,
            state: Mutex::new(State { phase: Phase::Waiting(place), waiters: HashMap::with_capacity(1) }),
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

    /// Whether its answer is kept.
    pub(super) fn is_remembered(&self) -> bool {
        self.key.alone.is_none()
    }

    #[cfg(feature = "faults")]
    pub(super) fn fault(&self) -> Option<super::Fault> {
        self.fault
    }

    /// Makes room for one more who waits.
    fn join(&self, shared: &Shared, state: &mut State, query: &Query, deadline: Instant) {
        self.limits.widen(deadline, query.max_nodes, query.max_moves);
        if let Phase::Waiting(place) = &mut state.phase
            && place.priority() < query.priority
        {
            *place = shared.queue.raise(*place, query.priority);
        }
        shared.flights.coalesced.fetch_add(1, Relaxed);
    }

    /// Begins the search, unless nobody waits for it any more.
    pub(super) fn take_off(&self) -> bool {
        let mut state = self.state();
        let wanted = matches!(state.phase, Phase::Waiting(_));
        if wanted {
            state.phase = Phase::Flying { since: Instant::now() };
        }
        wanted
    }

    /// Answers all who wait; `false` when the search must be made again, since one
    /// who joined after its last look at the limits has widened them.
    #[must_use]
    pub(super) fn land(
        self: &Arc<Self>,
        shared: &Shared,
        landing: &Landing,
        (expanded, generated): (u64, u64),
    ) -> bool {
        let (waiters, flown) = {
            let mut state = self.state();
            if let Landing::Stopped(stop) = landing
                && !self.limits.call_for(*stop, expanded)
            {
                return false;
            }
            let since = match std::mem::replace(&mut state.phase, Phase::Landed) {
                Phase::Flying { since } => since,
                Phase::Waiting(place) => {
                    shared.queue.remove(place);
                    Instant::now()
                }
                Phase::Landed => return true,
            };
            let mut waiters: Vec<Waiter> = std::mem::take(&mut state.waiters).into_values().collect();
            // First come, first answered.
            waiters.sort_unstable_by_key(|waiter| waiter.id);
            (waiters, since)
        };
        shared.flights.map.remove_if(&self.key, |_, flight| Arc::ptr_eq(flight, self));
        let solve_time = flown.elapsed();
        for waiter in waiters {
            shared.clock.forget(waiter.deadline, waiter.id);
            let queue_time = flown.saturating_duration_since(waiter.arrived);
            let statistics = Statistics { queue_time, solve_time, expanded, generated };
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
            Landing::Stopped(Stop::Time) => self.stopped_by(Limit::Time, waiter.max_moves),
            Landing::Stopped(Stop::Nodes | Stop::Kept) => self.stopped_by(Limit::Nodes, waiter.max_moves),
            Landing::Stopped(Stop::Moves) => self.stopped_by(Limit::Moves, waiter.max_moves),
            Landing::Panicked => Verdict::Failed(Failure::Panicked),
        }
    }

    /// What one who waited is told of a search that was stopped: when it has proven
    /// that his own number of moves is too small, just that.
    fn stopped_by(&self, limit: Limit, max_moves: Cost) -> Verdict {
        match self.limits.proven() {
            proven if proven > max_moves => {
                Verdict::LimitReached { limit: Limit::Moves, lower_bound: max_moves + 1 }
            }
            // A flight is never that of a solved board, so one move is proven from the start.
            proven => Verdict::LimitReached { limit, lower_bound: proven.max(1) },
        }
    }

    /// Answers one whose time is over.
    pub(super) fn expire(self: &Arc<Self>, shared: &Shared, waiter: WaiterId) {
        if let Some((waiter, statistics)) = self.leave(shared, waiter) {
            let verdict = self.stopped_by(Limit::Time, waiter.max_moves);
            let source = waiter.source;
            waiter.answer(Answer { verdict, source, statistics });
        }
    }

    /// Takes one away, with what his job has cost so far; the last one stops the search.
    fn leave(self: &Arc<Self>, shared: &Shared, id: WaiterId) -> Option<(Waiter, Statistics)> {
        let (waiter, since, left) = {
            let mut state = self.state();
            let waiter = state.waiters.remove(&id)?;
            let since = if let Phase::Flying { since } = state.phase { Some(since) } else { None };
            let left = state.waiters.is_empty().then(|| std::mem::replace(&mut state.phase, Phase::Landed));
            (waiter, since, left)
        };
        shared.clock.forget(waiter.deadline, waiter.id);
        if let Some(phase) = left {
            self.limits.cancel();
            if let Phase::Waiting(place) = phase {
                shared.queue.remove(place);
            }
            shared.flights.map.remove_if(&self.key, |_, flight| Arc::ptr_eq(flight, self));
        }
        let (expanded, generated) = self.limits.spent();
        let queue_time = since.unwrap_or_else(Instant::now).saturating_duration_since(waiter.arrived);
        let solve_time = since.map_or(Duration::ZERO, |since| since.elapsed());
        Some((waiter, Statistics { queue_time, solve_time, expanded, generated }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that may panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
