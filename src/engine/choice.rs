//! Which search answers which instance, and how far in which lane. A new algorithm is one
//! arm here.

use std::ops::ControlFlow::{self, Break, Continue};

use super::Algorithm;
use super::guides::Guides;
use super::queue::{Lane, Length};
use super::tables::Tables;
use crate::domain::sliding::{
    Board, Canonical, Cell, Layout, Packed32, Packing, Position, Shape, SlidingSpace, WideSpace,
};
use crate::heuristic::{DistanceSum, LinearConflict, MisplacedTiles, PatternSum};
use crate::search::{Budget, Outcome, Stop, a_star, bidirectional, breadth_first, ida_star, weighted_a_star};
use crate::space::{Cost, Guide, Heuristic};

/// States that a search may keep: every board of 2x5, and as many as a hash map of 2^21 places holds,
/// less the two ends of a search. They take some 70 MB, those of A* up to 130.
pub const MAX_KEPT_STATES: u64 = (7 << 18) - 2;
/// States that a search which may take long expands in the light lane: some milliseconds with
/// pattern databases, some thirty without.
const QUICK_NODES: u64 = 50_000;

/// What came of a worker's turn at a board: the search has ended, or it is to be
/// continued in another lane.
pub(super) type Turn<T> = ControlFlow<T, Lane>;

/// The search that an algorithm stands for on a layout, under one name: jobs that ask for
/// the same one share it.
pub(super) fn search_of(algorithm: Algorithm, layout: &Layout) -> Algorithm {
    match algorithm {
        Algorithm::Auto if !is_wide(layout) => Algorithm::Bidirectional,
        // Whether a graph has pattern databases takes a while to find out.
        Algorithm::Auto if matches!(layout.shape(), Shape::Grid { .. }) && PatternSum::suits(layout) => {
            Algorithm::IdaStar
        }
        named => named,
    }
}

/// How long such a search may take.
pub(super) fn length_of(algorithm: Algorithm, layout: &Layout) -> Length {
    if is_wide(layout) || algorithm == Algorithm::IdaStar { Length::Open } else { Length::Short }
}

/// Boards of more than nine cells.
pub(super) fn is_wide(layout: &Layout) -> bool {
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
        return solve_wide(canonical, algorithm, lane, guides, budget);
    }
    let space = SlidingSpace::<Packed32>::new(layout.clone());
    if matches!(algorithm, Algorithm::Auto | Algorithm::Bidirectional)
        && let Some(tables) = kept
    {
        match tables.half(&space, canonical.goal(), budget) {
            Ok(Some(half)) => return Break(half.search(&space, &Position::new(canonical.start()), budget)),
            Ok(None) => {}
            Err(stop) => return Break(Err(stop)),
        }
    }
    let question = Question::small(space, canonical);
    match algorithm {
        Algorithm::IdaStar => in_turn(lane, budget, |budget| question.by_name(algorithm, budget)),
        // At most nine cells, so at most 362,880 states: a part of a second where it is most.
        _ => Break(question.by_name(algorithm, budget)),
    }
}

/// Boards of more than nine cells.
fn solve_wide(
    canonical: &Canonical,
    algorithm: Algorithm,
    lane: Lane,
    guides: &Guides,
    budget: &mut Budget,
) -> Turn<Outcome<Cell>> {
    let question = Question::wide(canonical);
    if !matches!(algorithm, Algorithm::Auto | Algorithm::IdaStar) {
        // What it keeps can't be taken along from lane to lane.
        return if lane == Lane::Light {
            Continue(Lane::Heavy)
        } else {
            Break(question.by_name(algorithm, budget))
        };
    }
    if let Some(guide) = guides.find(canonical.goal()) {
        return in_turn(lane, budget, |budget| question.by_ida_star(&*guide, budget));
    }
    if lane == Lane::Light {
        // A board near its goal needs no pattern databases; of another something is proven meanwhile.
        let heavy = in_turn(lane, budget, |budget| question.by_ida_star(&question.bound, budget))?;
        return Continue(if PatternSum::suits(question.space.layout()) { Lane::Aside } else { heavy });
    }
    if PatternSum::suits(question.space.layout()) {
        // Gone again while the board waited for a worker.
        return Continue(Lane::Aside);
    }
    if algorithm == Algorithm::Auto {
        // A graph with few cycles has few boards and long ways, so both ends may meet while there is
        // room. IDA* reaches farther where all cells are near each other.
        let outcome = question.by_name(Algorithm::Bidirectional, budget);
        if outcome != Err(Stop::Kept) {
            return Break(outcome);
        }
    }
    Break(question.by_ida_star(&question.bound, budget))
}

/// A path that is at most `percent` / 100 times as long as a shortest one.
pub(super) fn weighted(canonical: &Canonical, percent: Cost, budget: &mut Budget) -> Outcome<Cell> {
    let layout = canonical.goal().frame().layout();
    if is_wide(layout) {
        return Question::wide(canonical).weighted(percent, budget);
    }
    Question::small(SlidingSpace::new(layout.clone()), canonical).weighted(percent, budget)
}

/// IDA*, which may take long: what is not quick goes on among the heavy, so that it never
/// holds up what is.
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
    budget.take_back(&quick);
    if outcome == Err(Stop::Nodes) && budget.nodes_left() > 0 {
        Continue(Lane::Heavy)
    } else {
        Break(outcome)
    }
}

/// A board to be searched, and a lower bound that needs no preparation.
struct Question<'c, P: Packing, H> {
    space: SlidingSpace<P>,
    canonical: &'c Canonical,
    bound: H,
}

impl<'c> Question<'c, Packed32, DistanceSum> {
    /// Of a board of at most nine cells.
    fn small(space: SlidingSpace, canonical: &'c Canonical) -> Self {
        let bound = DistanceSum::new(&space, canonical.goal().board());
        Self { space, canonical, bound }
    }
}

impl<'c> Question<'c, Board, LinearConflict> {
    /// Of a board of more.
    fn wide(canonical: &'c Canonical) -> Self {
        let space = WideSpace::new(canonical.goal().frame().layout().clone());
        let bound = LinearConflict::new(&space, canonical.goal().board());
        Self { space, canonical, bound }
    }
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

    /// By weighted A*.
    fn weighted(&self, percent: Cost, budget: &mut Budget) -> Outcome<Cell> {
        let (start, goal) = self.ends();
        weighted_a_star::search(&self.space, &self.bound, percent, &start, &goal, budget)
    }

    /// By IDA*, as a guide leads it.
    fn by_ida_star(&self, guide: &impl Guide<SlidingSpace<P>>, budget: &mut Budget) -> Outcome<Cell> {
        let (start, goal) = self.ends();
        ida_star::search(&self.space, guide, &start, &goal, budget)
    }
}
