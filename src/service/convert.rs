//! Between wire and domain, both ways, and nowhere else. It decides nothing about
//! boards: what is wrong with one is said by [`Instance`].

use std::time::Duration;

use super::pb;
use super::status::ServiceError;
use crate::config::{LimitsConfig, MAX_REQUEST_ID_BYTES};
use crate::domain::sliding::{
    Board, Cell, Instance, Invalid, LastGoal, Layout, MAX_CELLS, Obstacle, Setup, Shared, Solution,
};
use crate::engine::{Algorithm, Answer, Caller, Limit, Priority, Query, Ratio, Source, Statistics, Verdict};
use crate::space::Cost;

/// What a job asks for, checked, and whether its answer must hold the path; `last` is the
/// goal of the job before it. Who asks, and until when, is not in it.
///
/// # Errors
/// [`ServiceError::Invalid`] with the field's path.
pub(super) fn query(
    job: &pb::Job,
    limits: &LimitsConfig,
    last: &mut LastGoal,
) -> Result<(Query, bool), ServiceError> {
    let objective = objective(job.objective)?;
    let Some(pb::job::Problem::Sliding(sliding)) = &job.problem else {
        return Err(ServiceError::invalid("job.problem", "is not set, expected a problem, such as sliding"));
    };
    metric("job.metric", job.metric)?;
    let budget = job.budget.unwrap_or_default();
    let time =
        within("job.budget.max_time_ms", budget.max_time_ms, limits.default_time_ms, limits.max_time_ms)?;
    let (instance, algorithm) = (instance(sliding)?, algorithm(job.algorithm)?);
    let query = Query {
        canonical: last.canonical(&instance, objective == Objective::Smallest),
        algorithm,
        time: Duration::from_millis(time.into()),
        deadline: None,
        max_nodes: within("job.budget.max_nodes", budget.max_nodes, limits.default_nodes, limits.max_nodes)?,
        max_moves: budget.max_moves.unwrap_or(Cost::MAX),
        priority: priority(job.priority)?,
        caller: Caller::default(),
        bypass_cache: job.bypass_cache,
        bypass_table: job.bypass_table,
        best_path: job.best_path,
        ratio: ratio(job.allow_suboptimal, objective)?,
        #[cfg(feature = "faults")]
        fault: crate::engine::Fault::from_name(&job.request_id),
    };
    Ok((query, objective != Objective::Distance))
}

/// What an answer must hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Objective {
    Distance,
    Shortest,
    Smallest,
}

fn ratio(allowed: Option<pb::AllowSuboptimal>, objective: Objective) -> Result<Option<Ratio>, ServiceError> {
    let Some(pb::AllowSuboptimal { max_ratio }) = allowed else { return Ok(None) };
    if objective == Objective::Smallest {
        let description = "is set, expected SHORTEST_PATH or DISTANCE as the objective: SMALLEST_PATH is one of the shortest";
        return Err(ServiceError::invalid("job.allow_suboptimal", description));
    }
    let wrong = || {
        let description = format!("is {max_ratio}, expected 1 to {}", Ratio::MAX);
        ServiceError::invalid("job.allow_suboptimal.max_ratio", description)
    };
    Ratio::new(max_ratio).map(Some).ok_or_else(wrong)
}

fn objective(number: i32) -> Result<Objective, ServiceError> {
    Ok(match known("job.objective", number, "an Objective of this version")? {
        pb::Objective::Distance => Objective::Distance,
        pb::Objective::Unspecified | pb::Objective::ShortestPath => Objective::Shortest,
        pb::Objective::SmallestPath => Objective::Smallest,
    })
}

fn instance(sliding: &pb::SlidingPuzzle) -> Result<Instance, ServiceError> {
    use pb::sliding_puzzle::Layout;
    let layout = match &sliding.layout {
        Some(Layout::Grid(shape)) => grid("job.sliding.grid", *shape)?,
        Some(Layout::Graph(shape)) => graph("job.sliding.graph", shape)?,
        None => {
            return Err(ServiceError::invalid(
                "job.sliding.layout",
                "is not set, expected a layout, such as grid",
            ));
        }
    };
    let setup = Setup { layout: &layout, start: &sliding.start, goal: &sliding.goal };
    Instance::try_from(setup).map_err(|invalid| malformed("job.sliding.", &invalid))
}

/// The grid in a field.
///
/// # Errors
/// [`ServiceError::Invalid`] with the field's path.
pub(super) fn grid(field: &str, shape: pb::Grid) -> Result<Shared<Layout>, ServiceError> {
    let pb::Grid { rows, columns } = shape;
    for (side, length) in [("rows", rows), ("columns", columns)] {
        if length == 0 {
            return Err(ServiceError::invalid(format!("{field}.{side}"), "is 0, expected at least 1"));
        }
    }
    let sides = usize::try_from(rows).ok().zip(usize::try_from(columns).ok());
    sides.and_then(|(rows, columns)| Layout::grid(rows, columns)).cloned().ok_or_else(|| {
        let cells = u64::from(rows) * u64::from(columns);
        let description =
            format!("has {rows} rows of {columns} columns, {cells} cells; expected at most {MAX_CELLS} cells (max_cells)");
        ServiceError::invalid(field, description)
    })
}

/// The graph in a field.
///
/// # Errors
/// [`ServiceError::Invalid`] with the field's path.
pub(super) fn graph(field: &str, shape: &pb::Graph) -> Result<Shared<Layout>, ServiceError> {
    let vertices = shape.vertices;
    if vertices == 0 || vertices as usize > MAX_CELLS {
        let description = format!("is {vertices}, expected 1 to {MAX_CELLS} (max_graph_vertices)");
        return Err(ServiceError::invalid(format!("{field}.vertices"), description));
    }
    let mut edges = Vec::with_capacity(shape.edges.len().min(MAX_CELLS * MAX_CELLS));
    for (number, &pb::Edge { a, b }) in shape.edges.iter().enumerate() {
        let wrong = |end: &str, description| {
            Err(ServiceError::invalid(format!("{field}.edges[{number}]{end}"), description))
        };
        for (end, vertex) in [(".a", a), (".b", b)] {
            if vertex == 0 || vertex > vertices {
                return wrong(end, format!("is {vertex}, expected a vertex from 1 to {vertices}"));
            }
        }
        if a == b {
            return wrong("", format!("leads from {a} to itself, expected two different vertices"));
        }
        let cell = |vertex: u32| Cell::try_from(vertex - 1).expect("at most MAX_CELLS");
        edges.push((cell(a), cell(b)));
    }
    Ok(Layout::graph(vertices as usize, &edges).expect("vertices and edges are checked"))
}

/// The goal of a message of boards.
///
/// # Errors
/// [`ServiceError::Invalid`] with the field's path.
pub(super) fn goal(layout: &Shared<Layout>, tiles: &[u32]) -> Result<Board, ServiceError> {
    Instance::goal_of(layout, tiles).map_err(|invalid| malformed("", &invalid))
}

/// Whether the answer to a message of boards must hold paths.
///
/// # Errors
/// [`ServiceError::Invalid`] for an objective that is not offered there.
pub(super) fn packed_objective(number: i32) -> Result<bool, ServiceError> {
    match known("objective", number, "an Objective of this version")? {
        pb::Objective::Distance => Ok(false),
        pb::Objective::Unspecified | pb::Objective::ShortestPath => Ok(true),
        pb::Objective::SmallestPath => {
            let description =
                "is SMALLEST_PATH, expected DISTANCE or SHORTEST_PATH; SolveStream offers all three";
            Err(ServiceError::invalid("objective", description))
        }
    }
}

/// A board that is wrong, in a field of a message.
fn malformed(message: &str, invalid: &Invalid) -> ServiceError {
    match invalid.place() {
        (field, Some(cell)) => {
            ServiceError::invalid(format!("{message}{field}[{cell}]"), invalid.to_string())
        }
        (field, None) => ServiceError::invalid(format!("{message}{field}"), invalid.to_string()),
    }
}

fn known<E: TryFrom<i32>>(field: &str, number: i32, expected: &str) -> Result<E, ServiceError> {
    E::try_from(number).map_err(|_| ServiceError::invalid(field, format!("is {number}, expected {expected}")))
}

/// Whether a metric is offered.
///
/// # Errors
/// [`ServiceError::Invalid`] with the field's path.
pub(super) fn metric(field: &str, number: i32) -> Result<(), ServiceError> {
    match known(field, number, "a Metric of this version")? {
        pb::Metric::Unspecified | pb::Metric::SingleTile => Ok(()),
    }
}

fn algorithm(number: i32) -> Result<Algorithm, ServiceError> {
    Ok(match known("job.algorithm", number, "an Algorithm of this version")? {
        pb::Algorithm::Unspecified => Algorithm::Auto,
        pb::Algorithm::BreadthFirst => Algorithm::BreadthFirst,
        pb::Algorithm::Bidirectional => Algorithm::Bidirectional,
        pb::Algorithm::AStar => Algorithm::AStar,
        pb::Algorithm::AStarMisplaced => Algorithm::AStarMisplaced,
        pb::Algorithm::IdaStar => Algorithm::IdaStar,
    })
}

fn priority(number: i32) -> Result<Priority, ServiceError> {
    Ok(match known("job.priority", number, "a Priority of this version")? {
        pb::Priority::Low => Priority::Low,
        pb::Priority::Unspecified | pb::Priority::Normal => Priority::Normal,
        pb::Priority::High => Priority::High,
    })
}

/// A number that may be left out, and may not be more than a maximum.
fn within<N>(field: &str, asked: N, default: N, max: N) -> Result<N, ServiceError>
where
    N: Ord + From<u8> + std::fmt::Display + Copy,
{
    if asked > max {
        return Err(ServiceError::invalid(
            field,
            format!("is {asked}, expected at most {max}, or 0 for the default"),
        ));
    }
    Ok(if asked == N::from(0) { default.min(max) } else { asked })
}

/// The final answer to a job, with its path or without.
pub(super) fn answer(request_id: String, answer: Answer, wants_path: bool) -> pb::Answer {
    let source = match answer.source {
        Source::None => pb::Source::Unspecified,
        Source::Rule => pb::Source::Rule,
        Source::Table => pb::Source::Table,
        Source::Cache => pb::Source::Cache,
        Source::Coalesced => pb::Source::Coalesced,
        Source::Search => pb::Source::Search,
    };
    pb::Answer {
        request_id,
        outcome: Some(outcome(answer.verdict, wants_path)),
        source: source.into(),
        statistics: statistics(answer.statistics),
    }
}

/// The final answer to a job that was not taken; an id that is too long comes back cut off.
pub(super) fn refusal(request_id: String, error: &ServiceError) -> pb::Answer {
    let request_id = cut_id(request_id);
    let outcome = Some(pb::answer::Outcome::Error(error.to_outcome()));
    pb::Answer { request_id, outcome, source: pb::Source::Unspecified.into(), statistics: None }
}

/// An id that is short enough to be repeated.
pub(super) fn cut_id(mut request_id: String) -> String {
    request_id.truncate(request_id.floor_char_boundary(MAX_REQUEST_ID_BYTES));
    request_id
}

fn outcome(verdict: Verdict, wants_path: bool) -> pb::answer::Outcome {
    use pb::answer::Outcome;
    match verdict {
        Verdict::Solved(solution) => {
            let (moves, vertices) = moves(&solution, wants_path);
            Outcome::Solution(pb::Solution { distance: solution.distance(), moves, vertices })
        }
        Verdict::Suboptimal { path: known, lower_bound } => {
            Outcome::Suboptimal(pb::Suboptimal { path: Some(path(&known, wants_path)), lower_bound })
        }
        Verdict::Unsolvable(obstacle) => {
            let reason = match obstacle {
                Obstacle::Parity => pb::unsolvable::Reason::Parity,
                Obstacle::Order => pb::unsolvable::Reason::Order,
                Obstacle::Component => pb::unsolvable::Reason::Component,
                Obstacle::Block => pb::unsolvable::Reason::Block,
                Obstacle::Exhausted => pb::unsolvable::Reason::Exhausted,
            };
            Outcome::Unsolvable(pb::Unsolvable { reason: reason.into() })
        }
        Verdict::LimitReached { limit, lower_bound, best } => {
            let limit = match limit {
                Limit::Time => pb::limit_reached::Limit::Time,
                Limit::Nodes => pb::limit_reached::Limit::Nodes,
                Limit::Moves => pb::limit_reached::Limit::Moves,
            };
            let best_path = best.map(|known| path(&known, wants_path));
            Outcome::LimitReached(pb::LimitReached { limit: limit.into(), lower_bound, best_path })
        }
        Verdict::Cancelled => Outcome::Cancelled(pb::Cancelled {}),
        Verdict::Failed(failure) => Outcome::Error(ServiceError::from(failure).to_outcome()),
    }
}

fn path(known: &Solution, wants_path: bool) -> pb::Path {
    let (moves, vertices) = moves(known, wants_path);
    pb::Path { length: known.distance(), moves, vertices }
}

/// The letters of a path on a grid, the vertices of one on a graph, if they are wanted.
fn moves(path: &Solution, wanted: bool) -> (String, Vec<u32>) {
    if !wanted {
        return Default::default();
    }
    path.letters().map_or_else(
        || (String::new(), path.cells().iter().map(|&cell| u32::from(cell) + 1).collect()),
        |letters| (letters, Vec::new()),
    )
}

fn statistics(statistics: Statistics) -> Option<pb::Statistics> {
    if statistics == Statistics::default() {
        return None;
    }
    let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    Some(pb::Statistics {
        queue_time_us: micros(statistics.queue_time),
        solve_time_us: micros(statistics.solve_time),
        expanded: statistics.expanded,
        generated: statistics.generated,
    })
}
