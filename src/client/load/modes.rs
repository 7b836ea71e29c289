//! What one message of a stream holds: a board, or many packed.
//!
//! It must never know: when messages are sent, over what, how often.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::check::{Check, Verdict, error, judge, judge_packed};
use super::wire::{self, Answer, Garbled, Packed, Template};
use super::workload::{Shot, WARM, Workload};
use crate::service::pb;

/// Boards that packed messages are made of before the run; then the messages come again.
const PACKED_POOL: u64 = 1 << 18;

/// How boards travel on a stream.
pub(super) trait Mode: Send + 'static {
    /// The method.
    const PATH: &'static str;
    /// What a message was made of.
    type Item: Send;
    /// What a message of answers says.
    type Answer<'a>;

    /// What is sent under a number.
    fn make(&self, number: u64) -> Self::Item;
    /// How many boards it is.
    fn boards(&self, item: &Self::Item) -> u64;
    /// Writes it, framed; what is returned is to be sent right behind it.
    fn write(&self, item: &Self::Item, id: u32, out: &mut BytesMut) -> Option<Bytes>;
    /// Reads a message, and which it answers.
    fn read(message: &[u8]) -> Result<(&[u8], Self::Answer<'_>), Garbled>;
    /// Judges it, board by board or many at once.
    fn judge(&self, item: &Self::Item, answer: &Self::Answer<'_>, tell: impl FnMut(Verdict, pb::Source, u64));
}

/// A board a message.
#[derive(Debug, Clone)]
pub(super) struct Jobs {
    pub(super) workload: Arc<Workload>,
    /// One for each problem.
    pub(super) templates: Arc<[Template]>,
    pub(super) check: Check,
}

impl Mode for Jobs {
    const PATH: &'static str = "/taquin.v1.SolverService/SolveStream";
    type Item = Shot;
    type Answer<'a> = Answer<'a>;

    fn make(&self, number: u64) -> Shot {
        self.workload.shot(number)
    }

    fn boards(&self, _: &Shot) -> u64 {
        1
    }

    fn write(&self, shot: &Shot, id: u32, out: &mut BytesMut) -> Option<Bytes> {
        self.templates[usize::from(shot.problem)].write(*shot, id, out);
        None
    }

    fn read(message: &[u8]) -> Result<(&[u8], Answer<'_>), Garbled> {
        let answer = wire::answer(message)?;
        Ok((answer.id, answer))
    }

    fn judge(&self, shot: &Shot, answer: &Answer<'_>, mut tell: impl FnMut(Verdict, pb::Source, u64)) {
        tell(judge(self.check, self.workload.problem(*shot), *shot, answer), answer.source, 1);
    }
}

/// Many boards a message.
#[derive(Debug, Clone)]
pub(super) struct Batches {
    workload: Arc<Workload>,
    job: Arc<pb::Job>,
    messages: Arc<[Arc<Batch>]>,
    /// Boards of a message.
    size: u64,
    /// How many boards there are in all, if there is an end.
    total: Option<u64>,
    check: Check,
}

/// A packed message.
#[derive(Debug)]
pub(super) struct Batch {
    shots: Box<[Shot]>,
    /// All but its id.
    bytes: Bytes,
}

impl Batch {
    fn new(workload: &Workload, job: &pb::Job, numbers: std::ops::Range<u64>) -> Self {
        let shots: Box<[Shot]> = numbers.map(|number| workload.shot(number)).collect();
        let bytes = wire::packed(job, &workload.problems()[0], shots.iter().map(|shot| shot.tiles));
        Self { shots, bytes: bytes.into() }
    }
}

impl Batches {
    /// Messages of so many boards, the last one of what is left of `total`.
    pub(super) fn new(
        workload: Arc<Workload>,
        job: pb::Job,
        size: u64,
        total: Option<u64>,
        check: Check,
    ) -> Self {
        let whole = total.map_or(u64::MAX, |total| total / size);
        let batch = |number| Arc::new(Batch::new(&workload, &job, number * size..(number + 1) * size));
        let messages = (0..whole.min(PACKED_POOL.div_ceil(size)).max(1)).map(batch).collect();
        Self { workload, job: job.into(), messages, size, total, check }
    }
}

impl Mode for Batches {
    const PATH: &'static str = "/taquin.v1.SolverService/SolvePacked";
    type Item = Arc<Batch>;
    type Answer<'a> = Packed<'a>;

    fn make(&self, number: u64) -> Arc<Batch> {
        let start = number.saturating_mul(self.size);
        match self.total {
            Some(total) if number & WARM == 0 && total - start < self.size => {
                Arc::new(Batch::new(&self.workload, &self.job, start..total))
            }
            _ => {
                let index = (number & !WARM) % self.messages.len() as u64;
                Arc::clone(&self.messages[usize::try_from(index).expect("below a length")])
            }
        }
    }

    fn boards(&self, batch: &Arc<Batch>) -> u64 {
        batch.shots.len() as u64
    }

    fn write(&self, batch: &Arc<Batch>, id: u32, out: &mut BytesMut) -> Option<Bytes> {
        wire::packed_head(id, batch.bytes.len(), out);
        Some(batch.bytes.clone())
    }

    fn read(message: &[u8]) -> Result<(&[u8], Packed<'_>), Garbled> {
        let answer = wire::packed_answer(message)?;
        Ok((answer.id, answer))
    }

    fn judge(&self, batch: &Arc<Batch>, answer: &Packed<'_>, mut tell: impl FnMut(Verdict, pb::Source, u64)) {
        let problem = &self.workload.problems()[0];
        match answer.error {
            // A message with a board that is none is not refused, so this is no answer to a flaw of ours.
            Some(status) => {
                let verdict = error(status);
                tell(verdict, pb::Source::Unspecified, batch.shots.len() as u64);
            }
            None => judge_packed(self.check, problem, &batch.shots, answer, |verdict, boards| {
                tell(verdict, pb::Source::Table, boards);
            }),
        }
    }
}
