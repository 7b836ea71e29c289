//! Breadth-first search from both ends (I. Pohl, "Bi-directional search", 1971):
//! whole levels, the smaller frontier first. It assumes nothing of the state graph
//! but that actions can be taken back; odd cycles do not mislead it.
//!
//! Why the first level that touches the other wave is enough: before it, no state
//! within `f - 1` actions of the start lay within `b` of the goal, so the distance
//! is at least `f + b`; a state that is now in both waves makes it at most that.
//! So every meeting has the least sum, but only when levels are whole.

use super::hash::StateMap;
use super::wave::{FIRST_STATES, NodeId, Reached, Side, Wave};
use super::{Budget, Outcome, Stop};
use crate::space::{Cost, StateSpace};

/// Room for states of both waves: some times what a search of nine cells needs, since a map
/// that is filled to half takes a quarter longer.
const FIRST_STATES_OF_BOTH: usize = 7 << 11;

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
    if space.pack(start) == space.pack(goal) {
        return Ok(Some(Vec::new()));
    }
    let mut reached = Reached::with_capacity(FIRST_STATES_OF_BOTH);
    let mut forward = Wave::new(space, Side::Forward, start, &mut reached);
    let mut backward = Wave::new(space, Side::Backward, goal, &mut reached);
    while forward.frontier_len() > 0 && backward.frontier_len() > 0 {
        let whole = backward.depth();
        budget.prove(forward.depth() + whole + 1)?;
        let meets_from_start = forward.frontier_len() <= backward.frontier_len();
        // States come in the order of their smallest paths: the start's first meeting is the smallest.
        let wave = if meets_from_start { &mut forward } else { &mut backward };
        let Some(met) = wave.advance(&mut reached, budget, |_| false)? else { continue };
        let depth_of =
            |packed: &S::Packed| reached.find(Side::Backward, packed).map(|node| backward.depth_of(node));
        let (node, left) = if meets_from_start {
            (met, whole)
        } else {
            // Any meeting tells the distance; the smallest is then found from the start's side.
            let touches = |packed: &S::Packed| depth_of(packed) == Some(whole);
            (first_above(space, &forward, touches, budget)?, whole + 1)
        };
        let mut path = forward.path_to(node);
        path.extend(descend(space, forward.packed(node), left, depth_of));
        return Ok(Some(path));
    }
    Ok(None)
}

/// The first state of the start's frontier with a successor that touches the goal's last whole level.
fn first_above<S: StateSpace>(
    space: &S,
    forward: &Wave<S>,
    touches: impl Fn(&S::Packed) -> bool,
    budget: &mut Budget,
) -> Result<NodeId, Stop> {
    for node in forward.frontier() {
        budget.expand()?;
        let state = space.unpack(forward.packed(node));
        let leads_there = |action| {
            budget.generate();
            let mut next = state;
            space.apply(&mut next, action);
            touches(&space.pack(&next))
        };
        if space.actions(&state).any(leads_there) {
            return Ok(node);
        }
    }
    unreachable!("the goal's wave has just touched this frontier")
}

/// The smallest path to the goal from a state that is `depth` above it: at each state
/// the first action that leads one level down. `depth_of` knows the states below.
fn descend<S: StateSpace>(
    space: &S,
    from: S::Packed,
    mut depth: Cost,
    depth_of: impl Fn(&S::Packed) -> Option<Cost>,
) -> Vec<S::Action> {
    let mut state = space.unpack(from);
    let mut path = Vec::with_capacity(depth as usize);
    while depth > 0 {
        depth -= 1;
        let (action, next) = space
            .actions(&state)
            .find_map(|action| {
                let mut next = state;
                space.apply(&mut next, action);
                (depth_of(&space.pack(&next)) == Some(depth)).then_some((action, next))
            })
            .expect("the parent of a state stands one level below it");
        path.push(action);
        state = next;
    }
    path
}

/// The goal's side of the search, made once and shared by searches from many starts.
pub struct GoalHalf<S: StateSpace> {
    depths: StateMap<S::Packed, Cost>,
    /// The deepest level, which is whole.
    depth: Cost,
    /// Whether nothing lies beyond it.
    complete: bool,
}

impl<S: StateSpace> GoalHalf<S> {
    /// Whole levels around `goal`, until they hold `enough` states or there are no more.
    ///
    /// # Errors
    /// The budget's [`Stop`].
    pub fn new(space: &S, goal: &S::State, enough: usize, budget: &mut Budget) -> Result<Self, Stop> {
        let mut reached = Reached::with_capacity(FIRST_STATES);
        let mut wave = Wave::new(space, Side::Backward, goal, &mut reached);
        let mut depths = StateMap::from_iter([(space.pack(goal), 0)]);
        while depths.len() < enough && wave.frontier_len() > 0 {
            let depth = wave.depth() + 1;
            wave.advance(&mut reached, budget, |packed| {
                depths.insert(*packed, depth);
                false
            })?;
        }
        Ok(Self { depths, depth: wave.depth(), complete: wave.frontier_len() == 0 })
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.depths.allocation_size()
    }

    /// The smallest shortest path from `start` to the goal of this half.
    ///
    /// # Errors
    /// The budget's [`Stop`]; the proven bound is then the sum of the whole levels and one.
    pub fn search(&self, space: &S, start: &S::State, budget: &mut Budget) -> Outcome<S::Action> {
        let depth_of = |packed: &S::Packed| self.depths.get(packed).copied();
        let mut reached = Reached::with_capacity(FIRST_STATES);
        let mut wave = Wave::new(space, Side::Forward, start, &mut reached);
        if let Some(distance) = depth_of(&space.pack(start)) {
            budget.prove(distance)?;
            return Ok(Some(descend(space, space.pack(start), distance, depth_of)));
        }
        while !self.complete && wave.frontier_len() > 0 {
            budget.prove(wave.depth() + self.depth + 1)?;
            if let Some(node) = wave.advance(&mut reached, budget, |packed| depth_of(packed).is_some())? {
                let mut path = wave.path_to(node);
                path.extend(descend(space, wave.packed(node), self.depth, depth_of));
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}
