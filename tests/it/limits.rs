//! Each limit of a server: at it all is well, one past it is refused as documented.

use prost::Message;
use taquin::config::LimitsConfig;
use taquin::service::pb;
use tonic::Code;

use crate::boards::{self, SOLVED};
use crate::support::{
    AT_ONCE, Talk, assert_shed, assert_solves, connect, endpoint, error_of, job, request, run, serve, soon,
    wait_until,
};

#[test]
fn the_server_says_what_its_limits_are() {
    run(async {
        let limits = LimitsConfig {
            max_message_bytes: 1001,
            max_in_flight_per_stream: 1002,
            max_in_flight: 1003,
            max_queue: 1004,
            max_connections: 1005,
            max_streams_per_connection: 1006,
            max_streams: 1007,
            max_cache_bytes: 1008,
            default_time_ms: 1009,
            max_time_ms: 1010,
            default_nodes: 1011,
            max_nodes: 1012,
            stall_timeout_ms: 1013,
            drain_timeout_ms: 1014,
            max_table_bytes: 1015,
            max_packed_boards: 1016,
            max_in_flight_per_connection: 1017,
            max_stream_age_ms: 1018,
        };
        let server = serve(limits, 3).await;
        let info =
            connect(&server).await.get_server_info(pb::GetServerInfoRequest {}).await.unwrap().into_inner();
        let expected = pb::Limits {
            max_message_bytes: 1001,
            max_request_id_bytes: 128,
            max_cells: 16,
            max_in_flight_per_stream: 1002,
            max_in_flight: 1003,
            max_queue: 1004,
            max_connections: 1005,
            max_streams_per_connection: 1006,
            max_streams: 1007,
            max_cache_bytes: 1008,
            default_time_ms: 1009,
            max_time_ms: 1010,
            default_nodes: 1011,
            max_nodes: 1012,
            stall_timeout_ms: 1013,
            drain_timeout_ms: 1014,
            max_table_bytes: 1015,
            max_packed_boards: 1016,
            max_packed_waiting: 16,
            max_unread_bytes: 65_535,
            greeting_timeout_ms: 5000,
            max_packed_cells: 9,
            max_graph_vertices: 16,
            max_pattern_bytes: 64 << 20,
            max_kept_states: (7 << 18) - 2,
            max_metrics_connections: 32,
            max_metrics_header_bytes: 8192,
            metrics_timeout_ms: 5000,
            max_in_flight_per_connection: 1017,
            max_stream_age_ms: 1018,
            max_call_ms: 1010 + 1013,
        };
        assert_eq!(info.limits, Some(expected));
        assert_eq!((info.version.as_str(), info.workers), (env!("CARGO_PKG_VERSION"), 3));
    });
}

#[test]
fn a_message_may_have_so_many_bytes() {
    run(async {
        const MAX: usize = 1000;
        let limits = LimitsConfig { max_message_bytes: 1000, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let client = connect(&server).await;
        // Too long to be an id, but not to be read; its length is the message's.
        let of_bytes = |bytes: usize, empty: usize| job("x".repeat(bytes - empty), SOLVED);
        let padding = request(job("x".repeat(800), SOLVED)).encoded_len() - 800;
        let (fits, exceeds) = (of_bytes(MAX, padding), of_bytes(MAX + 1, padding));
        assert_eq!(
            (request(fits.clone()).encoded_len(), request(exceeds.clone()).encoded_len()),
            (MAX, MAX + 1)
        );
        let mut talk = Talk::open(&client).await;
        assert_eq!(error_of(&talk.ask(fits).await).code(), Code::InvalidArgument);
        talk.send(exceeds);
        let status = talk.end().await;
        assert_eq!(status.code(), Code::OutOfRange, "{status:?}");
        assert!(status.message().contains("1001") && status.message().contains("1000"), "{status:?}");

        let padding = pb::SolveRequest { job: Some(job("x".repeat(800), SOLVED)) }.encoded_len() - 800;
        for (bytes, code) in [(MAX, Code::InvalidArgument), (MAX + 1, Code::OutOfRange)] {
            let call = pb::SolveRequest { job: Some(of_bytes(bytes, padding)) };
            assert_eq!(call.encoded_len(), bytes);
            assert_eq!(client.clone().solve(call).await.unwrap_err().code(), code);
        }
    });
}

#[test]
fn an_id_may_have_128_bytes_and_a_board_sixteen_cells() {
    run(async {
        let server = serve(LimitsConfig::default(), 1).await;
        let mut talk = Talk::open(&connect(&server).await).await;
        for id in [String::new(), "x".repeat(128)] {
            let answer = talk.ask(job(id.clone(), boards::at(9, 0))).await;
            assert_eq!(answer.request_id, id);
            assert_solves(&answer, boards::at(9, 0));
        }
        let answer = talk.ask(job("x".repeat(129), boards::at(9, 0))).await;
        assert_eq!(error_of(&answer).code(), Code::InvalidArgument);
        // Seventeen cells are refused among the malformed.
    });
}

#[test]
fn a_budget_may_be_the_maximum() {
    run(async {
        let limits = LimitsConfig { max_time_ms: 5000, max_nodes: 300_000, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let mut talk = Talk::open(&connect(&server).await).await;
        let board = boards::at(25, 0);
        for (max_time_ms, max_nodes, fits) in
            [(5000, 300_000, true), (5001, 300_000, false), (5000, 300_001, false)]
        {
            let budget = pb::Budget { max_time_ms, max_nodes, max_moves: None };
            let answer = talk.ask(crate::support::budget(job("most", board), budget)).await;
            if fits {
                assert_solves(&answer, board);
            } else {
                assert_eq!(error_of(&answer).code(), Code::InvalidArgument);
            }
        }
    });
}

#[test]
fn one_connection_too_many_waits_until_another_leaves() {
    run(async {
        let server = serve(LimitsConfig { max_connections: 2, ..LimitsConfig::default() }, 1).await;
        let mut open = Vec::new();
        for _ in 0..2 {
            let client = connect(&server).await;
            let talk = Talk::open(&client).await;
            open.push((client, talk));
        }
        let mut third = connect(&server).await;
        let call = tokio::spawn(async move { third.get_server_info(pb::GetServerInfoRequest {}).await });
        // The others are served meanwhile, however often they ask.
        for n in 0..100 {
            let (_, talk) = &mut open[n % 2];
            assert_solves(&talk.ask(job(n.to_string(), SOLVED)).await, SOLVED);
        }
        assert!(!call.is_finished(), "a connection past the limit was served");
        drop(open.pop());
        soon(call).await.unwrap().unwrap();
    });
}

#[test]
fn one_call_too_many_on_a_connection_waits_in_the_client() {
    run(async {
        let limits = LimitsConfig { max_streams_per_connection: 2, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let client = connect(&server).await;
        // A client learns the limit with the first answer.
        client.clone().get_server_info(pb::GetServerInfoRequest {}).await.unwrap();
        let (mut first, second) = (Talk::open(&client).await, Talk::open(&client).await);
        let mut third = client.clone();
        let call = tokio::spawn(async move { third.get_server_info(pb::GetServerInfoRequest {}).await });
        for n in 0..100 {
            assert_solves(&first.ask(job(n.to_string(), SOLVED)).await, SOLVED);
        }
        assert!(!call.is_finished(), "a call past the limit was served");
        drop(second);
        soon(call).await.unwrap().unwrap();
    });
}

#[test]
fn one_call_too_many_in_all_is_shed() {
    run(async {
        let server = serve(LimitsConfig { max_streams: 2, ..LimitsConfig::default() }, 1).await;
        let (one, mut other) = (connect(&server).await, connect(&server).await);
        let (first, mut second) = (Talk::open(&one).await, Talk::open(&other).await);
        let Err(status) = Talk::try_open(&one).await else { panic!("a third stream was opened") };
        assert_shed(&status);
        let unary = pb::SolveRequest { job: Some(job("third", SOLVED)) };
        assert_shed(&other.solve(unary.clone()).await.unwrap_err());
        // Who is in stays in, and who leaves makes room.
        assert_solves(&second.ask(job("fine", SOLVED)).await, SOLVED);
        assert!(first.rest().await.is_empty());
        let start = std::time::Instant::now();
        while let Err(status) = other.solve(unary.clone()).await {
            assert_shed(&status);
            assert!(start.elapsed() < AT_ONCE, "no room after one left");
        }
    });
}

#[test]
fn the_cache_keeps_to_its_weight() {
    run(async {
        for max_cache_bytes in [0, 10_000] {
            let server = serve(LimitsConfig { max_cache_bytes, ..LimitsConfig::default() }, 2).await;
            let mut talk = Talk::open(&connect(&server).await).await;
            for n in 0..200 {
                assert_solves(&talk.ask(job(n.to_string(), boards::at(18, n))).await, boards::at(18, n));
            }
            let cache = server.engine().cache_statistics();
            assert!(cache.weight <= max_cache_bytes, "{cache:?}");
            assert_eq!(cache.entries > 0, max_cache_bytes > 0, "{cache:?}");
            assert_eq!(cache.evictions > 0, max_cache_bytes > 0, "{cache:?}");
            let client = connect(&server).await.get_server_info(pb::GetServerInfoRequest {}).await;
            let told = client.unwrap().into_inner().cache.unwrap();
            assert_eq!((told.entries, told.weight_bytes), (cache.entries, cache.weight));
            assert_eq!((told.hits, told.misses, told.evictions), (cache.hits, cache.misses, cache.evictions));
        }
    });
}

#[test]
fn a_peer_that_says_nothing_does_not_keep_its_place_for_ever() {
    run(async {
        let server = serve(LimitsConfig { max_connections: 1, ..LimitsConfig::default() }, 1).await;
        let _silent = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        let channel = endpoint(&server).connect_lazy();
        let mut client = crate::support::Client::new(channel);
        soon(client.get_server_info(pb::GetServerInfoRequest {})).await.unwrap();
        wait_until("nothing is left", AT_ONCE, || server.engine().in_flight() == 0).await;
    });
}
