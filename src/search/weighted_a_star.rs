//! Weighted A* (I. Pohl, "Heuristic search viewed as path finding in a graph", 1970): a path
//! that is quick to find, and proven to be at most so many times as long as a shortest one.
//! It knows no puzzle.

use super::best_first::{ReachedMap, reach};
use super::{Budget, Outcome};
use crate::space::{Cost, Heuristic, StateSpace};

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
    let (length, reached) = reach(space, heuristic, percent, start, goal, budget)?;
    Ok(length.map(|_| path(space, &reached, *goal)))
}

/// The actions from the start to a state that was reached.
fn path<S: StateSpace>(space: &S, reached: &ReachedMap<S>, mut state: S::State) -> Vec<S::Action> {
    let mut path = Vec::new();
    while let Some(back) = reached[&space.pack(&state)].back {
        path.push(space.apply(&mut state, back));
    }
    path.reverse();
    path
}
