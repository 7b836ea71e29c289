//! IDA* (R. E. Korf, "Depth-first iterative-deepening", 1985) with any admissible
//! heuristic: depth-first searches that go as far as a bound, which after each is the
//! least cost seen beyond it. It keeps one path and nothing else. It knows no puzzle.
//!
//! The bound goes up to the *smallest* cost beyond it, never by a step of its own: on
//! a graph with odd cycles costs of both parities occur. Depth-first in the order of
//! the space, the first path found is the smallest.

use super::{Budget, Outcome, Stop};
use crate::space::{Cost, Guide, Lead, StateSpace};

/// Leads that are followed at once.
const BATCH: usize = 16;

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
    // No path of no moves is left.
    bound = bound.max(1);
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

/// An action of a path, and the number of the one before it.
struct Step<A> {
    action: A,
    before: u32,
}

impl<'s, S: StateSpace, G: Guide<S>> Dive<'s, S, G> {
    fn from(&self, start: &S::State, mark: G::Mark, budget: &mut Budget) -> Result<Dived<S::Action>, Stop> {
        let mut beyond = Cost::MAX;
        let (mut open, mut batch, mut leads, mut ways) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut found = None;
        self.expand(start, None, mark, self.bound, 0, &mut leads, budget)?;
        loop {
            if let Some(out) = self.guide.sift(&mut leads) {
                beyond = beyond.min(self.bound + out);
            }
            open.append(&mut leads);
            let Some(last) = open.last() else { break };
            let last: &Lead<S, G::Mark> = last;
            ways.truncate(last.way as usize);
            batch.extend(open.drain(open.len().saturating_sub(BATCH)..));
            for lead in batch.drain(..) {
                let mut state = lead.state.clone();
                let back = self.space.apply(&mut state, lead.action);
                if lead.left == 0 {
                    if self.space.pack(&state) == self.goal {
                        // What comes after it is of no interest any more.
                        open.clear();
                        leads.clear();
                        found = Some(Self::way(&ways, &lead));
                    } else {
                        beyond = beyond.min(self.bound + 1);
                    }
                    continue;
                }
                ways.push(Step { action: lead.action, before: lead.way });
                self.expand(&state, Some(back), lead.mark, lead.left, ways.len() as u32, &mut leads, budget)?;
            }
        }
        Ok(found.map_or(Dived::Beyond(beyond), Dived::Found))
    }

    fn way(ways: &[Step<S::Action>], lead: &Lead<S, G::Mark>) -> Vec<S::Action> {
        let (mut path, mut way) = (vec![lead.action], lead.way);
        while way > 0 {
            let step: &Step<_> = &ways[way as usize - 1];
            path.push(step.action);
            way = step.before;
        }
        path.reverse();
        path
    }

    #[inline]
    fn expand(
        &self,
        state: &S::State,
        back: Option<S::Action>,
        mark: G::Mark,
        left: Cost,
        way: u32,
        leads: &mut Vec<Lead<S, G::Mark>>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        budget.expand()?;
        for action in self.space.actions(state).rev() {
            if back == Some(action) {
                continue;
            }
            budget.generate();
            leads.push(Lead { state: state.clone(), action, mark, left: left - 1, way });
        }
        Ok(())
    }
}
