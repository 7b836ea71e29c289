//! Searches over any [`StateSpace`](crate::space::StateSpace), one a file and all
//! in one shape: they take a space, two states and a [`Budget`], and return an
//! [`Outcome`]. They know no puzzle, print nothing and never run past their budget.
//!
//! Each returns the *same* path: the shortest one whose actions come first in the
//! order of the space. Weighted A* alone is content with less.

pub mod a_star;
mod best_first;
pub mod bidirectional;
pub mod breadth_first;
mod budget;
mod hash;
pub mod ida_star;
mod outcome;
mod smallest_path;
mod wave;
pub mod weighted_a_star;

pub use budget::{Budget, Limits};
pub use outcome::{Outcome, Stop};
