//! What is known while the load runs: a few counters that all drivers share, and the line on standard error.
//!
//! It must never know: how boards are sent, what a report says.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::{MissedTickBehavior, interval};

use super::units::{count, float, number};

/// How often the line is renewed; its rate is that of the time between.
const RENEWAL: Duration = Duration::from_millis(500);

/// Counters that the drivers raise while they run, in steps of as many boards as they like.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// Boards sent for the first time.
    pub(crate) sent: AtomicU64,
    /// Of these, boards that are done: answered or failed.
    pub(crate) done: AtomicU64,
    /// Of these, boards that failed.
    pub(crate) failed: AtomicU64,
}

/// When the run is over: whichever comes first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    /// When so many boards are done.
    pub(crate) total: Option<u64>,
    /// When it has run so long, with its warm-up.
    pub(crate) duration: Option<Duration>,
}

impl Live {
    /// Boards sent and not done.
    pub(crate) fn in_flight(&self) -> u64 {
        let done = self.done.load(Relaxed);
        self.sent.load(Relaxed).saturating_sub(done)
    }

    /// Shows a line on standard error from now on and until it is dropped, if that is a terminal.
    pub(crate) async fn show(&self, goal: Goal) {
        let line = Line::new();
        let begin = Instant::now();
        let (mut before, mut done_before) = (begin, self.done.load(Relaxed));
        let mut renewal = interval(RENEWAL);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        renewal.tick().await;
        loop {
            renewal.tick().await;
            let (now, done) = (Instant::now(), self.done.load(Relaxed));
            let rate = float(done.saturating_sub(done_before)) / (now - before).as_secs_f64().max(1e-9);
            (before, done_before) = (now, done);
            line.0.set_message(self.text(rate, goal.left(now - begin, done, rate)));
        }
    }

    fn text(&self, rate: f64, left: Option<Duration>) -> String {
        let (in_flight, failed) = (count(self.in_flight()), count(self.failed.load(Relaxed)));
        let left = left.map_or_else(String::new, |left| format!(", {} s left", left.as_secs_f64().ceil()));
        format!("{} boards/s, {in_flight} in flight, {failed} errors{left}", number(rate))
    }
}

impl Goal {
    /// How long it will take yet, if that is known.
    fn left(&self, elapsed: Duration, done: u64, rate: f64) -> Option<Duration> {
        let by_time = self.duration.map(|duration| duration.saturating_sub(elapsed));
        let boards = self.total.map(|total| float(total.saturating_sub(done)));
        let by_boards = boards.filter(|_| rate > 0.0);
        let by_boards = by_boards.and_then(|boards| Duration::try_from_secs_f64(boards / rate).ok());
        by_time.into_iter().chain(by_boards).min()
    }
}

/// The line, wiped away when dropped.
struct Line(ProgressBar);

impl Line {
    fn new() -> Self {
        let style = ProgressStyle::with_template("{spinner} {msg}").expect("the template is well-formed");
        Self(ProgressBar::new_spinner().with_style(style))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_rate_and_what_is_left() {
        let live = Live { sent: 1300.into(), done: 1000.into(), failed: 7.into() };
        let goal = Goal { total: Some(2000), duration: Some(Duration::from_secs(10)) };
        let left = goal.left(Duration::from_secs(1), 1000, 250.0);
        assert_eq!(left, Some(Duration::from_secs(4)));
        assert_eq!(live.text(250.0, left), "250.0 boards/s, 300 in flight, 7 errors, 4 s left");
        assert_eq!(goal.left(Duration::from_secs(8), 1000, 0.0), Some(Duration::from_secs(2)));
        assert_eq!(Goal { total: Some(2000), duration: None }.left(Duration::ZERO, 0, 0.0), None);
    }
}
