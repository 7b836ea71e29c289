//! Which search answers which instance. A new algorithm is one arm here.

use super::Algorithm;
use super::guides::Guides;
use super::tables::Tables;
use crate::domain::sliding::{Canonical, Cell, Packed32, Packing, Position, SlidingSpace, WideSpace};
use crate::heuristic::{DistanceSum, LinearConflict, MisplacedTiles, PatternSum};
use crate::search::{Budget, Outcome, Stop, a_star, bidirectional, breadth_first, ida_star};
use crate::space::{Guide, Heuristic};

/// States that a search may keep: every board of 2x5, and some 70 MB.
pub const MAX_KEPT_STATES: u64 = 7 << 18;
/// States that a board may take without pattern databases before it waits for them: a few milliseconds.
const QUICK_NODES: u64 = 50_000;

/// Searches a canonical instance, with what is kept between searches or without.
///
/// # Errors
/// The budget's [`Stop`].
pub(super) fn solve(
    canonical: &Canonical,
    algorithm: Algorithm,
    kept: Option<&Tables>,
    guides: &Guides,
    budget: &mut Budget,
) -> Outcome<Cell> {
    let layout = canonical.goal().frame().layout();
    if layout.cells() > Packed32::CELLS {
        return solve_wide(canonical, algorithm, guides, budget);
    }
    let space = SlidingSpace::<Packed32>::new(layout.clone());
    if matches!(algorithm, Algorithm::Auto | Algorithm::Bidirectional)
        && let Some(tables) = kept
        && let Some(half) = tables.half(&space, canonical.goal(), budget)?
    {
        return half.search(&space, &Position::new(canonical.start()), budget);
    }
    let distances = DistanceSum::new(&space, canonical.goal().board());
    Question { space, canonical, bound: distances }.by_name(algorithm, budget)
}

/// Boards of more than nine cells.
fn solve_wide(
    canonical: &Canonical,
    algorithm: Algorithm,
    guides: &Guides,
    budget: &mut Budget,
) -> Outcome<Cell> {
    let space = WideSpace::new(canonical.goal().frame().layout().clone());
    let bound = LinearConflict::new(&space, canonical.goal().board());
    let question = Question { space, canonical, bound };
    if !matches!(algorithm, Algorithm::Auto | Algorithm::IdaStar) {
        return question.by_name(algorithm, budget);
    }
    if let Some(guide) = guides.find(canonical.goal()) {
        return question.by_ida_star(&*guide, budget);
    }
    // A board near its goal needs no pattern databases; of another something is proven meanwhile.
    let mut quick = budget.part(QUICK_NODES);
    let outcome = question.by_ida_star(&question.bound, &mut quick);
    budget.take_back(&quick)?;
    if outcome != Err(Stop::Nodes) {
        return outcome;
    }
    if PatternSum::suits(question.space.layout()) {
        return question.by_ida_star(&*guides.wait_for(canonical.goal(), budget)?, budget);
    }
    if algorithm == Algorithm::Auto {
        // A graph with few cycles has few boards and long ways, so both ends may meet while there is
        // room. IDA* reaches farther where all cells are near each other.
        let outcome = question.by_name(Algorithm::Bidirectional, budget);
        if outcome != Err(Stop::Kept) {
            return outcome;
        }
    }
    question.by_ida_star(&question.bound, budget)
}

/// A board to be searched, and a lower bound that needs no preparation.
struct Question<'c, P: Packing, H> {
    space: SlidingSpace<P>,
    canonical: &'c Canonical,
    bound: H,
}

impl<P: Packing, H> Question<'_, P, H>
where
    H: Heuristic<SlidingSpace<P>> + Guide<SlidingSpace<P>>,
{
    fn ends(&self) -> (Position, Position) {
        (Position::new(self.canonical.start()), Position::new(self.canonical.goal().board()))
    }

    /// By the search that was asked for.
    fn by_name(&self, algorithm: Algorithm, budget: &mut Budget) -> Outcome<Cell> {
        let (space, (start, goal)) = (&self.space, self.ends());
        match algorithm {
            Algorithm::Auto | Algorithm::Bidirectional => bidirectional::search(space, &start, &goal, budget),
            Algorithm::BreadthFirst => breadth_first::search(space, &start, &goal, budget),
            Algorithm::AStar => a_star::search(space, &self.bound, &start, &goal, budget),
            Algorithm::AStarMisplaced => {
                a_star::search(space, &MisplacedTiles::new(space, goal.board()), &start, &goal, budget)
            }
            Algorithm::IdaStar => self.by_ida_star(&self.bound, budget),
        }
    }

    /// By IDA*, as a guide leads it.
    fn by_ida_star(&self, guide: &impl Guide<SlidingSpace<P>>, budget: &mut Budget) -> Outcome<Cell> {
        let (start, goal) = self.ends();
        ida_star::search(&self.space, guide, &start, &goal, budget)
    }
}
