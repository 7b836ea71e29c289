//! Who sends which board: drivers take numbers from one counter, as many as have room and are due.
//!
//! It must never know: what a board is, when it is due, or who takes it.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The numbers of what is sent: boards, or packed messages.
#[derive(Debug)]
pub(super) struct Quota {
    /// The next number that is free.
    next: AtomicU64,
    /// The next of the warm-up of a closed loop, which is without end.
    warm: AtomicU64,
    /// The first number that is not yet due; in a closed loop all are.
    due: AtomicU64,
    /// The first number that is not sent any more.
    end: u64,
    /// How many share them.
    drivers: u64,
}

impl Quota {
    /// Numbers up to `end` for so many drivers, none of them due yet in an open loop.
    pub(super) fn new(end: u64, drivers: u64, is_open_loop: bool) -> Self {
        let due = if is_open_loop { 0 } else { u64::MAX };
        Self { next: 0.into(), warm: 0.into(), due: due.into(), end, drivers: drivers.max(1) }
    }

    /// At most so many numbers; less when there are few left, so that all drivers have some.
    pub(super) fn take(&self, room: u64) -> Range<u64> {
        let end = self.end.min(self.due.load(Relaxed));
        let share = |next: u64| end.saturating_sub(next).div_ceil(self.drivers).min(room);
        let taken =
            self.next.fetch_update(Relaxed, Relaxed, |next| Some(next + share(next)).filter(|&to| to > next));
        taken.map_or(0..0, |next| next..next + share(next))
    }

    /// So many numbers of the warm-up.
    pub(super) fn take_warm(&self, room: u64) -> Range<u64> {
        let first = self.warm.fetch_add(room, Relaxed);
        first..first + room
    }

    /// All numbers below this one are due; how many of them are not taken.
    pub(super) fn release(&self, due: u64) -> u64 {
        let due = due.min(self.end);
        self.due.store(due, Relaxed);
        due.saturating_sub(self.next.load(Relaxed))
    }

    /// Whether none is left.
    pub(super) fn is_spent(&self) -> bool {
        self.next.load(Relaxed) >= self.end
    }

    /// The numbers taken.
    pub(super) fn taken(&self) -> u64 {
        self.next.load(Relaxed)
    }

    /// The numbers that were due, in an open loop.
    pub(super) fn due(&self) -> u64 {
        self.due.load(Relaxed)
    }

    /// The first number that is not sent.
    pub(super) fn end(&self) -> u64 {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_are_shared() {
        let quota = Quota::new(10, 50, false);
        assert_eq!((0..20).map(|_| quota.take(64).count()).sum::<usize>(), 10);
        assert!(quota.is_spent() && quota.take(1).is_empty());
        let quota = Quota::new(u64::MAX, 4, false);
        assert_eq!(quota.take(64), 0..64);
    }

    #[test]
    fn nothing_is_taken_before_it_is_due() {
        let quota = Quota::new(10, 2, true);
        assert!(quota.take(5).is_empty());
        assert_eq!(quota.release(3), 3);
        assert_eq!((quota.take(5), quota.take(5), quota.take(5)), (0..2, 2..3, 0..0));
        assert_eq!(quota.release(100), 7);
        assert_eq!(quota.due(), 10);
    }
}
