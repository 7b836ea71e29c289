//! One bidirectional call: boards go out as they are read, replies come back in the order of the input. When the
//! server ends it and says when to ask again, since the call or the server has become old, what has no answer goes
//! on over another call.
//!
//! One task holds all of it. Four things may happen next – an answer comes, a reply can be printed, a board can be
//! read, the wait has been too long – and none waits for another: answers are read even while nothing can be
//! printed, so a slow reader of ours never makes the server's stream stall. What bounds memory is the window: a
//! board counts from being read until its reply is handed to the printer, and no more are read than fit.
//!
//! It must never know: text, options, output.

use std::collections::VecDeque;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Response, Status, Streaming};
use tonic_types::StatusExt;

use super::answer::{Reply, code_name};
use super::board::Layout;
use super::connect::Client;
use super::input::{Item, Items, Place};
use super::text::TextError;
use crate::service::causes;
use crate::service::pb::{self, solve_stream_request::Kind};

/// How long the server may take to close the call when everything is answered.
const CLOSING_TIME: Duration = Duration::from_secs(1);
/// Calls in a row that may end at the server's wish without an answer, each sooner than this, before that is
/// told as a failure.
const FRUITLESS_CALLS: u32 = 3;
const FRUITLESS_TIME: Duration = Duration::from_secs(10);
/// The shortest and the longest wait before another call, whatever the server says.
const RETRY_AFTER: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(10));

/// What is asked of every board, and how.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Everything of a job but its id, its board and its goal.
    pub(crate) job: pb::Job,
    /// The most boards between being read and being printed, at least 1.
    pub(crate) in_flight: usize,
    /// The longest wait for the next answer.
    pub(crate) timeout: Duration,
}

/// Why a call did not go well to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError {
    /// The input could not be read on; all that was read is answered.
    #[error("can't read the input: {0}")]
    Input(io::Error),
    /// The call broke; boards that were sent have no answer.
    #[error("{cause}{}{}", missing(unanswered), unsent(*input_open, *last))]
    Broken {
        /// What broke it.
        cause: Cause,
        /// Where the boards stand that have no answer.
        unanswered: Vec<Place>,
        /// Whether the input may have held more.
        input_open: bool,
        /// The last item that was read.
        last: Option<Place>,
    },
}

/// What broke a call.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error("the call failed: {}", status_told(.0))]
    Status(Box<Status>),
    #[error("the server ended the call before all was answered")]
    EndedEarly,
    #[error("no answer came for {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("the server broke the protocol: an answer to `{0}`, which is not in flight")]
    Unasked(String),
}

/// Sends all items and hands every reply to `output`, in order. A closed `output` ends it at once, well.
///
/// # Errors
/// See [`StreamError`]. Replies were handed over all the same, boards without an answer among them.
pub(crate) async fn exchange(
    client: Client,
    plan: Plan,
    items: Items,
    output: mpsc::Sender<Reply>,
) -> Result<(), StreamError> {
    let mut items = items;
    let mut call = Call::open(client, plan);
    loop {
        let Err(cause) = call.run(&mut items, &output).await else {
            return call.input_error.map_or(Ok(()), |error| Err(StreamError::Input(error)));
        };
        let Some(delay) = call.may_go_on(&cause) else {
            let (input_open, last) = (call.requests.is_some(), call.last);
            let unanswered = call.abandon(&output).await;
            return Err(StreamError::Broken { cause, unanswered, input_open, last });
        };
        sleep(delay).await;
        call.reopen();
    }
}

type Opened = Result<Response<Streaming<pb::SolveStreamResponse>>, Status>;

/// The answers of a call that may still be opening: a server may wait for the first board before it says a word.
enum Answers {
    Opening(Pin<Box<dyn Future<Output = Opened> + Send>>),
    Open(Box<Streaming<pb::SolveStreamResponse>>),
}

impl Answers {
    /// The next answer. Dropping this future loses nothing.
    async fn next(&mut self) -> Result<Option<pb::Answer>, Status> {
        loop {
            match self {
                Self::Opening(call) => *self = Self::Open(Box::new(call.as_mut().await?.into_inner())),
                Self::Open(stream) => {
                    let message = stream.message().await?;
                    return Ok(message.map(|message| message.answer.unwrap_or_default()));
                }
            }
        }
    }
}

enum Slot {
    Waiting(Item),
    Ready(Reply),
}

struct Call {
    client: Client,
    plan: Plan,
    opened: Instant,
    /// How many calls have ended since the last answer.
    fruitless: u32,
    answers: Answers,
    /// Where requests go; none when all have gone.
    requests: Option<mpsc::Sender<pb::SolveStreamRequest>>,
    /// What was read and not yet printed, in input order.
    window: VecDeque<Slot>,
    /// The index of the window's first item.
    first: u64,
    /// Where the last item stands that was read.
    last: Option<Place>,
    input_error: Option<io::Error>,
    /// Boards sent and not answered.
    waiting: usize,
    deadline: Instant,
}

impl Call {
    fn open(client: Client, plan: Plan) -> Self {
        let (requests, answers) = begin(&client, &plan);
        Self {
            client,
            opened: Instant::now(),
            fruitless: 0,
            answers,
            requests: Some(requests),
            window: VecDeque::new(),
            first: 1,
            last: None,
            input_error: None,
            waiting: 0,
            deadline: Instant::now(),
            plan,
        }
    }

    /// When what ended the call lets it go on over another: after how long.
    fn may_go_on(&mut self, cause: &Cause) -> Option<Duration> {
        let Cause::Status(status) = cause else { return None };
        let delay = status.get_details_retry_info()?.retry_delay.unwrap_or_default();
        self.fruitless = if self.opened.elapsed() < FRUITLESS_TIME { self.fruitless + 1 } else { 1 };
        let may = status.code() == Code::Unavailable && self.fruitless < FRUITLESS_CALLS;
        may.then(|| delay.clamp(RETRY_AFTER.0, RETRY_AFTER.1))
    }

    /// Goes on over another call: what has no answer is sent again, in order.
    fn reopen(&mut self) {
        let (requests, answers) = begin(&self.client, &self.plan);
        for slot in &self.window {
            if let Slot::Waiting(item) = slot
                && let Ok(request) = request(&self.plan, item)
            {
                // There is room, as in `admit`.
                let _ = requests.try_send(request);
            }
        }
        // Input that has come to its end stays there.
        self.requests = self.requests.is_some().then_some(requests);
        self.answers = answers;
        self.opened = Instant::now();
        self.deadline = self.opened + self.plan.timeout;
    }

    async fn run(&mut self, items: &mut Items, output: &mpsc::Sender<Reply>) -> Result<(), Cause> {
        while self.requests.is_some() || !self.window.is_empty() {
            let may_read = self.requests.is_some() && self.window.len() < self.plan.in_flight;
            let may_print = matches!(self.window.front(), Some(Slot::Ready(_)));
            let answers_due = self.requests.is_some() || self.waiting > 0;
            tokio::select! {
                biased;
                () = output.closed() => return Ok(()),
                answer = self.answers.next(), if answers_due => self.answered(answer)?,
                Ok(permit) = output.reserve(), if may_print => {
                    if let Some(Slot::Ready(reply)) = self.window.pop_front() {
                        self.first += 1;
                        permit.send(reply);
                    }
                }
                item = items.recv(), if may_read => match item {
                    Some(Ok(item)) => self.admit(item),
                    ended => {
                        self.requests = None;
                        self.input_error = ended.and_then(Result::err);
                    }
                },
                () = sleep_until(self.deadline), if self.waiting > 0 => {
                    return Err(Cause::Timeout(self.plan.timeout));
                }
            }
        }
        // All is answered: how the server closes is its affair, but it must have nothing more to say.
        match timeout(CLOSING_TIME, self.answers.next()).await {
            Ok(Ok(Some(answer))) => Err(Cause::Unasked(answer.request_id)),
            _ => Ok(()),
        }
    }

    /// Takes an item into the window and sends it, if it is a board.
    fn admit(&mut self, item: Item) {
        self.last = Some(item.place);
        let request = match request(&self.plan, &item) {
            Ok(request) => request,
            Err(error) => {
                let reply = Reply::malformed(item.clone(), error);
                self.window.push_back(Slot::Ready(reply));
                return;
            }
        };
        if self.waiting == 0 {
            self.deadline = Instant::now() + self.plan.timeout;
        }
        self.waiting += 1;
        self.window.push_back(Slot::Waiting(item));
        if let Some(requests) = &self.requests {
            // There is room, so it fails only if the call is over; then the answers' side says why.
            let _ = requests.try_send(request);
        }
    }

    /// Puts an answer in its place.
    fn answered(&mut self, answer: Result<Option<pb::Answer>, Status>) -> Result<(), Cause> {
        let answer = answer.map_err(|status| Cause::Status(status.into()))?.ok_or(Cause::EndedEarly)?;
        let slot = answer
            .request_id
            .parse::<u64>()
            .ok()
            .and_then(|index| usize::try_from(index.checked_sub(self.first)?).ok())
            .and_then(|place| self.window.get_mut(place));
        let Some(slot @ Slot::Waiting(_)) = slot else { return Err(Cause::Unasked(answer.request_id)) };
        if let Slot::Waiting(item) = slot {
            let reply = Reply::judge(item.clone(), answer);
            *slot = Slot::Ready(reply);
        }
        self.waiting -= 1;
        self.fruitless = 0;
        self.deadline = Instant::now() + self.plan.timeout;
        Ok(())
    }

    /// Hands over what is left in the window and returns where the boards stand that have no answer.
    async fn abandon(self, output: &mpsc::Sender<Reply>) -> Vec<Place> {
        let mut unanswered = Vec::new();
        for slot in self.window {
            let reply = match slot {
                Slot::Ready(reply) => reply,
                Slot::Waiting(item) => {
                    unanswered.push(item.place);
                    Reply::lost(item)
                }
            };
            // No one may be printing any more; the places are wanted all the same.
            let _ = output.send(reply).await;
        }
        unanswered
    }
}

/// Begins a call: where its requests go, and where its answers come from.
fn begin(client: &Client, plan: &Plan) -> (mpsc::Sender<pb::SolveStreamRequest>, Answers) {
    // A request in this channel is in the window too, so there is always room.
    let (requests, receiver) = mpsc::channel(plan.in_flight);
    let mut client = client.clone();
    let opening = async move { client.solve_stream(ReceiverStream::new(receiver)).await };
    (requests, Answers::Opening(Box::pin(opening)))
}

/// What is asked of an item.
fn request<'i>(plan: &Plan, item: &'i Item) -> Result<pb::SolveStreamRequest, &'i TextError> {
    let job = pb::Job {
        request_id: item.index.to_string(),
        problem: Some(pb::job::Problem::Sliding(sliding(item)?)),
        ..plan.job.clone()
    };
    Ok(pb::SolveStreamRequest { kind: Some(Kind::Job(job)) })
}

/// The board and the goal of an item on the wire.
fn sliding(item: &Item) -> Result<pb::SlidingPuzzle, &TextError> {
    let board = item.board.as_ref()?;
    let layout = match &board.layout {
        Layout::Grid(shape) => {
            pb::sliding_puzzle::Layout::Grid(pb::Grid { rows: shape.rows, columns: shape.columns })
        }
        Layout::Graph(graph) => pb::sliding_puzzle::Layout::Graph(pb::Graph {
            // More tiles than a board may have in writing can't come this far.
            vertices: u32::try_from(board.tiles.len()).unwrap_or(u32::MAX),
            edges: graph.edges.iter().map(|&(a, b)| pb::Edge { a, b }).collect(),
        }),
    };
    let goal = item.goal.as_ref().map(|goal| goal.tiles.clone()).unwrap_or_default();
    Ok(pb::SlidingPuzzle { layout: Some(layout), start: board.tiles.clone(), goal })
}

/// `UNAVAILABLE: going away`, with what is known of the cause.
fn status_told(status: &Status) -> String {
    let cause = status.source().map(|cause| format!(" ({})", causes(cause))).unwrap_or_default();
    let delay = status.get_details_retry_info().and_then(|info| info.retry_delay);
    let retry = delay.map(|delay| format!(", try again after {} ms", delay.as_millis())).unwrap_or_default();
    format!("{}: {}{cause}{retry}", code_name(status.code()), status.message())
}

/// `; nothing after line 7 was sent`, or nothing.
fn unsent(input_open: bool, last: Option<Place>) -> String {
    match last {
        _ if !input_open => String::new(),
        Some(place) => format!("; nothing after {place} was sent"),
        None => "; nothing was sent".into(),
    }
}

/// `; no answer for lines 3, 5-9 (6 boards)`, or nothing.
fn missing(unanswered: &[Place]) -> String {
    let number = |place: &Place| match *place {
        Place::Argument(n) | Place::Line(n) => n,
    };
    let word = match unanswered {
        [] => return String::new(),
        [only] => return format!("; no answer for {only}"),
        [Place::Argument(_), ..] => "arguments",
        [Place::Line(_), ..] => "lines",
    };
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for n in unanswered.iter().map(number) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => ranges.push((n, n)),
        }
    }
    let told: Vec<_> =
        ranges.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    format!("; no answer for {word} {} ({} boards)", told.join(", "), unanswered.len())
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
