//! What came of a run: every figure that a report shows, and none that it does not.
//!
//! It must never know: how a report is written, where it goes.

use std::fmt;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use tonic::Code;

use super::latency::Latencies;
use super::record::{Exemplified, FATES, Recorder, SOURCES, Share, WRONGS, harmless};
use super::series::{Series, Slot};
use super::settings::Settings;
use super::units::{float, per_second, share};
use crate::client::answer::code_name;

/// The percentages of the latency distribution.
pub(crate) const PERCENTS: [f64; 8] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0];
/// The bars of the histogram, beside the one of the fastest board.
const BARS: i32 = 10;
/// Points of the curve for each halving of the boards that are left.
const POINTS_A_HALVING: u32 = 10;
/// An offered rate is reached if no more than this share is missing.
const TOLERANCE: f64 = 0.01;
/// Intervals are joined until they hold so many boards each, on average …
const BOARDS_AN_INTERVAL: u64 = 20;
/// … or are so few.
const FEW_INTERVALS: usize = 40;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As it was planned.
    Complete,
    /// By its user.
    Interrupted,
    /// By a fault, which is named.
    Failed(String),
}

impl Ending {
    /// Its reason may be a server's text.
    fn harmless(self) -> Self {
        if let Self::Failed(reason) = self { Self::Failed(harmless(&reason)) } else { self }
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) settings: Settings,
    pub(crate) ending: Ending,
    /// When the measured part began.
    pub(crate) started: SystemTime,
    /// How long it was.
    pub(crate) elapsed: Duration,
    /// From its beginning to the first answer.
    pub(crate) first_answer: Option<Duration>,
    pub(crate) boards: Boards,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) succeeded: Option<Latency>,
    pub(crate) failed: Option<Latency>,
    /// Boards by fate.
    pub(crate) outcomes: Vec<(&'static str, u64)>,
    /// Boards by gRPC code; only those that there were.
    pub(crate) codes: Vec<(String, u64)>,
    /// Calls by gRPC code; only those that there were.
    pub(crate) calls: Vec<(String, u64)>,
    /// Boards by what the answer was taken from.
    pub(crate) sources: Vec<(&'static str, u64)>,
    /// Boards by address.
    pub(crate) workers: Vec<(String, Share)>,
    pub(crate) wrong: Vec<(&'static str, Exemplified)>,
    /// Error texts, the most frequent first.
    pub(crate) errors: Vec<(String, u64)>,
    pub(crate) intervals: Vec<Interval>,
    /// The conditions of `--fail-if`.
    pub(crate) verdicts: Vec<Verdict>,
}

/// How many boards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Boards {
    /// Due.
    pub(crate) offered: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    /// Without an answer at the end.
    pub(crate) unfinished: u64,
    /// Sent twice.
    pub(crate) resent: u64,
}

/// How long boards took.
#[derive(Debug)]
pub(crate) struct Latency {
    /// Since they were due.
    pub(crate) corrected: Distribution,
    /// Since they were sent; none in a closed loop, where that is when they were due.
    pub(crate) uncorrected: Option<Distribution>,
}

/// Times, of at least one board.
#[derive(Debug)]
pub(crate) struct Distribution {
    histogram: Histogram<u64>,
}

/// A bar of the histogram: so many boards took no longer, but longer than the bar before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) up_to: Duration,
    pub(crate) boards: u64,
}

/// What happened in a stretch of the run.
#[derive(Debug, Clone)]
pub(crate) struct Interval {
    pub(crate) start: Duration,
    /// Its length; the last one ends with the run, or with the last answer after it.
    pub(crate) length: Duration,
    pub(crate) planned: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    /// Times of boards that succeeded, if any did: the median, p99, and the longest.
    pub(crate) times: Option<[Duration; 3]>,
}

/// What came of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The condition as it was written.
    pub(crate) condition: String,
    /// What was measured, in words.
    pub(crate) measured: String,
    /// Whether it holds, so that the run failed.
    pub(crate) holds: bool,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holds = if self.holds { "FAILED" } else { "ok" };
        write!(f, "{holds:<6} {}: {}", self.condition, self.measured)
    }
}

impl Report {
    /// The report of what all drivers saw in a run that began and ended so.
    pub(crate) fn new(
        seen: Recorder,
        settings: Settings,
        started: SystemTime,
        elapsed: Duration,
        ending: Ending,
    ) -> Self {
        let server = settings.server.as_deref().map(harmless);
        let settings = Settings { server, ..settings };
        let open = settings.is_open_loop();
        let boards = Boards {
            offered: seen.offered,
            succeeded: seen.succeeded.corrected().len(),
            failed: seen.failed.corrected().len(),
            unfinished: seen.unfinished,
            resent: seen.resent,
        };
        let mut errors: Vec<_> = seen.errors.into_iter().collect();
        errors.sort_by(|(a, m), (b, n)| n.cmp(m).then(a.cmp(b)));
        Self {
            ending: ending.harmless(),
            started,
            elapsed,
            first_answer: seen.first_answer,
            boards,
            bytes_sent: seen.bytes_sent,
            bytes_received: seen.bytes_received,
            succeeded: Latency::new(&seen.succeeded, open),
            failed: Latency::new(&seen.failed, open),
            outcomes: FATES.into_iter().zip(seen.fates).collect(),
            codes: named_codes(&seen.codes),
            calls: named_codes(&seen.calls),
            sources: SOURCES.into_iter().zip(seen.sources).collect(),
            workers: named_workers(&settings.endpoints, seen.workers),
            wrong: WRONGS.into_iter().zip(seen.wrong).collect(),
            errors,
            intervals: intervals(
                seen.series,
                elapsed.max(seen.last_answer),
                boards.succeeded + boards.failed,
            ),
            verdicts: Vec::new(),
            settings,
        }
    }

    /// Boards that succeeded, a second.
    pub(crate) fn rate(&self) -> f64 {
        per_second(self.boards.succeeded, self.elapsed)
    }

    /// Boards that failed, a second.
    pub(crate) fn failure_rate(&self) -> f64 {
        per_second(self.boards.failed, self.elapsed)
    }

    /// Boards that were due, a second; none in a closed loop, where each is due when one before it is done.
    pub(crate) fn offered_rate(&self) -> Option<f64> {
        self.settings.is_open_loop().then(|| per_second(self.boards.offered, self.elapsed))
    }

    /// Whether what was due was answered at the rate at which it was due; none in a closed loop.
    pub(crate) fn kept_up(&self) -> Option<bool> {
        let done = float(self.boards.succeeded + self.boards.failed);
        let open = self.settings.is_open_loop();
        open.then(|| done >= float(self.boards.offered) * (1.0 - TOLERANCE))
    }

    /// The share of failed boards among those that are done, from 0 to 1.
    pub(crate) fn error_share(&self) -> f64 {
        share(self.boards.failed, self.boards.succeeded + self.boards.failed)
    }

    /// Answers that were wrong in any way.
    pub(crate) fn wrongs(&self) -> u64 {
        self.wrong.iter().map(|(_, wrong)| wrong.count).sum()
    }
}

impl Latency {
    fn new(latencies: &Latencies, open: bool) -> Option<Self> {
        let corrected = Distribution::new(latencies.corrected())?;
        let uncorrected = open.then(|| Distribution::new(latencies.uncorrected())).flatten();
        Some(Self { corrected, uncorrected })
    }
}

impl Distribution {
    fn new(histogram: &Histogram<u64>) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self { histogram: histogram.clone() })
    }

    pub(crate) fn boards(&self) -> u64 {
        self.histogram.len()
    }

    pub(crate) fn fastest(&self) -> Duration {
        Duration::from_nanos(self.histogram.min())
    }

    pub(crate) fn slowest(&self) -> Duration {
        Duration::from_nanos(self.histogram.max())
    }

    pub(crate) fn mean(&self) -> Duration {
        Duration::from_secs_f64(self.histogram.mean() / 1e9)
    }

    pub(crate) fn deviation(&self) -> Duration {
        Duration::from_secs_f64(self.histogram.stdev() / 1e9)
    }

    /// The time within which so many percent of the boards were done.
    pub(crate) fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.histogram.value_at_percentile(percent))
    }

    /// Bars from the fastest board to the slowest, each longer than the one before by the same factor: times are
    /// spread over powers of ten, and with equal steps all but the slowest would stand in one bar.
    pub(crate) fn bars(&self) -> Vec<Bar> {
        let (fastest, slowest) = (self.histogram.min().max(1), self.histogram.max());
        let factor = (float(slowest) / float(fastest)).max(1.0);
        let mark = |bar: i32| float(fastest) * factor.powf(f64::from(bar) / f64::from(BARS));
        let mut seen = 0;
        let bar = |bar| {
            let up_to = if bar == BARS { self.slowest() } else { Duration::from_secs_f64(mark(bar) / 1e9) };
            let within = self.within(up_to);
            let boards = within - seen;
            seen = within;
            Bar { up_to, boards }
        };
        let bars = if slowest > fastest { BARS } else { 0 };
        (0..=bars).map(bar).collect()
    }

    /// Points of the curve: a share of the boards, and the time within which they were done.
    pub(crate) fn curve(&self) -> Vec<(f64, Duration)> {
        let points = self.histogram.iter_quantiles(POINTS_A_HALVING);
        points
            .map(|point| (point.quantile_iterated_to(), Duration::from_nanos(point.value_iterated_to())))
            .collect()
    }

    fn within(&self, time: Duration) -> u64 {
        self.histogram.count_between(0, super::units::nanoseconds(time))
    }
}

/// Codes that there were.
fn named_codes(counts: &[u64]) -> Vec<(String, u64)> {
    let codes = (0..).map(Code::from_i32).map(code_name);
    codes.zip(counts.iter().copied()).filter(|&(_, count)| count > 0).collect()
}

/// Every address, with what it answered.
fn named_workers(endpoints: &[String], mut shares: Vec<Share>) -> Vec<(String, Share)> {
    shares.resize(endpoints.len().max(shares.len()), Share::default());
    let name = |index: usize| endpoints.get(index).cloned().unwrap_or_else(|| format!("worker {index}"));
    shares.into_iter().enumerate().map(|(index, share)| (name(index), share)).collect()
}

/// Intervals that are neither too many to be seen nor so short that they show noise, up to the end of the run.
fn intervals(mut series: Series, end: Duration, boards: u64) -> Vec<Interval> {
    let enough = |slots: usize| boards >= BOARDS_AN_INTERVAL * u64::try_from(slots).unwrap_or(u64::MAX);
    while series.slots().len() > FEW_INTERVALS && !enough(series.slots().len()) {
        series.double();
    }
    let length = series.interval();
    let mut slots = series.into_slots();
    let whole = |slots: &[Slot]| length * u32::try_from(slots.len().saturating_sub(1)).unwrap_or(u32::MAX);
    // What is left after the last whole interval has one of its own if it is long enough to have a rate.
    if end.saturating_sub(whole(&slots)) < length / 2
        && slots.len() > 1
        && let Some(rest) = slots.pop()
        && let Some(last) = slots.last_mut()
    {
        last.merge(rest);
    }
    let last = end.saturating_sub(whole(&slots));
    let lengths = std::iter::repeat_n(length, slots.len().saturating_sub(1)).chain([last]);
    let starts = (0..).map(|index: u32| length * index);
    starts.zip(lengths).zip(slots).map(|((start, length), slot)| interval(start, length, &slot)).collect()
}

fn interval(start: Duration, length: Duration, slot: &Slot) -> Interval {
    let times = || Some([slot.quantile(0.5)?, slot.quantile(0.99)?, slot.max]);
    Interval {
        start,
        length,
        planned: slot.planned,
        succeeded: slot.succeeded,
        failed: slot.failed,
        times: times(),
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
