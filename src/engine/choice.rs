//! Which search answers which instance. A new algorithm is one arm here.

use super::Algorithm;
use super::tables::Tables;
use crate::domain::sliding::{Canonical, Cell, Position, SlidingSpace};
use crate::heuristic::{DistanceSum, MisplacedTiles};
use crate::search::{Budget, Outcome, a_star, bidirectional, breadth_first};

/// Searches a canonical instance, with what is kept between searches or without.
///
/// # Errors
/// The budget's [`Stop`](crate::search::Stop).
pub(super) fn solve(
    canonical: &Canonical,
    algorithm: Algorithm,
    kept: Option<&Tables>,
    budget: &mut Budget,
) -> Outcome<Cell> {
    let space = SlidingSpace::new(canonical.goal().frame().layout().clone());
    let (start, goal) = (Position::new(canonical.start()), Position::new(canonical.goal().board()));
    match algorithm {
        Algorithm::Auto | Algorithm::Bidirectional => {
            match kept.map(|tables| tables.half(&space, canonical.goal(), budget)).transpose()?.flatten() {
                Some(half) => half.search(&space, &start, budget),
                None => bidirectional::search(&space, &start, &goal, budget),
            }
        }
        Algorithm::BreadthFirst => breadth_first::search(&space, &start, &goal, budget),
        Algorithm::AStar => {
            a_star::search(&space, &DistanceSum::new(&space, canonical.goal().board()), &start, &goal, budget)
        }
        Algorithm::AStarMisplaced => a_star::search(
            &space,
            &MisplacedTiles::new(&space, canonical.goal().board()),
            &start,
            &goal,
            budget,
        ),
    }
}
