//! The one page that searches and puzzles share: a state space, and an estimate
//! over it. It knows no puzzle and no algorithm.
//!
//! The shape is that of `search_domain` in E. Burns' search code: lists hold the
//! packed form of a state, actions act on the unpacked one.

use std::fmt::Debug;
use std::hash::Hash;

/// A number of actions; every action costs one.
pub type Cost = u32;

/// States and the actions between them.
///
/// Every action can be taken back by one action, so a search may start at either
/// end. The order in which [`actions`](Self::actions) lists them is the order in
/// which paths compare: "the smallest path" is the one whose actions come first.
pub trait StateSpace {
    /// A state that actions change in place.
    type State: Copy;
    /// A state as lists and tables hold it: equal exactly when the states are.
    type Packed: Copy + Eq + Hash;
    /// One step between two states.
    type Action: Copy + Eq + Debug;
    /// The actions of a state, borrowed from the space but not from the state.
    type Actions<'a>: DoubleEndedIterator<Item = Self::Action>
    where
        Self: 'a;

    /// The actions that are open in `state`, in the order of the space.
    fn actions<'a>(&'a self, state: &Self::State) -> Self::Actions<'a>;

    /// Applies an action of `state` and returns the one that takes it back.
    fn apply(&self, state: &mut Self::State, action: Self::Action) -> Self::Action;

    /// Packs a state.
    fn pack(&self, state: &Self::State) -> Self::Packed;

    /// The state that [`pack`](Self::pack) made this of.
    fn unpack(&self, packed: Self::Packed) -> Self::State;
}

/// A [`Heuristic`] that a depth-first search keeps up from state to state, since most
/// of it does not change with one action. Admissible.
pub trait Guide<S: StateSpace> {
    /// What it keeps of a state.
    type Mark: Copy;

    /// The mark of a state, and the number of actions that are left at least.
    fn mark(&self, state: &S::State) -> (Self::Mark, Cost);

    /// Follows leads, and keeps those that are within their bounds, in order. Many at once: what
    /// one must wait for is read while another is waited for.
    ///
    /// Returns the least number of actions by which one that is not kept is out of its bound.
    fn sift(&self, leads: &mut Vec<Lead<S, Self::Mark>>) -> Option<Cost>;
}

/// An action, and where it leads on from.
pub struct Lead<S: StateSpace, M> {
    /// The state before it.
    pub state: S::State,
    /// The action.
    pub action: S::Action,
    /// The mark of the state before it; once [sifted](Guide::sift), of the one after it.
    pub mark: M,
    /// The most actions that may be left after it.
    pub left: Cost,
    /// The search's own note of how it came here.
    pub way: u32,
}

impl<S: StateSpace, M: Copy> Clone for Lead<S, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: StateSpace, M: Copy> Copy for Lead<S, M> {}

/// A lower bound on the number of actions from a state to the goal it was made for.
///
/// *Admissible*: never above the true number. *Consistent*: one action changes it
/// by at most one. Each implementation says which it is.
pub trait Heuristic<S: StateSpace> {
    /// At least this many actions are left.
    fn estimate(&self, state: &S::State) -> Cost;
}
