//! The call against a server that behaves, and against servers that don't: every board has one reply, in order, and
//! nothing ever hangs.

use std::sync::Arc;

use super::super::answer::{FailureKind, Outcome};
use super::super::connect;
use super::super::gather::one;
use super::super::test_server::{Manner, TestServer};
use super::*;
use crate::service::Dial;

/// No test may take longer.
const LIMIT: Duration = Duration::from_secs(30);

type Ended = Result<(), StreamError>;

fn plan(in_flight: usize) -> Plan {
    let timeout = Duration::from_secs(10);
    Plan { job: pb::Job::default(), in_flight, timeout }
}

fn item(index: u64, text: &str) -> Item {
    Item { index, place: Place::Line(index), offset: 0, board: one(text, None), goal: None }
}

/// A walk of the blank from the solved board: board `n` is at most `n` moves away.
fn walk(count: u64) -> Vec<Item> {
    let mut board = one("123456780", None).unwrap();
    let mut random = 7_u64;
    let mut items = Vec::new();
    for index in 1..=count {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let letter = ['U', 'D', 'L', 'R'][usize::try_from(random >> 62).unwrap()];
        super::super::replay::slide(&mut board, super::super::replay::Move::from_letter(letter).unwrap());
        items.push(Item {
            index,
            place: Place::Line(index),
            offset: 0,
            board: Ok(board.clone()),
            goal: None,
        });
    }
    items
}

fn feed(items: Vec<Item>) -> Items {
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        for item in items {
            if sender.send(Ok(item)).await.is_err() {
                return;
            }
        }
    });
    receiver
}

async fn client(server: &TestServer) -> Client {
    let target = connect::endpoint(&server.address.to_string(), &Dial::default()).unwrap();
    connect::connect(&target).await.unwrap()
}

/// Solves the items and returns all replies with how the call ended.
async fn solve(manner: Manner, plan: Plan, items: Vec<Item>) -> (Vec<Reply>, Ended) {
    let server = TestServer::start(manner);
    let client = client(&server).await;
    let (output, mut replies) = mpsc::channel(4);
    let call = tokio::spawn(exchange(client, plan, feed(items), output));
    let all = async {
        let mut all = Vec::new();
        while let Some(reply) = replies.recv().await {
            all.push(reply);
        }
        (all, call.await.unwrap())
    };
    timeout(LIMIT, all).await.expect("the call hangs")
}

fn indexes(replies: &[Reply]) -> Vec<u64> {
    replies.iter().map(|reply| reply.item.index).collect()
}

fn is_lost(reply: &Reply) -> bool {
    matches!(&reply.outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Lost)
}

fn broken(ended: Ended) -> (Cause, Vec<Place>) {
    match ended.unwrap_err() {
        StreamError::Broken { cause, unanswered, .. } => (cause, unanswered),
        StreamError::Input(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn many_boards_come_back_in_order() {
    for (batch, in_flight) in [(1, 1), (1, 64), (16, 64), (64, 16), (64, 256)] {
        let (replies, ended) = solve(Manner::Backwards(batch), plan(in_flight), walk(500)).await;
        assert!(ended.is_ok(), "{ended:?}");
        assert_eq!(indexes(&replies), (1..=500).collect::<Vec<_>>());
        let solved = |reply: &Reply| matches!(reply.outcome, Outcome::Solved(_));
        assert!(replies.iter().all(solved));
    }
}

#[tokio::test]
async fn a_bad_board_is_answered_in_its_place() {
    let texts = ["123456780", "1 2/3 0", "13824765", "123456870", "113456780", "123456708"];
    let items = (1..).zip(texts).map(|(index, text)| item(index, text)).collect();
    let (replies, ended) = solve(Manner::Backwards(4), plan(16), items).await;
    assert!(ended.is_ok());
    let told: Vec<_> = replies
        .iter()
        .map(|reply| match &reply.outcome {
            Outcome::Solved(steps) => steps.len().to_string(),
            Outcome::Unsolvable(_) => "unsolvable".into(),
            Outcome::Failed(failure) => failure.code(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(told, ["0", "INVALID_ARGUMENT", "MALFORMED_TEXT", "unsolvable", "INVALID_ARGUMENT", "1"]);
}

#[tokio::test]
async fn a_server_that_waits_for_the_first_board_is_served() {
    let (replies, ended) = solve(Manner::Shy, plan(4), walk(10)).await;
    assert!(ended.is_ok() && replies.len() == 10);
}

#[tokio::test]
async fn nothing_to_solve_is_no_error() {
    let (replies, ended) = solve(Manner::Backwards(1), plan(4), vec![]).await;
    assert!(ended.is_ok() && replies.is_empty());
}

#[tokio::test]
async fn an_early_end_is_an_error() {
    let (replies, ended) = solve(Manner::Ends(7), plan(4), walk(20)).await;
    let (cause, unanswered) = broken(ended);
    assert!(matches!(cause, Cause::EndedEarly), "{cause}");
    assert_eq!(indexes(&replies), (1..=replies.len() as u64).collect::<Vec<_>>());
    assert_eq!(replies.iter().filter(|&reply| is_lost(reply)).count(), unanswered.len());
    assert_eq!(unanswered[0], Place::Line(8));
}

#[tokio::test]
async fn a_status_is_told() {
    let (replies, ended) = solve(Manner::Fails(2), plan(4), walk(20)).await;
    let said = ended.unwrap_err().to_string();
    assert!(said.starts_with("the call failed: UNAVAILABLE: going away; no answer for line"), "{said}");
    assert!(said.contains("; nothing after line "), "{said}");
    assert!(!is_lost(&replies[1]) && is_lost(&replies[2]));
}

#[tokio::test]
async fn what_an_old_call_leaves_is_asked_over_another_once() {
    let (replies, ended) = solve(Manner::Ages(7), plan(4), walk(100)).await;
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(indexes(&replies), (1..=100).collect::<Vec<_>>());
    assert!(replies.iter().all(|reply| matches!(reply.outcome, Outcome::Solved(_))));
    // A server that never answers is not asked for ever.
    let (replies, ended) = solve(Manner::Ages(0), plan(4), walk(10)).await;
    let (cause, unanswered) = broken(ended);
    assert!(matches!(cause, Cause::Status(_)), "{cause}");
    assert_eq!((replies.len(), unanswered.len()), (4, 4));
}

#[tokio::test]
async fn a_server_that_dies_is_a_broken_call() {
    let server = TestServer::start(Manner::Falls(5));
    let client = client(&server).await;
    let (output, mut replies) = mpsc::channel(4);
    let call = tokio::spawn(exchange(client, plan(8), feed(walk(100)), output));
    for _ in 0..5 {
        assert!(!is_lost(&replies.recv().await.unwrap()));
    }
    drop(server);
    let rest = async {
        let mut rest = Vec::new();
        while let Some(reply) = replies.recv().await {
            rest.push(reply);
        }
        (rest, call.await.unwrap())
    };
    let (rest, ended) = timeout(LIMIT, rest).await.expect("the call hangs");
    let (cause, unanswered) = broken(ended);
    assert!(matches!(cause, Cause::Status(_) | Cause::EndedEarly), "{cause}");
    assert_eq!(unanswered.len(), rest.len());
    assert_eq!((indexes(&rest)[0], rest.iter().all(is_lost)), (6, true));
}

#[tokio::test]
async fn silence_has_an_end() {
    let patience = Duration::from_millis(200);
    let (replies, ended) = solve(Manner::Falls(3), Plan { timeout: patience, ..plan(4) }, walk(10)).await;
    let (cause, unanswered) = broken(ended);
    assert!(matches!(cause, Cause::Timeout(_)));
    assert_eq!(unanswered, (4..8).map(Place::Line).collect::<Vec<_>>());
    assert_eq!(replies.len(), 7);
}

#[tokio::test]
async fn a_second_answer_is_caught() {
    let (_, ended) = solve(Manner::Stutters, plan(1), walk(5)).await;
    assert!(matches!(broken(ended).0, Cause::Unasked(_)));
    let (replies, ended) = solve(Manner::Stutters, plan(1), walk(1)).await;
    assert!(matches!(broken(ended).0, Cause::Unasked(id) if id == "1"));
    assert_eq!(replies.len(), 1);
}

#[tokio::test]
async fn a_lie_is_caught() {
    let items = vec![item(1, "123456780"), item(2, "1 2 3/4 0 5/7 8 6")];
    let (replies, ended) = solve(Manner::Lies, plan(4), items).await;
    assert!(ended.is_ok());
    let wrong = |reply: &Reply| matches!(&reply.outcome, Outcome::Failed(f) if f.kind == FailureKind::Wrong);
    assert!(wrong(&replies[1]));
}

#[tokio::test]
async fn a_slow_printer_bounds_what_is_read_and_answers_are_still_taken() {
    let server = TestServer::start(Manner::Backwards(1));
    let client = client(&server).await;
    let (output, mut replies) = mpsc::channel(1);
    let (sender, items) = mpsc::channel(1);
    let call = tokio::spawn(exchange(client, plan(8), items, output));
    let mut walk = walk(1000).into_iter();
    let mut read = 0;
    while let Ok(Ok(())) = timeout(Duration::from_millis(300), sender.send(Ok(walk.next().unwrap()))).await {
        read += 1;
    }
    // Eight in the window, one handed to the printer, one in the channel of items.
    assert_eq!(read, 10);
    drop(sender);
    let mut printed = 0;
    while replies.recv().await.is_some() {
        printed += 1;
    }
    assert_eq!(printed, 10);
    assert!(call.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_reader_that_has_enough_ends_the_call() {
    let server = TestServer::start(Manner::Backwards(1));
    let (output, mut replies) = mpsc::channel(1);
    let (sender, items) = mpsc::channel(1);
    let call = tokio::spawn(exchange(client(&server).await, plan(8), items, output));
    sender.send(Ok(item(1, "123456780"))).await.unwrap();
    replies.recv().await.unwrap();
    drop(replies);
    // The input is still open, as a terminal is.
    assert!(timeout(LIMIT, call).await.expect("the call hangs").unwrap().is_ok());
    assert!(sender.is_closed());
}

#[tokio::test]
async fn an_input_that_breaks_is_told_after_its_answers() {
    let server = TestServer::start(Manner::Backwards(1));
    let (output, mut replies) = mpsc::channel(8);
    let (sender, items) = mpsc::channel(8);
    sender.send(Ok(item(1, "123456708"))).await.unwrap();
    sender.send(Err(io::ErrorKind::UnexpectedEof.into())).await.unwrap();
    let ended = exchange(client(&server).await, plan(8), items, output).await;
    assert!(matches!(ended, Err(StreamError::Input(_))));
    assert!(matches!(&replies.recv().await.unwrap().outcome, Outcome::Solved(steps) if steps.len() == 1));
}

#[test]
fn a_graph_is_sent_with_as_many_vertices_as_tiles() {
    let layout = Layout::Graph(Arc::new("1-2,2-3".parse().unwrap()));
    let read = |text| one(text, Some(&layout)).unwrap();
    let goal = Some(Arc::new(read("1 2 3 0")));
    let item = Item { goal, board: Ok(read("1 0 2 3")), ..item(1, "123456780") };
    let edges = vec![pb::Edge { a: 1, b: 2 }, pb::Edge { a: 2, b: 3 }];
    let layout = Some(pb::sliding_puzzle::Layout::Graph(pb::Graph { vertices: 4, edges }));
    let expected = pb::SlidingPuzzle { layout, start: vec![1, 0, 2, 3], goal: vec![1, 2, 3, 0] };
    assert_eq!(sliding(&item), Ok(expected));
}

#[test]
fn unanswered_boards_are_told_in_ranges() {
    let lines = [3, 5, 6, 7, 9].map(Place::Line);
    assert_eq!(missing(&lines), "; no answer for lines 3, 5-7, 9 (5 boards)");
    assert_eq!(missing(&[Place::Argument(2)]), "; no answer for argument 2");
    assert_eq!(missing(&[]), "");
}
