//! Tests of the load against servers that misbehave.

use clap::Parser;

use super::*;
use crate::client::test_server::{Manner, TestServer};

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    options: LoadOptions,
}

/// The report of a load of a hundred boards, and whether anything failed.
fn load(manner: Manner, arguments: &str) -> (Report, bool) {
    let server = TestServer::start(manner);
    let line = format!("load --endpoint {} --total 100 --timeout 500ms {arguments}", server.address);
    let options = Line::parse_from(line.split_whitespace()).options;
    let plan = Plan::new(&options).unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let loaded = runtime.block_on(report(&options, &plan, Servers::new(&options).unwrap()));
    runtime.shutdown_background();
    loaded
}

fn wrong(report: &Report, name: &str) -> u64 {
    report.wrong.iter().find(|(wrong, _)| *wrong == name).unwrap().1.count
}

#[test]
fn a_fair_server_is_told_so() {
    for manner in [Manner::Backwards(7), Manner::Shy] {
        let (report, is_faulty) = load(manner, "--unsolvable-ratio 0.2 --check optimal");
        assert_eq!((report.boards.succeeded, report.wrongs(), is_faulty), (100, 0, false), "{report:?}");
    }
}

#[test]
fn wrong_paths_are_counted_with_an_example() {
    let (report, _) = load(Manner::Lies, "--depth 5..9");
    assert_eq!((wrong(&report, "path"), report.boards.succeeded), (100, 0));
    let (_, path) = report.wrong.iter().find(|(name, _)| *name == "path").unwrap();
    assert!(path.example.as_ref().unwrap().contains("does not lead to the goal"), "{path:?}");
    assert_eq!(load(Manner::Lies, "--check none").0.wrongs(), 0);
}

#[test]
fn second_answers_are_counted() {
    let (report, _) = load(Manner::Stutters, "--check none");
    assert_eq!((wrong(&report, "double"), report.boards.succeeded), (100, 100));
}

#[test]
fn boards_that_are_never_answered_are_counted() {
    let (report, _) = load(Manner::Ends(30), "--in-flight 10");
    let missing = wrong(&report, "missing");
    assert!(missing > 0 && missing + report.boards.succeeded == 100, "{report:?}");
    assert_eq!(report.boards.failed, 0);
}

#[test]
fn boards_of_a_call_that_fails_are_sent_once_more() {
    let (report, is_faulty) = load(Manner::Fails(30), "--in-flight 10");
    assert!(is_faulty && report.boards.resent > 0, "{report:?}");
    assert_eq!((report.boards.succeeded + report.boards.failed, report.wrongs()), (100, 0), "{report:?}");
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let (report, is_faulty) = load(Manner::Falls(30), "--in-flight 10");
    assert!(is_faulty);
    assert!(report.boards.succeeded >= 30 && report.boards.failed > 0, "{report:?}");
}

#[test]
fn a_server_without_a_method_is_told_of() {
    for mode in ["unary", "packed"] {
        let (report, is_faulty) = load(Manner::Shy, &format!("--mode {mode} --in-flight 4"));
        assert!(is_faulty);
        assert_eq!(report.boards.succeeded, 0);
        assert!(report.errors.iter().any(|(text, _)| text.contains("UNIMPLEMENTED")), "{report:?}");
    }
}
