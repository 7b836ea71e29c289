//! The clock of an open loop: a thread that says what is due and wakes those who send it.
//!
//! A thread, since the timers of the runtime are of whole milliseconds, and every board would be late by one.
//!
//! It must never know: what is due.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::run::{Pace, Run, nanos};

/// It looks as often as this at least, to see whether the run is over.
const LONGEST: Duration = Duration::from_millis(20);
/// What is due closer together is woken for at once.
const SHORTEST: Duration = Duration::from_micros(50);

/// Starts it. It ends with the sending.
pub(super) fn spawn(run: &Arc<Run>) -> io::Result<Option<JoinHandle<()>>> {
    if run.pace.is_none() {
        return Ok(None);
    }
    let run = Arc::clone(run);
    thread::Builder::new().name("taquin-pace".into()).spawn(move || keep(&run)).map(Some)
}

fn keep(run: &Run) {
    let Some(pace) = &run.pace else { return };
    let (mut next, mut turn) = (0, 0);
    while !run.stop.is_cancelled() && next < run.quota.end() {
        let now = run.now();
        let before = next;
        next = first_after(pace, next, now);
        let waiting = run.quota.release(next);
        // What was due before and is still there has met a driver without room: any other may take it.
        let wakes = if waiting > next - before { run.wakes.len() as u64 } else { next - before };
        for _ in 0..wakes.min(run.wakes.len() as u64) {
            turn = (turn + 1) % run.wakes.len();
            run.wakes[turn].notify_one();
        }
        let pause = Duration::from_nanos(nanos(pace.due(next)).saturating_sub(run.now()));
        thread::sleep(pause.clamp(SHORTEST, LONGEST));
    }
}

/// The first number, from this one on, that is not due yet.
pub(super) fn first_after(pace: &Pace, from: u64, now: u64) -> u64 {
    let is_due = |number: u64| nanos(pace.due(number)) <= now;
    let mut step = 1;
    while is_due(from + step - 1) {
        step *= 2;
    }
    // Between the last step that was due and this one.
    let (mut low, mut high) = (from + step / 2, from + step - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_due(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::schedule::Schedule;
    use super::*;

    #[test]
    fn all_that_is_due_is_found() {
        let pace = Pace { schedule: Schedule::constant("1000".parse().unwrap()), boards: 1, warm: 0 };
        for now in [0, 1, 999_999, 1_000_001, 17_500_000, 4_000_500_000] {
            for from in [0, 1, 5, 17] {
                let expected = (now / 1_000_000 + 1).max(from);
                assert_eq!(first_after(&pace, from, now), expected, "{now} {from}");
            }
        }
    }
}
