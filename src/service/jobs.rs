//! What `SolveStream` is about: jobs, each with an id, and cancels. It knows neither
//! boards nor searches, and nothing of the stream.

use std::collections::HashMap;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tracing::Span;

use super::callers::{Caller, Place};
use super::connection::Room;
use super::conversation::Dialogue;
use super::convert;
use super::metrics::{LayoutName, Rpc};
use super::pb::{self, SolveStreamRequest, SolveStreamResponse, cancel::Which, solve_stream_request::Kind};
use super::shared::Shared;
use super::status::ServiceError;
use super::tally::Tally;
use super::trace;
use crate::domain::sliding::LastGoal;
use crate::engine::{self, Answer, Asked, Found, Ticket};

struct Held {
    ticket: Ticket,
    wants_path: bool,
    /// Its place among the jobs in flight of its caller, and of its connection.
    _places: (Place, Option<OwnedSemaphorePermit>),
}

/// What a job is answered.
pub(super) enum Reply {
    /// It was found in a table, and is read when it is told.
    Found {
        request_id: String,
        found: Found,
        wants_path: bool,
    },
    Answer(pb::Answer),
}

type Landed = (String, Answer);

/// See the module.
pub(super) struct Jobs {
    shared: Shared,
    caller: Caller,
    /// Whom the engine takes it for when it serves callers in turn.
    turn: engine::Caller,
    /// The caller's own, for the whole of the stream: no job needs longer.
    deadline: Option<Instant>,
    /// That of the call.
    span: Span,
    last_goal: LastGoal,
    in_flight: HashMap<String, Held>,
    /// Unbounded, but every message in it belongs to a job in flight, and those are bounded.
    answers: (mpsc::UnboundedSender<Landed>, mpsc::UnboundedReceiver<Landed>),
}

impl Jobs {
    pub(super) fn new(
        shared: Shared,
        caller: Caller,
        turn: engine::Caller,
        deadline: Option<Instant>,
        span: Span,
    ) -> Self {
        let (in_flight, answers) = (HashMap::new(), mpsc::unbounded_channel());
        Self { shared, caller, turn, deadline, span, last_goal: LastGoal::default(), in_flight, answers }
    }

    fn take(&mut self, job: pb::Job, room: &mut Room) -> Option<Reply> {
        let asked = self.ask(&job);
        let request_id = job.request_id;
        Some(match asked {
            Ok((Asked::Found(found), wants_path, _)) => Reply::Found { request_id, found, wants_path },
            Ok((Asked::Now(answer), wants_path, _)) => {
                Reply::Answer(convert::answer(request_id, answer, wants_path))
            }
            Ok((Asked::Later(ticket), wants_path, place)) => {
                self.in_flight.insert(request_id, Held { ticket, wants_path, _places: (place, room.take()) });
                return None;
            }
            Err(error) => {
                self.shared.metrics.refused(&error);
                Reply::Answer(convert::refusal(request_id, &error))
            }
        })
    }

    fn ask(&mut self, job: &pb::Job) -> Result<(Asked, bool, Place), ServiceError> {
        ServiceError::check_id("job.request_id", &job.request_id)?;
        if !self.in_flight.is_empty() && self.in_flight.contains_key(&job.request_id) {
            return Err(ServiceError::DuplicateId { field: "job.request_id", id: job.request_id.clone() });
        }
        let (mut query, wants_path) = convert::query(job, &self.shared.limits, &mut self.last_goal)?;
        (query.caller, query.deadline) = (self.turn, self.deadline);
        let place = self.caller.take(1)?;
        let reply = || {
            let (id, answers) = (job.request_id.clone(), self.answers.0.clone());
            let (metrics, layout) = (self.shared.metrics.clone(), LayoutName::of(&query));
            engine::Reply::new(trace::of_job(&self.span, &id), move |answer| {
                metrics.searched(layout, &answer);
                // Nobody listens any more when the conversation is gone.
                drop(answers.send((id, answer)));
            })
        };
        Ok((self.shared.engine.ask(&query, reply)?, wants_path, place))
    }
}

impl Dialogue for Jobs {
    type Request = SolveStreamRequest;
    type Response = SolveStreamResponse;
    type Reply = Reply;

    const RPC: Rpc = Rpc::SolveStream;
    const AHEAD: usize = 16;

    fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    fn is_full(&self) -> bool {
        self.in_flight.len() >= self.shared.limits.max_in_flight_per_stream as usize
    }

    fn is_urgent(request: &SolveStreamRequest) -> bool {
        matches!(request.kind, Some(Kind::Cancel(_)))
    }

    fn poll_landed(&mut self, cx: &mut Context) -> Poll<Reply> {
        if self.in_flight.is_empty() {
            return Poll::Pending;
        }
        let Poll::Ready(Some((request_id, answer))) = self.answers.1.poll_recv(cx) else {
            return Poll::Pending;
        };
        let held = self.in_flight.remove(&request_id);
        let wants_path = held.is_some_and(|held| held.wants_path);
        Poll::Ready(Reply::Answer(convert::answer(request_id, answer, wants_path)))
    }

    fn hear(&mut self, request: SolveStreamRequest, room: &mut Room) -> Result<Option<Reply>, ServiceError> {
        match request.kind {
            Some(Kind::Job(job)) => return Ok(self.take(job, room)),
            Some(Kind::Cancel(pb::Cancel { which: Some(Which::RequestId(id)) })) => {
                if let Some(held) = self.in_flight.get(&id) {
                    held.ticket.cancel();
                }
            }
            Some(Kind::Cancel(pb::Cancel { which: Some(Which::All(true)) })) => {
                self.in_flight.values().for_each(|held| held.ticket.cancel());
            }
            Some(Kind::Cancel(_)) => {
                return Err(ServiceError::Misuse(
                    "cancel.which: names no job, expected request_id or all = true",
                ));
            }
            None => return Err(ServiceError::Misuse("kind: is not set, expected job or cancel")),
        }
        Ok(None)
    }

    fn tell(reply: Reply) -> SolveStreamResponse {
        let answer = match reply {
            Reply::Found { request_id, found, wants_path } => {
                convert::answer(request_id, found.read(), wants_path)
            }
            Reply::Answer(answer) => answer,
        };
        SolveStreamResponse { answer: Some(answer) }
    }

    fn give_up(&mut self) {
        self.in_flight.clear();
    }

    fn count(response: &SolveStreamResponse, tally: &mut Tally) {
        if let Some(answer) = &response.answer {
            tally.answered(answer);
        }
    }
}
