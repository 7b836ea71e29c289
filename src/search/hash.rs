//! A map from packed states, with a hash of a few instructions: states are chosen by
//! no adversary, so it need not be hard to foresee. It knows nothing of them.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// A map from packed states.
pub(super) type StateMap<P, V> = HashMap<P, V, FxBuildHasher>;
