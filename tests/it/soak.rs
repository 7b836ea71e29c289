//! A worker at twice its capacity, every wire to it bad and every kind of job sent: each board is
//! answered exactly once, memory stays, and in the end nothing is left of it all.
//!
//! `TAQUIN_SOAK_SECONDS=600 cargo test --release --test it soak -- --nocapture` is the long run.

use std::collections::HashMap;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use taquin::service::pb::{self, answer::Outcome, cancel::Which};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tonic::transport::Endpoint;
use tonic::{Code, Status};

use crate::boards::{self, Board};
use crate::instances::Random;
use crate::process::Worker;
use crate::proxy::Proxy;
use crate::support::{Client, PATIENCE, Talk, assert_solves, budget, cancel, error_of, job, retry_delay};
use crate::wide::wide_job;

/// Two workers that are busy for so long with every board are done with a thousand a second.
const WORKERS: u64 = 2;
const BUSY: Duration = Duration::from_millis(2);
/// How much of that is asked for.
const OVERLOAD: u64 = 2;
const STREAMS: u64 = 8;
/// Boards of a stream that are sent and not answered; the worker reads fewer.
const MAX_OPEN: usize = 256;

/// What a board is sent to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    Plain,
    Wide,
    Unsolvable,
    Malformed,
    Panicking,
    Cancelled,
    /// Sent twice under one id, so that there are two answers.
    Twice,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    kind: Kind,
    board: Board,
    /// Answers that are still to come.
    answers: u8,
}

/// What came of all boards of a stream, and how often it was lost.
#[derive(Debug, Default)]
struct Tally {
    asked: u64,
    answered: HashMap<(Kind, &'static str), u64>,
    lost: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.lost += other.lost;
        for (kind, count) in other.answered {
            *self.answered.entry(kind).or_default() += count;
        }
    }

    fn of(&self, wanted: Kind) -> u64 {
        self.answered.iter().filter(|((kind, _), _)| *kind == wanted).map(|(_, count)| count).sum()
    }

    fn ending(&self, wanted: &str) -> u64 {
        self.answered.iter().filter(|((_, ending), _)| *ending == wanted).map(|(_, count)| count).sum()
    }
}

fn seconds() -> u64 {
    env::var("TAQUIN_SOAK_SECONDS").map_or(10, |seconds| seconds.parse().expect("a number of seconds"))
}

#[test]
fn each_board_is_answered_once_at_twice_the_capacity_over_bad_wires() {
    let long = Duration::from_secs(seconds());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let soaked =
        async { tokio::time::timeout(long + 3 * PATIENCE, soak(long)).await.expect("the soak hangs") };
    runtime.block_on(soaked);
}

async fn soak(long: Duration) {
    let workers = WORKERS.to_string();
    let mut worker =
        Worker::spawn(&["--workers", &workers, "--max-queue", "64", "--stall-timeout-ms", "2000"]);
    // What is made once is there before memory is looked at.
    let warm = run(&worker, Duration::from_secs(2)).await;
    assert!(warm.asked > 0);
    let before = worker.resident_bytes();
    let begun = Instant::now();
    let tally = run(&worker, long).await;
    let after = worker.resident_bytes();
    println!(
        "soak of {long:?}: {tally:?}, resident {} KiB before and {} KiB after",
        before >> 10,
        after >> 10
    );
    assert!(begun.elapsed() < long + 2 * PATIENCE);
    assert!(after <= before + before / 10 + (8 << 20), "{before} to {after} bytes resident");
    assert!(tally.lost > 0 && tally.ending("shed") > 0, "no fault at all: {tally:?}");
    for kind in [Kind::Plain, Kind::Wide, Kind::Unsolvable, Kind::Malformed, Kind::Panicking, Kind::Cancelled]
    {
        assert!(tally.of(kind) > 0, "{kind:?}: {tally:?}");
    }
    let busy = worker.busy_within(Duration::from_secs(1)).await;
    assert!(busy < Duration::from_millis(200), "{busy:?} a second on what nobody waits for");
    worker.signal(Signal::TERM);
    assert_eq!(worker.exit_code(PATIENCE).await, 0);
}

/// All streams at once, for so long, and until all that was sent is answered.
async fn run(worker: &Worker, long: Duration) -> Tally {
    let over = Arc::new(AtomicBool::new(false));
    let mut streams = JoinSet::new();
    // Outside of this runtime's threads: a proxy has a runtime of its own.
    let proxies: Vec<Arc<Proxy>> =
        tokio::task::block_in_place(|| (0..STREAMS).map(|_| Arc::new(Proxy::to(worker.address))).collect());
    for (number, proxy) in (0..).zip(&proxies) {
        streams.spawn(stream(Arc::clone(proxy), number, Arc::clone(&over)));
        let (proxy, over) = (Arc::clone(proxy), Arc::clone(&over));
        tokio::spawn(async move { disturb(&proxy, number, &over).await });
    }
    sleep(long).await;
    over.store(true, SeqCst);
    let mut tally = Tally::default();
    while let Some(stream) = streams.join_next().await {
        tally.add(stream.unwrap());
    }
    tokio::task::block_in_place(|| drop(proxies));
    tally
}

/// Faults of a wire, until it is over.
async fn disturb(proxy: &Proxy, number: u64, over: &AtomicBool) {
    let mut random = Random::new(1000 + number);
    while !over.load(SeqCst) {
        sleep(Duration::from_millis(100 + random.below(400) as u64)).await;
        match random.below(6) {
            0 => proxy.cut(),
            1 | 2 => {
                proxy.freeze();
                sleep(Duration::from_millis(50 + random.below(300) as u64)).await;
                proxy.thaw();
            }
            3 | 4 => proxy.delay(Duration::from_millis(random.below(30) as u64)),
            _ => proxy.delay(Duration::ZERO),
        }
    }
    proxy.delay(Duration::ZERO);
}

/// Sends boards at its share of the rate over one stream after another, and answers for every one.
async fn stream(proxy: Arc<Proxy>, number: u64, over: Arc<AtomicBool>) -> Tally {
    let rate = OVERLOAD * WORKERS * 1000 / u64::try_from(BUSY.as_millis()).unwrap() / STREAMS;
    let mut due = interval(Duration::from_micros(1_000_000 / rate));
    due.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut random, mut tally) = (Random::new(number + 1), Tally::default());
    let mut open: HashMap<String, Asked> = HashMap::new();
    while !(over.load(SeqCst) && open.is_empty()) {
        let Some(mut talk) = connect(&proxy).await else {
            sleep(Duration::from_millis(20)).await;
            continue;
        };
        // What was lost with the last stream is asked again, under the same ids.
        for (id, asked) in &mut open {
            send(&talk, id, asked);
        }
        loop {
            tokio::select! {
                _ = due.tick(), if !over.load(SeqCst) && open.len() < MAX_OPEN => {
                    tally.asked += 1;
                    let mut asked = any(&mut random);
                    let id = format!("{number}-{}", tally.asked);
                    let id = format!("{id}#delay-ms={}{}", BUSY.as_millis(), if asked.kind == Kind::Panicking { "#panic" } else { "" });
                    send(&talk, &id, &mut asked);
                    open.insert(id, asked);
                }
                answer = talk.answers.message() => match answer {
                    Ok(Some(message)) => count(&message.answer.unwrap(), &mut open, &mut tally),
                    Ok(None) => panic!("the worker ended a stream of its own accord"),
                    Err(status) => {
                        assert_lost(&status);
                        tally.lost += 1;
                        break;
                    }
                },
                () = sleep(Duration::from_millis(100)), if over.load(SeqCst) => {}
            }
            if over.load(SeqCst) && open.is_empty() {
                assert!(talk.rest().await.is_empty(), "answers to nothing");
                return tally;
            }
        }
    }
    tally
}

async fn connect(proxy: &Proxy) -> Option<Talk> {
    let endpoint = Endpoint::from_shared(format!("http://{}", proxy.address)).unwrap();
    let connecting = async { Talk::try_open(&Client::new(endpoint.connect().await.ok()?)).await.ok() };
    tokio::time::timeout(Duration::from_secs(5), connecting).await.ok()?
}

fn any(random: &mut Random) -> Asked {
    let kind = match random.below(20) {
        0 => Kind::Wide,
        1 => Kind::Unsolvable,
        2 => Kind::Malformed,
        3 => Kind::Panicking,
        4 | 5 => Kind::Cancelled,
        6 => Kind::Twice,
        _ => Kind::Plain,
    };
    let mut board = boards::all()[random.below(boards::all().len())];
    match kind {
        Kind::Unsolvable => {
            // Two tiles changed places.
            let tiles: Vec<usize> = (0..9).filter(|&cell| board[cell] != 0).take(2).collect();
            board.swap(tiles[0], tiles[1]);
        }
        Kind::Malformed => board[random.below(9)] = 9,
        _ => {}
    }
    Asked { kind, board, answers: 0 }
}

fn send(talk: &Talk, id: &str, asked: &mut Asked) {
    asked.answers = if asked.kind == Kind::Twice { 2 } else { 1 };
    for _ in 0..asked.answers {
        let job = match asked.kind {
            // Solved or not, by the limit of its states.
            Kind::Wide => {
                let job = wide_job(id, 2, 5, &[7, 0, 3, 8, 5, 6, 1, 2, 9, 4]);
                budget(job, pb::Budget { max_nodes: 1000, max_time_ms: 60_000, max_moves: None })
            }
            // Not by the default time: the wire may be frozen, the queue full of others.
            _ => budget(job(id, asked.board), pb::Budget { max_time_ms: 60_000, ..pb::Budget::default() }),
        };
        talk.send(pb::Job { bypass_cache: true, ..job });
    }
    if asked.kind == Kind::Cancelled {
        talk.say(cancel(Which::RequestId(id.to_owned())));
    }
}

/// Takes an answer for one board of those that are open, and for what it must be.
fn count(answer: &pb::Answer, open: &mut HashMap<String, Asked>, tally: &mut Tally) {
    let id = &answer.request_id;
    let asked =
        open.get_mut(id).unwrap_or_else(|| panic!("an answer to nothing, or a second one: {answer:?}"));
    asked.answers -= 1;
    let asked = *asked;
    if asked.answers == 0 {
        open.remove(id);
    }
    let ending = match answer.outcome.as_ref().unwrap() {
        Outcome::Error(_) => {
            let status = error_of(answer);
            match (status.code(), asked.kind) {
                (Code::ResourceExhausted, _) => {
                    assert!(retry_delay(&status).is_some(), "{status:?}");
                    "shed"
                }
                (Code::Internal, Kind::Panicking) => "panicked",
                (Code::InvalidArgument, Kind::Malformed) => "malformed",
                (Code::AlreadyExists, Kind::Twice) => "twice",
                _ => panic!("{asked:?}: {status:?}"),
            }
        }
        Outcome::Solution(_) if asked.kind == Kind::Wide => "solved",
        Outcome::Solution(_) if matches!(asked.kind, Kind::Plain | Kind::Cancelled | Kind::Twice) => {
            assert_solves(answer, asked.board);
            "solved"
        }
        Outcome::Unsolvable(_) if asked.kind == Kind::Unsolvable => "unsolvable",
        Outcome::LimitReached(_) if asked.kind == Kind::Wide => "limit",
        Outcome::Cancelled(_) if asked.kind == Kind::Cancelled => "cancelled",
        other => panic!("{asked:?}: {other:?}"),
    };
    *tally.answered.entry((asked.kind, ending)).or_default() += 1;
}

/// A wire that was cut, or a reader that the wire made stall: nothing else ends a stream.
fn assert_lost(status: &Status) {
    let known = matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal)
        || status.message().contains("left unread");
    assert!(known, "{status:?}");
}
