//! Report → JSON, as `docs/load-report.md` has it.
//!
//! It must never know: where it goes.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::report::{Bar, Boards, Distribution, Ending, Interval, Latency, PERCENTS, Report};
use super::settings::Settings;
use super::units::{nanoseconds, per_second};

/// Raised when a field changes its meaning or goes; new fields leave it as it is.
const SCHEMA: u32 = 1;

/// The report as JSON, indented, with a newline at its end.
pub(crate) fn render(report: &Report) -> String {
    let started = report.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (ending, reason) = match &report.ending {
        Ending::Complete => ("complete", None),
        Ending::Interrupted => ("interrupted", None),
        Ending::Failed(reason) => ("failed", Some(reason)),
    };
    let named =
        |pairs: &[(&str, u64)]| object(pairs.iter().map(|&(name, count)| (name.to_owned(), json!(count))));
    let codes =
        |pairs: &[(String, u64)]| object(pairs.iter().map(|(name, count)| (name.clone(), json!(count))));
    let wrong = report
        .wrong
        .iter()
        .map(|(name, wrong)| ((*name).to_owned(), json!({ "count": wrong.count, "example": wrong.example })));
    let document = json!({
        "schema": SCHEMA,
        "client": { "name": "taquin-client", "version": env!("CARGO_PKG_VERSION") },
        "settings": settings(&report.settings),
        "started_unix_ms": u64::try_from(started.as_millis()).unwrap_or(u64::MAX),
        "elapsed_ns": nanoseconds(report.elapsed),
        "ending": ending,
        "ending_reason": reason,
        "first_answer_ns": report.first_answer.map(nanoseconds),
        "boards": boards(&report.boards),
        "rate": rates(report),
        "bytes": {
            "sent": report.bytes_sent,
            "received": report.bytes_received,
            "sent_per_second": per_second(report.bytes_sent, report.elapsed),
            "received_per_second": per_second(report.bytes_received, report.elapsed),
        },
        "latency": {
            "succeeded": report.succeeded.as_ref().map(latency),
            "failed": report.failed.as_ref().map(latency),
        },
        "outcomes": named(&report.outcomes),
        "sources": named(&report.sources),
        "codes": codes(&report.codes),
        "calls": codes(&report.calls),
        "workers": report.workers.iter().map(|(address, share)| {
            json!({ "address": address, "succeeded": share.succeeded, "failed": share.failed })
        }).collect::<Vec<_>>(),
        "wrong": object(wrong),
        "errors": report.errors.iter().map(|(text, count)| json!({ "text": text, "count": count }))
            .collect::<Vec<_>>(),
        "intervals": report.intervals.iter().map(interval).collect::<Vec<_>>(),
        "fail_if": report.verdicts.iter().map(|verdict| {
            json!({ "condition": verdict.condition, "measured": verdict.measured, "holds": verdict.holds })
        }).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn object(pairs: impl Iterator<Item = (String, Value)>) -> Value {
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn settings(settings: &Settings) -> Value {
    json!({
        "mode": settings.mode,
        "connections": settings.connections,
        "streams": settings.streams,
        "in_flight": settings.in_flight,
        "batch": settings.batch,
        "loop": if settings.is_open_loop() { "open" } else { "closed" },
        "rate": settings.rate,
        "total": settings.total,
        "duration_ns": settings.duration.map(nanoseconds),
        "warmup_ns": nanoseconds(settings.warmup),
        "seed": settings.seed,
        "boards": object(settings.boards.iter().map(|(name, value)| ((*name).to_owned(), json!(value)))),
        "check": settings.check,
        "endpoints": settings.endpoints,
        "server": settings.server,
    })
}

fn boards(boards: &Boards) -> Value {
    json!({
        "offered": boards.offered,
        "succeeded": boards.succeeded,
        "failed": boards.failed,
        "unfinished": boards.unfinished,
        "resent": boards.resent,
    })
}

fn rates(report: &Report) -> Value {
    json!({
        "succeeded_per_second": report.rate(),
        "failed_per_second": report.failure_rate(),
        "offered_per_second": report.offered_rate(),
        "kept_up": report.kept_up(),
    })
}

fn latency(latency: &Latency) -> Value {
    json!({
        "corrected": distribution(&latency.corrected),
        "uncorrected": latency.uncorrected.as_ref().map(distribution),
    })
}

fn distribution(times: &Distribution) -> Value {
    let percentile =
        |percent: &f64| json!({ "percent": percent, "ns": nanoseconds(times.percentile(*percent)) });
    let bar = |bar: Bar| json!({ "up_to_ns": nanoseconds(bar.up_to), "boards": bar.boards });
    json!({
        "boards": times.boards(),
        "min_ns": nanoseconds(times.fastest()),
        "mean_ns": nanoseconds(times.mean()),
        "stdev_ns": nanoseconds(times.deviation()),
        "max_ns": nanoseconds(times.slowest()),
        "percentiles": PERCENTS.iter().map(percentile).collect::<Vec<_>>(),
        "histogram": times.bars().into_iter().map(bar).collect::<Vec<_>>(),
    })
}

fn interval(interval: &Interval) -> Value {
    let time = |index: usize| interval.times.map(|times| nanoseconds(times[index]));
    json!({
        "start_ns": nanoseconds(interval.start),
        "length_ns": nanoseconds(interval.length),
        "planned": interval.planned,
        "succeeded": interval.succeeded,
        "failed": interval.failed,
        "p50_ns": time(0),
        "p99_ns": time(1),
        "max_ns": time(2),
    })
}
