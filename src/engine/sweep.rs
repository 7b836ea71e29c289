//! Tables under way: one sweep for each goal, for all who wait for it. It knows
//! neither messages nor boards. A sweep is not cancelled: it is bounded by the boards
//! of nine cells, and what it makes is kept for those who ask next.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use hashbrown::DefaultHashBuilder;
use tokio::sync::OwnedSemaphorePermit;

use super::job::Lost;
use super::queue::{Place, Work};
use super::{Failure, Overload, Priority, Reply, Shared};
use crate::domain::sliding::{Goal, Problem};
use crate::search::Budget;
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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where it waits; `None` once a worker has it.
    place: Option<Place>,
    waiting: Vec<(Reply<Swept>, OwnedSemaphorePermit)>,
    /// Its table is there, or it failed.
    over: bool,
}

/// All sweeps, one for each goal.
#[derive(Default)]
pub(super) struct Sweeps(DashMap<Problem, Arc<Sweep>, DefaultHashBuilder>);

impl Shared {
    /// Has a goal swept for one who waits.
    ///
    /// # Errors
    /// When there is no room in the queue.
    pub(super) fn sweep_for(
        &self,
        goal: &Goal,
        permit: OwnedSemaphorePermit,
        reply: impl FnOnce() -> Reply<Swept>,
    ) -> Result<(), Overload> {
        let sweep = self.sweep(goal, Priority::Normal)?;
        let mut state = sweep.state();
        if state.over {
            // It landed since it was found; its table may not have been kept, but it was found there.
            drop(state);
            return self.sweep_for(goal, permit, reply);
        }
        state.waiting.push((reply(), permit));
        Ok(())
    }

    /// Has a goal swept when there is time, unless there is no room in the queue.
    pub(super) fn sweep_soon(&self, goal: &Goal) {
        if let Err(overload) = self.sweep(goal, Priority::Low) {
            tracing::debug!(%overload, "a goal that is asked often gets no table yet");
        }
    }

    /// The sweep of a goal, which waits now if it did not before.
    fn sweep(&self, goal: &Goal, priority: Priority) -> Result<Arc<Sweep>, Overload> {
        match self.sweeps.0.entry(goal.problem()) {
            Entry::Occupied(entry) => {
                let sweep = Arc::clone(entry.get());
                let mut state = sweep.state();
                if let Some(place) = &mut state.place
                    && place.priority() < priority
                {
                    *place = self.queue.raise(*place, priority);
                }
                drop(state);
                Ok(sweep)
            }
            Entry::Vacant(vacant) => {
                let place = self.queue.next_place(priority);
                let state = State { place: Some(place), ..State::default() };
                let sweep = Arc::new(Sweep { goal: goal.clone(), state: Mutex::new(state) });
                if !self.queue.push(place, Work::Sweep(Arc::clone(&sweep))) {
                    return Err(Overload::Queue { limit: self.queue.max_len() });
                }
                vacant.insert(Arc::clone(&sweep));
                Ok(sweep)
            }
        }
    }
}

impl Sweep {
    /// Makes the table, keeps it, and hands it to all who wait.
    pub(super) fn make(&self, shared: &Shared) {
        self.state().place = None;
        let (layout, board) = (self.goal.frame().layout(), self.goal.board());
        let table = catch_unwind(AssertUnwindSafe(|| Table::sweep(layout, board, &mut Budget::unlimited())));
        let swept = match table {
            Ok(Ok(table)) => Ok(Arc::new(table)),
            Ok(Err(_)) => Err(Failure::Stopped),
            Err(_) => {
                tracing::error!("a sweep panicked");
                Err(Failure::Panicked)
            }
        };
        if let Ok(table) = &swept {
            shared.tables.keep(self.goal.problem(), Arc::clone(table));
        }
        shared.sweeps.0.remove(&self.goal.problem());
        let waiting = {
            let mut state = self.state();
            state.over = true;
            std::mem::take(&mut state.waiting)
        };
        for (reply, permit) in waiting {
            drop(permit);
            reply.send(swept.clone());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that may panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
