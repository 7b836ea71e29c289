//! How long boards took, to three digits: from when they were due, and from when they were sent.
//!
//! It must never know: what a board is.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Digits that are kept of a time.
const DIGITS: u8 = 3;
/// A longer time is counted as this one.
const LONGEST: Duration = Duration::from_hours(1);

/// Times of boards, in nanoseconds, in at most some 300 KB each way.
#[derive(Debug, Clone)]
pub(crate) struct Latencies {
    /// From the time at which a board was due.
    corrected: Histogram<u64>,
    /// From the time at which it was sent; none as long as every board was sent when it was due.
    uncorrected: Option<Histogram<u64>>,
}

impl Default for Latencies {
    fn default() -> Self {
        let corrected = Histogram::new(DIGITS).expect("a histogram can have three digits");
        Self { corrected, uncorrected: None }
    }
}

impl Latencies {
    /// So many boards took so long.
    pub(crate) fn record(&mut self, since_planned: Duration, since_sent: Duration, boards: u64) {
        if since_planned != since_sent && self.uncorrected.is_none() {
            self.uncorrected = Some(self.corrected.clone());
        }
        count(&mut self.corrected, since_planned, boards);
        if let Some(uncorrected) = &mut self.uncorrected {
            count(uncorrected, since_sent, boards);
        }
    }

    /// From when boards were due.
    pub(crate) fn corrected(&self) -> &Histogram<u64> {
        &self.corrected
    }

    /// From when boards were sent.
    pub(crate) fn uncorrected(&self) -> &Histogram<u64> {
        self.uncorrected.as_ref().unwrap_or(&self.corrected)
    }

    /// Takes in the times of others.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.uncorrected.is_some() && self.uncorrected.is_none() {
            self.uncorrected = Some(self.corrected.clone());
        }
        join(&mut self.corrected, &other.corrected);
        if let Some(uncorrected) = &mut self.uncorrected {
            join(uncorrected, other.uncorrected());
        }
    }
}

fn count(histogram: &mut Histogram<u64>, time: Duration, boards: u64) {
    let nanoseconds = u64::try_from(time.min(LONGEST).as_nanos()).expect("an hour is few nanoseconds");
    histogram.record_n(nanoseconds, boards).expect("a histogram grows to an hour");
}

fn join(into: &mut Histogram<u64>, from: &Histogram<u64>) {
    into.add(from).expect("a histogram grows to an hour");
}
