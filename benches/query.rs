//! A board as benches ask the engine for it: any search, as long as it takes.

use std::time::Duration;

use taquin::domain::sliding::Instance;
use taquin::engine::{Algorithm, Priority, Query};
use taquin::space::Cost;

/// The path of a board, from the cache or past it.
pub(crate) fn path_of(instance: Instance, bypass_cache: bool) -> Query {
    Query {
        instance,
        algorithm: Algorithm::Auto,
        time: Duration::from_mins(1),
        deadline: None,
        max_nodes: u64::MAX,
        max_moves: Cost::MAX,
        priority: Priority::Normal,
        smallest: false,
        bypass_cache,
        bypass_table: false,
        fault: None,
    }
}
