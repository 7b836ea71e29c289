//! What a driver notes of each board while the load runs: counts, latencies, errors, in bounded memory.
//!
//! It must never know: how boards are made, sent or checked, how a report looks.

use std::collections::BTreeMap;
use std::time::Duration;

use tonic::Code;

use super::latency::Latencies;
use super::series::Series;
use crate::service::pb;

/// Distinct error texts that are kept; what more there are is counted together.
pub(crate) const MAX_TEXTS: usize = 16;
/// The characters of a text that are kept.
const MAX_TEXT: usize = 200;
/// The text under which those without room are counted.
pub(crate) const OTHER_TEXTS: &str = "other errors";

/// One or more boards that fared alike. All times count from the start of the measured part of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// When it should have been sent; in a closed loop, when it was.
    pub(crate) planned: Duration,
    /// When it was sent.
    pub(crate) sent: Duration,
    /// When its answer came, or its failure was known.
    pub(crate) answered: Duration,
    pub(crate) fate: Fate,
    pub(crate) source: pb::Source,
    /// The index of the address that answered.
    pub(crate) worker: usize,
    /// One, or many of a packed message.
    pub(crate) boards: u64,
}

/// What became of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A path, or a distance.
    Solved,
    /// Proven to have no path.
    Unsolvable,
    /// The budget ended first.
    LimitReached,
    /// The server gave it up.
    Cancelled,
    /// Refused as bad input, as it should be.
    Malformed,
    /// An error, of the board alone or of its call.
    Failed(Code),
}

impl Fate {
    /// Whether the server did what it was asked for.
    pub(crate) fn is_success(self) -> bool {
        !matches!(self, Self::Cancelled | Self::Failed(_))
    }

    /// The gRPC code that a board with this fate has.
    pub(crate) fn code(self) -> Code {
        match self {
            Self::Solved | Self::Unsolvable | Self::LimitReached => Code::Ok,
            Self::Malformed => Code::InvalidArgument,
            Self::Cancelled => Code::Cancelled,
            Self::Failed(code) => code,
        }
    }

    /// A place in [`Recorder::fates`] for each kind.
    fn index(self) -> usize {
        match self {
            Self::Solved => 0,
            Self::Unsolvable => 1,
            Self::LimitReached => 2,
            Self::Malformed => 3,
            Self::Cancelled => 4,
            Self::Failed(_) => 5,
        }
    }
}

/// The names of the fates, in the order of their counts.
pub(crate) const FATES: [&str; 6] =
    ["solved", "unsolvable", "limit reached", "malformed", "cancelled", "failed"];

/// The names of the sources, in the order of their numbers on the wire.
pub(crate) const SOURCES: [&str; 6] = ["unspecified", "rule", "table", "cache", "coalesced", "search"];

/// gRPC codes, 0 to 16.
pub(crate) const CODES: usize = 17;

/// What can be wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// Its path does not lead to the goal, or is not as long as it says.
    Path,
    /// Its distance is not the shortest.
    Distance,
    /// None came though the call ended well.
    Missing,
    /// A second one came.
    Double,
    /// It has an id that was not asked.
    Unasked,
    /// It says solvable of what is not, or the like.
    Outcome,
}

/// The names of what is wrong, in the order of their counts.
pub(crate) const WRONGS: [&str; 6] = ["path", "distance", "missing", "double", "unasked", "outcome"];

/// How often, with the first example.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Exemplified {
    pub(crate) count: u64,
    pub(crate) example: Option<String>,
}

/// What an address answered.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
}

/// What one driver saw. It has no lock: each driver owns one, and they are merged at the end.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) succeeded: Latencies,
    pub(crate) failed: Latencies,
    pub(crate) series: Series,
    /// Boards by fate, as [`FATES`] names them.
    pub(crate) fates: [u64; FATES.len()],
    /// Boards by gRPC code.
    pub(crate) codes: [u64; CODES],
    /// Calls that ended, by gRPC code.
    pub(crate) calls: [u64; CODES],
    /// Boards by source, as [`SOURCES`] names them.
    pub(crate) sources: [u64; SOURCES.len()],
    /// Boards by address.
    pub(crate) workers: Vec<Share>,
    /// Wrong answers, as [`WRONGS`] names them.
    pub(crate) wrong: [Exemplified; WRONGS.len()],
    /// Error texts, and how often.
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// Boards that were due.
    pub(crate) offered: u64,
    /// Boards without an answer when the run ended.
    pub(crate) unfinished: u64,
    /// Boards sent a second time, after their server went away.
    pub(crate) resent: u64,
    pub(crate) first_answer: Option<Duration>,
    pub(crate) last_answer: Duration,
}

impl Recorder {
    /// Nothing seen yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A board, or many, got a final answer or a failure.
    pub(crate) fn sample(&mut self, sample: &Sample) {
        let Sample { planned, sent, answered, fate, boards, .. } = *sample;
        let (since_planned, since_sent) = (answered.saturating_sub(planned), answered.saturating_sub(sent));
        let success = fate.is_success();
        let latencies = if success { &mut self.succeeded } else { &mut self.failed };
        latencies.record(since_planned, since_sent, boards);
        self.series.record(planned, answered, since_planned, success, boards);
        self.fates[fate.index()] += boards;
        self.codes[fate.code() as usize] += boards;
        self.sources[sample.source as usize] += boards;
        if self.workers.len() <= sample.worker {
            self.workers.resize(sample.worker + 1, Share::default());
        }
        let share = &mut self.workers[sample.worker];
        *(if success { &mut share.succeeded } else { &mut share.failed }) += boards;
        if self.first_answer.is_none_or(|first| answered < first) {
            self.first_answer = Some(answered);
        }
        self.last_answer = self.last_answer.max(answered);
    }

    /// An answer was wrong, missing, or one too many. The first example of each kind is kept.
    pub(crate) fn wrong(&mut self, wrong: Wrong, example: &str) {
        let entry = &mut self.wrong[wrong as usize];
        entry.count += 1;
        entry.example.get_or_insert_with(|| harmless(example));
    }

    /// A call ended so.
    pub(crate) fn call_status(&mut self, code: Code) {
        self.calls[code as usize] += 1;
    }

    /// What a failure said, of one board or many.
    pub(crate) fn error(&mut self, text: &str, boards: u64) {
        count_text(&mut self.errors, harmless(text), boards);
    }

    /// No connection could be made.
    pub(crate) fn connect_error(&mut self, text: &str) {
        self.error(&format!("connect: {text}"), 1);
    }

    /// Bytes of messages, as gRPC frames them, both ways.
    pub(crate) fn bytes(&mut self, sent: u64, received: u64) {
        self.bytes_sent += sent;
        self.bytes_received += received;
    }

    /// So many boards were still without an answer when the run ended.
    pub(crate) fn unfinished(&mut self, boards: u64) {
        self.unfinished += boards;
    }

    /// So many boards were sent again, after their server went away.
    pub(crate) fn resent(&mut self, boards: u64) {
        self.resent += boards;
    }

    /// So many boards were due, whether or not they could be sent.
    pub(crate) fn offered(&mut self, boards: u64) {
        self.offered += boards;
    }

    /// Takes in what another driver saw.
    pub(crate) fn merge(&mut self, other: Self) {
        self.succeeded.merge(&other.succeeded);
        self.failed.merge(&other.failed);
        self.series.merge(other.series);
        add(&mut self.fates, &other.fates);
        add(&mut self.codes, &other.codes);
        add(&mut self.calls, &other.calls);
        add(&mut self.sources, &other.sources);
        let workers = self.workers.len().max(other.workers.len());
        self.workers.resize(workers, Share::default());
        for (into, from) in self.workers.iter_mut().zip(other.workers) {
            into.succeeded += from.succeeded;
            into.failed += from.failed;
        }
        for (into, from) in self.wrong.iter_mut().zip(other.wrong) {
            into.count += from.count;
            into.example = into.example.take().or(from.example);
        }
        for (text, count) in other.errors {
            count_text(&mut self.errors, text, count);
        }
        self.bytes(other.bytes_sent, other.bytes_received);
        self.offered += other.offered;
        self.unfinished += other.unfinished;
        self.resent += other.resent;
        let firsts = [self.first_answer, other.first_answer];
        self.first_answer = firsts.into_iter().flatten().min();
        self.last_answer = self.last_answer.max(other.last_answer);
    }
}

fn add<const N: usize>(into: &mut [u64; N], from: &[u64; N]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into += from;
    }
}

fn count_text(texts: &mut BTreeMap<String, u64>, text: String, count: u64) {
    if texts.len() < MAX_TEXTS || texts.contains_key(&text) {
        *texts.entry(text).or_default() += count;
    } else {
        *texts.entry(OTHER_TEXTS.into()).or_default() += count;
    }
}

/// Whether a character is not seen, and changes where others stand.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A text that a server may have made, without what could do harm on a terminal, and not for ever.
pub(crate) fn harmless(text: &str) -> String {
    let mut harmless = String::new();
    for c in text.chars().take(MAX_TEXT) {
        if c.is_control() || turns_text(c) { harmless.extend(c.escape_default()) } else { harmless.push(c) }
    }
    if text.chars().nth(MAX_TEXT).is_some() {
        harmless.push('…');
    }
    harmless
}
