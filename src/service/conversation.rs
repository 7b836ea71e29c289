//! One bidirectional call: requests in, exactly one answer out for each, in the order
//! in which they are ready; with its caller's deadline, the drain, its own age, and readers
//! that stall. What is asked and answered is its [`Dialogue`]'s.
//!
//! It is a stream that the transport polls: what is known at once is answered in the
//! very poll that reads it, and a reader that stops reading stops the reading of
//! requests too. A few requests are heard at once, before the first of them is answered:
//! meanwhile the memory brings what the answers are read from. Only a watch beside it, for
//! its age and readers that stop for good, is a task.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::task::AbortHandle;
use tokio::time::{Sleep, sleep, sleep_until, timeout};
use tokio_stream::Stream;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::{Code, Status, Streaming};

use super::connection::{Connection, OpenCall, Room};
use super::metrics::{Metrics, Rpc};
use super::shared::{CallPlace, Drain, Shared};
use super::status::ServiceError;
use super::tally::Tally;

/// What a conversation is about.
pub(super) trait Dialogue: Send + Unpin + 'static {
    /// What the client says.
    type Request: Send + 'static;
    /// What it is answered.
    type Response: Send + 'static;
    /// An answer that may have to be read yet.
    type Reply: Send + Unpin + 'static;

    /// Which call it is.
    const RPC: Rpc;
    /// Replies that may be known before the first of them is told; few and small.
    const AHEAD: usize;

    /// Whether nothing is in flight.
    fn is_idle(&self) -> bool;

    /// Whether as much is in flight as may be.
    fn is_full(&self) -> bool;

    /// Whether a request must be heard even when as much is in flight as may be.
    fn is_urgent(request: &Self::Request) -> bool;

    /// The next answer that a worker has found.
    fn poll_landed(&mut self, cx: &mut Context) -> Poll<Self::Reply>;

    /// Takes what the client says; an answer when there is one at once. What is in flight from
    /// now on takes its place from `room`.
    ///
    /// # Errors
    /// [`ServiceError::Misuse`], which ends the conversation.
    fn hear(&mut self, request: Self::Request, room: &mut Room) -> Result<Option<Self::Reply>, ServiceError>;

    /// What is answered.
    fn tell(reply: Self::Reply) -> Self::Response;

    /// Leaves all that is in flight.
    fn give_up(&mut self);

    /// Counts what is answered.
    fn count(answer: &Self::Response, tally: &mut Tally);
}

/// The call that a conversation is.
pub(super) struct Call {
    pub(super) connection: Arc<Connection>,
    /// Its place among the calls that may be open.
    pub(super) place: CallPlace,
    /// The caller's, for the whole of it.
    pub(super) deadline: Option<Instant>,
    pub(super) tally: Tally,
}

/// See the module.
pub(super) struct Conversation<D: Dialogue> {
    talk: Arc<Mutex<Talk<D>>>,
    /// Known, and not told yet.
    ahead: VecDeque<D::Reply>,
    /// What comes after them, once that is known.
    last: Option<Result<(), Status>>,
    tally: Tally,
    watch: AbortHandle,
}

impl<D: Dialogue> Conversation<D> {
    /// A conversation over a stream of requests.
    pub(super) fn new(shared: &Shared, dialogue: D, requests: Streaming<D::Request>, call: Call) -> Self {
        let Call { connection, place, deadline, tally } = call;
        let talk = Arc::new(Mutex::new(Talk {
            dialogue,
            drain: shared.drain.clone(),
            drain_begins: Box::pin(shared.drain.token().cancelled_owned()),
            requests: Some(requests),
            parked: None,
            room: Room::new(&connection),
            deadline: deadline.map(|deadline| Box::pin(sleep_until(deadline.into()))),
            end: End::Open,
            polls: 0,
            transport: Waker::noop().clone(),
            place: Some(place),
            open: connection.open(),
        }));
        let (old, stalls) = (Arc::downgrade(&talk), Arc::downgrade(&talk));
        let (max_age, stall_timeout) = (shared.limits.max_stream_age(), shared.limits.stall_timeout());
        let metrics = shared.metrics.clone();
        let watch = async move {
            tokio::join!(watch_age(old, max_age), watch_reader(stalls, stall_timeout, max_age, metrics))
        };
        let watch = tokio::spawn(watch).abort_handle();
        Self { talk, ahead: VecDeque::with_capacity(D::AHEAD), last: None, tally, watch }
    }
}

impl<D: Dialogue> Stream for Conversation<D> {
    type Item = Result<D::Response, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.ahead.is_empty() && this.last.is_none() {
            let Poll::Ready(last) = lock(&this.talk).poll(cx, &mut this.ahead) else {
                this.tally.settle();
                return Poll::Pending;
            };
            this.last = last;
        }
        if let Some(reply) = this.ahead.pop_front() {
            let answer = D::tell(reply);
            D::count(&answer, &mut this.tally);
            return Poll::Ready(Some(Ok(answer)));
        }
        let status = this.last.take().and_then(Result::err);
        this.tally.ended_by(status.as_ref().map_or(Code::Ok, Status::code));
        Poll::Ready(status.map(Err))
    }
}

impl<D: Dialogue> Drop for Conversation<D> {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

fn lock<D: Dialogue>(talk: &Mutex<Talk<D>>) -> MutexGuard<'_, Talk<D>> {
    // After a panic inside, the transport drops the stream; nothing else uses it.
    talk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a conversation comes to its end.
enum End {
    /// Not yet.
    Open,
    /// When all in flight is answered.
    AfterAnswers(ServiceError),
    /// Now.
    With(Status),
    /// It has.
    Over,
}

struct Talk<D: Dialogue> {
    dialogue: D,
    /// `None` once the client has said all, or is not heard any more.
    requests: Option<Streaming<D::Request>>,
    /// Read while as much was in flight as may be; nothing is read behind it.
    parked: Option<D::Request>,
    /// Its way to places among the jobs in flight of its connection.
    room: Room,
    deadline: Option<Pin<Box<Sleep>>>,
    drain: Drain,
    drain_begins: Pin<Box<WaitForCancellationFutureOwned>>,
    end: End,
    /// How often the transport has asked, so that the watch sees whether it asks at all.
    polls: u64,
    /// Has the transport ask again, unless it waits for its reader.
    transport: Waker,
    /// Its place among the calls that may be open, until it is given up.
    place: Option<CallPlace>,
    open: OpenCall,
}

impl<D: Dialogue> Talk<D> {
    /// Hears until a few replies are known, nothing more is known for now, or the end is, which
    /// is returned then. Ready with a reply or the end.
    fn poll(&mut self, cx: &mut Context, ahead: &mut VecDeque<D::Reply>) -> Poll<Option<Result<(), Status>>> {
        self.polls += 1;
        self.transport.clone_from(cx.waker());
        let heard = self.poll_ahead(cx, ahead);
        self.room.leave();
        heard
    }

    fn poll_ahead(
        &mut self,
        cx: &mut Context,
        ahead: &mut VecDeque<D::Reply>,
    ) -> Poll<Option<Result<(), Status>>> {
        while ahead.len() < D::AHEAD {
            match self.poll_reply(cx) {
                Poll::Ready(Ok(Some(reply))) => ahead.push_back(reply),
                Poll::Ready(Ok(None)) => return Poll::Ready(Some(Ok(()))),
                Poll::Ready(Err(status)) => return Poll::Ready(Some(Err(status))),
                Poll::Pending if ahead.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(None)
    }

    fn poll_reply(&mut self, cx: &mut Context) -> Poll<Result<Option<D::Reply>, Status>> {
        loop {
            if self.is_late() {
                self.end = End::With(ServiceError::Deadline.into());
            }
            if !matches!(self.end, End::Open) {
                match std::mem::replace(&mut self.end, End::Over) {
                    End::Over => return Poll::Ready(Ok(None)),
                    End::With(status) => return Poll::Ready(Err(self.give_up(status))),
                    End::AfterAnswers(error) if self.dialogue.is_idle() => self.end = End::With(error.into()),
                    open => self.end = open,
                }
            }
            if let Poll::Ready(landed) = self.dialogue.poll_landed(cx) {
                return Poll::Ready(Ok(Some(landed)));
            }
            if self.requests.is_some() && self.drain.has_begun() {
                self.hear_no_more(ServiceError::Draining);
                continue;
            }
            if self.requests.is_none() && self.parked.is_none() && self.dialogue.is_idle() {
                if matches!(self.end, End::Open) {
                    self.end = End::Over;
                }
                continue;
            }
            match self.poll_request(cx) {
                Poll::Ready(Some(Ok(request))) => match self.dialogue.hear(request, &mut self.room) {
                    Ok(None) => {}
                    Ok(Some(reply)) => return Poll::Ready(Ok(Some(reply))),
                    Err(misuse) => self.end = End::With(misuse.into()),
                },
                Poll::Ready(Some(Err(status))) => self.end = End::With(status),
                Poll::Ready(None) => self.requests = None,
                Poll::Pending if self.poll_interrupts(cx).is_pending() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }

    /// Whether the caller's deadline has passed, by the clock: a stream that is never
    /// idle never polls its timer.
    fn is_late(&self) -> bool {
        self.deadline.as_ref().is_some_and(|sleep| sleep.deadline() <= tokio::time::Instant::now())
    }

    /// The next request that may be heard. When as much is in flight as may be, on this stream or
    /// on its connection, one more is read, lest a cancel wait for what it cancels.
    fn poll_request(&mut self, cx: &mut Context) -> Poll<Option<Result<D::Request, Status>>> {
        let request = match (self.parked.take(), &mut self.requests) {
            (Some(parked), _) => parked,
            (None, Some(requests)) => match ready!(Pin::new(requests).poll_next(cx)) {
                Some(Ok(request)) if !D::is_urgent(&request) => request,
                other => return Poll::Ready(other),
            },
            (None, None) => return Poll::Pending,
        };
        if self.dialogue.is_full() || self.room.poll(cx).is_pending() {
            self.parked = Some(request);
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(request)))
    }

    /// Ready when the deadline passes or a drain begins.
    fn poll_interrupts(&mut self, cx: &mut Context) -> Poll<()> {
        if let Some(deadline) = &mut self.deadline
            && deadline.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(());
        }
        if self.requests.is_some() { self.drain_begins.as_mut().poll(cx) } else { Poll::Pending }
    }

    /// Gives the conversation up, since nobody reads it; returns what may still be heard.
    fn stall(&mut self, why: ServiceError) -> Option<Streaming<D::Request>> {
        let requests = self.requests.take();
        self.end = End::With(self.give_up(why.into()));
        self.open.stall();
        requests
    }

    /// Ends the conversation when what is in flight is answered.
    fn hear_no_more(&mut self, why: ServiceError) {
        (self.requests, self.parked) = (None, None);
        self.room.give_up();
        self.end = End::AfterAnswers(why);
    }

    /// Ends the conversation: what is in flight is nobody's any more.
    fn give_up(&mut self, status: Status) -> Status {
        self.dialogue.give_up();
        (self.requests, self.parked, self.place) = (None, None, None);
        self.room.give_up();
        status
    }
}

/// Ends a conversation that has become old, so that a balancer may find it another worker; not to the
/// second, lest all that began together come back together. One that the client has ended ends by itself.
async fn watch_age<D: Dialogue>(talk: Weak<Mutex<Talk<D>>>, max_age: Option<Duration>) {
    /// How much of the age is left to chance, to either side.
    const JITTER: f64 = 0.1;
    let Some(max_age) = max_age else { return };
    sleep(max_age.mul_f64(1.0 - JITTER + 2.0 * JITTER * fastrand::f64())).await;
    let Some(talk) = talk.upgrade() else { return };
    let mut talk = lock(&talk);
    if talk.requests.is_some() && matches!(talk.end, End::Open) {
        talk.hear_no_more(ServiceError::Aged);
        talk.transport.wake_by_ref();
    }
}

/// Ends a conversation whose reader has stopped: one whose transport does not ask for
/// more even when it is woken, since it can't send what it has. Its status waits for
/// the reader; until he takes it the client is heard, but not heeded, since one that
/// writes everything before it reads would else wait for ever. When he does not take it, and
/// says nothing for as long again or does not come to an end, his connection is closed, unless
/// he reads another call of it.
async fn watch_reader<D: Dialogue>(
    talk: Weak<Mutex<Talk<D>>>,
    stall_timeout: Duration,
    max_age: Option<Duration>,
    metrics: Metrics,
) {
    /// The shortest time that counts as silence.
    const SILENCE: Duration = Duration::from_secs(1);
    let mut requests = {
        let Some(talk) = until_stalled(&talk, stall_timeout).await else { return };
        let stalled = ServiceError::ReaderStalled { after: stall_timeout };
        metrics.refused(&stalled);
        lock(&talk).stall(stalled)
    };
    let stalled = Instant::now();
    loop {
        let silence = stall_timeout.max(SILENCE);
        let next = async {
            match &mut requests {
                Some(requests) => requests.message().await,
                None => pending().await,
            }
        };
        let heard = timeout(silence, next).await.ok();
        match heard {
            Some(Ok(Some(_))) if max_age.is_none_or(|age| stalled.elapsed() < age) => {}
            Some(Ok(None) | Err(_)) => requests = None,
            Some(Ok(Some(_))) | None => {
                let Some(talk) = talk.upgrade() else { return };
                lock(&talk).open.close_if_all_stall();
            }
        }
    }
}

/// A conversation whose reader has stalled, or nothing when it is over before.
async fn until_stalled<D: Dialogue>(
    talk: &Weak<Mutex<Talk<D>>>,
    stall_timeout: Duration,
) -> Option<Arc<Mutex<Talk<D>>>> {
    /// Looks within one timeout; a stall is seen at most one part late.
    const LOOKS: u32 = 4;
    let (mut seen, mut still) = (0, 0);
    loop {
        sleep(stall_timeout / LOOKS).await;
        let talk = talk.upgrade()?;
        {
            let looked = lock(&talk);
            still = if looked.polls == seen { still + 1 } else { 0 };
            seen = looked.polls;
            looked.transport.wake_by_ref();
        }
        if still >= LOOKS {
            return Some(talk);
        }
    }
}
