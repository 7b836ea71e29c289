//! IDA* (R. E. Korf, "Depth-first iterative-deepening", 1985) with any admissible
//! heuristic: depth-first searches that go as far as a bound, which after each is the
//! least cost seen beyond it. It keeps one path and nothing else. It knows no puzzle.
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
    if space.pack(start) == goal {
        return Ok(Some(Vec::new()));
    }
    // No path of no moves is left, nor one that an earlier try has ruled out.
    bound = bound.max(budget.proven()).max(1);
    loop {
        budget.prove(bound)?;
        let dive = Dive { space, guide, goal, bound };
        match dive.from(start, mark, budget)? {
            Dived::Found(path) => return Ok(Some(path)),
            Dived::Beyond(Cost::MAX) => return Ok(None),
            Dived::Beyond(cost) => bound = cost,
        }
    }
}

/// One depth-first search, as far as a bound.
struct Dive<'s, S: StateSpace, G> {
    space: &'s S,
    guide: &'s G,
    goal: S::Packed,
    bound: Cost,
}

/// What came of it.
enum Dived<A> {
    /// The path.
    Found(Vec<A>),
    /// The least cost seen beyond the bound.
    Beyond(Cost),
}

/// A state on the way, and what is left to try there. The way is kept on the heap: where
/// there is hardly a choice it grows as long as the budget lets it.
struct Step<'s, S: StateSpace + 's, M> {
    state: S::State,
    mark: M,
    /// The action that led here, and the one that takes it back; the start has none.
    came: Option<(S::Action, S::Action)>,
    actions: S::Actions<'s>,
}

impl<'s, S: StateSpace, G: Guide<S>> Dive<'s, S, G> {
    fn from(&self, start: &S::State, mark: G::Mark, budget: &mut Budget) -> Result<Dived<S::Action>, Stop> {
        let mut beyond = Cost::MAX;
        let mut way = vec![self.step(start.clone(), mark, None, budget)?];
        let mut left = self.bound;
        while let Some(Step { state, mark, came, actions }) = way.last_mut() {
            let Some(action) = actions.next() else {
                way.pop();
                left += 1;
                continue;
            };
            if came.is_some_and(|(_, back)| back == action) {
                continue;
            }
            budget.generate();
            match self.guide.follow(mark, state, action, left - 1) {
                Err(estimate) => beyond = beyond.min(self.bound - left + 1 + estimate),
                Ok(mark) => {
                    let mut next = state.clone();
                    let back = self.space.apply(&mut next, action);
                    if left > 1 {
                        way.push(self.step(next, mark, Some((action, back)), budget)?);
                        left -= 1;
                    } else if self.space.pack(&next) == self.goal {
                        let path = way.iter().filter_map(|step| step.came.map(|(action, _)| action));
                        return Ok(Dived::Found(path.chain([action]).collect()));
                    } else {
                        // No path is shorter than the bound, so a goal that is nearer was never passed.
                        beyond = beyond.min(self.bound + 1);
                    }
                }
            }
        }
        Ok(Dived::Beyond(beyond))
    }

    fn step(
        &self,
        state: S::State,
        mark: G::Mark,
        came: Option<(S::Action, S::Action)>,
        budget: &mut Budget,
    ) -> Result<Step<'s, S, G::Mark>, Stop> {
        budget.expand()?;
        Ok(Step { actions: self.space.actions(&state), state, mark, came })
    }
}
