//! Streams that become old: ended when all is answered, at times of their own, and gone on with by the client.

use std::time::{Duration, Instant};

use taquin::config::LimitsConfig;
use taquin::service::Embedded;
use tonic::Code;

use crate::boards;
use crate::cli::client;
use crate::raw;
use crate::support::{Talk, assert_solves, connect, job, retry_delay, run, serve, soon};

async fn serve_for(max_stream_age_ms: u32) -> Embedded {
    let limits = LimitsConfig {
        max_stream_age_ms,
        max_time_ms: 2000,
        stall_timeout_ms: 500,
        ..LimitsConfig::default()
    };
    serve(limits, 2).await
}

#[test]
fn an_old_stream_is_ended_when_all_in_flight_is_answered() {
    run(async {
        let server = serve_for(300).await;
        let mut talk = Talk::open(&connect(&server).await).await;
        let board = boards::at(20, 0);
        let begun = Instant::now();
        talk.send(job("slow#delay-ms=1000", board));
        assert_solves(&talk.answer().await, board);
        assert!(begun.elapsed() > Duration::from_millis(900));
        let status = talk.end().await;
        assert_eq!(status.code(), Code::Unavailable, "{status:?}");
        assert!(
            retry_delay(&status).is_some() && status.message().contains("max_stream_age_ms"),
            "{status:?}"
        );
        // A stream that its client has ended is answered to its end, and one of no age has none.
        let talk = Talk::open(&connect(&server).await).await;
        talk.send(job("slow#delay-ms=800", board));
        assert_eq!(talk.rest().await.len(), 1);
        let ageless = serve_for(0).await;
        let mut talk = Talk::open(&connect(&ageless).await).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_solves(&talk.ask(job("still there", board)).await, board);
    });
}

#[test]
fn streams_that_began_together_are_not_ended_together() {
    const AGE: Duration = Duration::from_secs(2);
    run(async {
        let server = serve_for(2000).await;
        let client = connect(&server).await;
        let mut ends = Vec::new();
        for _ in 0..32 {
            let mut talk = Talk::open(&client).await;
            ends.push(tokio::spawn(async move {
                let begun = Instant::now();
                assert_eq!(talk.end().await.code(), Code::Unavailable);
                begun.elapsed()
            }));
        }
        let mut ages = Vec::new();
        for end in ends {
            ages.push(soon(end).await.unwrap());
        }
        ages.sort_unstable();
        let (first, last) = (ages[0], ages[31]);
        assert!(first >= AGE.mul_f64(0.89) && last < AGE.mul_f64(1.1) + Duration::from_secs(1), "{ages:?}");
        // All within a quarter of the spread that is meant: less likely than one in 10¹⁵.
        assert!(last > first + AGE.mul_f64(0.05), "{ages:?}");
    });
}

#[test]
fn half_a_message_holds_no_call_for_ever() {
    run(async {
        let server = serve_for(500).await;
        let half = || vec![raw::framed(&[10; 100])[..50].to_vec()];
        for method in ["SolveStream", "SolvePacked"] {
            let (status, bytes) =
                raw::call(server.address(), method, None, half(), raw::Then::StaySilent).await;
            assert_eq!((status.code(), bytes), (Code::Unavailable, 0), "{method}: {status:?}");
        }
        // The most that a job may take, and a peer may stand still.
        let begun = Instant::now();
        let (status, _) = raw::call(server.address(), "Solve", None, half(), raw::Then::StaySilent).await;
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
        assert!(begun.elapsed() >= Duration::from_millis(2400), "{:?}", begun.elapsed());
    });
}

#[test]
fn solve_goes_on_over_another_stream_and_answers_each_board_once() {
    const BOARDS: usize = 300;
    run(async {
        let server = serve_for(200).await;
        // Each takes a while, so that all of them take several ages.
        let lines: Vec<String> =
            (0..BOARDS).map(|n| boards::at(24, n).map(|tile| tile.to_string()).concat()).collect();
        let endpoint = server.address().to_string();
        let options = ["solve", "-", "-e", &endpoint, "-o", "distance", "--bypass", "cache,table"];
        let ran = tokio::task::block_in_place(|| {
            client(
                &[&options[..], &["--algorithm", "astar-misplaced", "--in-flight", "8"]].concat(),
                &lines.join("\n"),
            )
        });
        assert_eq!((ran.code, ran.stdout.lines().count()), (0, BOARDS), "{}", ran.stderr);
        assert!(ran.stdout.lines().all(|line| line == "24"));
    });
}
