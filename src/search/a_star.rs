//! A* (Hart, Nilsson and Raphael, 1968) with any admissible heuristic. A state is
//! closed when it is taken from the open list, not when it is put there, and is
//! opened again when a shorter way to it turns up. What is on the open list counts as
//! kept, once for each way. It knows no puzzle.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::smallest_path::smallest_path;
use super::{Budget, Outcome, Stop};
use crate::space::{Cost, Heuristic, StateSpace};

/// Least `f` first, and among equals the last one put in, which tends to be deepest.
struct Open<P>(BTreeMap<Cost, Vec<(P, Cost)>>);

impl<P> Open<P> {
    fn push(&mut self, f: Cost, packed: P, g: Cost) {
        self.0.entry(f).or_default().push((packed, g));
    }

    fn pop(&mut self) -> Option<(Cost, P, Cost)> {
        let mut first = self.0.first_entry()?;
        let f = *first.key();
        let (packed, g) = first.get_mut().pop().expect("empty buckets are removed");
        if first.get().is_empty() {
            first.remove();
        }
        Some((f, packed, g))
    }
}

#[derive(Clone, Copy)]
struct Reached {
    g: Cost,
    closed: bool,
}

/// The smallest shortest path from `start` to the goal of `heuristic`.
///
/// # Errors
/// The budget's [`Stop`]; the proven bound is then the least `f` on the open list.
pub fn search<S: StateSpace, H: Heuristic<S>>(
    space: &S,
    heuristic: &H,
    start: &S::State,
    goal: &S::State,
    budget: &mut Budget,
) -> Outcome<S::Action> {
    let mut reached = HashMap::new();
    match distance(space, heuristic, start, goal, budget, &mut reached)? {
        None => Ok(None),
        Some(length) => {
            let longer = |packed, g| reached.get(&packed).is_some_and(|known: &Reached| known.g < g);
            smallest_path(space, heuristic, longer, start, goal, length, budget).map(Some)
        }
    }
}

fn distance<S: StateSpace, H: Heuristic<S>>(
    space: &S,
    heuristic: &H,
    start: &S::State,
    goal: &S::State,
    budget: &mut Budget,
    reached: &mut HashMap<S::Packed, Reached>,
) -> Result<Option<Cost>, Stop> {
    let goal = space.pack(goal);
    let mut open = Open(BTreeMap::new());
    reached.insert(space.pack(start), Reached { g: 0, closed: false });
    open.push(heuristic.estimate(start), space.pack(start), 0);
    while let Some((f, packed, g)) = open.pop() {
        let known = reached.get_mut(&packed).expect("what is open was reached");
        if known.closed || known.g < g {
            continue;
        }
        known.closed = true;
        budget.prove(f)?;
        if packed == goal {
            return Ok(Some(g));
        }
        budget.expand()?;
        let state = space.unpack(packed);
        for action in space.actions(&state) {
            budget.generate();
            let mut next = state;
            space.apply(&mut next, action);
            let packed = space.pack(&next);
            if reached.get(&packed).is_some_and(|known| known.g <= g + 1) {
                continue;
            }
            budget.keep()?;
            reached.insert(packed, Reached { g: g + 1, closed: false });
            open.push(g + 1 + heuristic.estimate(&next), packed, g + 1);
        }
    }
    Ok(None)
}
