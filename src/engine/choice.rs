//! Which search answers which instance. A new algorithm is one arm here.

use super::Algorithm;
use super::guides::Guides;
use super::tables::Tables;
use crate::domain::sliding::{Canonical, Cell, Packed32, Packing, Position, SlidingSpace, WideSpace};
use crate::heuristic::{DistanceSum, MisplacedTiles, PatternSum};
use crate::search::{Budget, Outcome, Stop, a_star, bidirectional, breadth_first, ida_star};

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
    if canonical.goal().frame().layout().cells() > Packed32::CELLS {
        return solve_wide(canonical, guides, budget);
    }
    let space = SlidingSpace::<Packed32>::new(canonical.goal().frame().layout().clone());
    let (start, goal) = (Position::new(canonical.start()), Position::new(canonical.goal().board()));
    let distances = || DistanceSum::new(&space, goal.board());
    match algorithm {
        Algorithm::Auto | Algorithm::Bidirectional => {
            match kept.map(|tables| tables.half(&space, canonical.goal(), budget)).transpose()?.flatten() {
                Some(half) => half.search(&space, &start, budget),
                None => bidirectional::search(&space, &start, &goal, budget),
            }
        }
        Algorithm::BreadthFirst => breadth_first::search(&space, &start, &goal, budget),
        Algorithm::AStar => a_star::search(&space, &distances(), &start, &goal, budget),
        Algorithm::AStarMisplaced => {
            a_star::search(&space, &MisplacedTiles::new(&space, goal.board()), &start, &goal, budget)
        }
        Algorithm::IdaStar => ida_star::search(&space, &distances(), &start, &goal, budget),
    }
}

/// Boards of more than nine cells: only IDA* keeps too little to fill the memory.
fn solve_wide(canonical: &Canonical, guides: &Guides, budget: &mut Budget) -> Outcome<Cell> {
    let layout = canonical.goal().frame().layout();
    let space = WideSpace::new(layout.clone());
    let (start, goal) = (Position::new(canonical.start()), Position::new(canonical.goal().board()));
    let distances = DistanceSum::new(&space, goal.board());
    if PatternSum::suits(layout) {
        if guides.find(canonical.goal()).is_none() {
            // A board near its goal needs no pattern database; of another something is proven meanwhile.
            let mut quick = budget.part(QUICK_NODES);
            let outcome = ida_star::search(&space, &distances, &start, &goal, &mut quick);
            budget.take_back(&quick)?;
            if outcome != Err(Stop::Nodes) {
                return outcome;
            }
        }
        let guide = guides.wait_for(canonical.goal(), budget)?;
        ida_star::search(&space, &*guide, &start, &goal, budget)
    } else {
        ida_star::search(&space, &distances, &start, &goal, budget)
    }
}
