//! Conditions under which a run counts as failed, as in `p99>50ms`.
//!
//! It must never know: how a report is written, what an exit code is.

use std::str::FromStr;
use std::time::Duration;

use super::report::{Report, Verdict};
use super::units::{self, float};

/// What may be written.
const FORMS: &str = "expected a metric, one of < > <= >=, and a value: p99>50ms (p50, p99.9, ... max, min, mean; \
                     ns us ms s), rate<1000 (boards a second), errors>0, errors>1%, wrong>0, unfinished>0";

/// A condition that must not hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Threshold {
    /// As it was written.
    text: String,
    metric: Metric,
    operator: Operator,
    /// Nanoseconds, boards a second, boards, or a share from 0 to 1, by the metric.
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Metric {
    Percentile(f64),
    Min,
    Mean,
    Rate,
    Errors,
    ErrorShare,
    Wrong,
    Unfinished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
}

/// The operators; the longer ones first, as they begin with the shorter.
const OPERATORS: [(&str, Operator); 4] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = OPERATORS.iter().find_map(|&(sign, operator)| {
            let (metric, value) = text.split_once(sign)?;
            Some((metric.trim(), operator, value.trim()))
        });
        let (name, operator, value) = parts.ok_or(FORMS)?;
        let metric = metric(name, value).ok_or_else(|| format!("unknown metric `{name}`: {FORMS}"))?;
        let limit = limit(metric, value).ok_or_else(|| format!("bad value `{value}`: {FORMS}"))?;
        Ok(Self { text: text.trim().to_owned(), metric, operator, limit })
    }
}

/// Holds a report against conditions that must not hold, and keeps with it what came of them.
pub(crate) fn judge(report: &mut Report, thresholds: &[Threshold]) {
    report.verdicts = thresholds.iter().map(|threshold| threshold.judge(report)).collect();
}

impl Threshold {
    /// Whether the condition holds for a run. Of times it holds too if no board succeeded, since there is then
    /// nothing to say that all is well.
    fn judge(&self, report: &Report) -> Verdict {
        let measured = self.metric.of(report);
        Verdict {
            condition: self.text.clone(),
            measured: measured.map_or_else(|| "no board succeeded".into(), |value| self.metric.show(value)),
            holds: measured.is_none_or(|value| self.operator.holds(value, self.limit)),
        }
    }
}

impl Metric {
    /// What was measured; none if it is a time and no board succeeded.
    fn of(self, report: &Report) -> Option<f64> {
        let times = report.succeeded.as_ref().map(|latency| &latency.corrected);
        let nanoseconds = |time: Duration| float(units::nanoseconds(time));
        Some(match self {
            Self::Percentile(percent) => nanoseconds(times?.percentile(percent)),
            Self::Min => nanoseconds(times?.fastest()),
            Self::Mean => nanoseconds(times?.mean()),
            Self::Rate => report.rate(),
            Self::Errors => float(report.boards.failed),
            Self::ErrorShare => report.error_share(),
            Self::Wrong => float(report.wrongs()),
            Self::Unfinished => float(report.boards.unfinished),
        })
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Percentile(_) | Self::Min | Self::Mean => units::time(Duration::from_secs_f64(value / 1e9)),
            Self::Rate => format!("{} boards/s", units::number(value)),
            Self::ErrorShare => units::percent(value),
            Self::Errors | Self::Wrong | Self::Unfinished => format!("{value:.0}"),
        }
    }
}

impl Operator {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Less => value < limit,
            Self::Greater => value > limit,
            Self::LessOrEqual => value <= limit,
            Self::GreaterOrEqual => value >= limit,
        }
    }
}

fn metric(name: &str, value: &str) -> Option<Metric> {
    Some(match name {
        "max" => Metric::Percentile(100.0),
        "min" => Metric::Min,
        "mean" => Metric::Mean,
        "rate" => Metric::Rate,
        "errors" if value.ends_with('%') => Metric::ErrorShare,
        "errors" => Metric::Errors,
        "wrong" => Metric::Wrong,
        "unfinished" => Metric::Unfinished,
        _ => {
            Metric::Percentile(name.strip_prefix('p').and_then(plain).filter(|p| (0.0..=100.0).contains(p))?)
        }
    })
}

fn limit(metric: Metric, value: &str) -> Option<f64> {
    match metric {
        Metric::Percentile(_) | Metric::Min | Metric::Mean => {
            let number = value.trim_end_matches(char::is_alphabetic);
            let of = match &value[number.len()..] {
                "ns" => 1.0,
                "us" | "µs" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                _ => return None,
            };
            Some(plain(number.trim_end())? * of)
        }
        Metric::Rate => plain(value.strip_suffix("/s").unwrap_or(value)),
        Metric::ErrorShare => Some(plain(value.strip_suffix('%')?.trim_end())? / 100.0),
        Metric::Errors | Metric::Wrong | Metric::Unfinished => plain(value),
    }
}

/// A number in digits, with or without decimals.
fn plain(text: &str) -> Option<f64> {
    let digits = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{frozen, silent, troubled};
    use super::*;

    fn judged(text: &str, report: &Report) -> Verdict {
        text.parse::<Threshold>().unwrap().judge(report)
    }

    #[test]
    fn conditions_hold_or_not() {
        let report = frozen();
        let good = [
            "p50>1ms",
            "p95>=4.5s",
            "p99<4s",
            "min<100us",
            "max>6s",
            "mean>2s",
            "rate<99",
            "errors>0",
            "errors>0%",
        ];
        let bad = [
            "p50<1ms",
            "p95 > 3.5 s",
            "p99.9>=4900ms",
            "max>4999999us",
            "min<1000000ns",
            "rate<=100/s",
            "errors>=0",
            "wrong<1",
        ];
        assert_eq!(good.into_iter().find(|text| judged(text, &report).holds), None);
        assert_eq!(bad.into_iter().find(|text| !judged(text, &report).holds), None);
        let report = troubled();
        let bad = ["errors>1.9%", "errors>3999", "wrong>1", "unfinished>11", "rate<20000"];
        assert_eq!(bad.into_iter().find(|text| !judged(text, &report).holds), None);
        assert!(!judged("errors>2%", &report).holds);
        assert_eq!(judged("p100<1s", &report).to_string().split(": ").next(), Some("FAILED p100<1s"));
    }

    #[test]
    fn no_time_is_a_good_time() {
        let verdict = judged("p99>50ms", &silent());
        assert!(verdict.holds && verdict.measured == "no board succeeded");
        assert!(judged("rate<1", &silent()).holds && !judged("errors>0", &silent()).holds);
    }

    #[test]
    fn what_is_no_condition_is_told_what_is() {
        let bad = [
            "",
            "p99",
            "p99>",
            ">5ms",
            "p99=5ms",
            "p99>50",
            "p99>-5ms",
            "p101>5ms",
            "pp>5ms",
            "p>5ms",
            "q99>5ms",
            "rate<1ms",
            "errors>1ms",
            "p99>5m",
            "p99>infs",
            "p99>NaNms",
            "p99>5%",
            "wrong>1%",
            "rate>1e3",
            "p99>1.2.3ms",
            "p99>>5ms",
        ];
        for text in bad {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(error.contains("p99>50ms") && error.contains("errors>1%"), "{text}: {error}");
        }
    }
}
