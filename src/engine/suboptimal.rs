//! What a caller takes who does not insist on a proven shortest path: the best path known
//! when a budget ends, or one within a ratio. It knows no queue and no wire.

use super::Query;
use super::choice;
use crate::domain::sliding::{Canonical, Cell};
use crate::search::Budget;
use crate::space::Cost;

/// States that one quick search may expand: some ten milliseconds.
const QUICK_PATH_NODES: u64 = 20_000;
/// The weights of quick searches where any path will do. With 3 a path of the fifteen puzzle is half
/// as long again as a shortest one; with 15 it is twice as long, and found on sparse graphs too.
const ANY_PATH: [Ratio; 2] = [Ratio(300), Ratio(1500)];

/// How many times as long as a shortest path a path may be, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio(Cost);

impl Ratio {
    /// The largest.
    pub const MAX: f64 = 100.0;

    /// A ratio from 1 to [`MAX`](Self::MAX), rounded down to hundredths; `None` for anything else.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 100, so 100 to 10,000")]
    pub fn new(ratio: f64) -> Option<Self> {
        // 1.1 is a little more than 110 hundredths, 1.15 a little less than 115.
        (1.0..=Self::MAX).contains(&ratio).then_some(Self((ratio * 100.0 + 1e-6) as Cost))
    }

    /// The lower bound from which on a path of this length is within the ratio.
    fn enough(self, length: Cost) -> Cost {
        (100 * length).div_ceil(self.0)
    }
}

/// What is wanted besides a proof. Jobs that want the same may share a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Aim {
    /// The ratio that is enough; `None` when only a shortest path is.
    ratio: Option<Ratio>,
    /// The longest path of interest.
    max_moves: Cost,
    /// States that each quick search may expand: of the job's own, not of those who join it.
    quick_nodes: u64,
}

impl Aim {
    /// What a query aims at besides a proven shortest path, if anything.
    pub(super) fn of(query: &Query) -> Option<Self> {
        let ratio = ratio(query);
        // The rest is for the proof.
        let quick_nodes = QUICK_PATH_NODES.min(query.max_nodes / 2);
        let wanted = query.best_path || ratio.is_some();
        wanted.then_some(Self { ratio, max_moves: query.max_moves, quick_nodes })
    }

    /// A path that is quick to find and short enough to be of interest, within the ratio if that
    /// is not too much to ask.
    pub(super) fn quick_path(self, canonical: &Canonical, budget: &mut Budget) -> Option<Vec<Cell>> {
        let wanted = self.ratio.unwrap_or(Ratio(100));
        let weights = self.ratio.into_iter().chain(ANY_PATH.into_iter().filter(|weight| weight.0 > wanted.0));
        weights.into_iter().find_map(|Ratio(percent)| {
            let mut quick = budget.part(self.quick_nodes.min(budget.nodes_left()));
            let outcome = choice::weighted(canonical, percent, &mut quick);
            budget.take_back(&quick);
            outcome.ok().flatten().filter(|path| length(path) <= self.max_moves)
        })
    }

    /// The lower bound from which on a path is enough; none is, unless it is a shortest one.
    pub(super) fn enough(self, path: &[Cell]) -> Cost {
        self.ratio.map_or(Cost::MAX, |ratio| ratio.enough(length(path)))
    }
}

/// The ratio that is enough. Boards of at most nine cells are always answered with the same path,
/// whatever tables there are, so with a shortest one.
pub(super) fn ratio(query: &Query) -> Option<Ratio> {
    let layout = query.canonical.goal().frame().layout();
    query.ratio.filter(|&ratio| choice::is_wide(layout) && ratio != Ratio(100))
}

fn length(path: &[Cell]) -> Cost {
    Cost::try_from(path.len()).expect("no more states than a search keeps")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_never_taken_for_more() {
        assert_eq!(Ratio::new(1.15), Some(Ratio(115)));
        assert_eq!(Ratio::new(1.0), Some(Ratio(100)));
        assert_eq!(Ratio::new(100.0), Some(Ratio(10_000)));
        assert_eq!(Ratio::new(1.999), Some(Ratio(199)));
        for wrong in [0.0, 0.99, 100.1, f64::NAN, f64::INFINITY, -2.0] {
            assert_eq!(Ratio::new(wrong), None, "{wrong}");
        }
        // 1.5 times 40 is 60.
        assert_eq!((Ratio(150).enough(60), Ratio(150).enough(61)), (40, 41));
    }
}
