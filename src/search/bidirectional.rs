//! Breadth-first search from both ends (I. Pohl, "Bi-directional search", 1971):
//! whole levels, the smaller frontier first. It assumes nothing of the state graph
//! but that actions can be taken back; odd cycles do not mislead it.
//!
//! Why the first level that touches the other wave is enough: before it, no state
//! within `f - 1` actions of the start lay within `b` of the goal, so the distance
//! is at least `f + b`; a state that is now in both waves makes it at most that.
//! So every meeting has the least sum, but only when levels are whole.

use super::wave::{NodeId, Wave};
use super::{Budget, Outcome, Stop};
use crate::space::StateSpace;

/// The smallest shortest path from `start` to `goal`.
///
/// # Errors
/// The budget's [`Stop`]; the proven bound is then the sum of the whole levels and one.
pub fn search<S: StateSpace>(
    space: &S,
    start: &S::State,
    goal: &S::State,
    budget: &mut Budget,
) -> Outcome<S::Action> {
    let (mut forward, mut backward) = (Wave::new(space, start), Wave::new(space, goal));
    if forward.find(&space.pack(goal)).is_some() {
        return Ok(Some(Vec::new()));
    }
    while forward.frontier_len() > 0 && backward.frontier_len() > 0 {
        budget.prove(forward.depth() + backward.depth() + 1)?;
        let meeting = if forward.frontier_len() <= backward.frontier_len() {
            // States come in the order of their smallest paths: the first meeting is the smallest.
            forward.advance(budget, |_, packed| backward.find(packed).is_some())?
        } else {
            smallest_meeting(&forward, &mut backward, budget)?
        };
        if let Some(node) = meeting {
            let mut path = forward.path_to(node);
            path.extend(descend(space, forward.packed(node), &backward));
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Advances the goal's wave by a level and returns, of the start's nodes it meets,
/// the one with the smallest path.
fn smallest_meeting<S: StateSpace>(
    forward: &Wave<S>,
    backward: &mut Wave<S>,
    budget: &mut Budget,
) -> Result<Option<NodeId>, Stop> {
    let mut smallest = None;
    backward.advance(budget, |_, packed| {
        if let Some(node) = forward.find(packed) {
            smallest = Some(smallest.map_or(node, |least: NodeId| least.min(node)));
        }
        false
    })?;
    Ok(smallest)
}

/// The smallest path from a state of the goal's wave to the goal: at each state the
/// first action that leads one level down.
fn descend<S: StateSpace>(space: &S, from: S::Packed, wave: &Wave<S>) -> Vec<S::Action> {
    let mut state = space.unpack(from);
    let mut depth = wave.depth_of(wave.find(&from).expect("the waves meet here"));
    let mut path = Vec::new();
    while depth > 0 {
        depth -= 1;
        let (action, next) = space
            .actions(&state)
            .find_map(|action| {
                let mut next = state.clone();
                space.apply(&mut next, action);
                let node = wave.find(&space.pack(&next))?;
                (wave.depth_of(node) == depth).then_some((action, next))
            })
            .expect("the parent of a node stands one level below it");
        path.push(action);
        state = next;
    }
    path
}
