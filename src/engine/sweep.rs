//! Tables under way: one sweep for each goal, for all who wait for it. It knows
//! neither messages nor boards. Who leaves takes only itself away; the last one to leave
//! ends a sweep that nobody else asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use hashbrown::{DefaultHashBuilder, HashMap};
use tokio::sync::OwnedSemaphorePermit;

use super::job::Lost;
use super::queue::{Flow, Length, Number};
use super::{Caller, Failure, Overload, Priority, Reply, Shared, Work};
use crate::domain::sliding::{Goal, Problem};
use crate::search::{Budget, Limits};
use crate::table::Table;

/// What comes of waiting for a table.
pub type Swept = Result<Arc<Table>, Failure>;

impl Lost for Swept {
    fn lost() -> Self {
        Err(Failure::Stopped)
    }
}

/// One sweep, waiting or under way.
pub(super) struct Sweep {
    goal: Goal,
    limits: Arc<Limits>,
    /// Its number in the queue.
    number: Number,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Its goal is asked often: it is made even when nobody waits.
    wanted: bool,
    /// Its table is there, or it failed, or everyone left.
    over: bool,
    waiting: HashMap<u64, (Reply<Swept>, OwnedSemaphorePermit)>,
}

/// All sweeps, one for each goal.
#[derive(Default)]
pub(super) struct Sweeps(DashMap<Problem, Arc<Sweep>, DefaultHashBuilder>);

/// A hold on a sweep. Dropping it leaves the sweep without an answer.
pub struct SweepTicket {
    shared: Arc<Shared>,
    sweep: Arc<Sweep>,
    waiter: u64,
}

impl Drop for SweepTicket {
    fn drop(&mut self) {
        self.sweep.leave(&self.shared, self.waiter);
    }
}

/// Has a goal swept for one who waits.
///
/// # Errors
/// When there is no room in the queue.
pub(super) fn sweep_for(
    shared: &Arc<Shared>,
    goal: &Goal,
    caller: Caller,
    permit: OwnedSemaphorePermit,
    reply: impl FnOnce() -> Reply<Swept>,
) -> Result<SweepTicket, Overload> {
    let waiter = shared.flights.next_waiter();
    let sweep = shared.sweeping(goal, caller, Priority::Normal, |state| {
        state.waiting.insert(waiter, (reply(), permit));
    })?;
    Ok(SweepTicket { shared: Arc::clone(shared), sweep, waiter })
}

impl Shared {
    /// Has a goal swept when there is time, unless there is no room in the queue.
    pub(super) fn sweep_soon(&self, goal: &Goal, caller: Caller) {
        if let Err(overload) = self.sweeping(goal, caller, Priority::Low, |state| state.wanted = true) {
            tracing::debug!(%overload, "a goal that is asked often gets no table yet");
        }
    }

    /// The sweep of a goal, under way or begun now, after `join` has joined it.
    fn sweeping(
        &self,
        goal: &Goal,
        caller: Caller,
        priority: Priority,
        join: impl FnOnce(&mut State),
    ) -> Result<Arc<Sweep>, Overload> {
        let flow = Flow { caller, priority, length: Length::Short };
        let entry = self.sweeps.0.entry(goal.problem());
        if let Entry::Occupied(entry) = &entry {
            let sweep = Arc::clone(entry.get());
            let mut state = sweep.state();
            if !state.over {
                join(&mut state);
                self.queue.join(sweep.number, flow);
                drop(state);
                return Ok(sweep);
            }
        }
        let (limits, number) = (Arc::new(Limits::unlimited()), self.queue.next_number());
        let sweep = Arc::new(Sweep { goal: goal.clone(), limits, number, state: Mutex::default() });
        // Joined before it is seen: a worker may take it as soon as it is in the queue.
        let mut state = sweep.state();
        if !self.queue.push(number, flow, Work::Sweep(Arc::clone(&sweep))) {
            return Err(Overload::Queue { limit: self.queue.max_len() });
        }
        join(&mut state);
        drop(state);
        match entry {
            Entry::Occupied(mut over) => drop(over.insert(Arc::clone(&sweep))),
            Entry::Vacant(vacant) => drop(vacant.insert(Arc::clone(&sweep))),
        }
        Ok(sweep)
    }
}

impl Sweep {
    pub(super) fn goal(&self) -> &Goal {
        &self.goal
    }

    /// Makes the table, keeps it, and hands it to all who wait.
    pub(super) fn make(self: &Arc<Self>, shared: &Shared) {
        if self.state().over {
            return;
        }
        if let Some(held) = shared.tables.find(&self.goal) {
            return self.land(shared, &Ok(held.share()));
        }
        let mut budget = Budget::new(Arc::clone(&self.limits));
        let (layout, board) = (self.goal.frame().layout(), self.goal.board());
        // Only a cancel ends it, and then nobody waits.
        let swept = Table::sweep(layout, board, &mut budget).map(Arc::new).map_err(|_| Failure::Stopped);
        if let Ok(table) = &swept {
            shared.tables.keep(&self.goal, Arc::clone(table));
        }
        self.land(shared, &swept);
    }

    /// Answers all who wait.
    pub(super) fn land(self: &Arc<Self>, shared: &Shared, swept: &Swept) {
        let waiting = {
            let mut state = self.state();
            state.over = true;
            std::mem::take(&mut state.waiting)
        };
        shared.sweeps.0.remove_if(&self.goal.problem(), |_, sweep| Arc::ptr_eq(sweep, self));
        for (reply, permit) in waiting.into_values() {
            drop(permit);
            reply.send(swept.clone());
        }
    }

    fn leave(self: &Arc<Self>, shared: &Shared, waiter: u64) {
        let left = {
            let mut state = self.state();
            let left = state.waiting.remove(&waiter);
            if left.is_some() && state.waiting.is_empty() && !state.wanted {
                state.over = true;
                self.limits.cancel();
                shared.queue.remove(self.number);
            }
            left
        };
        if let Some((reply, _)) = left {
            reply.forget();
            let nobody_waits = |_: &Problem, sweep: &Arc<Self>| Arc::ptr_eq(sweep, self) && self.state().over;
            shared.sweeps.0.remove_if(&self.goal.problem(), nobody_waits);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that may panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
