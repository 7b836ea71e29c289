//! Jobs in, answers out: exactly one for each, when it is ready, tied by its id.

use std::collections::HashMap;

use taquin::service::pb::{self, cancel::Which};
use tokio_stream::StreamExt;
use tonic::Code;

use crate::boards::{self, Board, SOLVED};
use crate::support::{
    Talk, assert_cancelled, assert_solves, blocker, cancel, error_of, job, request, run, serve_and_connect,
    soon,
};

#[test]
fn as_many_answers_as_jobs() {
    run(async {
        let (_server, mut client) = serve_and_connect(2).await;
        for count in [0, 1, 4, 5, 100, 100_000] {
            // Equal boards come again and again under ids of their own.
            let board = |n: usize| boards::all()[n * 7919 % 5000];
            let jobs = (0..count).map(move |n| request(job(n.to_string(), board(n))));
            let mut answers = client.solve_stream(tokio_stream::iter(jobs)).await.unwrap().into_inner();
            let mut answered = vec![false; count];
            while let Some(answer) = soon(answers.next()).await {
                let answer = answer.unwrap().answer.unwrap();
                let n: usize = answer.request_id.parse().unwrap();
                assert!(!std::mem::replace(&mut answered[n], true), "{n} was answered twice");
                assert_solves(&answer, board(n));
            }
            assert!(answered.iter().all(|&answered| answered), "of {count}, some were not answered");
        }
    });
}

#[test]
fn equal_boards_under_ids_of_their_own_are_each_answered() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let talk = Talk::open(&client).await;
        let board = boards::at(20, 0);
        talk.send(job("first#delay-ms=100", board));
        (0..50).for_each(|n| talk.send(job(n.to_string(), board)));
        let answers = talk.rest().await;
        for answer in &answers {
            assert_solves(answer, board);
        }
        let ids: HashMap<_, _> = answers.iter().map(|answer| (&answer.request_id, answer)).collect();
        assert_eq!((answers.len(), ids.len()), (51, 51));
        let paths: Vec<_> = answers.iter().map(|answer| &answer.outcome).collect();
        assert!(paths.windows(2).all(|pair| pair[0] == pair[1]), "equal boards, equal answers");
    });
}

#[test]
fn an_id_in_flight_is_refused_and_the_first_is_still_answered() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        let (id, board) = ("twin#delay-ms=200", boards::at(12, 0));
        talk.send(job(id, board));
        // Whatever else is wrong with it, too.
        for second in [job(id, boards::at(5, 0)), pb::Job { request_id: id.into(), ..pb::Job::default() }] {
            let refused = talk.ask(second).await;
            assert_eq!(refused.request_id, id);
            let error = error_of(&refused);
            assert_eq!(error.code(), Code::AlreadyExists);
            assert!(error.message().contains(id), "{error:?}");
        }
        assert_solves(&talk.answer().await, board);
        // Once answered, the id is free again.
        assert_solves(&talk.ask(job(id, board)).await, board);
        assert!(talk.rest().await.is_empty());
    });
}

#[test]
fn one_id_in_flight_on_two_streams_is_no_conflict() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let (mut one, mut other) = (Talk::open(&client).await, Talk::open(&client).await);
        let board = boards::at(9, 0);
        one.send(job("same#delay-ms=100", board));
        other.send(job("same#delay-ms=100", board));
        assert_solves(&one.answer().await, board);
        assert_solves(&other.answer().await, board);
    });
}

#[test]
fn jobs_in_flight_at_half_close_are_answered() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let talk = Talk::open(&client).await;
        let board = |n: usize| boards::at(18, n);
        (0..8).for_each(|n| talk.send(job(format!("{n}#delay-ms=50"), board(n))));
        let answers = talk.rest().await;
        assert_eq!(answers.len(), 8);
        for answer in answers {
            let n: usize = answer.request_id.split('#').next().unwrap().parse().unwrap();
            assert_solves(&answer, board(n));
        }
    });
}

#[test]
fn headers_and_answers_come_while_the_stream_is_open() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        // Opening already waits for headers, and nothing was said so far.
        let mut talk = Talk::open(&client).await;
        for n in 0..100 {
            let board = boards::all()[n * 1500];
            let answer = talk.ask(job(n.to_string(), board)).await;
            assert_eq!(answer.request_id, n.to_string());
            assert_solves(&answer, board);
        }
        assert!(talk.rest().await.is_empty());
    });
}

#[test]
fn answers_leave_when_they_are_ready() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let talk = Talk::open(&client).await;
        talk.send(job("slow#delay-ms=1500", boards::at(25, 0)));
        (0..1000).for_each(|n| talk.send(job(n.to_string(), boards::at(8, n % 100))));
        let answers = talk.rest().await;
        assert_eq!(answers.len(), 1001);
        assert_eq!(answers.last().unwrap().request_id, "slow#delay-ms=1500");
    });
}

#[test]
fn a_busy_worker_keeps_no_job_from_an_idle_one() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut talk = Talk::open(&client).await;
        for n in 0..1000 {
            let blocker = blocker(&n.to_string());
            let id = blocker.request_id.clone();
            talk.send(blocker);
            for m in 0..n % 4 {
                let easy = pb::Job { bypass_cache: true, ..job(m.to_string(), boards::at(3, 0)) };
                let easy = talk.ask(easy).await;
                assert_eq!(easy.request_id, m.to_string());
            }
            talk.cancel(&id);
            assert_cancelled(&talk.answer().await, &id);
        }
    });
}

#[test]
fn misuse_ends_the_stream_and_says_why() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let cases = [
            (pb::SolveStreamRequest { kind: None }, "kind"),
            (cancel(Which::All(false)), "cancel.which"),
            (
                pb::SolveStreamRequest {
                    kind: Some(pb::solve_stream_request::Kind::Cancel(pb::Cancel { which: None })),
                },
                "cancel.which",
            ),
        ];
        for (misuse, field) in cases {
            let mut talk = Talk::open(&client).await;
            assert_solves(&talk.ask(job("fine", SOLVED)).await, SOLVED);
            talk.send(blocker("in flight"));
            talk.say(misuse);
            let status = talk.end().await;
            assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
            assert!(status.message().contains(field) && status.message().contains("expected"), "{status:?}");
            assert_eq!(server.engine().in_flight(), 0, "what was in flight is nobody's any more");
        }
    });
}

#[test]
fn grids_of_every_shape_and_unsolvable_ones_are_answered() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let unsolvable: Board = [2, 1, 3, 4, 5, 6, 7, 8, 0];
        let answer = talk.ask(job("parity", unsolvable)).await;
        let Some(pb::answer::Outcome::Unsolvable(known)) = &answer.outcome else { panic!("{answer:?}") };
        assert_eq!((known.reason(), answer.source()), (pb::unsolvable::Reason::Parity, pb::Source::Rule));
        for (rows, columns) in (1..=9).flat_map(|rows| (1..=9 / rows).map(move |columns| (rows, columns))) {
            let cells = rows * columns;
            let mut start: Vec<u32> = (1..cells).chain([0]).collect();
            let last = start.len() - 1;
            let distance = u32::from(cells > 1);
            start.swap(last, last.saturating_sub(if columns > 1 { 1 } else { columns as usize }));
            let sliding = pb::SlidingPuzzle {
                layout: Some(pb::sliding_puzzle::Layout::Grid(pb::Grid { rows, columns })),
                start,
                goal: Vec::new(),
            };
            let problem = Some(pb::job::Problem::Sliding(sliding));
            let answer = talk.ask(pb::Job { problem, ..job("shape", SOLVED) }).await;
            let Some(pb::answer::Outcome::Solution(solution)) = &answer.outcome else { panic!("{answer:?}") };
            assert_eq!(solution.distance, distance, "{rows}x{columns}");
            let letter = if cells == 1 {
                ""
            } else if columns > 1 {
                "R"
            } else {
                "D"
            };
            assert_eq!(solution.moves, letter, "{rows}x{columns}");
        }
    });
}
