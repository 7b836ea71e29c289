//! What reports say of runs that never were.

use std::time::Duration;

use serde_json::Value;
use tonic::Code;

use super::super::record::{Fate, MAX_TEXTS, Recorder, Sample};
use super::super::synthetic::{HOSTILE, frozen, sample, settings, silent, troubled};
use super::super::{csv, html, json, summary, synthetic, threshold};
use super::*;

fn near(time: Duration, seconds: f64) -> bool {
    (time.as_secs_f64() - seconds).abs() < 0.15
}

#[test]
fn a_frozen_server_is_seen_by_when_boards_were_due() {
    let report = frozen();
    let Latency { corrected, uncorrected } = report.succeeded.as_ref().unwrap();
    for (percent, seconds) in [(80.0, 1.0), (90.0, 3.0), (95.0, 4.0), (99.0, 4.8), (100.0, 5.0)] {
        assert!(
            near(corrected.percentile(percent), seconds),
            "{percent}: {:?}",
            corrected.percentile(percent)
        );
    }
    let uncorrected = uncorrected.as_ref().unwrap();
    assert!(uncorrected.percentile(99.9) < Duration::from_millis(1), "{:?}", uncorrected.percentile(99.9));
    assert!(near(uncorrected.slowest(), 5.0));
    assert_eq!((report.kept_up(), corrected.boards()), (Some(true), 2000));
}

#[test]
fn a_closed_loop_has_one_latency() {
    let report = troubled();
    assert!(report.succeeded.as_ref().unwrap().uncorrected.is_none());
    assert_eq!((report.offered_rate(), report.kept_up()), (None, None));
}

#[test]
fn an_offered_rate_that_was_not_reached_is_not_called_reached() {
    let mut seen = Recorder::new();
    seen.offered(1000);
    seen.sample(&Sample { boards: 600, ..sample(0, 0, 900) });
    let report = synthetic::report(seen, settings(Some("100/s")), Duration::from_secs(10), Ending::Complete);
    assert_eq!(report.kept_up(), Some(false));
    let text = summary::render(&report);
    assert!(text.contains("The offered rate was not reached: 600 of 1,000"), "{text}");
    assert!(text.contains("Offered/sec:  100.0") && text.contains("Boards/sec:   60.00"), "{text}");
}

#[test]
fn drivers_add_up() {
    let mut all = Recorder::new();
    let mut parts = [Recorder::new(), Recorder::new(), Recorder::new()];
    for board in 0..30_000u64 {
        // Each third sees a part of the run of its own, so that their intervals differ in length.
        let part = usize::try_from(board / 10_000).unwrap();
        let at = board * 500;
        let fate = if board % 7 == 0 { Fate::Failed(Code::Unavailable) } else { Fate::Solved };
        let seen = Sample { fate, worker: part, ..sample(at, at + 3, at + 200 + board % 31) };
        for into in [&mut all, &mut parts[part]] {
            into.offered(1);
            into.sample(&seen);
        }
    }
    let merged = parts.into_iter().rev().fold(Recorder::new(), |mut into, part| {
        into.merge(part);
        into
    });
    let render = |seen| {
        json::render(&synthetic::report(
            seen,
            settings(Some("2000/s")),
            Duration::from_secs(15),
            Ending::Complete,
        ))
    };
    assert_eq!(render(merged), render(all));
}

#[test]
fn memory_is_bounded_however_long_the_run_and_whatever_the_texts() {
    let mut seen = Recorder::new();
    for second in 0..100_000u64 {
        seen.sample(&sample(second * 1_000_000, second * 1_000_000, second * 1_000_000 + 100));
        seen.error(&format!("error {second}"), 1);
    }
    assert!(seen.series.slots().len() <= 240);
    assert_eq!(seen.errors.len(), MAX_TEXTS + 1);
    assert_eq!(seen.errors.values().sum::<u64>(), 100_000);
    seen.error(&"x".repeat(1_000_000), 1);
    assert!(seen.errors.keys().all(|text| text.len() < 1000));
}

#[test]
fn bars_hold_every_board_once() {
    for report in [frozen(), troubled()] {
        for latency in [&report.succeeded, &report.failed].into_iter().flatten() {
            let bars = latency.corrected.bars();
            assert_eq!(bars.iter().map(|bar| bar.boards).sum::<u64>(), latency.corrected.boards());
            assert!(bars.windows(2).all(|pair| pair[0].up_to < pair[1].up_to), "{bars:?}");
        }
    }
    let mut seen = Recorder::new();
    seen.sample(&Sample { boards: 5, ..sample(0, 0, 1) });
    let report = synthetic::report(seen, settings(None), Duration::from_secs(1), Ending::Complete);
    assert_eq!(
        report.succeeded.unwrap().corrected.bars(),
        [Bar { up_to: Duration::from_micros(1), boards: 5 }]
    );
}

#[test]
fn the_summary_has_the_layout_of_ghz() {
    let text = summary::render(&troubled());
    let places: Vec<_> = [
        "\nSummary:\n  Count:        200,000\n  Total:        10.00 s\n  Slowest:",
        "\n  Fastest:",
        "\n  Average:",
        "\n  Boards/sec:   19,600\n",
        "\nResponse time histogram:\n",
        "\nLatency distribution:\n  50 %    in",
        "\n  99.99 % in",
        "\n  max     in",
        "\nLatency distribution of failures:\n",
        "\nStatus code distribution:\n  [OK]",
        "\n  [RESOURCE_EXHAUSTED]",
        "\nCalls:\n  [UNAVAILABLE]",
        "\nOutcomes:\n  [solved]",
        "\nSources:\n",
        "\nWorkers:\n  [127.0.0.1:50051]",
        "\nError distribution:\n  [4,000] <script",
        "\nWarnings:\n  The run failed:",
    ]
    .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}")))
    .into();
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains('\u{1b}'), "a server's text reaches the terminal");
    assert!(text.contains("Wrong answers (path): 1, for one: <script"));
    let text = summary::render(&frozen());
    assert!(text.contains("\nLatency distribution (since due, and since sent):\n"), "{text}");
    assert!(summary::render(&silent()).contains("No board succeeded."));
}

#[test]
fn json_has_every_figure() {
    let parsed: Value = serde_json::from_str(&json::render(&troubled())).unwrap();
    let at = |path: &str| parsed.pointer(path).unwrap_or_else(|| panic!("{path}"));
    assert_eq!(at("/schema"), 1);
    assert_eq!(at("/ending"), "failed");
    assert_eq!(at("/boards/succeeded"), 196_000);
    assert_eq!(at("/boards/unfinished"), 12);
    assert_eq!(at("/outcomes/failed"), 4000);
    assert_eq!(at("/codes/RESOURCE_EXHAUSTED"), 4000);
    assert_eq!(at("/wrong/double/count"), 1);
    assert_eq!(at("/latency/succeeded/corrected/percentiles/4/percent"), 99.0);
    assert!(at("/latency/succeeded/uncorrected").is_null());
    let rows = at("/intervals").as_array().unwrap();
    let sum = |name: &str| rows.iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("succeeded"), sum("failed"), sum("planned")), (196_000, 4000, 200_000));
    let silent: Value = serde_json::from_str(&json::render(&silent())).unwrap();
    assert!(silent["latency"]["succeeded"].is_null() && silent["rate"]["succeeded_per_second"] == 0.0);
}

/// Every name in the JSON stands in its documentation, and nothing else does.
#[test]
fn json_is_documented_field_by_field() {
    fn names(value: &Value, prefix: &str, into: &mut std::collections::BTreeSet<String>) {
        // Objects whose names are codes, options or kinds.
        const OPEN: [&str; 5] = ["settings.boards.", "codes.", "calls.", "outcomes.", "sources."];
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let free = OPEN.contains(&prefix) || prefix == "wrong.";
                    let path = if free { format!("{prefix}NAME") } else { format!("{prefix}{name}") };
                    names(value, &format!("{path}."), into);
                    into.insert(path);
                }
            }
            Value::Array(rows) => {
                let prefix = format!("{}[].", prefix.trim_end_matches('.'));
                for row in rows {
                    names(row, &prefix, into);
                }
            }
            _ => {}
        }
    }
    let mut used = std::collections::BTreeSet::new();
    for mut report in [frozen(), troubled()] {
        threshold::judge(&mut report, &["p99>1s".parse().unwrap()]);
        names(&serde_json::from_str(&json::render(&report)).unwrap(), "", &mut used);
    }
    // A distribution is described once.
    let distribution = |name: &str| {
        ["latency.succeeded.", "latency.failed."].iter().find_map(|of| {
            let rest = name.strip_prefix(of)?;
            Some(
                rest.split_once('.')
                    .map_or_else(|| format!("LATENCY.{rest}"), |(_, field)| format!("DISTRIBUTION.{field}")),
            )
        })
    };
    let used: std::collections::BTreeSet<_> =
        used.into_iter().map(|name| distribution(&name).unwrap_or(name)).collect();
    let text = include_str!("../../../docs/load-report.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let documented: std::collections::BTreeSet<_> = rows.map(|(name, _)| name.to_owned()).collect();
    assert_eq!(used, documented);
}

#[test]
fn csv_has_a_row_for_each_interval() {
    let report = frozen();
    let text = csv::render(&report);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), report.intervals.len() + 1);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let column = |name: &str| rows[0].iter().position(|&column| column == name).unwrap();
    let sum: u64 = rows[1..].iter().map(|row| row[column("succeeded")].parse::<u64>().unwrap()).sum();
    assert_eq!(sum, 2000);
    // While the server stood still, nothing was answered, so there are no times.
    assert!(rows.iter().any(|row| row[column("succeeded")] == "0" && row[column("p99_ms")].is_empty()));
}

#[test]
fn a_page_stands_alone_and_escapes_what_it_is_given() {
    for report in [frozen(), troubled(), silent()] {
        let page = html::render(&report);
        assert!(page.contains("Content-Security-Policy") && page.ends_with("</html>\n"));
        for sign in ["<script", "src=", "http://", "https://", "url(", "@import", "NaN", "inf\"", "\u{1b}"] {
            let allowed = page.replace("src=&quot;http://evil.example/&quot;", "");
            assert!(!allowed.contains(sign), "{sign}");
        }
        assert_eq!(page.matches("<figure").count(), page.matches("</figure>").count());
    }
    let page = html::render(&troubled());
    assert!(page.contains("&lt;script src=&quot;http://evil.example/&quot;&gt;"));
    assert!(!page.contains(HOSTILE));
    for id in ["percentiles", "throughput", "latency"] {
        let figure = page.split(&format!("id=\"{id}\"")).nth(1).unwrap().split("</figure>").next().unwrap();
        assert!(figure.contains(" line\" d=\"M") && figure.contains("<title>"), "{id}");
    }
}

/// Writes pages to look at: `TAQUIN_PAGES=folder cargo test --lib pages_to_look_at`.
#[test]
fn pages_to_look_at() {
    let Ok(folder) = std::env::var("TAQUIN_PAGES") else { return };
    for (name, mut report) in [("frozen", frozen()), ("troubled", troubled()), ("silent", silent())] {
        threshold::judge(&mut report, &["p99>1s".parse().unwrap(), "errors>5%".parse().unwrap()]);
        let path = std::path::Path::new(&folder).join(name);
        std::fs::write(path.with_extension("html"), html::render(&report)).unwrap();
        std::fs::write(path.with_extension("json"), json::render(&report)).unwrap();
        std::fs::write(path.with_extension("txt"), summary::render(&report)).unwrap();
        std::fs::write(path.with_extension("csv"), csv::render(&report)).unwrap();
    }
}
