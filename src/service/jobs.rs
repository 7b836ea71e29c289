//! What `SolveStream` is about: jobs, each with an id, and cancels. It knows neither
//! boards nor searches, and nothing of the stream.

use std::collections::HashMap;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::sync::mpsc;

use super::conversation::Dialogue;
use super::convert;
use super::pb::{self, SolveStreamRequest, SolveStreamResponse, cancel::Which, solve_stream_request::Kind};
use super::shared::Shared;
use super::status::ServiceError;
use super::tally::Tally;
use crate::engine::{Answer, Asked, Reply, Ticket};

struct Held {
    ticket: Ticket,
    wants_path: bool,
}

type Landed = (String, Answer);

/// See the module.
pub(super) struct Jobs {
    shared: Shared,
    /// The caller's own, for the whole of the stream: no job needs longer.
    deadline: Option<Instant>,
    in_flight: HashMap<String, Held>,
    /// Unbounded, but every message in it belongs to a job in flight, and those are bounded.
    answers: (mpsc::UnboundedSender<Landed>, mpsc::UnboundedReceiver<Landed>),
}

impl Jobs {
    pub(super) fn new(shared: Shared, deadline: Option<Instant>) -> Self {
        Self { shared, deadline, in_flight: HashMap::new(), answers: mpsc::unbounded_channel() }
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
        ServiceError::check_id("job.request_id", &job.request_id)?;
        if !self.in_flight.is_empty() && self.in_flight.contains_key(&job.request_id) {
            return Err(ServiceError::DuplicateId { field: "job.request_id", id: job.request_id.clone() });
        }
        let (mut query, wants_path) = convert::query(job, &self.shared.limits)?;
        query.deadline = self.deadline;
        let reply = || {
            let (id, answers) = (job.request_id.clone(), self.answers.0.clone());
            // Nobody listens any more when the conversation is gone.
            Reply::new(move |answer| drop(answers.send((id, answer))))
        };
        Ok((self.shared.engine.ask(&query, reply)?, wants_path))
    }
}

impl Dialogue for Jobs {
    type Request = SolveStreamRequest;
    type Response = SolveStreamResponse;

    fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    fn is_full(&self) -> bool {
        self.in_flight.len() >= self.shared.limits.max_in_flight_per_stream as usize
    }

    fn is_urgent(request: &SolveStreamRequest) -> bool {
        matches!(request.kind, Some(Kind::Cancel(_)))
    }

    fn poll_landed(&mut self, cx: &mut Context) -> Poll<SolveStreamResponse> {
        if self.in_flight.is_empty() {
            return Poll::Pending;
        }
        let Poll::Ready(Some((request_id, answer))) = self.answers.1.poll_recv(cx) else {
            return Poll::Pending;
        };
        let held = self.in_flight.remove(&request_id);
        let wants_path = held.is_some_and(|held| held.wants_path);
        let answer = Some(convert::answer(request_id, answer, wants_path));
        Poll::Ready(SolveStreamResponse { answer })
    }

    fn hear(&mut self, request: SolveStreamRequest) -> Result<Option<SolveStreamResponse>, ServiceError> {
        match request.kind {
            Some(Kind::Job(job)) => {
                return Ok(self.take(job).map(|answer| SolveStreamResponse { answer: Some(answer) }));
            }
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

    fn give_up(&mut self) {
        self.in_flight.clear();
    }

    fn count(response: &SolveStreamResponse, tally: &mut Tally) {
        if let Some(answer) = &response.answer {
            tally.answered(answer);
        }
    }
}
