//! A* (Hart, Nilsson and Raphael, 1968) with any admissible heuristic. It knows no puzzle.

use super::best_first::reach;
use super::smallest_path::smallest_path;
use super::{Budget, Outcome};
use crate::space::{Heuristic, StateSpace};

/// The smallest shortest path from `start` to the goal of `heuristic`.
///
/// # Errors
/// The budget's [`Stop`](super::Stop); the proven bound is then the least `f` on the open list.
pub fn search<S: StateSpace, H: Heuristic<S>>(
    space: &S,
    heuristic: &H,
    start: &S::State,
    goal: &S::State,
    budget: &mut Budget,
) -> Outcome<S::Action> {
    let (length, reached) = reach(space, heuristic, 100, start, goal, budget)?;
    let Some(length) = length else { return Ok(None) };
    let longer = |packed, g| reached.get(&packed).is_some_and(|known| known.g < g);
    smallest_path(space, heuristic, longer, start, goal, length, budget).map(Some)
}
