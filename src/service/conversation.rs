//! One bidirectional call: requests in, exactly one answer out for each, in the order
//! in which they are ready; with its caller's deadline, the drain, and readers that
//! stall. What is asked and answered is its [`Dialogue`]'s.
//!
//! It is a stream that the transport polls: what is known at once is answered in the
//! very poll that reads it, and a reader that stops reading stops the reading of
//! requests too. Only a watch beside it, for readers that stop for good, is a task.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use tokio::task::AbortHandle;
use tokio::time::{Sleep, sleep, sleep_until};
use tokio_stream::Stream;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::{Code, Status, Streaming};

use super::shared::{Drain, Shared};
use super::status::ServiceError;
use super::tally::Tally;

/// What a conversation is about.
pub(super) trait Dialogue: Send + Unpin + 'static {
    /// What the client says.
    type Request: Send + 'static;
    /// What it is answered.
    type Response: Send + 'static;

    /// Whether nothing is in flight.
    fn is_idle(&self) -> bool;

    /// Whether as much is in flight as may be.
    fn is_full(&self) -> bool;

    /// Whether a request must be heard even when as much is in flight as may be.
    fn is_urgent(request: &Self::Request) -> bool;

    /// The next answer that a worker has found.
    fn poll_landed(&mut self, cx: &mut Context) -> Poll<Self::Response>;

    /// Takes what the client says; an answer when there is one at once.
    ///
    /// # Errors
    /// [`ServiceError::Misuse`], which ends the conversation.
    fn hear(&mut self, request: Self::Request) -> Result<Option<Self::Response>, ServiceError>;

    /// Leaves all that is in flight.
    fn give_up(&mut self);

    /// Counts what is answered.
    fn count(answer: &Self::Response, tally: &mut Tally);
}

/// See the module.
pub(super) struct Conversation<D: Dialogue> {
    talk: Arc<Mutex<Talk<D>>>,
    watch: AbortHandle,
}

impl<D: Dialogue> Conversation<D> {
    /// A conversation over a stream of requests; `deadline` is the caller's for the whole of it.
    pub(super) fn new(
        shared: &Shared,
        dialogue: D,
        requests: Streaming<D::Request>,
        deadline: Option<Instant>,
        tally: Tally,
        call: OwnedSemaphorePermit,
    ) -> Self {
        let stall_timeout = shared.limits.stall_timeout();
        let talk = Arc::new(Mutex::new(Talk {
            dialogue,
            drain: shared.drain.clone(),
            drain_begins: Box::pin(shared.drain.token().cancelled_owned()),
            requests: Some(requests),
            parked: None,
            deadline: deadline.map(|deadline| Box::pin(sleep_until(deadline.into()))),
            end: End::Open,
            polls: 0,
            transport: Waker::noop().clone(),
            tally,
            call: Some(call),
        }));
        let watch = tokio::spawn(watch(Arc::downgrade(&talk), stall_timeout)).abort_handle();
        Self { talk, watch }
    }
}

impl<D: Dialogue> Stream for Conversation<D> {
    type Item = Result<D::Response, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Self::Item>> {
        lock(&self.talk).poll(cx)
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
    deadline: Option<Pin<Box<Sleep>>>,
    drain: Drain,
    drain_begins: Pin<Box<WaitForCancellationFutureOwned>>,
    end: End,
    /// How often the transport has asked, so that the watch sees whether it asks at all.
    polls: u64,
    /// Has the transport ask again, unless it waits for its reader.
    transport: Waker,
    tally: Tally,
    /// Its place among the calls that may be open, until it is given up.
    call: Option<OwnedSemaphorePermit>,
}

impl<D: Dialogue> Talk<D> {
    fn poll(&mut self, cx: &mut Context) -> Poll<Option<Result<D::Response, Status>>> {
        self.polls += 1;
        self.transport.clone_from(cx.waker());
        let answer = self.poll_answer(cx);
        match &answer {
            Poll::Pending => {}
            Poll::Ready(Some(Ok(answer))) => D::count(answer, &mut self.tally),
            Poll::Ready(Some(Err(status))) => self.tally.ended_by(status.code()),
            Poll::Ready(None) => self.tally.ended_by(Code::Ok),
        }
        answer
    }

    fn poll_answer(&mut self, cx: &mut Context) -> Poll<Option<Result<D::Response, Status>>> {
        loop {
            if self.is_late() {
                self.end = End::With(ServiceError::Deadline.into());
            }
            if !matches!(self.end, End::Open) {
                match std::mem::replace(&mut self.end, End::Over) {
                    End::Over => return Poll::Ready(None),
                    End::With(status) => return Poll::Ready(Some(Err(self.give_up(status)))),
                    End::AfterAnswers(error) if self.dialogue.is_idle() => self.end = End::With(error.into()),
                    open => self.end = open,
                }
            }
            if let Poll::Ready(landed) = self.dialogue.poll_landed(cx) {
                return Poll::Ready(Some(Ok(landed)));
            }
            if self.requests.is_some() && self.drain.has_begun() {
                (self.requests, self.parked) = (None, None);
                self.end = End::AfterAnswers(ServiceError::Draining);
                continue;
            }
            if self.requests.is_none() && self.parked.is_none() && self.dialogue.is_idle() {
                if matches!(self.end, End::Open) {
                    self.end = End::Over;
                }
                continue;
            }
            match self.poll_request(cx) {
                Poll::Ready(Some(Ok(request))) => match self.dialogue.hear(request) {
                    Ok(None) => {}
                    Ok(Some(answer)) => return Poll::Ready(Some(Ok(answer))),
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

    /// The next request that may be heard. When as much is in flight as may be, one more
    /// is read, lest a cancel wait for what it cancels.
    fn poll_request(&mut self, cx: &mut Context) -> Poll<Option<Result<D::Request, Status>>> {
        let is_full = self.dialogue.is_full();
        if self.parked.is_some() {
            return if is_full { Poll::Pending } else { Poll::Ready(self.parked.take().map(Ok)) };
        }
        let Some(requests) = &mut self.requests else { return Poll::Pending };
        match Pin::new(requests).poll_next(cx) {
            Poll::Ready(Some(Ok(request))) if is_full && !D::is_urgent(&request) => {
                self.parked = Some(request);
                Poll::Pending
            }
            other => other,
        }
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

    /// Ends the conversation: what is in flight is nobody's any more.
    fn give_up(&mut self, status: Status) -> Status {
        self.dialogue.give_up();
        (self.requests, self.parked, self.call) = (None, None, None);
        status
    }
}

/// Ends a conversation whose reader has stopped: one whose transport does not ask for
/// more even when it is woken, since it can't send what it has. Its status waits for
/// the reader; until he takes it the client is heard, but not heeded, since one that
/// writes everything before it reads would else wait for ever.
async fn watch<D: Dialogue>(talk: Weak<Mutex<Talk<D>>>, stall_timeout: Duration) {
    /// Looks within one timeout; a stall is seen at most one part late.
    const LOOKS: u32 = 4;
    let (mut seen, mut still) = (0, 0);
    let requests = loop {
        sleep(stall_timeout / LOOKS).await;
        let Some(talk) = talk.upgrade() else { return };
        let mut talk = lock(&talk);
        still = if talk.polls == seen { still + 1 } else { 0 };
        seen = talk.polls;
        talk.transport.wake_by_ref();
        if still >= LOOKS {
            let stalled = ServiceError::ReaderStalled { after: stall_timeout };
            let requests = talk.requests.take();
            let status = talk.give_up(stalled.into());
            talk.end = End::With(status);
            break requests;
        }
    };
    if let Some(mut requests) = requests {
        while let Ok(Some(_)) = requests.message().await {}
    }
}
