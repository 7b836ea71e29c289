//! IDA* (R. E. Korf, "Depth-first iterative-deepening", 1985) with any admissible
//! heuristic: depth-first searches that go as far as a bound, which after each is the
//! least cost seen beyond it. It keeps a few paths and nothing else. It knows no puzzle.
//!
//! The bound goes up to the *smallest* cost beyond it, never by a step of its own: on
//! a graph with odd cycles costs of both parities occur.
//!
//! What is open stands on a stack in the order of the paths, the smallest on top, and some of
//! the top are taken at once: a guide that waits for the memory then waits for many together. Once
//! a path is found only what comes before it is gone on with, so the last one is the smallest.

use std::iter;

use super::{Budget, Outcome, Stop};
use crate::space::{Cost, Guide, Lead, StateSpace};

/// Leads that are taken at once. From six to thirty-two it is as fast; the more are taken, the more
/// nodes beside the last path.
const TAKEN_AT_ONCE: usize = 12;

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
        let mut dive = Dive::new(space, guide, goal, bound);
        dive.begin(start, mark, budget)?;
        dive.go(budget)?;
        match (dive.found, dive.beyond) {
            (Some(path), _) => return Ok(Some(path)),
            (None, Some(cost)) => bound = cost,
            (None, None) => return Ok(None),
        }
    }
}

/// One depth-first search, as far as a bound.
struct Dive<'s, S: StateSpace, G: Guide<S>> {
    space: &'s S,
    guide: &'s G,
    goal: S::Packed,
    bound: Cost,
    /// What is still to be followed, and what is within the bound and still to be expanded.
    leads: Vec<Lead<S, G::Mark>>,
    open: Vec<Lead<S, G::Mark>>,
    /// How the states that were expanded were come to; those of the open ones are kept. Later
    /// ones belong to smaller paths, so all after that of the topmost open one are done with.
    steps: Vec<Step<S::Action>>,
    found: Option<Vec<S::Action>>,
    /// The least cost seen beyond the bound.
    beyond: Option<Cost>,
}

/// The last action of a way, and the way before it: how many [steps](Dive::steps) there were with its last.
struct Step<A> {
    action: A,
    before: u32,
}

impl<'s, S: StateSpace, G: Guide<S>> Dive<'s, S, G> {
    fn new(space: &'s S, guide: &'s G, goal: S::Packed, bound: Cost) -> Self {
        let (leads, open, steps) = (Vec::new(), Vec::new(), Vec::new());
        Self { space, guide, goal, bound, leads, open, steps, found: None, beyond: None }
    }

    fn begin(&mut self, start: &S::State, mark: G::Mark, budget: &mut Budget) -> Result<(), Stop> {
        budget.expand()?;
        for action in self.space.actions(start).rev() {
            budget.generate();
            self.leads.push(Lead { state: *start, action, mark, left: self.bound - 1, way: 0 });
        }
        Ok(())
    }

    fn go(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let mut taken = Vec::with_capacity(TAKEN_AT_ONCE);
        loop {
            if let Some(out) = self.guide.sift(&mut self.leads) {
                self.see_beyond(self.bound + out);
            }
            self.open.append(&mut self.leads);
            let Some(last) = self.open.last() else { return Ok(()) };
            self.steps.truncate(last.way as usize);
            taken.extend(self.open.drain(self.open.len().saturating_sub(TAKEN_AT_ONCE)..));
            for lead in &taken {
                if lead.left > 0 {
                    self.expand(lead, budget)?;
                } else {
                    self.arrive(lead);
                }
            }
            taken.clear();
        }
    }

    /// Goes where a lead leads to, and adds what leads on from there.
    #[inline]
    fn expand(&mut self, lead: &Lead<S, G::Mark>, budget: &mut Budget) -> Result<(), Stop> {
        budget.expand()?;
        self.steps.push(Step { action: lead.action, before: lead.way });
        let way = u32::try_from(self.steps.len()).expect("a path, and a few beside each of its steps");
        let mut state = lead.state;
        let back = self.space.apply(&mut state, lead.action);
        for action in self.space.actions(&state).rev().filter(|&action| action != back) {
            budget.generate();
            // Copied, then changed in its place: a copy of what was just written would wait for it.
            let at = self.leads.len();
            self.leads.push(*lead);
            let next = &mut self.leads[at];
            next.state = state;
            next.action = action;
            next.left = lead.left - 1;
            next.way = way;
        }
        Ok(())
    }

    /// Goes where a lead leads to that takes the last move of the bound.
    fn arrive(&mut self, lead: &Lead<S, G::Mark>) {
        let mut state = lead.state;
        self.space.apply(&mut state, lead.action);
        if self.space.pack(&state) == self.goal {
            self.found = Some(self.path(lead));
            // What is left there comes after it.
            self.open.clear();
            self.leads.clear();
        } else {
            // No path is shorter than the bound, so a goal that is nearer was never passed.
            self.see_beyond(self.bound + 1);
        }
    }

    fn path(&self, last: &Lead<S, G::Mark>) -> Vec<S::Action> {
        let step = |way: u32| way.checked_sub(1).map(|number| &self.steps[number as usize]);
        let steps = iter::successors(step(last.way), |before| step(before.before));
        let mut path: Vec<_> = iter::once(last.action).chain(steps.map(|step| step.action)).collect();
        path.reverse();
        path
    }

    fn see_beyond(&mut self, cost: Cost) {
        self.beyond = Some(self.beyond.map_or(cost, |beyond| beyond.min(cost)));
    }
}
