//! Workers that panic: their own job is told so, and nothing else is lost.

use taquin::service::pb::{self, answer::Outcome};
use tonic::Code;

use crate::boards;
use crate::support::{Talk, assert_solves, error_of, job, run, serve_and_connect};

#[test]
fn a_panic_costs_its_job_alone_and_the_pool_lives_on() {
    run(async {
        let (server, client) = serve_and_connect(2).await;
        let talk = Talk::open(&client).await;
        let board = |n: usize| boards::at(14, n);
        for n in 0..50 {
            talk.send(job(format!("{n}#panic"), board(n)));
            talk.send(pb::Job { bypass_cache: true, ..job(n.to_string(), board(n)) });
        }
        let answers = talk.rest().await;
        assert_eq!(answers.len(), 100);
        for answer in answers {
            match answer.request_id.split_once('#') {
                Some(_) => {
                    let error = error_of(&answer);
                    assert_eq!(error.code(), Code::Internal, "{error:?}");
                    assert!(!error.message().is_empty());
                }
                None => assert_solves(&answer, board(answer.request_id.parse().unwrap())),
            }
        }
        assert_eq!((server.engine().is_whole(), server.engine().in_flight()), (true, 0));
    });
}

#[test]
fn each_who_waits_for_a_search_that_panics_is_told() {
    run(async {
        let (server, client) = serve_and_connect(2).await;
        let (one, mut other) = (Talk::open(&client).await, Talk::open(&client).await);
        let board = boards::at(16, 0);
        one.send(job("first#delay-ms=300#panic", board));
        (0..10).for_each(|n| one.send(job(n.to_string(), board)));
        crate::support::wait_until("ten joined", crate::support::AT_ONCE, || {
            server.engine().coalesced() == 10
        })
        .await;
        let on_another_stream = other.ask(job("far", board)).await;
        let mut answers = one.rest().await;
        answers.push(on_another_stream);
        assert_eq!(answers.len(), 12);
        for answer in &answers {
            assert_eq!(error_of(answer).code(), Code::Internal);
        }
        // What failed is not remembered.
        assert_solves(&other.ask(job("again", board)).await, board);
        assert!(server.engine().is_whole());
    });
}

#[test]
fn a_panic_with_other_jobs_in_flight_leaves_them_their_answers() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let talk = Talk::open(&client).await;
        talk.send(job("slow#delay-ms=200", boards::at(11, 0)));
        talk.send(job("bad#panic", boards::at(11, 1)));
        let answers = talk.rest().await;
        assert!(matches!(answers[0].outcome, Some(Outcome::Error(_))), "{answers:?}");
        assert_solves(&answers[1], boards::at(11, 0));
    });
}
