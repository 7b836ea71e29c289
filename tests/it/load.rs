//! The load as a user runs it: what is sent, how, for how long, and what the report says of it.

use std::io::Write;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use taquin::config::LimitsConfig;
use taquin::service::Embedded;

use crate::cli;
use crate::support::{run, serve};

/// A run of the load with a report in JSON.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) code: i32,
    pub(crate) report: Value,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

/// A load that runs.
pub(crate) struct Loading(Child, Instant);

impl Loading {
    /// Starts it; the arguments are separated by blanks.
    pub(crate) fn start(arguments: &str) -> Self {
        Self::start_with(arguments, "")
    }

    fn start_with(arguments: &str, stdin: &str) -> Self {
        let mut child =
            cli::start(["load", "--format", "json"].into_iter().chain(arguments.split_whitespace()));
        // One that reads no input closes the pipe, which is its right.
        drop(child.stdin.take().unwrap().write_all(stdin.as_bytes()));
        Self(child, Instant::now())
    }

    pub(crate) fn interrupt(&self) {
        kill_process(Pid::from_child(&self.0), Signal::INT).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(self) -> Loaded {
        let output = self.0.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let report = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        Loaded { code: output.status.code().unwrap(), report, stderr, took: self.1.elapsed() }
    }
}

pub(crate) fn load(arguments: &str) -> Loaded {
    Loading::start(arguments).end()
}

impl Loaded {
    /// A number of the report, by the path to it.
    pub(crate) fn number(&self, path: &str) -> f64 {
        let found = path.split('/').fold(&self.report, |value, key| match key.parse::<usize>() {
            Ok(index) => &value[index],
            Err(_) => &value[key],
        });
        found.as_f64().unwrap_or_else(|| panic!("no {path} in {self:?}"))
    }

    /// A count that is 0 if it is not there.
    pub(crate) fn count(&self, path: &str) -> u64 {
        let found = path.split('/').fold(&self.report, |value, key| &value[key]);
        found.as_u64().unwrap_or(0)
    }

    /// A percentile of the boards that succeeded, in milliseconds.
    pub(crate) fn percentile(&self, which: &str, percent: f64) -> f64 {
        let percentiles = self.report["latency"]["succeeded"][which]["percentiles"].as_array();
        let wanted = |entry: &&Value| (entry["percent"].as_f64().unwrap() - percent).abs() < 1e-9;
        let found = percentiles.unwrap_or_else(|| panic!("{self:?}")).iter().find(wanted).unwrap();
        found["ns"].as_f64().unwrap() / 1e6
    }

    /// All was well, and so many boards succeeded.
    pub(crate) fn assert_well(&self, boards: u64) {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.count("boards/succeeded"), boards, "{self:?}");
        assert_eq!(self.count("boards/offered"), boards, "{self:?}");
    }
}

/// Runs a test against a server in this process that searches all it is asked.
fn with_server(test: impl FnOnce(&Embedded, String)) {
    run(async {
        let server = serve(LimitsConfig::default(), 2).await;
        let endpoint = format!("--endpoint {}", server.address());
        tokio::task::block_in_place(|| test(&server, endpoint));
    });
}

#[test]
fn every_mode_sends_what_was_asked_and_no_more() {
    with_server(|_, endpoint| {
        for (mode, boards) in [("unary", 300), ("stream", 3000), ("packed --batch 1000", 4500)] {
            let loaded = load(&format!("{endpoint} --mode {mode} --total {boards} --check optimal"));
            loaded.assert_well(boards);
            assert_eq!(loaded.count("outcomes/solved"), boards);
            assert!(loaded.count("bytes/sent") > boards && loaded.count("bytes/received") > boards);
            assert!(loaded.number("first_answer_ns") > 0.0);
        }
    });
}

#[test]
fn without_an_endpoint_a_server_is_started() {
    let loaded = load("--total 100");
    loaded.assert_well(100);
    assert_eq!(loaded.report["settings"]["server"], env!("CARGO_PKG_VERSION"));
}

/// Field case G44.
#[test]
fn fewer_boards_than_workers_are_all_sent() {
    with_server(|server, endpoint| {
        for mode in ["unary", "stream", "packed --batch 3"] {
            let loaded = load(&format!("{endpoint} --mode {mode} --total 10 --connections 5 --streams 10"));
            loaded.assert_well(10);
        }
        assert_eq!(server.engine().in_flight(), 0);
    });
}

/// Field case G45.
#[test]
fn a_duration_ends_on_time() {
    with_server(|_, endpoint| {
        for mode in ["unary", "stream", "packed"] {
            let loaded = load(&format!("{endpoint} --mode {mode} --duration 1s --streams 2"));
            assert_eq!(loaded.code, 0, "{loaded:?}");
            assert!(loaded.count("boards/succeeded") > 0);
            let seconds = loaded.number("elapsed_ns") / 1e9;
            assert!((0.99..1.9).contains(&seconds), "{seconds} s");
            assert!(loaded.took < Duration::from_secs(6), "{:?}", loaded.took);
        }
    });
}

#[test]
fn the_same_seed_sends_the_same_boards_whatever_the_shape() {
    // A server's cache meets each board once: so many different ones were sent.
    let distinct = |shape: &str| {
        let mut entries = 0;
        run(async {
            let server = serve(LimitsConfig::default(), 1).await;
            let line = format!("--endpoint {} --total 200 --depth 4 --size 3x3 {shape}", server.address());
            let loaded = tokio::task::block_in_place(|| load(&line));
            loaded.assert_well(200);
            entries = crate::support::connect(&server)
                .await
                .get_server_info(taquin::service::pb::GetServerInfoRequest {})
                .await
                .unwrap()
                .into_inner()
                .cache
                .unwrap()
                .entries;
        });
        entries
    };
    let one = distinct("--seed 5 --mode stream");
    assert_eq!(one, distinct("--seed 5 --mode unary --connections 3 --streams 2 --in-flight 2"));
}

#[test]
fn boards_are_as_was_asked() {
    with_server(|_, endpoint| {
        let shares = "--unsolvable-ratio 0.2 --malformed-ratio 0.3 --repeat-ratio 0.5";
        for mode in ["unary", "stream", "packed"] {
            let line = format!("{endpoint} --mode {mode} --total 2000 --check optimal {shares}");
            let loaded = load(&line);
            loaded.assert_well(2000);
            let (malformed, unsolvable) =
                (loaded.count("outcomes/malformed"), loaded.count("outcomes/unsolvable"));
            assert!((450..750).contains(&malformed), "{malformed}");
            assert!((180..400).contains(&unsolvable), "{unsolvable}");
        }
        for boards in [
            "--size 2x4",
            "--size 1x5 --unsolvable-ratio 0.5",
            "--goal 123804765",
            "--goal 1x2/345",
            "--depth 31",
            "--depth 0..3",
            "--graph 1-2,1-3,1-9,2-9,3-9 --unsolvable-ratio 0.5",
            "--smallest",
            "--max-moves 15",
            "--algorithm astar --bypass cache,table --depth 0..12",
        ] {
            let loaded = load(&format!("{endpoint} --total 300 --check optimal {boards}"));
            loaded.assert_well(300);
        }
        for boards in [
            "--size 2x4",
            "--graph 1-2,1-3,1-9,2-9,3-9 --unsolvable-ratio 0.5",
            "--goal 123804765",
            "--max-moves 15",
        ] {
            load(&format!("{endpoint} --mode packed --batch 100 --total 250 --check optimal {boards}"))
                .assert_well(250);
        }
    });
}

#[test]
fn boards_of_a_file_are_sent_in_turn() {
    with_server(|_, endpoint| {
        let boards = "123456708 # near\n1 2/3 0\n213456780\n";
        let send =
            |line: &str| Loading::start_with(&format!("{endpoint} --data-file - {line}"), boards).end();
        let once = send("--check optimal");
        once.assert_well(3);
        assert_eq!((once.count("outcomes/solved"), once.count("outcomes/unsolvable")), (2, 1));
        let again = send("--total 30 --check optimal");
        again.assert_well(30);
        assert_eq!(again.count("outcomes/unsolvable"), 10);
        let bad = Loading::start_with("--data-file -", "113456780").end();
        assert_eq!(bad.code, 2);
        assert!(bad.stderr.contains("line 1: tile 1 twice"), "{bad:?}");
        assert!(Loading::start_with("--data-file - --mode packed", boards).end().stderr.contains("one size"));
        assert!(Loading::start_with("--data-file -", "").end().stderr.contains("no board"));
        assert_eq!(load("--data-file /no/such/file").code, 2);
    });
}

#[test]
fn what_can_not_be_is_said_before_anything_is_sent() {
    for (line, said) in [
        ("--depth 32", "expected 0 to 31"),
        ("--depth 5..3", "--depth"),
        ("--size 1x2 --unsolvable-ratio 0.1", "every board of this layout can be solved"),
        ("--malformed-ratio 1.5", "from 0 to 1"),
        ("--size 4x4", "expected 1 to 9"),
        ("--goal 113456780", "--goal: tile 1 twice"),
        ("--graph 1-12", "--graph"),
        ("--mode packed --smallest", "--smallest does not go with --mode packed"),
        ("--batch 10", "--mode packed only"),
        ("--rate 0", "--rate"),
        ("--rate 10 --rate-steps 10x5s", "cannot be used with"),
        ("--rate-steps 10x", "--rate-steps"),
        ("--rate-line 10..20", "--rate-line"),
        ("--total 0", "--total"),
        ("--in-flight 0", "--in-flight"),
        ("--streams 0", "--streams"),
        ("--connections 5000", "--connections"),
        ("--batch 9999999 --mode packed", "--batch"),
        ("--timeout 0", "--timeout"),
        ("--endpoint https://a:1", "--endpoint"),
        ("--data-file x --seed 3", "cannot be used with"),
        ("--fail-if p99", "--fail-if"),
        ("--output /no/such/folder/a.json", "--output"),
    ] {
        let loaded = load(line);
        assert_eq!(loaded.code, 2, "{line}: {loaded:?}");
        assert!(loaded.stderr.contains(said), "{line}: {}", loaded.stderr);
    }
}

#[test]
fn an_open_loop_sends_at_its_rate() {
    with_server(|_, endpoint| {
        for mode in ["unary", "stream"] {
            let loaded = load(&format!("{endpoint} --mode {mode} --rate 200 --total 200 --warmup 200ms"));
            loaded.assert_well(200);
            // The last of 200 boards is due 995 ms after the first.
            let seconds = loaded.number("elapsed_ns") / 1e9;
            assert!((0.99..2.0).contains(&seconds), "{seconds} s");
            assert_eq!(loaded.report["settings"]["loop"], "open");
        }
        let steps = load(&format!("{endpoint} --rate-steps 100x500ms,400x500ms"));
        steps.assert_well(250);
        let line = load(&format!("{endpoint} --rate-line 100..300/1s --streams 3 --connections 2"));
        line.assert_well(200);
        let packed = load(&format!("{endpoint} --mode packed --batch 50 --rate 1000 --duration 500ms"));
        packed.assert_well(500);
    });
}

#[test]
fn a_warm_up_does_not_count() {
    with_server(|_, endpoint| {
        let loaded = load(&format!("{endpoint} --warmup 500ms --total 100"));
        loaded.assert_well(100);
        assert!(loaded.took > Duration::from_millis(500));
        assert!(loaded.number("elapsed_ns") / 1e9 < 5.0);
    });
}

#[test]
fn a_condition_that_holds_has_an_exit_code() {
    with_server(|_, endpoint| {
        let loaded = load(&format!("{endpoint} --total 50 --fail-if p50>0ns --fail-if errors>0"));
        assert_eq!(loaded.code, 99, "{loaded:?}");
        assert_eq!(load(&format!("{endpoint} --total 50 --fail-if p50>1h --fail-if wrong>0")).code, 2);
        assert_eq!(load(&format!("{endpoint} --total 50 --fail-if p50>1000s --fail-if wrong>0")).code, 0);
    });
}

#[test]
fn an_interrupt_stops_and_still_reports() {
    with_server(|_, endpoint| {
        let loading = Loading::start(&format!("{endpoint} --duration 60s"));
        std::thread::sleep(Duration::from_millis(700));
        loading.interrupt();
        let loaded = loading.end();
        assert_eq!(loaded.code, 130, "{loaded:?}");
        assert_eq!(loaded.report["ending"], "interrupted");
        assert!(loaded.took < Duration::from_secs(10));
    });
}
