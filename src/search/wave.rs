//! A breadth-first wave: every state within some number of actions of its root,
//! in the order in which breadth-first search reaches them. Searches from one and
//! from both ends are made of waves; a wave knows no goal.
//!
//! Order: within a level, states stand in the order of the smallest path to them.
//! (By induction: a state is reached first from the parent whose own path is the
//! smallest, by the first action that leads there.)

use std::ops::Range;

use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;

use super::hash::StateMap;
use super::{Budget, Stop};
use crate::space::{Cost, StateSpace};

/// A state's place in its wave.
pub(super) type NodeId = u32;

/// Nodes for which there is room from the first: most searches need no more.
const FIRST_NODES: usize = 1 << 11;

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
    nodes: Vec<Node<S>>,
    ids: StateMap<S::Packed, NodeId>,
    /// Where each level begins in `nodes`; one more than the levels that are whole.
    level_starts: Vec<usize>,
}

impl<'s, S: StateSpace> Wave<'s, S> {
    /// The wave of depth 0.
    pub(super) fn new(space: &'s S, root: &S::State) -> Self {
        let packed = space.pack(root);
        let mut nodes = Vec::with_capacity(FIRST_NODES);
        nodes.push(Node { packed, parent: 0, back: None });
        let mut ids = StateMap::with_capacity_and_hasher(FIRST_NODES, FxBuildHasher);
        ids.insert(packed, 0);
        Self { space, nodes, ids, level_starts: vec![0, 1] }
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
        let id = |place| NodeId::try_from(place).expect("a wave of 2^32 states exceeds memory");
        id(start)..id(end)
    }

    /// Where a state stands, if the wave has reached it.
    pub(super) fn find(&self, packed: &S::Packed) -> Option<NodeId> {
        self.ids.get(packed).copied()
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

    /// Reaches the next level, calling `visit` with each new state in order; when
    /// it says `true` the level is left unfinished and its node returned.
    ///
    /// # Errors
    /// The budget's [`Stop`]; then too the level is left unfinished.
    pub(super) fn advance(
        &mut self,
        budget: &mut Budget,
        mut visit: impl FnMut(NodeId, &S::Packed) -> bool,
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
                let mut next = state.clone();
                let back = Some(self.space.apply(&mut next, action));
                let packed = self.space.pack(&next);
                let id = NodeId::try_from(self.nodes.len()).expect("a wave of 2^32 states exceeds memory");
                let Entry::Vacant(vacant) = self.ids.entry(packed) else { continue };
                budget.keep()?;
                vacant.insert(id);
                self.nodes.push(Node { packed, parent, back });
                if visit(id, &packed) {
                    return Ok(Some(id));
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
