//! Breadth-first search from both ends (I. Pohl, "Bi-directional search", 1971):
//! whole levels, the smaller frontier first. It assumes nothing of the state graph
//! but that actions can be taken back; odd cycles do not mislead it.
//!
//! Why the first level that touches the other wave is enough: before it, no state
//! within `f - 1` actions of the start lay within `b` of the goal, so the distance
//! is at least `f + b`; a state that is now in both waves makes it at most that.
//! So every meeting has the least sum, but only when levels are whole.

use super::hash::StateMap;
use super::wave::{NodeId, Wave};
use super::{Budget, Outcome, Stop};
use crate::space::{Cost, StateSpace};

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
        let whole = backward.depth();
        budget.prove(forward.depth() + whole + 1)?;
        let (node, left) = if forward.frontier_len() <= backward.frontier_len() {
            // States come in the order of their smallest paths: the first meeting is the smallest.
            match forward.advance(budget, |_, packed| backward.find(packed).is_some())? {
                Some(node) => (node, whole),
                None => continue,
            }
        } else {
            // Any meeting tells the distance; the smallest is then found from the start's side.
            match backward.advance(budget, |_, packed| forward.find(packed).is_some())? {
                Some(_) => (first_above(space, &forward, &backward, budget)?, whole + 1),
                None => continue,
            }
        };
        let depth_of = |packed: &S::Packed| backward.find(packed).map(|node| backward.depth_of(node));
        let mut path = forward.path_to(node);
        path.extend(descend(space, forward.packed(node), left, depth_of));
        return Ok(Some(path));
    }
    Ok(None)
}

/// The first state of the start's frontier with a successor in the goal's last whole level.
fn first_above<S: StateSpace>(
    space: &S,
    forward: &Wave<S>,
    backward: &Wave<S>,
    budget: &mut Budget,
) -> Result<NodeId, Stop> {
    for node in forward.frontier() {
        budget.expand()?;
        let state = space.unpack(forward.packed(node));
        let touches = |action| {
            budget.generate();
            let mut next = state.clone();
            space.apply(&mut next, action);
            let met = backward.find(&space.pack(&next));
            met.is_some_and(|met| backward.depth_of(met) == backward.depth())
        };
        if space.actions(&state).any(touches) {
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
                let mut next = state.clone();
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
        let mut wave = Wave::new(space, goal);
        let mut depths = StateMap::from_iter([(space.pack(goal), 0)]);
        while depths.len() < enough && wave.frontier_len() > 0 {
            let depth = wave.depth() + 1;
            wave.advance(budget, |_, packed| {
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
        let mut wave = Wave::new(space, start);
        if let Some(distance) = depth_of(&space.pack(start)) {
            budget.prove(distance)?;
            return Ok(Some(descend(space, space.pack(start), distance, depth_of)));
        }
        while !self.complete && wave.frontier_len() > 0 {
            budget.prove(wave.depth() + self.depth + 1)?;
            if let Some(node) = wave.advance(budget, |_, packed| depth_of(packed).is_some())? {
                let mut path = wave.path_to(node);
                path.extend(descend(space, wave.packed(node), self.depth, depth_of));
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}
