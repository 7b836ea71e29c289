//! Breadth-first search from one end, and the number of states at each depth.
//! The reference for every other search (E. F. Moore, "The shortest path through
//! a maze", 1959). It knows no goal but the one it is given.

use super::wave::{FIRST_STATES, Reached, Side, Wave};
use super::{Budget, Outcome, Stop};
use crate::space::StateSpace;

/// The smallest shortest path from `start` to `goal`.
///
/// # Errors
/// The budget's [`Stop`]; the proven bound is then the first level not finished.
pub fn search<S: StateSpace>(
    space: &S,
    start: &S::State,
    goal: &S::State,
    budget: &mut Budget,
) -> Outcome<S::Action> {
    let goal = space.pack(goal);
    if space.pack(start) == goal {
        return Ok(Some(Vec::new()));
    }
    let mut reached = Reached::with_capacity(FIRST_STATES);
    let mut wave = Wave::new(space, Side::Forward, start, &mut reached);
    while wave.frontier_len() > 0 {
        budget.prove(wave.depth() + 1)?;
        if let Some(node) = wave.advance(&mut reached, budget, |packed| *packed == goal)? {
            return Ok(Some(wave.path_to(node)));
        }
    }
    Ok(None)
}

/// The number of states at each depth from `root`, from depth 0 to the farthest.
///
/// # Errors
/// The budget's [`Stop`].
pub fn levels<S: StateSpace>(space: &S, root: &S::State, budget: &mut Budget) -> Result<Vec<u64>, Stop> {
    let mut reached = Reached::with_capacity(FIRST_STATES);
    let mut wave = Wave::new(space, Side::Forward, root, &mut reached);
    let mut counts = Vec::new();
    while wave.frontier_len() > 0 {
        counts.push(wave.frontier_len() as u64);
        wave.advance(&mut reached, budget, |_| false)?;
    }
    Ok(counts)
}

/// Every state that can be reached from `root`, with its depth, level by level.
///
/// # Errors
/// The budget's [`Stop`].
pub fn sweep<S: StateSpace>(
    space: &S,
    root: &S::State,
    budget: &mut Budget,
    mut visit: impl FnMut(S::Packed, crate::space::Cost),
) -> Result<(), Stop> {
    let mut reached = Reached::with_capacity(FIRST_STATES);
    let mut wave = Wave::new(space, Side::Forward, root, &mut reached);
    visit(space.pack(root), 0);
    while wave.frontier_len() > 0 {
        let depth = wave.depth() + 1;
        wave.advance(&mut reached, budget, |packed| {
            visit(*packed, depth);
            false
        })?;
    }
    Ok(())
}
