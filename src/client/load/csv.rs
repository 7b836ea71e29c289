//! Report → CSV: a row for each interval of the run, as `docs/load-report.md` has it.
//!
//! It must never know: where it goes.

use std::fmt::Write as _;
use std::time::Duration;

use super::report::{Interval, Report};
use super::units::per_second;

const HEADER: &str = "start_s,length_s,planned,succeeded,failed,succeeded_per_s,p50_ms,p99_ms,max_ms\n";

/// The intervals, a row each; numbers alone, so nothing needs quotes.
pub(crate) fn render(report: &Report) -> String {
    let mut text = HEADER.to_owned();
    for interval in &report.intervals {
        let Interval { start, length, planned, succeeded, failed, times } = interval;
        let (start, seconds) = (start.as_secs_f64(), length.as_secs_f64());
        let rate = per_second(*succeeded, *length);
        let _ = write!(text, "{start:.6},{seconds:.6},{planned},{succeeded},{failed},{rate:.3}");
        for index in 0..3 {
            let _ = write!(text, ",{}", times.map_or_else(String::new, |times| milliseconds(times[index])));
        }
        text.push('\n');
    }
    text
}

fn milliseconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64() * 1e3)
}
