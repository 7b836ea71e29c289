//! A board as benches ask the engine for it: any search, as long as it takes.

use std::time::Duration;

use taquin::domain::sliding::Canonical;
use taquin::engine::{Algorithm, Caller, Priority, Query};
use taquin::space::Cost;

/// The path of a board, from the cache or past it.
pub(crate) fn path_of(canonical: Canonical, bypass_cache: bool) -> Query {
    Query {
        canonical,
        algorithm: Algorithm::Auto,
        time: Duration::from_mins(1),
        deadline: None,
        max_nodes: u64::MAX,
        max_moves: Cost::MAX,
        priority: Priority::Normal,
        caller: Caller::default(),
        bypass_cache,
        bypass_table: false,
        best_path: false,
        ratio: None,
        fault: None,
    }
}
