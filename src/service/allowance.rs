//! What a caller may ask for: so many jobs at once, so many a second. It knows neither
//! who he is nor what a job is.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use super::status::ServiceError;

/// How much of its rate a caller who asked for nothing may ask for at once.
const BURST: Duration = Duration::from_secs(1);

/// See the module; `None` is as much as anyone may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Allowance {
    /// Jobs at once.
    pub(super) max_in_flight: Option<NonZeroU32>,
    /// Jobs a second.
    pub(super) rate: Option<NonZeroU32>,
}

/// An allowance, and what of it is in use.
#[derive(Debug)]
pub(super) struct Quota {
    pub(super) allowance: Allowance,
    in_flight: u32,
    /// When the bucket is full again. Each job puts this off by its share of a second; one is
    /// taken as long as it is less than a second away.
    full_at: Instant,
}

impl Quota {
    pub(super) fn new(allowance: Allowance, now: Instant) -> Self {
        Self { allowance, in_flight: 0, full_at: now }
    }

    /// Takes so many jobs of the rate, and one place for them all. What is sent as one is taken as
    /// one: what it takes beyond what is there is paid off before the next is taken.
    ///
    /// # Errors
    /// Which limit is reached; then nothing is taken.
    pub(super) fn take(&mut self, jobs: u32, now: Instant) -> Result<(), ServiceError> {
        if let Some(limit) = self.allowance.max_in_flight
            && self.in_flight >= limit.get()
        {
            return Err(ServiceError::CallerInFlight { limit: limit.get() });
        }
        if let Some(rate) = self.allowance.rate {
            let job = Duration::from_secs(1) / rate.get();
            let retry_after = (self.full_at + job).saturating_duration_since(now + BURST);
            if !retry_after.is_zero() {
                return Err(ServiceError::CallerRate { rate: rate.get(), retry_after });
            }
            self.full_at = self.full_at.max(now) + job * jobs;
        }
        self.in_flight += 1;
        Ok(())
    }

    /// Gives the place back.
    pub(super) fn give_back(&mut self) {
        self.in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(max_in_flight: u32, rate: u32, now: Instant) -> Quota {
        let (max_in_flight, rate) = (NonZeroU32::new(max_in_flight), NonZeroU32::new(rate));
        Quota::new(Allowance { max_in_flight, rate }, now)
    }

    fn retry_after(taken: &Result<(), ServiceError>) -> Duration {
        let Err(ServiceError::CallerRate { retry_after, .. }) = taken else { panic!("{taken:?}") };
        *retry_after
    }

    #[test]
    fn a_second_of_jobs_goes_at_once_and_the_next_when_it_is_said() {
        let start = Instant::now();
        let mut quota = quota(0, 4, start);
        for _ in 0..4 {
            quota.take(1, start).unwrap();
        }
        assert_eq!(retry_after(&quota.take(1, start)), Duration::from_millis(250));
        let later = start + Duration::from_millis(249);
        assert_eq!(retry_after(&quota.take(1, later)), Duration::from_millis(1));
        quota.take(1, start + Duration::from_millis(250)).unwrap();
        assert_eq!(retry_after(&quota.take(1, start + Duration::from_millis(250))).as_millis(), 250);
        // Rest fills the bucket, and no more than that.
        let rested = start + Duration::from_mins(1);
        for _ in 0..4 {
            quota.take(1, rested).unwrap();
        }
        assert_eq!(retry_after(&quota.take(1, rested)), Duration::from_millis(250));
    }

    #[test]
    fn what_is_sent_as_one_is_taken_as_one_and_paid_off() {
        let start = Instant::now();
        let mut quota = quota(0, 100, start);
        quota.take(1000, start).unwrap();
        assert_eq!(retry_after(&quota.take(1, start)), Duration::from_millis(9010));
        quota.take(1, start + Duration::from_millis(9010)).unwrap();
    }

    #[test]
    fn places_come_back_and_a_refusal_takes_nothing() {
        let start = Instant::now();
        let mut quota = quota(2, 3, start);
        quota.take(1, start).unwrap();
        quota.take(1, start).unwrap();
        for _ in 0..10 {
            assert!(matches!(quota.take(1, start), Err(ServiceError::CallerInFlight { limit: 2 })));
        }
        quota.give_back();
        quota.take(1, start).unwrap();
        quota.give_back();
        retry_after(&quota.take(1, start));
    }

    #[test]
    fn an_allowance_of_nothing_said_is_none() {
        let start = Instant::now();
        let mut quota = quota(0, 0, start);
        for _ in 0..10_000 {
            quota.take(u32::MAX, start).unwrap();
        }
    }
}
