//! Between wire and domain, both ways, and nowhere else. It decides nothing about
//! boards: what is wrong with one is said by [`Instance`].

use std::time::{Duration, Instant};

use super::pb;
use super::status::ServiceError;
use crate::config::{LimitsConfig, MAX_REQUEST_ID_BYTES};
use crate::domain::sliding::{Field, Instance, Invalid, Layout, MAX_CELLS, Obstacle, Setup};
use crate::engine::{Algorithm, Answer, Limit, Priority, Query, Source, Statistics, Verdict};
use crate::space::Cost;

/// What a job asks for, checked.
///
/// # Errors
/// [`ServiceError::Invalid`] with the field's path.
pub(super) fn query(job: &pb::Job, limits: &LimitsConfig, now: Instant) -> Result<Query, ServiceError> {
    let Some(pb::job::Problem::Sliding(sliding)) = &job.problem else {
        return Err(ServiceError::invalid("problem", "is not set, expected a problem, such as sliding"));
    };
    metric(job.metric)?;
    let budget = job.budget.unwrap_or_default();
    let time = within("budget.max_time_ms", budget.max_time_ms, limits.default_time_ms, limits.max_time_ms)?;
    Ok(Query {
        instance: instance(sliding)?,
        algorithm: algorithm(job.algorithm)?,
        deadline: now + Duration::from_millis(time.into()),
        max_nodes: within("budget.max_nodes", budget.max_nodes, limits.default_nodes, limits.max_nodes)?,
        max_moves: budget.max_moves.unwrap_or(Cost::MAX),
        priority: priority(job.priority)?,
        bypass_cache: job.bypass_cache,
        #[cfg(feature = "faults")]
        fault: crate::engine::Fault::from_name(&job.request_id),
    })
}

/// Whether the answer to a job must hold the path.
///
/// # Errors
/// [`ServiceError::Invalid`] for an objective that is not known.
pub(super) fn wants_path(job: &pb::Job) -> Result<bool, ServiceError> {
    match known("objective", job.objective, "an Objective of this version")? {
        pb::Objective::Distance => Ok(false),
        pb::Objective::Unspecified | pb::Objective::ShortestPath | pb::Objective::SmallestPath => Ok(true),
    }
}

fn instance(sliding: &pb::SlidingPuzzle) -> Result<Instance, ServiceError> {
    let Some(pb::sliding_puzzle::Layout::Grid(grid)) = &sliding.layout else {
        return Err(ServiceError::invalid("sliding.layout", "is not set, expected a layout, such as grid"));
    };
    let layout = layout(*grid)?;
    let setup = Setup { layout, start: &sliding.start, goal: &sliding.goal };
    Instance::try_from(setup).map_err(|invalid| malformed(&invalid))
}

fn layout(grid: pb::Grid) -> Result<&'static std::sync::Arc<Layout>, ServiceError> {
    for (field, side) in [("sliding.grid.rows", grid.rows), ("sliding.grid.columns", grid.columns)] {
        if side == 0 {
            return Err(ServiceError::invalid(field, "is 0, expected at least 1"));
        }
    }
    let cells = u64::from(grid.rows) * u64::from(grid.columns);
    let layout = usize::try_from(grid.rows).ok().zip(usize::try_from(grid.columns).ok());
    layout.and_then(|(rows, columns)| Layout::grid(rows, columns)).ok_or_else(|| {
        let (rows, columns) = (grid.rows, grid.columns);
        let description =
            format!("has {rows} rows of {columns} columns, {cells} cells; expected at most {MAX_CELLS} cells (max_cells)");
        ServiceError::invalid("sliding.grid", description)
    })
}

fn malformed(invalid: &Invalid) -> ServiceError {
    let (field, cell) = invalid.place();
    let field = match field {
        Field::Start => "sliding.start",
        Field::Goal => "sliding.goal",
    };
    match cell {
        Some(cell) => ServiceError::invalid(&format!("{field}[{cell}]"), invalid.to_string()),
        None => ServiceError::invalid(field, invalid.to_string()),
    }
}

fn known<E: TryFrom<i32>>(field: &str, number: i32, expected: &str) -> Result<E, ServiceError> {
    E::try_from(number).map_err(|_| ServiceError::invalid(field, format!("is {number}, expected {expected}")))
}

fn metric(number: i32) -> Result<(), ServiceError> {
    match known("metric", number, "a Metric of this version")? {
        pb::Metric::Unspecified | pb::Metric::SingleTile => Ok(()),
    }
}

fn algorithm(number: i32) -> Result<Algorithm, ServiceError> {
    Ok(match known("algorithm", number, "an Algorithm of this version")? {
        pb::Algorithm::Unspecified => Algorithm::Auto,
        pb::Algorithm::BreadthFirst => Algorithm::BreadthFirst,
        pb::Algorithm::Bidirectional => Algorithm::Bidirectional,
        pb::Algorithm::AStar => Algorithm::AStar,
        pb::Algorithm::AStarMisplaced => Algorithm::AStarMisplaced,
    })
}

fn priority(number: i32) -> Result<Priority, ServiceError> {
    Ok(match known("priority", number, "a Priority of this version")? {
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
pub(super) fn refusal(mut request_id: String, error: &ServiceError) -> pb::Answer {
    request_id.truncate(request_id.floor_char_boundary(MAX_REQUEST_ID_BYTES));
    let outcome = Some(pb::answer::Outcome::Error(error.to_outcome()));
    pb::Answer { request_id, outcome, source: pb::Source::Unspecified.into(), statistics: None }
}

fn outcome(verdict: Verdict, wants_path: bool) -> pb::answer::Outcome {
    use pb::answer::Outcome;
    match verdict {
        Verdict::Solved(solution) => {
            let moves = if wants_path { solution.letters().unwrap_or_default() } else { String::new() };
            Outcome::Solution(pb::Solution { distance: solution.distance(), moves, vertices: Vec::new() })
        }
        Verdict::Unsolvable(obstacle) => {
            let reason = match obstacle {
                Obstacle::Parity => pb::unsolvable::Reason::Parity,
                Obstacle::Order => pb::unsolvable::Reason::Order,
                Obstacle::Exhausted => pb::unsolvable::Reason::Exhausted,
            };
            Outcome::Unsolvable(pb::Unsolvable { reason: reason.into() })
        }
        Verdict::LimitReached { limit, lower_bound } => {
            let limit = match limit {
                Limit::Time => pb::limit_reached::Limit::Time,
                Limit::Nodes => pb::limit_reached::Limit::Nodes,
                Limit::Moves => pb::limit_reached::Limit::Moves,
            };
            Outcome::LimitReached(pb::LimitReached { limit: limit.into(), lower_bound })
        }
        Verdict::Cancelled => Outcome::Cancelled(pb::Cancelled {}),
        Verdict::Failed(failure) => Outcome::Error(ServiceError::from(failure).to_outcome()),
    }
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
