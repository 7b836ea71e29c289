//! What happened when: boards and their times by interval, in bounded memory however long the run.
//!
//! It must never know: what a board is, how a plot looks.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::units::nanoseconds;

/// The most intervals that are kept: when a run has more, each two become one.
const MAX_INTERVALS: usize = 240;
/// The first interval. Doubled, it passes 125 ms, a quarter, half and a whole second.
const SHORTEST: Duration = Duration::from_micros(15_625);
/// Bits of a 32-bit float that are dropped: what is left tells times apart to one part in 32.
const DROPPED_BITS: u32 = 18;

/// Boards by interval.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    interval: Duration,
    slots: Vec<Slot>,
}

/// What happened in one interval.
#[derive(Debug, Default, Clone)]
pub(crate) struct Slot {
    /// Boards that were due in it, of those that got an answer or a failure.
    pub(crate) planned: u64,
    /// Boards that succeeded in it.
    pub(crate) succeeded: u64,
    /// Boards that failed in it.
    pub(crate) failed: u64,
    /// The longest time of a board that succeeded in it.
    pub(crate) max: Duration,
    /// Boards that succeeded in it, by time. There are few different times in an interval, so a map is smaller
    /// than a histogram, of which each driver would have hundreds.
    times: FxHashMap<u16, u64>,
}

impl Default for Series {
    fn default() -> Self {
        Self { interval: SHORTEST, slots: Vec::new() }
    }
}

impl Series {
    /// Boards that were due at one time and were done at another.
    pub(crate) fn record(
        &mut self,
        planned: Duration,
        answered: Duration,
        time: Duration,
        success: bool,
        boards: u64,
    ) {
        self.slot(planned).planned += boards;
        let slot = self.slot(answered);
        if success {
            slot.succeeded += boards;
            slot.max = slot.max.max(time);
            *slot.times.entry(key(time)).or_default() += boards;
        } else {
            slot.failed += boards;
        }
    }

    /// The length of an interval.
    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// The intervals, from the first on.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The intervals alone, from the first on.
    pub(crate) fn into_slots(self) -> Vec<Slot> {
        self.slots
    }

    /// Takes in the intervals of another.
    pub(crate) fn merge(&mut self, mut other: Self) {
        while self.interval < other.interval {
            self.double();
        }
        while other.interval < self.interval {
            other.double();
        }
        if self.slots.len() < other.slots.len() {
            self.slots.resize_with(other.slots.len(), Slot::default);
        }
        for (into, from) in self.slots.iter_mut().zip(other.slots) {
            into.merge(from);
        }
    }

    /// Makes one interval of each two.
    pub(crate) fn double(&mut self) {
        self.interval *= 2;
        let mut slots = std::mem::take(&mut self.slots).into_iter();
        while let Some(mut slot) = slots.next() {
            if let Some(next) = slots.next() {
                slot.merge(next);
            }
            self.slots.push(slot);
        }
    }

    /// The interval in which a time lies.
    fn slot(&mut self, time: Duration) -> &mut Slot {
        // In 64 bits: a division in 128 would take longer than all else here.
        let time = nanoseconds(time);
        let index = |interval| usize::try_from(time / nanoseconds(interval)).unwrap_or(usize::MAX);
        while index(self.interval) >= MAX_INTERVALS {
            self.double();
        }
        let index = index(self.interval);
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, Slot::default);
        }
        &mut self.slots[index]
    }
}

impl Slot {
    /// The time within which this share of the boards succeeded, if any did.
    pub(crate) fn quantile(&self, share: f64) -> Option<Duration> {
        let mut times: Vec<_> = self.times.iter().map(|(&key, &count)| (key, count)).collect();
        times.sort_unstable();
        #[expect(clippy::cast_precision_loss, reason = "a count as a share of a whole")]
        let wanted = self.succeeded as f64 * share;
        let mut seen = 0;
        let found = times.iter().find(|(_, count)| {
            seen += count;
            #[expect(clippy::cast_precision_loss, reason = "a count as a share of a whole")]
            let enough = seen as f64 >= wanted;
            enough
        });
        found.or(times.last()).map(|&(key, _)| time(key).min(self.max))
    }

    /// Takes in what happened in another interval.
    pub(crate) fn merge(&mut self, other: Self) {
        self.planned += other.planned;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.max = self.max.max(other.max);
        for (key, count) in other.times {
            *self.times.entry(key).or_default() += count;
        }
    }
}

/// The first bits of a time: as a float's are its exponent and its leading digits, near times have one key.
fn key(time: Duration) -> u16 {
    u16::try_from(time.as_secs_f32().to_bits() >> DROPPED_BITS).expect("fourteen bits are left")
}

/// The middle of the times with a key.
fn time(key: u16) -> Duration {
    let half = 1 << (DROPPED_BITS - 1);
    Duration::try_from_secs_f32(f32::from_bits((u32::from(key) << DROPPED_BITS) | half))
        .unwrap_or(Duration::MAX)
}
