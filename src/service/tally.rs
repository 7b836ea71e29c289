//! What one stream has seen, written as one log line at its end. It decides nothing.

use std::net::SocketAddr;
use std::time::Instant;

use tonic::Code;

use super::callers::Caller;
use super::pb::{self, PackedOutcome, answer::Outcome};

/// Counts answers; logs them when it is dropped.
pub(super) struct Tally {
    peer: Option<SocketAddr>,
    caller: Caller,
    since: Instant,
    /// `None` when the client was gone before the stream had an end.
    end: Option<Code>,
    solved: u64,
    unsolvable: u64,
    suboptimal: u64,
    limit_reached: u64,
    cancelled: u64,
    errors: u64,
}

impl Tally {
    pub(super) fn new(peer: Option<SocketAddr>, caller: Caller) -> Self {
        let since = Instant::now();
        Self {
            peer,
            caller,
            since,
            end: None,
            solved: 0,
            unsolvable: 0,
            suboptimal: 0,
            limit_reached: 0,
            cancelled: 0,
            errors: 0,
        }
    }

    pub(super) fn answered(&mut self, answer: &pb::Answer) {
        let count = match answer.outcome {
            Some(Outcome::Solution(_)) => &mut self.solved,
            Some(Outcome::Unsolvable(_)) => &mut self.unsolvable,
            Some(Outcome::Suboptimal(_)) => &mut self.suboptimal,
            Some(Outcome::LimitReached(_)) => &mut self.limit_reached,
            Some(Outcome::Cancelled(_)) => &mut self.cancelled,
            Some(Outcome::Error(_)) | None => &mut self.errors,
        };
        *count += 1;
    }

    /// Counts the boards of a message, or the message when it was refused.
    pub(super) fn packed(&mut self, answer: &pb::SolvePackedResponse) {
        self.errors += u64::from(answer.error.is_some());
        // Each kind by itself: so the compiler counts many at once.
        let count = |kind: PackedOutcome| {
            answer.outcomes.iter().map(|&outcome| u64::from(outcome == kind as u8)).sum::<u64>()
        };
        self.solved += count(PackedOutcome::Solved);
        self.unsolvable += count(PackedOutcome::Unsolvable);
        self.limit_reached += count(PackedOutcome::LimitReached);
        self.errors += count(PackedOutcome::Malformed);
    }

    /// The stream has come to its end.
    pub(super) fn ended_by(&mut self, code: Code) {
        // After a status the transport may ask once more.
        self.end.get_or_insert(code);
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        tracing::info!(
            peer = self.peer.map(tracing::field::display),
            caller = self.caller.name(),
            end = self.end.map_or_else(|| "ABANDONED".to_owned(), |code| format!("{code:?}")),
            solved = self.solved,
            unsolvable = self.unsolvable,
            suboptimal = self.suboptimal,
            limit_reached = self.limit_reached,
            cancelled = self.cancelled,
            errors = self.errors,
            seconds = self.since.elapsed().as_secs_f64(),
            "stream over"
        );
    }
}
