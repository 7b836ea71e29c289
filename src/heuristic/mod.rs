//! What is known of a board without searching: lower bounds on its distance. It
//! knows no search, no cache and no wire.

mod distance;
mod misplaced;

pub use distance::DistanceSum;
pub use misplaced::MisplacedTiles;
