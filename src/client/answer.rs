//! Wire answer → reply: what a server said about a board, checked.
//!
//! A path is replayed and a verdict held against theory before anyone sees it. It must never know: how replies
//! are ordered or printed.

use std::borrow::Cow;
use std::time::Duration;

use tonic::Code;
use tonic_types::pb as rpc;
use tonic_types::{ErrorDetails, RpcStatusExt};

use super::board::{Board, Layout};
use super::input::Item;
use super::replay::{ReplayError, Step, reachable, replay, replay_on_graph};
use super::text::TextError;
use crate::service::pb::{self, answer};

/// What came of an item of the input.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) item: Item,
    pub(crate) outcome: Outcome,
    /// Where the answer came from, in lower case: `rule`, `table`, `cache`, `coalesced`, `search`.
    pub(crate) source: Option<String>,
    pub(crate) statistics: Option<pb::Statistics>,
}

/// The outcome of a board.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// A path that was replayed.
    Solved(Vec<Step>),
    /// No path, and how that is known: `parity`, `order`, `exhausted`, `component`,
    /// `block`.
    Unsolvable(String),
    /// The budget ended.
    Limit {
        /// Which part of it: `time`, `nodes` or `moves`.
        limit: String,
        /// No path is shorter.
        lower_bound: u32,
        /// The best path known, replayed, if it was asked for and one was found.
        best: Option<Vec<Step>>,
    },
    /// A path within the ratio that was asked for, replayed.
    Suboptimal {
        /// The path.
        steps: Vec<Step>,
        /// No path is shorter.
        lower_bound: u32,
    },
    /// The job was cancelled.
    Cancelled,
    /// There is no answer, or none to be believed.
    Failed(Failure),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) message: String,
    /// The fields that the server found fault with.
    pub(crate) violations: Vec<Violation>,
    /// After how long the server wants to be asked again.
    pub(crate) retry_after: Option<Duration>,
}

/// Whose failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The text is no board; it was not sent.
    Text,
    /// The server answered with an error.
    Server(Code),
    /// The server's answer is wrong.
    Wrong,
    /// The call ended before the answer came.
    Lost,
}

/// A field of the request and what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Violation {
    pub(crate) field: String,
    pub(crate) description: String,
}

impl Failure {
    /// A failure of which nothing more is known.
    fn new(kind: FailureKind, message: String) -> Self {
        Self { kind, message, violations: Vec::new(), retry_after: None }
    }

    fn wrong(message: String) -> Outcome {
        Outcome::Failed(Self::new(FailureKind::Wrong, message))
    }

    #[expect(clippy::needless_pass_by_value, reason = "the end of a chain of results")]
    fn broken(error: ReplayError) -> Outcome {
        Self::wrong(format!("the path does not hold: {error}"))
    }

    /// Its code: `MALFORMED_TEXT`, `WRONG_ANSWER`, `NO_ANSWER`, or the server's, as `INVALID_ARGUMENT`.
    pub(crate) fn code(&self) -> String {
        match self.kind {
            FailureKind::Text => "MALFORMED_TEXT".into(),
            FailureKind::Wrong => "WRONG_ANSWER".into(),
            FailureKind::Lost => "NO_ANSWER".into(),
            FailureKind::Server(code) => code_name(code),
        }
    }
}

impl From<rpc::Status> for Failure {
    fn from(status: rpc::Status) -> Self {
        let details: ErrorDetails = status.get_error_details();
        let violations = details.bad_request().map_or(&[][..], |bad| &bad.field_violations);
        Self {
            kind: FailureKind::Server(Code::from_i32(status.code)),
            message: status.message,
            violations: violations
                .iter()
                .map(|v| Violation { field: v.field.clone(), description: v.description.clone() })
                .collect(),
            retry_after: details.retry_info().and_then(|info| info.retry_delay),
        }
    }
}

impl Reply {
    fn unanswered(item: Item, kind: FailureKind, message: String) -> Self {
        let outcome = Outcome::Failed(Failure::new(kind, message));
        Self { item, outcome, source: None, statistics: None }
    }

    /// The reply to a text that is no board.
    pub(crate) fn malformed(item: Item, error: &TextError) -> Self {
        Self::unanswered(item, FailureKind::Text, error.to_string())
    }

    /// The reply to a board whose answer never came.
    pub(crate) fn lost(item: Item) -> Self {
        Self::unanswered(item, FailureKind::Lost, "no answer came".into())
    }

    /// Checks the answer to an item.
    pub(crate) fn judge(item: Item, answer: pb::Answer) -> Self {
        let source = match answer.source() {
            pb::Source::Unspecified => None,
            source => Some(word(source.as_str_name(), "SOURCE_")),
        };
        let outcome = match &item.board {
            Ok(board) => verdict(board, item.goal.as_deref(), answer.outcome),
            Err(error) => Failure::wrong(format!("an answer to what was not asked: {error}")),
        };
        Self { item, outcome, source, statistics: answer.statistics }
    }
}

/// What an answer says about a board, if it can be believed; no goal means the ordered one.
fn verdict(board: &Board, goal: Option<&Board>, outcome: Option<answer::Outcome>) -> Outcome {
    let goal = &*goal.map_or_else(|| Cow::Owned(board.ordered()), Cow::Borrowed);
    match outcome {
        None => Failure::wrong("an answer without an outcome".into()),
        Some(answer::Outcome::Solution(pb::Solution { distance, moves, vertices })) => {
            let replayed = steps(board, goal, &pb::Path { length: distance, moves, vertices });
            replayed.map_or_else(Failure::broken, Outcome::Solved)
        }
        Some(answer::Outcome::Suboptimal(pb::Suboptimal { path, lower_bound })) => {
            let replayed = steps(board, goal, &path.unwrap_or_default());
            replayed.map_or_else(Failure::broken, |steps| Outcome::Suboptimal { steps, lower_bound })
        }
        Some(answer::Outcome::Unsolvable(_)) if reachable(board, goal) == Some(true) => {
            Failure::wrong("called unsolvable, but theory says that the goal can be reached".into())
        }
        Some(answer::Outcome::Unsolvable(unsolvable)) => {
            Outcome::Unsolvable(word(unsolvable.reason().as_str_name(), "REASON_"))
        }
        Some(answer::Outcome::LimitReached(reached)) => {
            let (limit, lower_bound) = (word(reached.limit().as_str_name(), "LIMIT_"), reached.lower_bound);
            let replayed = reached.best_path.map(|path| steps(board, goal, &path)).transpose();
            replayed.map_or_else(Failure::broken, |best| Outcome::Limit { limit, lower_bound, best })
        }
        Some(answer::Outcome::Cancelled(_)) => Outcome::Cancelled,
        Some(answer::Outcome::Error(status)) => Outcome::Failed(status.into()),
    }
}

fn steps(board: &Board, goal: &Board, path: &pb::Path) -> Result<Vec<Step>, ReplayError> {
    match board.layout {
        Layout::Grid(_) => replay(board, goal, path.length, &path.moves),
        Layout::Graph(_) => replay_on_graph(board, goal, path.length, &path.vertices),
    }
}

/// `REASON_PARITY` → `parity`.
fn word(name: &str, prefix: &str) -> String {
    name.trim_start_matches(prefix).to_lowercase()
}

/// The name of a code, as the gRPC specification writes it: `INVALID_ARGUMENT`.
pub(crate) fn code_name(code: Code) -> String {
    let mut name = String::new();
    for c in format!("{code:?}").chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tonic::Status;
    use tonic_types::StatusExt;

    use super::super::gather::one;
    use super::*;

    fn verdict_of(board: &str, outcome: answer::Outcome) -> Outcome {
        verdict(&one(board, None).unwrap(), None, Some(outcome))
    }

    fn kind(outcome: &Outcome) -> Option<FailureKind> {
        if let Outcome::Failed(failure) = outcome { Some(failure.kind) } else { None }
    }

    #[test]
    fn lies_are_caught() {
        let path = |distance, moves: &str| {
            answer::Outcome::Solution(pb::Solution { distance, moves: moves.into(), vertices: vec![] })
        };
        let unsolvable = answer::Outcome::Unsolvable(pb::Unsolvable { reason: 1 });
        assert!(matches!(verdict_of("123456708", path(1, "R")), Outcome::Solved(steps) if steps.len() == 1));
        assert_eq!(kind(&verdict_of("123456708", path(1, "L"))), Some(FailureKind::Wrong));
        assert_eq!(kind(&verdict_of("123456708", path(3, "R"))), Some(FailureKind::Wrong));
        assert_eq!(kind(&verdict_of("123456708", unsolvable.clone())), Some(FailureKind::Wrong));
        assert_eq!(verdict_of("123456870", unsolvable), Outcome::Unsolvable("parity".into()));
        assert_eq!(kind(&verdict(&one("123456780", None).unwrap(), None, None)), Some(FailureKind::Wrong));
    }

    #[test]
    fn a_path_on_a_graph_is_followed() {
        let layout = Layout::Graph(Arc::new("1-2,2-3".parse().unwrap()));
        let board = one("1 0 2", Some(&layout)).unwrap();
        let path = |vertices: &[u32], moves: &str| {
            let (moves, vertices) = (moves.to_owned(), vertices.to_vec());
            let solution = pb::Solution { distance: 1, moves, vertices };
            verdict(&board, None, Some(answer::Outcome::Solution(solution)))
        };
        assert!(matches!(path(&[3], ""), Outcome::Solved(steps) if steps.len() == 1));
        assert_eq!(kind(&path(&[1], "")), Some(FailureKind::Wrong));
        assert_eq!(kind(&path(&[], "R")), Some(FailureKind::Wrong));
        let unsolvable = |reason: pb::unsolvable::Reason| {
            let unsolvable = answer::Outcome::Unsolvable(pb::Unsolvable { reason: reason.into() });
            verdict(&board, None, Some(unsolvable))
        };
        assert_eq!(unsolvable(pb::unsolvable::Reason::Component), Outcome::Unsolvable("component".into()));
        assert_eq!(unsolvable(pb::unsolvable::Reason::Block), Outcome::Unsolvable("block".into()));
    }

    #[test]
    fn an_error_keeps_its_fields() {
        let mut details = ErrorDetails::with_retry_info(Some(Duration::from_millis(250)));
        details.add_bad_request_violation("job.sliding.start[4]", "tile 3 is there twice");
        let status = Status::with_error_details(Code::InvalidArgument, "bad board", details);
        let details: Vec<_> = <rpc::Status as prost::Message>::decode(status.details()).unwrap().details;
        let status = rpc::Status { code: 3, message: "bad board".into(), details };
        let Outcome::Failed(failure) = verdict_of("113456780", answer::Outcome::Error(status)) else {
            panic!()
        };
        assert_eq!((failure.code().as_str(), failure.message.as_str()), ("INVALID_ARGUMENT", "bad board"));
        assert_eq!(failure.violations[0].field, "job.sliding.start[4]");
        assert_eq!(failure.retry_after, Some(Duration::from_millis(250)));
    }
}
