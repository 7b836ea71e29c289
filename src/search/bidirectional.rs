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
        budget.prove(forward.depth() + backward.depth() + 1)?;
        let meeting = if forward.frontier_len() <= backward.frontier_len() {
            // States come in the order of their smallest paths: the first meeting is the smallest.
            forward.advance(budget, |_, packed| backward.find(packed).is_some())?
        } else {
            smallest_meeting(&forward, &mut backward, budget)?
        };
        if let Some(node) = meeting {
            let mut path = forward.path_to(node);
            let depth_of = |packed: &S::Packed| backward.find(packed).map(|node| backward.depth_of(node));
            path.extend(descend(space, forward.packed(node), depth_of));
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

/// The smallest path from a state of the goal's side to the goal: at each state the
/// first action that leads one level down.
fn descend<S: StateSpace>(
    space: &S,
    from: S::Packed,
    depth_of: impl Fn(&S::Packed) -> Option<Cost>,
) -> Vec<S::Action> {
    let mut state = space.unpack(from);
    let mut depth = depth_of(&from).expect("the two sides meet here");
    let mut path = Vec::new();
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
            return Ok(Some(descend(space, space.pack(start), depth_of)));
        }
        while !self.complete && wave.frontier_len() > 0 {
            budget.prove(wave.depth() + self.depth + 1)?;
            if let Some(node) = wave.advance(budget, |_, packed| depth_of(packed).is_some())? {
                let mut path = wave.path_to(node);
                path.extend(descend(space, wave.packed(node), depth_of));
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}
