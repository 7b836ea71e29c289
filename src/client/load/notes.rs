//! From a verdict to the record: boards that fared alike are noted together, those of the warm-up not at all.
//!
//! It must never know: how a verdict came about.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use tonic::Code;

use super::check::Verdict;
use super::record::{Fate, Recorder, Sample, Wrong};
use super::run::{Nanos, Run};
use crate::service::pb;

/// When a board was due and when it was sent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) planned: Nanos,
    pub(super) sent: Nanos,
}

/// Boards that fared alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Alike {
    times: Times,
    answered: Nanos,
    fate: Fate,
    source: pb::Source,
}

/// A driver's notes.
pub(super) struct Notes {
    run: Arc<Run>,
    pub(super) recorder: Recorder,
    /// The index of the address that answers now.
    pub(super) worker: usize,
    alike: Option<(Alike, u64)>,
    /// When the last board was done.
    last: Nanos,
}

impl Notes {
    pub(super) fn new(run: Arc<Run>) -> Self {
        Self { run, recorder: Recorder::new(), worker: 0, alike: None, last: 0 }
    }

    /// Whether a board counts, by when it was due.
    fn counts(&self, times: Times) -> bool {
        times.planned >= self.run.counts_from
    }

    /// Boards were sent for the first time.
    pub(super) fn sent(&self, boards: u64) {
        self.run.live.sent.fetch_add(boards, Relaxed);
    }

    /// Boards are offered; those of an open loop are counted by its clock, whether they are sent or not.
    pub(super) fn offered(&mut self, times: Times, boards: u64) {
        if self.run.pace.is_none() && self.counts(times) {
            self.recorder.offered(boards);
        }
    }

    /// Boards are left: those of a run that is over are unfinished, those of a driver that gave up have failed.
    pub(super) fn left(&mut self, gave_up: Option<&str>, times: Times, boards: u64) {
        match gave_up {
            Some(reason) => self.failed(Code::Unavailable, reason, times, boards),
            None => self.unfinished(times, boards),
        }
    }

    /// Boards had no answer when the run ended.
    fn unfinished(&mut self, times: Times, boards: u64) {
        if self.counts(times) {
            self.recorder.unfinished(boards);
        }
    }

    /// Bytes went and came.
    pub(super) fn bytes(&mut self, now: Nanos, sent: usize, received: usize) {
        if now >= self.run.counts_from {
            self.recorder.bytes(sent as u64, received as u64);
        }
    }

    /// Boards are done.
    #[inline]
    pub(super) fn done(
        &mut self,
        verdict: Verdict,
        source: pb::Source,
        times: Times,
        answered: Nanos,
        boards: u64,
    ) {
        let fate = match verdict {
            Verdict::Fair(fate) => fate,
            Verdict::Failed(code, text) => {
                if self.counts(times) {
                    self.recorder.error(&text, boards);
                }
                Fate::Failed(code)
            }
            Verdict::Wrong(wrong, example) => return self.wrong(wrong, &example, boards),
        };
        let alike = Alike { times, answered, fate, source };
        match &mut self.alike {
            Some((same, count)) if *same == alike => *count += boards,
            _ => {
                self.flush();
                self.alike = Some((alike, boards));
            }
        }
    }

    /// Boards failed, all in one way.
    pub(super) fn failed(&mut self, code: Code, text: &str, times: Times, boards: u64) {
        let now = self.run.now();
        self.done(Verdict::Failed(code, text.to_owned()), pb::Source::Unspecified, times, now, boards);
    }

    /// Boards are done, and their answers wrong. Those of the warm-up are told of too.
    pub(super) fn wrong(&mut self, wrong: Wrong, example: &str, boards: u64) {
        (0..boards).for_each(|_| self.recorder.wrong(wrong, example));
        if !matches!(wrong, Wrong::Double | Wrong::Unasked) {
            self.run.live.done.fetch_add(boards, Relaxed);
            self.run.live.failed.fetch_add(boards, Relaxed);
        }
    }

    /// Writes down what is held back to be noted together.
    pub(super) fn flush(&mut self) {
        let Some((alike, boards)) = self.alike.take() else { return };
        let Alike { times, answered, fate, source } = alike;
        self.run.live.done.fetch_add(boards, Relaxed);
        if !fate.is_success() {
            self.run.live.failed.fetch_add(boards, Relaxed);
        }
        self.last = self.last.max(answered);
        if self.counts(times) {
            let counted = |time| self.run.counted(time);
            self.recorder.sample(&Sample {
                planned: counted(times.planned),
                sent: counted(times.sent),
                answered: counted(answered),
                fate,
                source,
                worker: self.worker,
                boards,
            });
        }
    }

    /// All that was noted.
    pub(super) fn finish(mut self) -> Recorder {
        self.flush();
        self.run.last_answer.fetch_max(self.last, Relaxed);
        self.recorder
    }
}
