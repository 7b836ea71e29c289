//! A breadth-first wave: every state within some number of actions of its root,
//! in the order in which breadth-first search reaches them. Searches from one and
//! from both ends are made of waves; a wave knows no goal. What is reached stands in a
//! map beside it, which two waves share: so one look tells what is new from what is
//! known, and from where they meet.
//!
//! Order: within a level, states stand in the order of the smallest path to them.
//! (By induction: a state is reached first from the parent whose own path is the
//! smallest, by the first action that leads there.)

use std::hash::Hash;
use std::ops::Range;

use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;

use super::hash::StateMap;
use super::{Budget, Stop};
use crate::space::{Cost, StateSpace};

/// A state's place in its wave.
pub(super) type NodeId = u32;

/// Of two waves that share a map, which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The start's, or the only one.
    Forward,
    /// The goal's.
    Backward,
}

/// Which wave has reached a state, and where it stands there, the side in the lowest bit.
#[derive(Clone, Copy)]
struct Mark(NodeId);

impl Mark {
    fn new(side: Side, node: usize) -> Self {
        let node = NodeId::try_from(node << 1).expect("a wave of 2^31 states exceeds memory");
        Self(node | side as NodeId)
    }

    fn node(self, side: Side) -> Option<NodeId> {
        (self.0 & 1 == side as NodeId).then_some(self.0 >> 1)
    }
}

/// The states that one wave has reached, or two; each stands where it was reached first.
pub(super) struct Reached<P>(StateMap<P, Mark>);

impl<P: Copy + Eq + Hash> Reached<P> {
    /// With room for so many states from the first.
    pub(super) fn with_capacity(states: usize) -> Self {
        Self(StateMap::with_capacity_and_hasher(states, FxBuildHasher))
    }

    /// Where a state stands in a wave, if that has reached it first.
    pub(super) fn find(&self, side: Side, packed: &P) -> Option<NodeId> {
        self.0.get(packed)?.node(side)
    }
}

/// States for which one wave has room from the first: most searches need no more.
pub(super) const FIRST_STATES: usize = 1 << 11;

struct Node<S: StateSpace> {
    packed: S::Packed,
    /// The state it was reached from; the root is its own parent.
    parent: NodeId,
    /// What leads back to the parent; the root has none.
    back: Option<S::Action>,
}

/// See the module.
pub(super) struct Wave<'s, S: StateSpace> {
    space: &'s S,
    side: Side,
    nodes: Vec<Node<S>>,
    /// Where each level begins in `nodes`; one more than the levels that are whole.
    level_starts: Vec<usize>,
}

impl<'s, S: StateSpace> Wave<'s, S> {
    /// The wave of depth 0.
    pub(super) fn new(space: &'s S, side: Side, root: &S::State, reached: &mut Reached<S::Packed>) -> Self {
        let packed = space.pack(root);
        let mut nodes = Vec::with_capacity(FIRST_STATES);
        nodes.push(Node { packed, parent: 0, back: None });
        reached.0.insert(packed, Mark::new(side, 0));
        Self { space, side, nodes, level_starts: vec![0, 1] }
    }

    /// The deepest whole level.
    pub(super) fn depth(&self) -> Cost {
        Cost::try_from(self.level_starts.len() - 2).expect("a level holds a state, and ids are u32")
    }

    /// How many states stand in the deepest whole level.
    pub(super) fn frontier_len(&self) -> usize {
        let [.., start, end] = self.level_starts[..] else { unreachable!("two starts from the first") };
        end - start
    }

    /// The states of the deepest whole level, in order.
    pub(super) fn frontier(&self) -> Range<NodeId> {
        let [.., start, end] = self.level_starts[..] else { unreachable!("two starts from the first") };
        let id = |place| NodeId::try_from(place).expect("a wave of 2^31 states exceeds memory");
        id(start)..id(end)
    }

    /// The state of a node, packed.
    pub(super) fn packed(&self, node: NodeId) -> S::Packed {
        self.nodes[node as usize].packed
    }

    /// How many actions a node is from the root.
    pub(super) fn depth_of(&self, node: NodeId) -> Cost {
        let level = self.level_starts.partition_point(|&start| start <= node as usize) - 1;
        Cost::try_from(level).expect("a level holds a state, and ids are u32")
    }

    /// Reaches the next level, calling `visit` with each new state in order. When it says
    /// `true`, or the other wave has reached the state, the level is left unfinished and its
    /// node returned.
    ///
    /// # Errors
    /// The budget's [`Stop`]; then too the level is left unfinished.
    pub(super) fn advance(
        &mut self,
        reached: &mut Reached<S::Packed>,
        budget: &mut Budget,
        mut visit: impl FnMut(&S::Packed) -> bool,
    ) -> Result<Option<NodeId>, Stop> {
        let [.., start, end] = self.level_starts[..] else { unreachable!("two starts from the first") };
        for parent in start..end {
            budget.expand()?;
            let Node { packed, back, .. } = self.nodes[parent];
            let state = self.space.unpack(packed);
            let parent = NodeId::try_from(parent).expect("its own id is a u32");
            // What leads back leads to what is known.
            for action in self.space.actions(&state).filter(|&action| Some(action) != back) {
                budget.generate();
                let mut next = state;
                let back = Some(self.space.apply(&mut next, action));
                let packed = self.space.pack(&next);
                let mark = Mark::new(self.side, self.nodes.len());
                let met = match reached.0.entry(packed) {
                    Entry::Vacant(vacant) => {
                        budget.keep()?;
                        vacant.insert(mark);
                        false
                    }
                    Entry::Occupied(known) if known.get().node(self.side).is_some() => continue,
                    Entry::Occupied(_) => true,
                };
                self.nodes.push(Node { packed, parent, back });
                if met || visit(&packed) {
                    return Ok(mark.node(self.side));
                }
            }
        }
        self.level_starts.push(self.nodes.len());
        Ok(None)
    }

    /// The actions from the root to a node.
    pub(super) fn path_to(&self, mut node: NodeId) -> Vec<S::Action> {
        let mut path = Vec::new();
        let mut state = self.space.unpack(self.packed(node));
        while let Node { parent, back: Some(back), .. } = self.nodes[node as usize] {
            path.push(self.space.apply(&mut state, back));
            node = parent;
        }
        path.reverse();
        path
    }
}
