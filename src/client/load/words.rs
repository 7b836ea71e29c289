//! What the summary and the page say alike: the settings, the key figures and the warnings, in words.
//!
//! It must never know: how either of them is laid out.

use super::report::{Ending, Report};
use super::settings::Settings;
use super::units::{bytes, count, number, per_second, percent, round_time, share, time};

/// A name and what it is.
pub(crate) type Row = (&'static str, String);

/// What was run, in a line.
pub(crate) fn headline(settings: &Settings) -> String {
    let length = match (settings.total, settings.duration) {
        (Some(total), Some(duration)) => format!("{} boards or {}", count(total), round_time(duration)),
        (Some(total), None) => format!("{} boards", count(total)),
        (None, Some(duration)) => round_time(duration),
        (None, None) => "until interrupted".into(),
    };
    let pace = match &settings.rate {
        Some(rate) => format!("open loop at {rate}"),
        None => "closed loop".into(),
    };
    format!("{} mode, {length}, {pace}", settings.mode)
}

/// All that was set.
pub(crate) fn settings(settings: &Settings) -> Vec<Row> {
    let optional = |value: Option<String>, otherwise: &str| value.unwrap_or_else(|| otherwise.to_owned());
    let mut rows = vec![
        ("mode", settings.mode.to_owned()),
        ("connections", count(settings.connections)),
        ("streams per connection", count(settings.streams)),
        ("in flight per stream", count(settings.in_flight)),
    ];
    if settings.mode == "packed" {
        rows.push(("boards per message", count(settings.batch)));
    }
    rows.extend([
        ("rate", optional(settings.rate.clone(), "as fast as answers come")),
        ("total", optional(settings.total.map(count), "any")),
        ("duration", optional(settings.duration.map(round_time), "any")),
        ("seed", settings.seed.to_string()),
    ]);
    if !settings.warmup.is_zero() {
        rows.push(("warm-up", round_time(settings.warmup)));
    }
    rows.extend(settings.boards.iter().cloned());
    rows.push(("check", settings.check.clone()));
    rows.push(("endpoints", settings.endpoints.join(", ")));
    rows.extend(settings.server.clone().map(|version| ("server", version)));
    rows.push(("client", format!("taquin-client {}", env!("CARGO_PKG_VERSION"))));
    rows
}

/// The key figures, those first that ghz prints.
pub(crate) fn figures(report: &Report) -> Vec<Row> {
    let boards = &report.boards;
    let done = boards.succeeded + boards.failed;
    let mut rows = vec![("Count", count(done)), ("Total", time(report.elapsed))];
    if let Some(latency) = &report.succeeded {
        let times = &latency.corrected;
        rows.extend([
            ("Slowest", time(times.slowest())),
            ("Fastest", time(times.fastest())),
            ("Average", time(times.mean())),
        ]);
    }
    rows.push(("Boards/sec", number(report.rate())));
    rows.extend(report.offered_rate().map(|rate| ("Offered/sec", number(rate))));
    if boards.failed > 0 {
        rows.push(("Failed", format!("{} ({})", count(boards.failed), percent(report.error_share()))));
        rows.push(("Failed/sec", number(report.failure_rate())));
    }
    rows.extend(report.first_answer.map(|first| ("First answer", time(first))));
    for (name, total) in [("Sent", report.bytes_sent), ("Received", report.bytes_received)] {
        #[expect(clippy::cast_precision_loss, reason = "bytes are shown to two digits")]
        let (all, rate) = (bytes(total as f64), bytes(per_second(total, report.elapsed)));
        rows.push((name, format!("{all} ({rate}/s)")));
    }
    if boards.unfinished > 0 {
        rows.push(("Unfinished", count(boards.unfinished)));
    }
    if boards.resent > 0 {
        rows.push(("Resent", count(boards.resent)));
    }
    rows
}

/// What a reader of the figures must know before believing them.
pub(crate) fn warnings(report: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    match &report.ending {
        Ending::Complete => {}
        Ending::Interrupted => warnings.push("Interrupted: the figures are those up to then.".into()),
        Ending::Failed(reason) => warnings.push(format!("The run failed: {reason}")),
    }
    for (name, wrong) in report.wrong.iter().filter(|(_, wrong)| wrong.count > 0) {
        let example =
            wrong.example.as_ref().map(|example| format!(", for one: {example}")).unwrap_or_default();
        warnings.push(format!("Wrong answers ({name}): {}{example}", count(wrong.count)));
    }
    if report.succeeded.is_none() {
        warnings.push("No board succeeded.".into());
    }
    let boards = &report.boards;
    if report.kept_up() == Some(false) {
        let done = boards.succeeded + boards.failed;
        warnings.push(format!(
            "The offered rate was not reached: {} of {} boards that were due got an answer ({}), {} a second of {}.",
            count(done),
            count(boards.offered),
            percent(share(done, boards.offered)),
            number(per_second(done, report.elapsed)),
            number(report.offered_rate().unwrap_or_default()),
        ));
    }
    if boards.unfinished > 0 {
        let unfinished = count(boards.unfinished);
        warnings.push(format!(
            "{unfinished} boards had no answer when the run ended; no time of theirs is counted."
        ));
    }
    warnings
}
