//! Which search answers which instance, and how far in which lane. A new algorithm is one
//! arm here.

use std::ops::ControlFlow::{self, Break, Continue};

use super::Algorithm;
use super::guides::Guides;
use super::queue::Lane;
use super::tables::Tables;
use crate::domain::sliding::{Canonical, Cell, Layout, Packed32, Packing, Position, SlidingSpace, WideSpace};
use crate::heuristic::{DistanceSum, MisplacedTiles, PatternSum};
use crate::search::{Budget, Outcome, Stop, a_star, bidirectional, breadth_first, ida_star};

/// States that IDA* may expand in the light lane: a few milliseconds.
const QUICK_NODES: u64 = 50_000;

/// What came of a worker's turn at a board: the search has ended, or it is to be
/// continued in another lane.
pub(super) type Turn<T> = ControlFlow<T, Lane>;

/// The search that an algorithm stands for on a layout, under one name: jobs that ask for
/// the same one share it.
pub(super) fn search_of(algorithm: Algorithm, layout: &Layout) -> Algorithm {
    match algorithm {
        // Only IDA* keeps too little to fill the memory.
        _ if is_wide(layout) => Algorithm::IdaStar,
        Algorithm::Auto => Algorithm::Bidirectional,
        named => named,
    }
}

/// Boards of more than nine cells.
fn is_wide(layout: &Layout) -> bool {
    layout.cells() > Packed32::CELLS
}

/// Searches a canonical instance, with what is kept between searches or without.
pub(super) fn solve(
    canonical: &Canonical,
    algorithm: Algorithm,
    lane: Lane,
    kept: Option<&Tables>,
    guides: &Guides,
    budget: &mut Budget,
) -> Turn<Outcome<Cell>> {
    let layout = canonical.goal().frame().layout();
    if is_wide(layout) {
        return solve_wide(canonical, lane, guides, budget);
    }
    let space = SlidingSpace::<Packed32>::new(layout.clone());
    let (start, goal) = (Position::new(canonical.start()), Position::new(canonical.goal().board()));
    let distances = || DistanceSum::new(&space, goal.board());
    Break(match algorithm {
        Algorithm::Auto | Algorithm::Bidirectional => two_ended(&space, canonical, kept, budget),
        Algorithm::BreadthFirst => breadth_first::search(&space, &start, &goal, budget),
        Algorithm::AStar => a_star::search(&space, &distances(), &start, &goal, budget),
        Algorithm::AStarMisplaced => {
            a_star::search(&space, &MisplacedTiles::new(&space, goal.board()), &start, &goal, budget)
        }
        Algorithm::IdaStar => {
            return in_turn(lane, budget, |budget| {
                ida_star::search(&space, &distances(), &start, &goal, budget)
            });
        }
    })
}

/// From both ends, with the goal's half if it is kept.
fn two_ended(
    space: &SlidingSpace<Packed32>,
    canonical: &Canonical,
    kept: Option<&Tables>,
    budget: &mut Budget,
) -> Outcome<Cell> {
    let start = Position::new(canonical.start());
    match kept.map(|tables| tables.half(space, canonical.goal(), budget)).transpose()?.flatten() {
        Some(half) => half.search(space, &start, budget),
        None => bidirectional::search(space, &start, &Position::new(canonical.goal().board()), budget),
    }
}

/// Boards of more than nine cells, by IDA* with the pattern databases of their goal.
fn solve_wide(
    canonical: &Canonical,
    lane: Lane,
    guides: &Guides,
    budget: &mut Budget,
) -> Turn<Outcome<Cell>> {
    let layout = canonical.goal().frame().layout();
    let space = WideSpace::new(layout.clone());
    let (start, goal) = (Position::new(canonical.start()), Position::new(canonical.goal().board()));
    if let Some(guide) = guides.find(canonical.goal()) {
        return in_turn(lane, budget, |budget| ida_star::search(&space, &*guide, &start, &goal, budget));
    }
    let distances = DistanceSum::new(&space, goal.board());
    let by_distances = |budget: &mut Budget| ida_star::search(&space, &distances, &start, &goal, budget);
    if !PatternSum::suits(layout) {
        return in_turn(lane, budget, by_distances);
    }
    if lane == Lane::Light {
        // A board near its goal needs no pattern database; of another something is proven meanwhile.
        in_turn(lane, budget, by_distances)?;
    }
    // Not made yet, or gone again while the board waited for a worker.
    Continue(Lane::Aside)
}

/// IDA*, which may take for ever where memory ends other searches: what is not quick
/// goes on among the heavy, so that it never holds up what is.
fn in_turn(
    lane: Lane,
    budget: &mut Budget,
    search: impl FnOnce(&mut Budget) -> Outcome<Cell>,
) -> Turn<Outcome<Cell>> {
    if lane != Lane::Light {
        return Break(search(budget));
    }
    let mut quick = budget.part(QUICK_NODES);
    let outcome = search(&mut quick);
    match budget.take_back(&quick) {
        Err(stop) => Break(Err(stop)),
        Ok(()) if outcome == Err(Stop::Nodes) && budget.nodes_left() > 0 => Continue(Lane::Heavy),
        Ok(()) => Break(outcome),
    }
}
