//! What is known of a board without searching: lower bounds on its distance. It
//! knows no search but its budget, no cache and no wire.

mod distance;
#[cfg(feature = "faults")]
pub mod fuzz;
mod linear_conflict;
mod misplaced;
mod partition;
mod pattern;
mod pattern_file;
mod pattern_fill;
mod pattern_sum;
mod placement;

pub use distance::DistanceSum;
pub use linear_conflict::LinearConflict;
pub use misplaced::MisplacedTiles;
pub use partition::PatternSet;
pub use pattern_file::{Progress, TableFileError, build_large, load_large, make_large};
pub use pattern_sum::{PatternMark, PatternSum};
