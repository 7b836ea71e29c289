//! Boards one a call: as many calls open at once as may be in flight, each settled when it ends.
//!
//! It must never know: what a board is, how it is judged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tonic::{Code, Status};

use super::call::{Call, Inbox, Piece, garbled, told};
use super::check::{Verdict, refused};
use super::drive::{MAX_FRUITLESS, retry_after, told_id};
use super::link::{Connected, Link};
use super::modes::{Jobs, Mode};
use super::notes::{Notes, Times};
use super::record::{Recorder, Wrong};
use super::run::{Nanos, Run};
use super::slots::Slots;
use super::wire;
use super::workload::Shot;
use crate::service::pb;

const PATH: &str = "/taquin.v1.SolverService/Solve";
/// How often a driver of an open loop looks for what is due, should no one wake it.
const LOOK: Duration = Duration::from_millis(50);

/// A board that is asked.
#[derive(Clone, Copy)]
struct Asked {
    shot: Shot,
    times: Times,
    /// It was sent twice.
    again: bool,
}

/// What came of a call.
struct Reply {
    id: u32,
    /// Over which connection.
    connected: Connected,
    at: Instant,
    /// The first two messages that came, and how the call ended.
    messages: Vec<Vec<u8>>,
    bytes: usize,
    end: Result<(), (Box<Status>, Fault)>,
}

/// Why a call failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The server said so.
    Told,
    /// The connection broke.
    Broken,
    /// No answer came in time.
    Late,
}

/// As many calls at once as may be.
pub(super) struct Unary {
    run: Arc<Run>,
    link: Arc<Link>,
    /// Which driver it is.
    number: usize,
    jobs: Jobs,
    slots: Slots<Asked>,
    calls: JoinSet<Reply>,
    /// Lost with their connection, to be sent again.
    again: Vec<Asked>,
    notes: Notes,
    /// Calls in a row that failed without a word from the server.
    fruitless: u32,
}

impl Unary {
    pub(super) fn new(run: Arc<Run>, link: Arc<Link>, number: usize, jobs: Jobs, in_flight: u32) -> Self {
        let notes = Notes::new(Arc::clone(&run));
        let (slots, calls, again) = (Slots::new(in_flight), JoinSet::new(), Vec::new());
        Self { run, link, number, jobs, slots, calls, again, notes, fruitless: 0 }
    }

    /// Sends and receives until the run is over, and tells what it saw.
    pub(super) async fn drive(mut self) -> Recorder {
        let cut = self.run.cut.clone();
        let reason = match self.link.get().await {
            Some(connected) => cut.run_until_cancelled(self.calls(connected)).await.flatten(),
            None => None,
        };
        let left = self.slots.abandon(|_| true).into_iter().chain(std::mem::take(&mut self.again));
        for asked in left.collect::<Vec<_>>() {
            self.notes.left(reason.as_deref(), asked.times, 1);
        }
        self.notes.finish()
    }

    async fn calls(&mut self, mut connected: Connected) -> Option<String> {
        let run = Arc::clone(&self.run);
        let wake = &run.wakes[self.number];
        loop {
            self.refill(&connected);
            if self.calls.is_empty() && run.is_over() {
                return None;
            }
            let ended = tokio::select! {
                Some(ended) = self.calls.join_next() => ended,
                () = wake.notified(), if run.pace.is_some() => continue,
                () = sleep(LOOK), if run.pace.is_some() || self.calls.is_empty() => continue,
                () = run.stop.cancelled(), if !run.stop.is_cancelled() => continue,
            };
            // A call's task neither panics nor is aborted while this runs.
            let Ok(reply) = ended else { continue };
            self.notes.worker = reply.connected.worker;
            let Some((status, used)) = self.settle(reply) else { continue };
            if self.fruitless > MAX_FRUITLESS * self.slots.capacity() {
                return Some(told(&status));
            }
            if !used.is_same(&connected) {
                continue;
            }
            sleep(retry_after(&status)).await;
            match self.link.renew(&connected).await {
                Ok(renewed) => connected = renewed,
                Err(why) => {
                    self.notes.recorder.connect_error(&why);
                    return Some(why);
                }
            }
        }
    }

    fn refill(&mut self, connected: &Connected) {
        let now = self.run.now();
        for _ in 0..self.slots.room().min(self.again.len()) {
            if let Some(asked) = self.again.pop() {
                self.notes.recorder.resent(1);
                self.ask(connected, Asked { again: true, ..asked });
            }
        }
        let taken = self.run.take(self.slots.room(), now);
        for number in taken.numbers.clone() {
            let (number, planned) = self.run.place(number, &taken);
            let times = Times { planned, sent: now };
            self.notes.offered(times, 1);
            self.notes.sent(1);
            self.ask(connected, Asked { shot: self.jobs.make(number), times, again: false });
        }
    }

    fn ask(&mut self, connected: &Connected, asked: Asked) {
        let Some(id) = self.slots.next_id() else { return };
        let mut out = BytesMut::new();
        self.jobs.write(&asked.shot, id, &mut out);
        self.slots.insert(asked);
        self.notes.bytes(self.run.now(), out.len(), 0);
        self.calls.spawn(call(connected.clone(), id, out.freeze(), self.run.timeout));
    }

    /// Writes down what came of a call; the status of one that broke, and its connection.
    fn settle(&mut self, reply: Reply) -> Option<(Box<Status>, Connected)> {
        let Reply { id, connected, at, messages, bytes, end } = reply;
        // It is there: only its own call takes it.
        let asked = self.slots.take(id).ok()?;
        let at = self.run.nanos(at);
        self.notes.bytes(at, 0, bytes);
        let status = end.as_ref().map_or_else(|(status, _)| status.code(), |()| Code::Ok);
        self.notes.recorder.call_status(status);
        self.fruitless = if matches!(end, Ok(()) | Err((_, Fault::Told))) { 0 } else { self.fruitless + 1 };
        let lost = match end {
            Ok(()) => {
                self.answered(id, asked, at, &messages);
                None
            }
            Err((status, Fault::Told)) if status.code() != Code::Unavailable => {
                let failed = Verdict::Failed(status.code(), told(&status));
                let verdict = refused(asked.shot, failed);
                self.notes.done(verdict, pb::Source::Unspecified, asked.times, at, 1);
                None
            }
            Err((status, Fault::Late)) => {
                self.notes.failed(status.code(), status.message(), asked.times, 1);
                Some((status, connected))
            }
            Err((status, _)) if asked.again => {
                self.notes.failed(status.code(), &told(&status), asked.times, 1);
                Some((status, connected))
            }
            Err((status, _)) => {
                self.again.push(asked);
                Some((status, connected))
            }
        };
        self.notes.flush();
        lost
    }

    fn answered(&mut self, asked_id: u32, asked: Asked, at: Nanos, messages: &[Vec<u8>]) {
        let [message, others @ ..] = messages else {
            return self.notes.wrong(Wrong::Missing, "the call ended with OK and no answer", 1);
        };
        for _ in others {
            self.notes.wrong(Wrong::Double, "a second answer to one call", 1);
        }
        match Jobs::read(message) {
            Err(error) => self.notes.failed(Code::Internal, &error.to_string(), asked.times, 1),
            Ok((id, _)) if wire::id(id) != Some(asked_id) => {
                let id = told_id(id);
                self.notes.wrong(Wrong::Unasked, &format!("an answer to `{id}`, which is another call's"), 1);
            }
            Ok((_, answer)) => {
                let notes = &mut self.notes;
                self.jobs.judge(&asked.shot, &answer, |verdict, source, boards| {
                    notes.done(verdict, source, asked.times, at, boards);
                });
            }
        }
    }
}

/// One call.
async fn call(connected: Connected, id: u32, request: Bytes, patience: Duration) -> Reply {
    let (mut messages, mut bytes) = (Vec::new(), 0);
    let asking = async {
        let mut call = Call::open(connected.channel.clone(), PATH);
        call.send(request);
        call.half_close();
        let mut inbox = Inbox::default();
        loop {
            let data = match call.piece().await {
                Piece::Data(data) => data,
                end => return over(end),
            };
            bytes += data.len();
            let each = inbox.each(&data, |message| {
                // Two are one too many already, and a server may send for ever.
                if messages.len() < 2 {
                    messages.push(message.to_vec());
                }
                Ok(())
            });
            each.map_err(|error| (Box::new(garbled(error)), Fault::Told))?;
        }
    };
    let end = timeout(patience, asking).await.unwrap_or_else(|_| {
        let text = format!("no answer came for {} ms", patience.as_millis());
        Err((Status::deadline_exceeded(text).into(), Fault::Late))
    });
    Reply { id, connected, at: Instant::now(), messages, bytes, end }
}

fn over(piece: Piece) -> Result<(), (Box<Status>, Fault)> {
    match piece {
        Piece::Told(status) if status.code() == Code::Ok => Ok(()),
        Piece::Told(status) => Err((status, Fault::Told)),
        Piece::Broken(status) => Err((status, Fault::Broken)),
        Piece::Data(_) => Ok(()),
    }
}
