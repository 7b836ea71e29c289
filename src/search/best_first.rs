//! Best-first search by `g + w h`, the loop of A* and of weighted A*. A state is opened again
//! when a shorter way to it turns up. What is on the open list counts as kept, once for each way. It
//! knows no puzzle.
//!
//! Some state on a shortest path is always open, and its `g + w h` is at most `w` times the distance
//! when `h` is admissible. So the least of the open list, divided by `w`, is a lower bound.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::{Budget, Stop};
use crate::space::{Cost, Heuristic, StateSpace};

/// Least rank first, and among equals the last one put in, which tends to be deepest.
struct Open<P>(BTreeMap<Cost, Vec<(P, Cost)>>);

impl<P> Open<P> {
    fn push(&mut self, rank: Cost, packed: P, g: Cost) {
        self.0.entry(rank).or_default().push((packed, g));
    }

    fn pop(&mut self) -> Option<(Cost, P, Cost)> {
        let mut first = self.0.first_entry()?;
        let rank = *first.key();
        let (packed, g) = first.get_mut().pop().expect("empty buckets are removed");
        if first.get().is_empty() {
            first.remove();
        }
        Some((rank, packed, g))
    }
}

/// How a state was reached: in how many actions, and what leads back; the start has none.
pub(super) struct Reached<A> {
    pub(super) g: Cost,
    pub(super) back: Option<A>,
}

/// The states that were reached, each by the shortest way so far.
pub(super) type ReachedMap<S> = HashMap<<S as StateSpace>::Packed, Reached<<S as StateSpace>::Action>>;

/// The actions of a way from `start` to the goal of `heuristic`, at most `percent` / 100 times as
/// many as those of a shortest one, where `percent` is at least 100; and all that was reached.
///
/// # Errors
/// The budget's [`Stop`]; proven is then what the least of the open list says.
pub(super) fn reach<S: StateSpace, H: Heuristic<S>>(
    space: &S,
    heuristic: &H,
    percent: Cost,
    start: &S::State,
    goal: &S::State,
    budget: &mut Budget,
) -> Result<(Option<Cost>, ReachedMap<S>), Stop> {
    let goal = space.pack(goal);
    let rank = |g: Cost, state: &S::State| 100 * g + percent * heuristic.estimate(state);
    let mut open = Open(BTreeMap::new());
    let mut reached = ReachedMap::<S>::from([(space.pack(start), Reached { g: 0, back: None })]);
    open.push(rank(0, start), space.pack(start), 0);
    while let Some((least, packed, g)) = open.pop() {
        if reached[&packed].g < g {
            continue;
        }
        budget.prove(least.div_ceil(percent))?;
        if packed == goal {
            return Ok((Some(g), reached));
        }
        budget.expand()?;
        let state = space.unpack(packed);
        for action in space.actions(&state) {
            budget.generate();
            let mut next = state;
            let back = Some(space.apply(&mut next, action));
            let packed = space.pack(&next);
            if reached.get(&packed).is_some_and(|known| known.g <= g + 1) {
                continue;
            }
            budget.keep()?;
            reached.insert(packed, Reached { g: g + 1, back });
            open.push(rank(g + 1, &next), packed, g + 1);
        }
    }
    Ok((None, reached))
}
