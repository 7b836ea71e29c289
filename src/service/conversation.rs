//! One `SolveStream`: jobs in, exactly one answer out for each, in the order in
//! which they are ready. It knows neither boards nor searches.
//!
//! It is a stream that the transport polls: what theory or the cache knows is
//! answered in the very poll that reads it, and a reader that stops reading stops
//! the reading of jobs too. Only a watch beside it, for readers that stop for
//! good, is a task.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::AbortHandle;
use tokio::time::{Sleep, sleep, sleep_until};
use tokio_stream::Stream;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::{Status, Streaming};

use super::convert;
use super::pb::{self, SolveStreamRequest, SolveStreamResponse, cancel::Which, solve_stream_request::Kind};
use super::solver::Shared;
use super::status::ServiceError;
use super::tally::Tally;
use crate::engine::{Answer, Asked, Reply, Ticket};

/// See the module.
pub(super) struct Conversation {
    talk: Arc<Mutex<Talk>>,
    watch: AbortHandle,
}

impl Conversation {
    /// A conversation over a stream of requests; `deadline` is the caller's for the whole of it.
    pub(super) fn new(
        shared: Shared,
        requests: Streaming<SolveStreamRequest>,
        deadline: Option<Instant>,
        tally: Tally,
        call: OwnedSemaphorePermit,
    ) -> Self {
        let stall_timeout = shared.limits.stall_timeout();
        let talk = Arc::new(Mutex::new(Talk {
            drain: Box::pin(shared.drain.token().cancelled_owned()),
            shared,
            requests: Some(requests),
            deadline: deadline.map(|deadline| Box::pin(sleep_until(deadline.into()))),
            in_flight: HashMap::new(),
            answers: mpsc::unbounded_channel(),
            end: End::Open,
            polls: 0,
            transport: Waker::noop().clone(),
            tally,
            _call: call,
        }));
        let watch = tokio::spawn(watch(Arc::downgrade(&talk), stall_timeout)).abort_handle();
        Self { talk, watch }
    }
}

impl Stream for Conversation {
    type Item = Result<SolveStreamResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Self::Item>> {
        lock(&self.talk).poll(cx)
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

fn lock(talk: &Mutex<Talk>) -> MutexGuard<'_, Talk> {
    // After a panic inside, the transport drops the stream; nothing else uses it.
    talk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a conversation comes to its end.
enum End {
    /// Not yet.
    Open,
    /// When the jobs in flight are answered.
    AfterAnswers(ServiceError),
    /// Now.
    With(Status),
    /// It has.
    Over,
}

struct Held {
    ticket: Ticket,
    wants_path: bool,
}

type Landed = (String, Answer);

struct Talk {
    shared: Shared,
    /// `None` once the client has said all, or is not heard any more.
    requests: Option<Streaming<SolveStreamRequest>>,
    deadline: Option<Pin<Box<Sleep>>>,
    drain: Pin<Box<WaitForCancellationFutureOwned>>,
    in_flight: HashMap<String, Held>,
    /// Unbounded, but every message in it belongs to a job in flight, and those are bounded.
    answers: (mpsc::UnboundedSender<Landed>, mpsc::UnboundedReceiver<Landed>),
    end: End,
    /// How often the transport has asked, so that the watch sees whether it asks at all.
    polls: u64,
    /// Has the transport ask again, unless it waits for its reader.
    transport: Waker,
    tally: Tally,
    _call: OwnedSemaphorePermit,
}

impl Talk {
    fn poll(&mut self, cx: &mut Context) -> Poll<Option<Result<SolveStreamResponse, Status>>> {
        self.polls += 1;
        self.transport.clone_from(cx.waker());
        self.poll_answer(cx).map(|answer| match answer? {
            Ok(answer) => {
                self.tally.answered(&answer);
                Some(Ok(SolveStreamResponse { answer: Some(answer) }))
            }
            Err(status) => {
                self.tally.ended_by(status.code());
                Some(Err(status))
            }
        })
    }

    fn poll_answer(&mut self, cx: &mut Context) -> Poll<Option<Result<pb::Answer, Status>>> {
        loop {
            if self.is_late() {
                self.end = End::With(ServiceError::Deadline.into());
            }
            match std::mem::replace(&mut self.end, End::Over) {
                End::Over => return Poll::Ready(None),
                End::With(status) => return Poll::Ready(Some(Err(self.give_up(status)))),
                End::AfterAnswers(error) if self.in_flight.is_empty() => self.end = End::With(error.into()),
                open => self.end = open,
            }
            if let Poll::Ready(landed) = self.poll_landed(cx) {
                return Poll::Ready(Some(Ok(landed)));
            }
            if self.requests.is_some() && self.shared.drain.has_begun() {
                self.requests = None;
                self.end = End::AfterAnswers(ServiceError::Draining);
                continue;
            }
            if self.requests.is_none() && self.in_flight.is_empty() {
                if matches!(self.end, End::Open) {
                    self.end = End::Over;
                }
                continue;
            }
            match self.poll_request(cx) {
                Poll::Ready(Some(Ok(request))) => match self.hear(request) {
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

    /// The next answer that a worker has found.
    fn poll_landed(&mut self, cx: &mut Context) -> Poll<pb::Answer> {
        if self.in_flight.is_empty() {
            return Poll::Pending;
        }
        let Poll::Ready(Some((request_id, answer))) = self.answers.1.poll_recv(cx) else {
            return Poll::Pending;
        };
        let held = self.in_flight.remove(&request_id);
        let wants_path = held.is_some_and(|held| held.wants_path);
        Poll::Ready(convert::answer(request_id, answer, wants_path))
    }

    /// The next request, unless as many jobs are in flight as may be.
    fn poll_request(&mut self, cx: &mut Context) -> Poll<Option<Result<SolveStreamRequest, Status>>> {
        match &mut self.requests {
            Some(requests) if self.in_flight.len() < self.shared.limits.max_in_flight_per_stream as usize => {
                Pin::new(requests).poll_next(cx)
            }
            _ => Poll::Pending,
        }
    }

    /// Ready when the deadline passes or a drain begins.
    fn poll_interrupts(&mut self, cx: &mut Context) -> Poll<()> {
        if let Some(deadline) = &mut self.deadline
            && deadline.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(());
        }
        if self.requests.is_some() { self.drain.as_mut().poll(cx) } else { Poll::Pending }
    }

    /// Takes what the client says; an answer when there is one at once.
    ///
    /// # Errors
    /// [`ServiceError::Misuse`], which ends the conversation.
    fn hear(&mut self, request: SolveStreamRequest) -> Result<Option<pb::Answer>, ServiceError> {
        match request.kind {
            Some(Kind::Job(job)) => Ok(self.take(job)),
            Some(Kind::Cancel(pb::Cancel { which: Some(Which::RequestId(id)) })) => {
                if let Some(held) = self.in_flight.get(&id) {
                    held.ticket.cancel();
                }
                Ok(None)
            }
            Some(Kind::Cancel(pb::Cancel { which: Some(Which::All(true)) })) => {
                self.in_flight.values().for_each(|held| held.ticket.cancel());
                Ok(None)
            }
            Some(Kind::Cancel(_)) => {
                Err(ServiceError::Misuse("cancel.which: names no job, expected request_id or all = true"))
            }
            None => Err(ServiceError::Misuse("kind: is not set, expected job or cancel")),
        }
    }

    fn take(&mut self, mut job: pb::Job) -> Option<pb::Answer> {
        let asked = self.ask(&job);
        let request_id = std::mem::take(&mut job.request_id);
        match asked {
            Ok((Asked::Now(answer), wants_path)) => Some(convert::answer(request_id, answer, wants_path)),
            Ok((Asked::Later(ticket), wants_path)) => {
                self.in_flight.insert(request_id, Held { ticket, wants_path });
                None
            }
            Err(error) => Some(convert::refusal(request_id, &error)),
        }
    }

    fn ask(&self, job: &pb::Job) -> Result<(Asked, bool), ServiceError> {
        ServiceError::check_id(&job.request_id)?;
        if !self.in_flight.is_empty() && self.in_flight.contains_key(&job.request_id) {
            return Err(ServiceError::DuplicateId(job.request_id.clone()));
        }
        let wants_path = convert::wants_path(job)?;
        let query = convert::query(job, &self.shared.limits, Instant::now())?;
        let reply = || {
            let (id, answers) = (job.request_id.clone(), self.answers.0.clone());
            // Nobody listens any more when the conversation is gone.
            Reply::new(move |answer| drop(answers.send((id, answer))))
        };
        Ok((self.shared.engine.ask(&query, reply)?, wants_path))
    }

    /// Ends the conversation: what is in flight is nobody's any more.
    fn give_up(&mut self, status: Status) -> Status {
        self.in_flight.clear();
        self.requests = None;
        status
    }
}

/// Ends a conversation whose reader has stopped: one whose transport does not ask for
/// more even when it is woken, since it can't send what it has. Its status waits for
/// the reader; until he takes it the client is heard, but not heeded, since one that
/// writes everything before it reads would else wait for ever.
async fn watch(talk: Weak<Mutex<Talk>>, stall_timeout: Duration) {
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
