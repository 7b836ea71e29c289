//! One stream of a run: as many boards in flight as may be, each settled once, over one call after another if need be.
//!
//! One task does it all. It waits for a piece of answers, settles all of them with one look at the clock, and sends
//! as many boards as have become free in one piece. A board waits in no channel of its own.
//!
//! It must never know: what a board is, how it travels, how it is judged.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::call::{Call, Inbox, Piece, garbled, told};
use super::link::{Connected, Link};
use super::modes::Mode;
use super::notes::{Notes, Times};
use super::record::{Recorder, Wrong};
use super::run::{Nanos, Run, nanos};
use super::slots::{Slots, Stray};
use super::wire::{self, Garbled};

/// How often it looks for boards that have waited too long.
const LOOK: Duration = Duration::from_millis(50);
/// How long the server may take to end a call when all is answered.
const CLOSING_TIME: Duration = Duration::from_secs(1);
/// How long a server may be silent before it is sent boards: one may say nothing before the first.
const OPENING_TIME: Duration = Duration::from_millis(250);
/// Calls in a row without an answer that are enough.
pub(super) const MAX_FRUITLESS: u32 = 2;
/// The longest that a server's wish to be left alone is heeded.
const LONGEST_DELAY: Duration = Duration::from_secs(5);

/// What is in flight.
struct Entry<T> {
    item: T,
    times: Times,
    /// When it was sent last.
    asked: Nanos,
    /// It was sent twice.
    again: bool,
}

/// How a call ended.
enum End {
    /// Nothing is left to do.
    Done,
    /// The server ended it well, before all was answered.
    Early,
    /// It failed. What is in flight may be sent once more, or not.
    Failed { status: Box<Status>, resend: bool },
}

/// One stream.
pub(super) struct Driver<M: Mode> {
    run: Arc<Run>,
    link: Arc<Link>,
    /// Which one it is.
    number: usize,
    mode: M,
    slots: Slots<Entry<M::Item>>,
    /// Lost with a call, to be sent again.
    again: Vec<Entry<M::Item>>,
    /// Made to be sent; kept for its memory.
    made: Vec<(M::Item, Nanos)>,
    notes: Notes,
    inbox: Inbox,
    out: BytesMut,
    /// When the last piece of answers came.
    heard: Nanos,
}

impl<M: Mode> Driver<M> {
    pub(super) fn new(run: Arc<Run>, link: Arc<Link>, number: usize, mode: M, in_flight: u32) -> Self {
        let notes = Notes::new(Arc::clone(&run));
        let (inbox, out) = (Inbox::default(), BytesMut::new());
        Self {
            run,
            link,
            number,
            mode,
            slots: Slots::new(in_flight),
            again: Vec::new(),
            made: Vec::new(),
            notes,
            inbox,
            out,
            heard: 0,
        }
    }

    /// Sends and receives until the run is over, and tells what it saw.
    pub(super) async fn drive(mut self) -> Recorder {
        let cut = self.run.cut.clone();
        let reason = match self.link.get().await {
            Some(connected) => cut.run_until_cancelled(self.calls(connected)).await.flatten(),
            None => None,
        };
        let left = self.slots.abandon(|_| true).into_iter().chain(std::mem::take(&mut self.again));
        for entry in left.collect::<Vec<_>>() {
            self.notes.left(reason.as_deref(), entry.times, self.mode.boards(&entry.item));
        }
        self.notes.finish()
    }

    /// Makes one call after another; why it gave up, if it did.
    async fn calls(&mut self, mut connected: Connected) -> Option<String> {
        let mut fruitless = 0;
        while !(self.run.is_over() && self.again.is_empty()) {
            let before = self.heard;
            self.notes.worker = connected.worker;
            let end = self.talk(&connected).await;
            fruitless = if self.heard > before { 0 } else { fruitless + 1 };
            let (reason, delay) = match end {
                End::Done => return None,
                End::Early => {
                    self.notes.recorder.call_status(Code::Ok);
                    self.missing();
                    ("the server ended the call before all was answered".to_owned(), Duration::ZERO)
                }
                End::Failed { status, resend } => {
                    self.notes.recorder.call_status(status.code());
                    self.lost(&status, resend);
                    (told(&status), retry_after(&status))
                }
            };
            if fruitless == MAX_FRUITLESS {
                return Some(reason);
            }
            if self.run.is_over() && self.again.is_empty() {
                return None;
            }
            sleep(delay).await;
            match self.link.renew(&connected).await {
                Ok(renewed) => connected = renewed,
                Err(why) => {
                    self.notes.recorder.connect_error(&why);
                    return Some(why);
                }
            }
        }
        None
    }

    /// One call, from its opening to its end.
    async fn talk(&mut self, connected: &Connected) -> End {
        self.inbox = Inbox::default();
        let mut call = Call::open(connected.channel.clone(), M::PATH);
        // A stream that may not be opened now takes no boards from the others.
        if let Ok(Err(end)) = timeout(OPENING_TIME, call.opened()).await {
            return Self::ended(end);
        }
        let (run, mut looks) = (Arc::clone(&self.run), interval(LOOK));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let wake = &run.wakes[self.number];
        let mut stopped = pin!(run.stop.cancelled());
        loop {
            self.refill(&call);
            if self.run.is_over() && !call.is_half_closed() {
                call.half_close();
            }
            if call.is_half_closed() && self.slots.len() == 0 {
                return self.close(call).await;
            }
            tokio::select! {
                biased;
                _ = looks.tick() => if self.sweep() { return self.silent() },
                () = &mut stopped, if !call.is_half_closed() => {}
                piece = call.piece() => match piece {
                    Piece::Data(data) => if let Err(error) = self.receive(&data) {
                        return End::Failed { status: garbled(error).into(), resend: false };
                    },
                    end => return Self::ended(end),
                },
                () = wake.notified(), if run.pace.is_some() => {}
            }
        }
    }

    /// Sends what has become free and due, all in one piece.
    fn refill(&mut self, call: &Call) {
        let room = self.slots.room();
        if room == 0 || call.is_half_closed() {
            return;
        }
        let now = self.run.now();
        let mut bytes = 0;
        for _ in 0..room.min(self.again.len()) {
            if let Some(entry) = self.again.pop() {
                self.notes.recorder.resent(self.mode.boards(&entry.item));
                bytes += self.put(call, Entry { asked: now, again: true, ..entry });
            }
        }
        let taken = self.run.take(self.slots.room(), now);
        // Drawn all before any is written: each is a look into a table too large for the processor's caches, and so
        // they are made side by side.
        let mut made = std::mem::take(&mut self.made);
        made.extend(taken.numbers.clone().map(|number| {
            let (number, planned) = self.run.place(number, &taken);
            (self.mode.make(number), planned)
        }));
        let mut sent = 0;
        for (item, planned) in made.drain(..) {
            let times = Times { planned, sent: now };
            let boards = self.mode.boards(&item);
            self.notes.offered(times, boards);
            sent += boards;
            bytes += self.put(call, Entry { item, times, asked: now, again: false });
        }
        self.made = made;
        if sent > 0 {
            self.notes.sent(sent);
        }
        if !self.out.is_empty() {
            bytes += self.out.len();
            call.send(self.out.split().freeze());
        }
        self.notes.bytes(now, bytes, 0);
    }

    /// Writes a message, and returns how many bytes of it have been sent already.
    fn put(&mut self, call: &Call, entry: Entry<M::Item>) -> usize {
        let item = &entry.item;
        // Its id is known only when it has a slot, where it can't be read any more: so it is written first.
        let Some(id) = self.slots.next_id() else { return 0 };
        let rest = self.mode.write(item, id, &mut self.out);
        self.slots.insert(entry);
        let Some(rest) = rest else { return 0 };
        let bytes = self.out.len() + rest.len();
        call.send(self.out.split().freeze());
        call.send(rest);
        bytes
    }

    /// Settles all that a piece answers.
    fn receive(&mut self, data: &Bytes) -> Result<(), Garbled> {
        let now = self.run.now();
        let Self { inbox, slots, mode, notes, .. } = self;
        let done = inbox.each(data, |message| {
            let (id, answer) = M::read(message)?;
            let taken = wire::id(id).ok_or(Stray::Unasked).and_then(|id| slots.take(id));
            match taken {
                Ok(Entry { item, times, .. }) => {
                    mode.judge(&item, &answer, |verdict, source, boards| {
                        notes.done(verdict, source, times, now, boards);
                    });
                }
                Err(stray) => tell_stray(notes, stray, id),
            }
            Ok(())
        });
        self.heard = now;
        self.notes.flush();
        self.notes.bytes(now, 0, data.len());
        done
    }

    /// What a piece that is no answer says of the call.
    fn ended(piece: Piece) -> End {
        match piece {
            Piece::Told(status) if status.code() == Code::Ok => End::Early,
            Piece::Told(status) => {
                let resend = matches!(status.code(), Code::Unavailable | Code::ResourceExhausted);
                End::Failed { status, resend }
            }
            Piece::Broken(status) => End::Failed { status, resend: true },
            Piece::Data(_) => {
                End::Failed { status: garbled(Garbled("data after the end")).into(), resend: false }
            }
        }
    }

    /// All is answered: the server has nothing more to say but how it ends.
    async fn close(&mut self, mut call: Call) -> End {
        let mut closing = pin!(sleep(CLOSING_TIME));
        loop {
            tokio::select! {
                piece = call.piece() => match piece {
                    Piece::Data(data) => if self.receive(&data).is_err() {
                        self.notes.recorder.call_status(Code::Internal);
                        return End::Done;
                    },
                    Piece::Told(status) | Piece::Broken(status) => {
                        self.notes.recorder.call_status(status.code());
                        return End::Done;
                    }
                },
                () = &mut closing => return End::Done,
            }
        }
    }

    /// Gives up boards that have waited too long; whether no answer at all has come for so long.
    fn sweep(&mut self) -> bool {
        let now = self.run.now();
        let patience = nanos(self.run.timeout);
        let late = self.slots.abandon(|entry| now.saturating_sub(entry.asked) > patience);
        let is_silent = !late.is_empty() && now.saturating_sub(self.heard) > patience;
        let text = format!("no answer came for {} ms", self.run.timeout.as_millis());
        for entry in late {
            let boards = self.mode.boards(&entry.item);
            self.notes.failed(Code::DeadlineExceeded, &text, entry.times, boards);
        }
        self.notes.flush();
        is_silent
    }

    fn silent(&self) -> End {
        let text = format!("no answer came for {} ms", self.run.timeout.as_millis());
        End::Failed { status: Status::deadline_exceeded(text).into(), resend: true }
    }

    /// Keeps what was in flight to be sent again, or fails it.
    fn lost(&mut self, status: &Status, resend: bool) {
        let text = told(status);
        let in_flight = self.slots.abandon(|_| true);
        if resend || in_flight.is_empty() {
            // No board tells of it.
            self.notes.recorder.error(&format!("call: {text}"), 1);
        }
        for entry in in_flight {
            if resend && !entry.again {
                self.again.push(entry);
            } else {
                self.notes.failed(status.code(), &text, entry.times, self.mode.boards(&entry.item));
            }
        }
        self.notes.flush();
    }

    /// What was in flight when the server ended the call well will never be answered.
    fn missing(&mut self) {
        for entry in self.slots.abandon(|_| true) {
            let boards = self.mode.boards(&entry.item);
            self.notes.wrong(Wrong::Missing, "the call ended with OK before the answer came", boards);
        }
    }
}

fn tell_stray(notes: &mut Notes, stray: Stray, id: &[u8]) {
    let id = told_id(id);
    match stray {
        // It was counted as failed when it was given up.
        Stray::Late => {}
        Stray::Double => notes.wrong(Wrong::Double, &format!("a second answer to `{id}`"), 1),
        Stray::Unasked => {
            notes.wrong(Wrong::Unasked, &format!("an answer to `{id}`, which is not in flight"), 1);
        }
    }
}

/// Bytes of an id that are told.
const TOLD_ID_BYTES: usize = 128;

/// An id that a server sent, as far as it is told: it may be as long as a message.
pub(super) fn told_id(id: &[u8]) -> String {
    String::from_utf8_lossy(&id[..id.len().min(TOLD_ID_BYTES)]).into_owned()
}

/// When the server wants to be asked again.
pub(super) fn retry_after(status: &Status) -> Duration {
    let delay = status.get_details_retry_info().and_then(|info| info.retry_delay);
    delay.unwrap_or_default().min(LONGEST_DELAY)
}
