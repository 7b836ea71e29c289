//! Searches that several jobs share, the cache behind them, and what each job is told.

use std::time::Instant;

use taquin::config::LimitsConfig;
use taquin::service::Embedded;
use taquin::service::pb::{self, Source, limit_reached::Limit};

use crate::boards;
use crate::support::{
    AT_ONCE, Talk, assert_cancelled, assert_solves, budget, connect, job, limit_of, run, serve,
    serve_and_connect, wait_until,
};

async fn flies(server: &Embedded) {
    wait_until("it flies", 10 * AT_ONCE, || server.engine().in_flight() > 0 && server.engine().queued() == 0)
        .await;
}

#[test]
fn each_answer_says_where_it_came_from() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let board = boards::at(20, 0);
        talk.send(job("one#delay-ms=100", board));
        talk.send(job("two", board));
        for (id, source) in [("one#delay-ms=100", Source::Search), ("two", Source::Coalesced)] {
            let answer = talk.answer().await;
            assert_eq!((answer.request_id.as_str(), answer.source()), (id, source));
            assert_solves(&answer, board);
        }
        assert_eq!(server.engine().coalesced(), 1);
        assert_eq!(talk.ask(job("three", board)).await.source(), Source::Cache);
        assert_eq!(talk.ask(job("solved", boards::SOLVED)).await.source(), Source::Rule);

        let before = server.engine().cache_statistics();
        let alone = talk.ask(pb::Job { bypass_cache: true, ..job("alone", board) }).await;
        assert_eq!(alone.source(), Source::Search);
        assert!(alone.statistics.unwrap().expanded > 0);
        let unknown = boards::at(26, 5);
        talk.ask(pb::Job { bypass_cache: true, ..job("unknown", unknown) }).await;
        assert_eq!(server.engine().cache_statistics(), before, "a bypass neither looks nor stores");
        assert_eq!(talk.ask(job("still unknown", unknown)).await.source(), Source::Search);
    });
}

#[test]
fn a_bypass_joins_nobody_and_nobody_joins_it() {
    run(async {
        let (server, client) = serve_and_connect(2).await;
        let talk = Talk::open(&client).await;
        let board = boards::at(20, 0);
        let alone = |id: &str| pb::Job { bypass_cache: true, ..job(id, board) };
        talk.send(alone("1#delay-ms=200"));
        flies(&server).await;
        talk.send(alone("2"));
        talk.send(job("3", board));
        let answers = talk.rest().await;
        assert_eq!(answers.len(), 3);
        for answer in &answers {
            assert_eq!(answer.source(), Source::Search);
            assert_solves(answer, board);
        }
    });
}

#[test]
fn the_one_with_less_time_expires_alone() {
    run(async {
        let board = boards::at(20, 0);
        let short = |id| budget(job(id, board), pb::Budget { max_time_ms: 50, ..pb::Budget::default() });
        // Whether it came first or joined.
        let pairs = [
            (short("short#delay-ms=600"), job("wide", board)),
            (job("wide#delay-ms=600", board), short("short")),
        ];
        for (first, second) in pairs {
            let (server, client) = serve_and_connect(1).await;
            let mut talk = Talk::open(&client).await;
            talk.send(first);
            talk.send(second);
            wait_until("both wait", AT_ONCE, || server.engine().coalesced() == 1).await;
            let start = Instant::now();
            let answer = talk.answer().await;
            assert!(answer.request_id.starts_with("short"), "{answer:?}");
            assert_eq!(limit_of(&answer).0, Limit::Time);
            assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
            let answer = talk.answer().await;
            assert!(answer.request_id.starts_with("wide"), "{answer:?}");
            assert_solves(&answer, board);
        }
    });
}

#[test]
fn each_is_held_to_his_own_number_of_moves() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let board = boards::at(20, 0);
        let few = |id: &str, max| {
            budget(job(id, board), pb::Budget { max_moves: Some(max), ..pb::Budget::default() })
        };
        talk.send(few("5#delay-ms=100", 5));
        flies(&server).await;
        talk.send(few("19", 19));
        talk.send(few("20", 20));
        assert_eq!(limit_of(&talk.answer().await), (Limit::Moves, 6));
        assert_eq!(limit_of(&talk.answer().await), (Limit::Moves, 20));
        assert_solves(&talk.answer().await, board);
    });
}

#[test]
fn whoever_joins_a_narrow_search_is_still_searched_for_as_widely_as_he_asked() {
    const PAIRS: usize = 20_000;
    run(async {
        // Without a cache each round meets the board anew; the second job may join at
        // any moment of the first one's short search, its very end included.
        let server = serve(LimitsConfig { max_cache_bytes: 0, ..LimitsConfig::default() }, 2).await;
        let client = connect(&server).await;
        let talk = Talk::open(&client).await;
        let narrow = [
            pb::Budget { max_nodes: 1, ..pb::Budget::default() },
            pb::Budget { max_moves: Some(1), ..pb::Budget::default() },
        ];
        let board = |n: usize| boards::at(12, n % 40);
        for n in 0..PAIRS {
            talk.send(budget(job(format!("narrow {n}"), board(n)), narrow[n / 2 % 2]));
            talk.send(job(format!("wide {n}"), board(n)));
        }
        let answers = talk.rest().await;
        assert_eq!(answers.len(), 2 * PAIRS);
        for answer in answers {
            if let Some(n) = answer.request_id.strip_prefix("wide ") {
                assert_solves(&answer, board(n.parse().unwrap()));
            }
        }
    });
}

#[test]
fn one_who_leaves_takes_only_himself_away() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let board = boards::at(20, 0);
        let mut talk = Talk::open(&client).await;
        talk.send(job("first#delay-ms=300", board));
        flies(&server).await;
        talk.send(job("second", board));
        talk.cancel("first#delay-ms=300");
        assert_cancelled(&talk.answer().await, "first#delay-ms=300");
        let answer = talk.answer().await;
        assert_solves(&answer, board);
        assert_eq!((answer.request_id.as_str(), answer.source()), ("second", Source::Coalesced));
    });
}

#[test]
fn a_stream_that_goes_leaves_a_shared_search_to_the_others() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let board = boards::at(20, 0);
        let (gone, mut stays) = (Talk::open(&client).await, Talk::open(&client).await);
        gone.send(job("#delay-ms=300", board));
        flies(&server).await;
        stays.send(job("stays", board));
        wait_until("both wait", AT_ONCE, || server.engine().in_flight() == 2).await;
        drop(gone);
        wait_until("one is left", AT_ONCE, || server.engine().in_flight() == 1).await;
        assert_solves(&stays.answer().await, board);
    });
}

#[test]
fn the_last_to_leave_stops_the_search() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let board = boards::at(20, 0);
        talk.send(job("a#delay-ms=20000", board));
        talk.send(job("b", board));
        wait_until("both wait", AT_ONCE, || server.engine().in_flight() == 2).await;
        let start = Instant::now();
        talk.cancel("b");
        talk.cancel("a#delay-ms=20000");
        assert_cancelled(&talk.answer().await, "b");
        assert_cancelled(&talk.answer().await, "a#delay-ms=20000");
        let answer = talk.ask(job("c", board)).await;
        assert_solves(&answer, board);
        assert_eq!(answer.source(), Source::Search, "what was cancelled is not remembered");
        assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    });
}

#[test]
fn who_matters_more_goes_first_and_raises_what_he_joins() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let talk = Talk::open(&client).await;
        let with =
            |id: &str, board, priority: pb::Priority| pb::Job { priority: priority.into(), ..job(id, board) };
        let board = |n| boards::at(20, n);
        talk.send(job("busy#delay-ms=200", board(0)));
        flies(&server).await;
        talk.send(with("low", board(1), pb::Priority::Low));
        talk.send(with("joined", board(2), pb::Priority::Low));
        talk.send(with("normal", board(3), pb::Priority::Unspecified));
        talk.send(with("high", board(4), pb::Priority::High));
        talk.send(with("joins", board(2), pb::Priority::High));
        let ids: Vec<_> = talk.rest().await.into_iter().map(|answer| answer.request_id).collect();
        assert_eq!(ids, ["busy#delay-ms=200", "joined", "joins", "high", "normal", "low"]);
    });
}
