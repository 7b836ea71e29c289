//! What one stream has seen: added to the worker's counts now and then, and written as one
//! log line at its end. It decides nothing.

use std::time::Instant;

use tonic::Code;
use tracing::Span;

use super::callers::Caller;
use super::metrics::{Answers, KINDS, Kind, Metrics};
use super::pb::{self, PackedOutcome, Source};

/// Answers that are added to the worker's counts at once: its threads meet so much less often.
const AT_ONCE: u32 = 64;

/// Counts answers; logs them when it is dropped.
pub(super) struct Tally {
    metrics: Metrics,
    caller: Caller,
    /// The call's.
    span: Span,
    since: Instant,
    /// `None` when the client was gone before the stream had an end.
    end: Option<Code>,
    /// Not added yet, and in how many messages.
    fresh: Answers,
    unsettled: u32,
    /// Added, by kind.
    added: [u64; KINDS.len()],
}

impl Tally {
    pub(super) fn new(metrics: Metrics, caller: Caller, span: Span) -> Self {
        let (since, fresh) = (Instant::now(), Answers::default());
        Self { metrics, caller, span, since, end: None, fresh, unsettled: 0, added: [0; KINDS.len()] }
    }

    pub(super) fn answered(&mut self, answer: &pb::Answer) {
        self.fresh.answered(answer);
        self.unsettled += 1;
        if self.unsettled >= AT_ONCE {
            self.settle();
        }
    }

    /// Counts the boards of a message, or the message when it was refused.
    pub(super) fn packed(&mut self, answer: &pb::SolvePackedResponse) {
        if answer.error.is_some() {
            self.fresh.count(Kind::Error, Source::Unspecified, 1);
        }
        // Each kind by itself: so the compiler counts many at once.
        let count = |kind: PackedOutcome| {
            answer.outcomes.iter().map(|&outcome| u64::from(outcome == kind as u8)).sum::<u64>()
        };
        self.fresh.count(Kind::Solved, Source::Table, count(PackedOutcome::Solved));
        self.fresh.count(Kind::Unsolvable, Source::Table, count(PackedOutcome::Unsolvable));
        self.fresh.count(Kind::Limit, Source::Table, count(PackedOutcome::LimitReached));
        self.fresh.count(Kind::Error, Source::Unspecified, count(PackedOutcome::Malformed));
        self.unsettled += 1;
        self.settle();
    }

    /// Adds what was counted to the worker's: also when nothing more is answered for now.
    pub(super) fn settle(&mut self) {
        if std::mem::take(&mut self.unsettled) == 0 {
            return;
        }
        for (added, fresh) in self.added.iter_mut().zip(self.fresh.by_kind()) {
            *added += fresh;
        }
        self.metrics.add(&mut self.fresh);
    }

    /// The stream has come to its end.
    pub(super) fn ended_by(&mut self, code: Code) {
        self.settle();
        // After a status the transport may ask once more.
        self.end.get_or_insert(code);
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.settle();
        let [solved, unsolvable, suboptimal, limit_reached, cancelled, errors] = self.added;
        let _of_call = self.span.enter();
        tracing::info!(
            caller = self.caller.name(),
            end = self.end.map_or_else(|| "ABANDONED".to_owned(), |code| format!("{code:?}")),
            solved,
            unsolvable,
            suboptimal,
            limit_reached,
            cancelled,
            errors,
            seconds = self.since.elapsed().as_secs_f64(),
            "stream over"
        );
    }
}
