//! When boards are due in an open loop: rates over time, and the time of each board.
//!
//! It must never know: what is due.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of boards that fits a run is exact in a float"
)]

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::super::options::duration;

/// The most boards a second that can be asked for.
const MAX_RATE: f64 = 1e9;

/// A rate that stays or goes from one value to another in a straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    seconds: f64,
    from: f64,
    to: f64,
}

impl Piece {
    /// Boards due in the first so many seconds.
    fn boards(self, seconds: f64) -> f64 {
        let slope = (self.to - self.from) / self.seconds;
        self.from * seconds + slope * seconds * seconds / 2.0
    }

    /// Seconds until so many boards are due.
    fn seconds(self, boards: f64) -> f64 {
        let slope = if self.seconds.is_finite() { (self.to - self.from) / self.seconds } else { 0.0 };
        let end_rate = (self.from * self.from + 2.0 * slope * boards).max(0.0).sqrt();
        if boards <= 0.0 { 0.0 } else { 2.0 * boards / (self.from + end_rate) }
    }
}

/// Rates one after another; the last one goes on for ever.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    text: String,
    pieces: Vec<Piece>,
}

impl Schedule {
    /// One rate.
    pub(super) fn constant(rate: Rate) -> Self {
        let Rate(rate) = rate;
        Self {
            text: format!("{rate}/s"),
            pieces: vec![Piece { seconds: f64::INFINITY, from: rate, to: rate }],
        }
    }

    /// Its length, if it ends.
    pub(super) fn length(&self) -> Option<Duration> {
        let seconds: f64 = self.pieces.iter().map(|piece| piece.seconds).sum();
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The same after a time at its first rate, and how many boards that takes.
    pub(super) fn after(mut self, warmup: Duration) -> (Self, u64) {
        let rate = self.pieces[0].from;
        let boards = (rate * warmup.as_secs_f64()).round();
        if boards >= 1.0 {
            // So long that the boards are whole: the first one that counts is due when the schedule begins.
            self.pieces.insert(0, Piece { seconds: boards / rate, from: rate, to: rate });
        }
        (self, boards as u64)
    }

    /// When a board is due.
    pub(super) fn due(&self, number: u64) -> Duration {
        let (mut boards, mut start) = (number as f64, 0.0);
        let last = self.pieces.len() - 1;
        for (index, piece) in self.pieces.iter().enumerate() {
            let whole = if piece.seconds.is_finite() { piece.boards(piece.seconds) } else { f64::INFINITY };
            if boards < whole {
                return Duration::from_secs_f64(start + piece.seconds(boards));
            }
            if index == last {
                return Duration::try_from_secs_f64(start + piece.seconds + (boards - whole) / piece.to)
                    .unwrap_or(Duration::MAX);
            }
            boards -= whole;
            start += piece.seconds;
        }
        Duration::MAX
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Boards a second, above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate(f64);

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rate = text.trim_end_matches("/s").parse().ok().filter(|rate| (0.001..=MAX_RATE).contains(rate));
        rate.map(Self)
            .ok_or_else(|| format!("`{text}` is no rate: expected boards a second from 0.001 to {MAX_RATE}"))
    }
}

/// Rates, each for a time: `100x5s,200x5s`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steps(pub(super) Schedule);

impl FromStr for Steps {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let step = |step: &str| {
            let (rate, time) = step
                .split_once('x')
                .ok_or_else(|| format!("`{step}` is no step: expected RATExTIME, as in 100x5s"))?;
            let Rate(rate) = rate.parse()?;
            Ok::<_, String>(Piece { seconds: duration(time)?.as_secs_f64(), from: rate, to: rate })
        };
        let pieces = text.split(',').map(step).collect::<Result<_, _>>()?;
        Ok(Self(Schedule { text: text.to_owned(), pieces }))
    }
}

/// A rate that goes from one value to another: `10..1000/30s`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line(pub(super) Schedule);

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(rates, time)| Some((rates.split_once("..")?, time)));
        let ((from, to), time) = parts
            .ok_or_else(|| format!("`{text}` is no line: expected FROM..TO/TIME, as in 10..1000/30s"))?;
        let (Rate(from), Rate(to)) = (from.parse()?, to.parse()?);
        let piece = Piece { seconds: duration(time)?.as_secs_f64(), from, to };
        Ok(Self(Schedule { text: text.to_owned(), pieces: vec![piece] }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(schedule: &Schedule, number: u64) -> u128 {
        (schedule.due(number) + Duration::from_nanos(1)).as_millis()
    }

    #[test]
    fn a_constant_rate() {
        let schedule = Schedule::constant("100".parse().unwrap());
        assert_eq!([0, 1, 100, 2000].map(|n| millis(&schedule, n)), [0, 10, 1000, 20_000]);
        assert_eq!(schedule.length(), None);
        let (warm, boards) = schedule.after(Duration::from_secs(2));
        assert_eq!((boards, millis(&warm, 200)), (200, 2000));
    }

    #[test]
    fn steps_follow_one_another() {
        let Steps(schedule) = "100x5s,200x5s".parse().unwrap();
        assert_eq!(schedule.length(), Some(Duration::from_secs(10)));
        assert_eq!([0, 499, 500, 700, 1500].map(|n| millis(&schedule, n)), [0, 4990, 5000, 6000, 10_000]);
        // The last rate goes on.
        assert_eq!(millis(&schedule, 1700), 11_000);
    }

    #[test]
    fn a_line_is_an_integral() {
        let Line(schedule) = "10..1000/30s".parse().unwrap();
        let boards = (10 + 1000) * 30 / 2;
        assert_eq!([0, boards].map(|n| millis(&schedule, n)), [0, 30_000]);
        let Line(down) = "1000..10/30s".parse().unwrap();
        assert_eq!(millis(&down, boards), 30_000);
        assert!(millis(&down, boards / 2) < 10_000 && millis(&schedule, boards / 2) > 20_000);
        let whole = (0..boards).map(|n| schedule.due(n));
        assert!(whole.is_sorted());
    }

    #[test]
    fn what_is_none_is_said() {
        for bad in ["", "0", "-1", "1e10", "x", "NaN", "inf"] {
            assert!(bad.parse::<Rate>().unwrap_err().contains("boards a second"), "{bad}");
        }
        for bad in ["", "100", "100x", "x5s", "100x5s,", "0x5s", "100x0s"] {
            assert!(bad.parse::<Steps>().is_err(), "{bad}");
        }
        for bad in ["", "10", "10..20", "10..20/", "10/5s", "0..10/5s", "a..b/5s"] {
            assert!(bad.parse::<Line>().is_err(), "{bad}");
        }
    }
}
