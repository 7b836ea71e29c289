//! The smallest path of a length that is known to be the distance: a depth-first
//! walk in the order of the space, cut off by an admissible heuristic. It proves
//! nothing about the length.

use hashbrown::HashMap;

use super::{Budget, Stop};
use crate::space::{Cost, Heuristic, StateSpace};

/// One state on the walk, and what is left to try there.
struct Step<'s, S: StateSpace + 's> {
    state: S::State,
    actions: S::Actions<'s>,
}

/// The first path from `start` to `goal` with `length` actions, in the order of the
/// space. `longer(state, g)` may say that `state` is known to be nearer to `start`
/// than `g`, so that no shortest path visits it there.
///
/// # Errors
/// The budget's [`Stop`].
pub(super) fn smallest_path<S: StateSpace, H: Heuristic<S>>(
    space: &S,
    heuristic: &H,
    longer: impl Fn(S::Packed, Cost) -> bool,
    start: &S::State,
    goal: &S::State,
    length: Cost,
    budget: &mut Budget,
) -> Result<Vec<S::Action>, Stop> {
    let goal = space.pack(goal);
    // The least depth at which a state was walked through without reaching the goal.
    let mut failed: HashMap<S::Packed, Cost> = HashMap::new();
    let mut walk = vec![Step::<S> { state: *start, actions: space.actions(start) }];
    let mut path = Vec::new();
    if length > 0 {
        budget.expand()?;
    }
    while path.len() < length as usize {
        let step = walk.last_mut().expect("a path of this length exists");
        let g = Cost::try_from(path.len()).expect("below `length`") + 1;
        let Some(action) = step.actions.next() else {
            budget.keep()?;
            failed.insert(space.pack(&step.state), g - 1);
            walk.pop();
            path.pop();
            continue;
        };
        budget.generate();
        let mut next = step.state;
        space.apply(&mut next, action);
        let packed = space.pack(&next);
        let hopeless = g + heuristic.estimate(&next) > length
            || longer(packed, g)
            || failed.get(&packed).is_some_and(|&depth| depth <= g)
            || (g == length && packed != goal);
        if hopeless {
            continue;
        }
        if g < length {
            budget.expand()?;
        }
        path.push(action);
        walk.push(Step { actions: space.actions(&next), state: next });
    }
    Ok(path)
}
