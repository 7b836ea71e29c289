//! Weighted A* (I. Pohl, "Heuristic search viewed as path finding in a graph", 1970): a path
//! that is quick to find, and proven to be at most so many times as long as a shortest one.
//! It knows no puzzle.
//!
//! Why: some state on a shortest path is always open, and its `g + w h` is at most `w` times
//! the distance. So the least of the open list, divided by `w`, is a lower bound; at the goal
//! that is the length of the path found, divided by `w`. A state is opened again when a shorter way to
//! it turns up, so an admissible heuristic is enough.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::{Budget, Outcome};
use crate::space::{Cost, Heuristic, StateSpace};

/// How a state was reached: in how many actions, and what leads back; the start has none.
struct Reached<A> {
    g: Cost,
    back: Option<A>,
}

/// A path from `start` to the goal of `heuristic`, at most `percent` / 100 times as long as a shortest
/// one, where `percent` is at least 100. Always the same one, but not the smallest.
///
/// # Errors
/// The budget's [`Stop`](super::Stop); proven is then what the least of the open list says.
pub fn search<S: StateSpace, H: Heuristic<S>>(
    space: &S,
    heuristic: &H,
    percent: Cost,
    start: &S::State,
    goal: &S::State,
    budget: &mut Budget,
) -> Outcome<S::Action> {
    let goal = space.pack(goal);
    let rank = |g: Cost, state: &S::State| 100 * g + percent * heuristic.estimate(state);
    let mut reached = HashMap::from([(space.pack(start), Reached { g: 0, back: None })]);
    // Least first, and among equals the last one put in, which tends to be deepest.
    let mut open = BTreeMap::from([(rank(0, start), vec![(space.pack(start), 0)])]);
    while let Some(mut first) = open.first_entry() {
        let least = *first.key();
        let Some((packed, g)) = first.get_mut().pop() else {
            first.remove();
            continue;
        };
        if reached[&packed].g < g {
            continue;
        }
        budget.prove(least.div_ceil(percent))?;
        if packed == goal {
            return Ok(Some(path(space, &reached, space.unpack(goal))));
        }
        budget.expand()?;
        let state = space.unpack(packed);
        for action in space.actions(&state) {
            budget.generate();
            let mut next = state;
            let back = Some(space.apply(&mut next, action));
            let packed = space.pack(&next);
            match reached.entry(packed) {
                Entry::Occupied(known) if known.get().g <= g + 1 => continue,
                Entry::Occupied(mut known) => *known.get_mut() = Reached { g: g + 1, back },
                Entry::Vacant(vacant) => {
                    budget.keep()?;
                    vacant.insert(Reached { g: g + 1, back });
                }
            }
            open.entry(rank(g + 1, &next)).or_default().push((packed, g + 1));
        }
    }
    Ok(None)
}

/// The actions from the start to a state that was reached.
fn path<S: StateSpace>(
    space: &S,
    reached: &HashMap<S::Packed, Reached<S::Action>>,
    mut state: S::State,
) -> Vec<S::Action> {
    let mut path = Vec::new();
    while let Some(back) = reached[&space.pack(&state)].back {
        path.push(space.apply(&mut state, back));
    }
    path.reverse();
    path
}
