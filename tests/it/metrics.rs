//! What a worker counts is what it did: known loads, then a scrape.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use taquin::config::{LimitsConfig, Sweep};
use taquin::domain::sliding::{Board as Tiles, Packed32};
use taquin::service::{Metrics, embedded, pb};

use crate::boards::{self, SOLVED};
use crate::scrape::{self, Scrape};
use crate::support::{
    AT_ONCE, Client, Talk, assert_cancelled, assert_shed, assert_solves, blocker, budget, connect, endpoint,
    error_of, job, run, serve, serve_and_connect, soon, wait_until,
};

/// Longer than a table takes on a busy machine.
const A_WHILE: Duration = Duration::from_secs(20);

async fn pack(client: &mut Client, request: pb::SolvePackedRequest) -> pb::SolvePackedResponse {
    let answers = client.solve_packed(tokio_stream::iter([request])).await.unwrap();
    soon(answers.into_inner().message()).await.unwrap().unwrap()
}

fn packed(boards: &[boards::Board]) -> pb::SolvePackedRequest {
    let boards = boards.iter().flat_map(|board| Packed32::new(Tiles::new(board)).bits().to_le_bytes());
    pb::SolvePackedRequest {
        layout: Some(pb::solve_packed_request::Layout::Grid(pb::Grid { rows: 3, columns: 3 })),
        boards: boards.collect(),
        ..pb::SolvePackedRequest::default()
    }
}

/// A chain of seven vertices, and more edges by the bits of a number below 2^15; the blank one step from home.
fn graph(number: u32) -> pb::Job {
    let chain = (1..7).map(|a| (a, a + 1));
    let others = (1..=7).flat_map(|a| (a + 2..=7).map(move |b| (a, b)));
    let others = others.enumerate().filter(|(bit, _)| number >> bit & 1 == 1).map(|(_, edge)| edge);
    let edges = chain.chain(others).map(|(a, b)| pb::Edge { a, b }).collect();
    let layout = Some(pb::sliding_puzzle::Layout::Graph(pb::Graph { vertices: 7, edges }));
    let sliding = pb::SlidingPuzzle { layout, start: vec![1, 2, 3, 4, 5, 0, 6], goal: Vec::new() };
    let problem = Some(pb::job::Problem::Sliding(sliding));
    // Alone: what searches share is made for each graph anew.
    let request_id = number.to_string();
    pb::Job { request_id, problem, bypass_table: true, bypass_cache: true, ..pb::Job::default() }
}

#[test]
fn every_answer_is_counted_by_outcome_and_source() {
    run(async {
        let server = embedded(LimitsConfig::default(), 1, Sweep::On).await.unwrap();
        wait_until("the tables are there", A_WHILE, || server.engine().table_statistics().standard_ready)
            .await;
        let (port, mut client) = (scrape::of_server(&server).await, connect(&server).await);
        let at_rest = Scrape::of(port.address()).await;
        assert_eq!(at_rest.counted("taquin_answers_total"), BTreeMap::new());

        let mut talk = Talk::open(&client).await;
        let board = boards::at(20, 0);
        talk.send(job("search#delay-ms=100", board));
        (0..3).for_each(|n| talk.send(job(n.to_string(), board)));
        for _ in 0..4 {
            assert_solves(&talk.answer().await, board);
        }
        for n in 0..5 {
            assert_solves(&talk.ask(job(n.to_string(), board)).await, board);
        }
        // More than are added at once.
        for n in 0..150 {
            talk.send(pb::Job { bypass_table: false, ..job(n.to_string(), boards::at(18, n)) });
        }
        for _ in 0..150 {
            talk.answer().await;
        }
        assert_solves(&talk.ask(job("solved", SOLVED)).await, SOLVED);
        for n in 0..4 {
            talk.ask(job(n.to_string(), [2, 1, 3, 4, 5, 6, 7, 8, 0])).await;
        }
        let short = pb::Budget { max_moves: Some(5), ..pb::Budget::default() };
        talk.ask(budget(job("short", boards::at(22, 0)), short)).await;
        talk.ask(budget(pb::Job { bypass_table: false, ..job("short", boards::at(22, 0)) }, short)).await;
        let slow = blocker("cancelled");
        talk.send(slow.clone());
        talk.cancel(&slow.request_id);
        assert_cancelled(&talk.answer().await, &slow.request_id);
        for _ in 0..2 {
            error_of(&talk.ask(job("malformed", [1; 9])).await);
        }
        assert!(talk.rest().await.is_empty());

        // Alone, and in bulk: a board that is none, one without a path, and two with.
        let alone = |board| pb::SolveRequest { job: Some(job("alone", board)) };
        client.solve(alone(SOLVED)).await.unwrap();
        client.solve(alone([1; 9])).await.unwrap_err();
        pack(&mut client, packed(&[board, [2, 1, 3, 4, 5, 6, 7, 8, 0], SOLVED, [1, 1, 3, 4, 5, 6, 7, 8, 0]]))
            .await;
        let refused = pb::SolvePackedRequest { layout: None, ..packed(&[board]) };
        assert!(pack(&mut client, refused).await.error.is_some());

        let scrape = Scrape::of(port.address()).await;
        let expected = BTreeMap::from([
            (r#"{outcome="solved",source="search"}"#, 1),
            (r#"{outcome="solved",source="coalesced"}"#, 3),
            (r#"{outcome="solved",source="cache"}"#, 5),
            (r#"{outcome="solved",source="table"}"#, 150 + 2),
            (r#"{outcome="solved",source="rule"}"#, 1 + 1),
            (r#"{outcome="unsolvable",source="rule"}"#, 4),
            (r#"{outcome="unsolvable",source="table"}"#, 1),
            (r#"{outcome="limit",source="search"}"#, 1),
            (r#"{outcome="limit",source="table"}"#, 1),
            (r#"{outcome="cancelled",source="none"}"#, 1),
            (r#"{outcome="error",source="none"}"#, 2 + 1 + 1 + 1),
        ]);
        assert_eq!(scrape.counted("taquin_answers_total"), expected);
        // Four that waited for one search, one that met its limit, one that was cancelled.
        assert_eq!(scrape.count("taquin_queue_time_seconds_count"), 6);
        let searched = scrape.counted("taquin_solve_time_seconds_count");
        assert_eq!(searched, BTreeMap::from([(r#"{layout="3x3"}"#, 2)]));
        let slowest = scrape.value(r#"taquin_solve_time_seconds_sum{layout="3x3"}"#);
        assert!((0.1..10.0).contains(&slowest), "{slowest}");
        let cache = server.engine().cache_statistics();
        assert_eq!(scrape.count("taquin_cache_hits_total"), cache.hits);
        assert_eq!(scrape.count("taquin_cache_misses_total"), cache.misses);
        assert_eq!(scrape.count("taquin_cache_entries"), cache.entries);
        assert_eq!(scrape.count("taquin_cache_bytes"), cache.weight);
        let tables = server.engine().table_statistics();
        assert_eq!(scrape.count(r#"taquin_tables_bytes{kind="standard"}"#), tables.standard_bytes);
        assert_eq!(scrape.counted("taquin_shed_total"), BTreeMap::new());
        assert_eq!(scrape.count("taquin_panics_total"), 0);
    });
}

#[test]
fn what_is_open_is_counted_while_it_is() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let port = scrape::of_server(&server).await;
        let open = |scrape: &Scrape| {
            let rpc = |rpc| scrape.count(&format!(r#"taquin_calls_open{{rpc="{rpc}"}}"#));
            let calls = [rpc("Solve"), rpc("SolveStream"), rpc("SolvePacked")];
            (scrape.count("taquin_connections_open"), calls, scrape.count("taquin_jobs_in_flight"))
        };
        let settles_at = async |expected| {
            let mut seen = None;
            let start = std::time::Instant::now();
            while seen != Some(expected) {
                assert!(start.elapsed() < 10 * AT_ONCE, "{seen:?}, expected {expected:?}");
                seen = Some(open(&Scrape::of(port.address()).await));
            }
        };
        settles_at((1, [0, 0, 0], 0)).await;
        let mut talks = Vec::new();
        for n in 0..3 {
            let talk = Talk::open(&client).await;
            talk.send(blocker(&n.to_string()));
            talks.push(talk);
        }
        settles_at((1, [0, 3, 0], 3)).await;
        // The same board thrice is one search.
        let scrape = Scrape::of(port.address()).await;
        assert_eq!(scrape.counted("taquin_queue_depth"), BTreeMap::new());
        talks[0].send(job("waits", boards::at(12, 0)));
        wait_until("one waits", AT_ONCE, || server.engine().queued() == 1).await;
        let scrape = Scrape::of(port.address()).await;
        assert_eq!(scrape.counted("taquin_queue_depth"), BTreeMap::from([(r#"{lane="light"}"#, 1)]));
        drop(talks);
        settles_at((1, [0, 0, 0], 0)).await;
        let other = connect(&server).await;
        let alone = pb::SolveRequest { job: Some(blocker("alone")) };
        let call = tokio::spawn(async move { other.clone().solve(alone).await });
        settles_at((2, [1, 0, 0], 1)).await;
        call.abort();
        settles_at((1, [0, 0, 0], 0)).await;
    });
}

#[test]
fn a_stream_that_goes_on_is_counted_when_it_is_idle() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let port = scrape::of_server(&server).await;
        let mut talk = Talk::open(&client).await;
        assert_solves(&talk.ask(job("one", SOLVED)).await, SOLVED);
        let start = std::time::Instant::now();
        let solved = r#"taquin_answers_total{outcome="solved",source="rule"}"#;
        while Scrape::of(port.address()).await.count(solved) != 1 {
            assert!(start.elapsed() < AT_ONCE, "not counted");
        }
        // Nor is it counted again at its end.
        assert!(talk.rest().await.is_empty());
        assert_eq!(Scrape::of(port.address()).await.count(solved), 1);
    });
}

#[test]
fn panics_and_what_is_shed_are_counted_by_reason() {
    run(async {
        let limits =
            LimitsConfig { max_queue: 1, max_in_flight: 3, max_streams: 1, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let port = scrape::of_server(&server).await;
        let client = connect(&server).await;
        let mut talk = Talk::open(&client).await;
        for n in 0..2 {
            error_of(&talk.ask(job(format!("{n}#panic"), boards::at(14, n))).await);
        }
        let first = blocker("first");
        talk.send(first.clone());
        let flies = || server.engine().in_flight() == 1 && server.engine().queued() == 0;
        wait_until("the first flies", AT_ONCE, flies).await;
        talk.send(job("waits", boards::at(12, 0)));
        // One search too many in the queue, thrice; then, as one joins the first, one job too many.
        for n in 0..3 {
            assert_shed(&error_of(&talk.ask(job(n.to_string(), boards::at(12, 1))).await));
        }
        talk.send(pb::Job { request_id: "joins".into(), ..first.clone() });
        for n in 0..2 {
            assert_shed(&error_of(&talk.ask(job(n.to_string(), boards::at(12, 2))).await));
        }
        let Err(status) = Talk::try_open(&client).await else { panic!("a second call") };
        assert_shed(&status);
        assert_shed(&client.clone().solve(pb::SolveRequest { job: Some(first) }).await.unwrap_err());
        drop(talk);
        let scrape = Scrape::of(port.address()).await;
        let shed = [(r#"{reason="queue"}"#, 3), (r#"{reason="in_flight"}"#, 2), (r#"{reason="streams"}"#, 2)];
        assert_eq!(scrape.counted("taquin_shed_total"), BTreeMap::from(shed));
        assert_eq!(scrape.count("taquin_panics_total"), 2);
        assert_eq!(scrape::get(port.address(), "/healthz").await.status, 200);
        let of = |what: &str| scrape.count(&format!(r#"taquin_limit{{of="{what}"}}"#));
        assert_eq!((of("queue"), of("jobs_in_flight"), of("calls")), (1, 3, 1));
    });
}

#[test]
fn a_call_into_a_drain_and_a_reader_that_stalls_are_counted_as_shed() {
    run(async {
        let limits = LimitsConfig { stall_timeout_ms: 300, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let port = scrape::of_server(&server).await;
        let channel = endpoint(&server).initial_stream_window_size(1 << 10).connect().await.unwrap();
        let stalled = Talk::open(&Client::new(channel)).await;
        (0..20_000).for_each(|n| stalled.send(job(n.to_string(), SOLVED)));
        let shed = async |reason: &str| {
            Scrape::of(port.address()).await.count(&format!(r#"taquin_shed_total{{reason="{reason}"}}"#))
        };
        let start = std::time::Instant::now();
        while shed("stalled").await == 0 {
            assert!(start.elapsed() < A_WHILE, "nobody was given up");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let client = connect(&server).await;
        let mut busy = Talk::open(&client).await;
        busy.send(job("busy#delay-ms=1500", boards::at(12, 0)));
        wait_until("it is taken", AT_ONCE, || server.engine().in_flight() == 1).await;
        let stopped = tokio::spawn(server.stop());
        while scrape::get(port.address(), "/readyz").await.status == 200 {}
        let Err(status) = Talk::try_open(&client).await else { panic!("a stream was opened in a drain") };
        assert_eq!(status.code(), tonic::Code::Unavailable);
        assert_solves(&busy.answer().await, boards::at(12, 0));
        drop((busy, stalled));
        soon(stopped).await.unwrap().unwrap();
        assert_eq!((shed("stalled").await, shed("draining").await), (1, 1));
    });
}

#[test]
fn labels_are_few_whatever_clients_send() {
    run(async {
        let (server, client) = serve_and_connect(2).await;
        let port = scrape::of_server(&server).await;
        let talk = Talk::open(&client).await;
        talk.send(graph(0));
        assert_eq!(talk.rest().await.len(), 1);
        let before = Scrape::of(port.address()).await.samples.len();
        let talk = Talk::open(&client).await;
        for number in 1..=1000 {
            talk.send(graph(number));
        }
        assert_eq!(talk.rest().await.len(), 1000);
        let scrape = Scrape::of(port.address()).await;
        assert_eq!(scrape.samples.len(), before);
        assert_eq!(scrape.count(r#"taquin_solve_time_seconds_count{layout="graph"}"#), 1001);
    });
}

/// The name of each family in README's table, its type and its unit.
fn documented() -> BTreeMap<String, (String, String)> {
    let readme = include_str!("../../README.md");
    let (_, section) = readme.split_once("\n## Metrics\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells =
        rows.map(|row| row.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`'])).collect::<Vec<_>>());
    cells
        .map(|cells| {
            let name = cells[0].split('{').next().unwrap().to_owned();
            (name, (cells[1].to_owned(), cells[2].to_owned()))
        })
        .collect()
}

#[test]
fn the_table_in_the_readme_is_what_is_shown() {
    run(async {
        let (server, _client) = serve_and_connect(1).await;
        let port = scrape::of_server(&server).await;
        let scrape = Scrape::of(port.address()).await;
        let shown = scrape.families.into_iter().map(|(name, family)| {
            let name = match family.kind.as_str() {
                "counter" => format!("{name}_total"),
                "info" => format!("{name}_info"),
                _ => name,
            };
            (name, (family.kind, family.unit.unwrap_or_else(|| "–".to_owned())))
        });
        assert_eq!(documented(), shown.collect());
    });
}

#[test]
fn dashboard_and_alerts_ask_for_what_is_shown() {
    run(async {
        let (server, _client) = serve_and_connect(1).await;
        let port = scrape::of_server(&server).await;
        let scrape = Scrape::of(port.address()).await;
        let shown: BTreeSet<&str> =
            scrape.samples.keys().map(|sample| sample.split('{').next().unwrap()).collect();
        let dashboard: serde_json::Value =
            serde_json::from_str(include_str!("../../deploy/grafana-dashboard.json")).unwrap();
        let mut expressions = Vec::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            let targets = panel["targets"].as_array().map_or(&[][..], Vec::as_slice);
            expressions.extend(targets.iter().map(|target| target["expr"].as_str().unwrap()));
        }
        assert!(expressions.len() >= 12, "{}", expressions.len());
        expressions.push(include_str!("../../deploy/alerts.yaml"));
        let mut asked = BTreeSet::new();
        for expression in expressions {
            let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            asked.extend(words.filter(|word| word.starts_with("taquin_") || word.starts_with("process_")));
        }
        assert!(asked.len() >= 12, "{asked:?}");
        let unknown: Vec<_> = asked.difference(&shown).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    });
}

#[test]
fn a_worker_that_has_yet_to_start_says_so() {
    run(async {
        let port = scrape::open(&Metrics::default()).await;
        let ready = scrape::get(port.address(), "/readyz").await;
        assert_eq!((ready.status, ready.body.as_str()), (503, "starting\n"));
        assert_eq!(scrape::get(port.address(), "/healthz").await.status, 200);
        let scrape = Scrape::of(port.address()).await;
        assert!(scrape.value("process_start_time_seconds") > 1.7e9);
        assert!(!scrape.samples.contains_key("taquin_jobs_in_flight"));
    });
}
