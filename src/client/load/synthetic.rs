//! Runs that never were, for the tests of what is made of a run.

use std::time::{Duration, SystemTime};

use tonic::Code;

use super::record::{Fate, Recorder, Sample, Wrong};
use super::report::{Ending, Report};
use super::settings::Settings;
use crate::service::pb;

/// Markup, and what may end a string, as a hostile server might send it.
pub(super) const HOSTILE: &str = "<script src=\"http://evil.example/\">alert('&')</script>\u{1b}[2J";

pub(super) fn settings(rate: Option<&str>) -> Settings {
    Settings {
        mode: "stream",
        connections: 2,
        streams: 4,
        in_flight: 64,
        batch: 1,
        rate: rate.map(str::to_owned),
        duration: Some(Duration::from_secs(20)),
        seed: 1,
        boards: vec![("size", "3x3".into()), ("goal", "123456780".into())],
        check: "replay".into(),
        endpoints: vec!["127.0.0.1:50051".into(), "127.0.0.1:50052".into()],
        ..Settings::default()
    }
}

/// A board that was due, sent and answered at these microseconds.
pub(super) fn sample(planned: u64, sent: u64, answered: u64) -> Sample {
    let [planned, sent, answered] = [planned, sent, answered].map(Duration::from_micros);
    Sample { planned, sent, answered, fate: Fate::Solved, source: pb::Source::Table, worker: 0, boards: 1 }
}

pub(super) fn report(seen: Recorder, settings: Settings, elapsed: Duration, ending: Ending) -> Report {
    Report::new(seen, settings, SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000), elapsed, ending)
}

/// Field case G43: 100 boards a second for 20 s, and a server that stands still from 7.5 s to 12.5 s. One that waits
/// for answers before it sends, as one stream with one board in flight does, sees a single slow board.
pub(super) fn frozen() -> Report {
    let (freeze, thaw) = (7_500_000, 12_500_000);
    let mut seen = Recorder::new();
    let mut free = 0;
    for board in 0..2000 {
        let planned = board * 10_000;
        let sent = planned.max(free);
        let quick = sent + 180 + board % 97;
        let answered = if (freeze..thaw).contains(&quick) { thaw + 150 } else { quick };
        free = answered;
        seen.offered(1);
        seen.sample(&sample(planned, sent, answered));
    }
    seen.bytes(200_000, 240_000);
    report(seen, settings(Some("100/s")), Duration::from_secs(20), Ending::Complete)
}

/// A run in which much went wrong, with the server's texts.
pub(super) fn troubled() -> Report {
    let mut seen = Recorder::new();
    let mut noise = 1u64;
    for board in 0..200_000u64 {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let sent = board * 50;
        // A long tail: a few boards wait for a search.
        let took = 120 + (noise >> 40) % 180 + if noise >> 56 == 0 { (noise >> 30) % 9_000 } else { 0 };
        let fate = match board % 50 {
            0 => Fate::Failed(Code::ResourceExhausted),
            1 => Fate::Unsolvable,
            2 => Fate::LimitReached,
            3 => Fate::Malformed,
            _ => Fate::Solved,
        };
        let source = if noise >> 62 == 0 { pb::Source::Search } else { pb::Source::Cache };
        let worker = usize::from(noise >> 63 == 0);
        seen.offered(1);
        seen.sample(&Sample { fate, source, worker, ..sample(sent, sent, sent + took) });
        if board % 50 == 0 {
            seen.error(HOSTILE, 1);
        }
    }
    seen.wrong(Wrong::Path, HOSTILE);
    seen.wrong(Wrong::Double, "id 7");
    seen.connect_error("connection refused");
    seen.call_status(Code::Unavailable);
    seen.unfinished(12);
    seen.resent(34);
    seen.bytes(12_345_678, 23_456_789);
    let settings = Settings { boards: vec![("goal", HOSTILE.into())], ..settings(None) };
    report(seen, settings, Duration::from_secs(10), Ending::Failed(HOSTILE.into()))
}

/// A run in which nothing was answered.
pub(super) fn silent() -> Report {
    report(Recorder::new(), settings(Some("100/s")), Duration::ZERO, Ending::Interrupted)
}
