//! What a search comes back with. It knows nothing of how it was found.

/// `Ok(Some(path))`: the actions of the smallest shortest path, in order.
/// `Ok(None)`: no path exists, the whole component was searched.
/// `Err(stop)`: the budget ended first; what was proven by then is in
/// [`Limits::proven`](super::Limits::proven).
pub type Outcome<A> = Result<Option<Vec<A>>, Stop>;

/// Why a search ended before it knew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The deadline passed.
    Time,
    /// As many states were expanded as were allowed.
    Nodes,
    /// As many states were kept as may be.
    Kept,
    /// Every path is longer than was of interest.
    Moves,
    /// What is proven is [enough](super::Budget::content_with) for whoever asked.
    Enough,
    /// Nobody waits for the answer any more.
    Cancelled,
}
