//! IDA* (R. E. Korf, "Depth-first iterative-deepening", 1985) with any admissible
//! heuristic: depth-first searches that go as far as a bound, which after each is the
//! least cost seen beyond it. It keeps one path and nothing else, so memory is no
//! limit. It knows no puzzle.
//!
//! The bound goes up to the *smallest* cost beyond it, never by a step of its own: on
//! a graph with odd cycles costs of both parities occur. Depth-first in the order of
//! the space, the first path found is the smallest.

use super::{Budget, Outcome, Stop};
use crate::space::{Cost, Guide, StateSpace};

/// The smallest shortest path from `start` to the goal of `guide`. Where there is no
/// path it may search for ever: only what can be solved, or is under a budget, is for it.
///
/// # Errors
/// The budget's [`Stop`]; the proven bound is then that of the last search that was finished.
pub fn search<S: StateSpace, G: Guide<S>>(
    space: &S,
    guide: &G,
    start: &S::State,
    goal: &S::State,
    budget: &mut Budget,
) -> Outcome<S::Action> {
    let (mark, mut bound) = guide.mark(start);
    let goal = space.pack(goal);
    loop {
        budget.prove(bound)?;
        let mut dive = Dive { space, guide, goal, budget, beyond: Cost::MAX, path: Vec::new() };
        if dive.from(start, None, &mark, bound)? {
            let mut path = dive.path;
            path.reverse();
            return Ok(Some(path));
        }
        match dive.beyond {
            Cost::MAX => return Ok(None),
            beyond => bound += beyond,
        }
    }
}

/// One depth-first search.
struct Dive<'d, S: StateSpace, G> {
    space: &'d S,
    guide: &'d G,
    goal: S::Packed,
    budget: &'d mut Budget,
    /// By how much the least cost beyond the bound is beyond it.
    beyond: Cost,
    /// The actions to the goal, last first.
    path: Vec<S::Action>,
}

impl<S: StateSpace, G: Guide<S>> Dive<'_, S, G> {
    /// Whether the goal is `left` actions from a state of which it was reached by what `back` undoes.
    fn from(
        &mut self,
        state: &S::State,
        back: Option<S::Action>,
        mark: &G::Mark,
        left: Cost,
    ) -> Result<bool, Stop> {
        // No path is shorter than the bound, so a goal nearer than `left` was never passed.
        if left == 0 {
            let found = self.space.pack(state) == self.goal;
            self.beyond = if found { self.beyond } else { self.beyond.min(1) };
            return Ok(found);
        }
        self.budget.expand()?;
        for action in self.space.actions(state).filter(|&action| Some(action) != back) {
            self.budget.generate();
            match self.guide.follow(mark, state, action, left - 1) {
                Err(estimate) => self.beyond = self.beyond.min(estimate - (left - 1)),
                Ok(mark) => {
                    let mut next = state.clone();
                    let back = self.space.apply(&mut next, action);
                    if self.from(&next, Some(back), &mark, left - 1)? {
                        self.path.push(action);
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}
