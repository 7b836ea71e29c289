//! Sliding tiles: a board of numbered tiles and one blank on the cells of a layout.
//! A move brings one tile into the blank; its letter names the direction in which
//! the *blank* goes.
//!
//! `Setup` (anything one can write down) becomes an [`Instance`] (checked), whose
//! [`Canonical`] form is what is searched and remembered; the answer is a
//! [`Path`], read in the caller's own labels through a [`Solution`].

mod blocks;
mod board;
mod canonical;
mod dense;
mod instance;
mod layout;
mod packed;
mod path;
mod rank;
mod shared;
mod solvability;
mod space;
mod theta;

pub use board::{Board, Tile};
pub use canonical::{Canonical, Frame, Goal, Key, LastGoal, Problem};
pub use dense::{DenseIndex, MAX_DENSE_CELLS};
pub use instance::{Field, Instance, Invalid, Setup};
pub use layout::{Cell, Direction, Layout, MAX_CELLS, Shape};
pub use packed::{Packed32, Packing};
pub use path::{Path, Solution};
pub use rank::{rank, unrank};
pub use shared::Shared;
pub use solvability::{Obstacle, obstacle};
pub use space::{Position, SlidingSpace, WideSpace};
