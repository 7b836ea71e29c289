//! What `SolvePacked` is about: messages of packed boards, answered by tables, of which
//! some must be made first. It knows no board, and nothing of the stream.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tracing::Span;

use super::callers::{Caller, Place};
use super::connection::Room;
use super::conversation::Dialogue;
use super::metrics::Rpc;
use super::packed::{self, Batch};
use super::pb::{SolvePackedRequest, SolvePackedResponse};
use super::shared::Shared;
use super::status::ServiceError;
use super::tally::Tally;
use super::trace;
use crate::config::MAX_PACKED_WAITING;
use crate::engine::{self, Reply, SweepTicket, Swept, TableAsked};

/// See the module.
pub(super) struct Batches {
    shared: Shared,
    caller: Caller,
    /// Whom the engine takes it for when it serves callers in turn.
    turn: engine::Caller,
    /// That of the call.
    span: Span,
    waiting: HashMap<String, (SweepTicket, Place, Option<OwnedSemaphorePermit>)>,
    /// Unbounded, but every answer in it belongs to a message that waits, and those are bounded.
    answers: (mpsc::UnboundedSender<SolvePackedResponse>, mpsc::UnboundedReceiver<SolvePackedResponse>),
}

impl Batches {
    pub(super) fn new(shared: Shared, caller: Caller, turn: engine::Caller, span: Span) -> Self {
        Self { shared, caller, turn, span, waiting: HashMap::new(), answers: mpsc::unbounded_channel() }
    }

    /// The answer to a message, unless a worker will give it.
    fn ask(
        &mut self,
        mut request: SolvePackedRequest,
        room: &mut Room,
    ) -> Result<Option<SolvePackedResponse>, ServiceError> {
        let id = &request.request_id;
        ServiceError::check_id("request_id", id)?;
        if self.waiting.contains_key(id) {
            return Err(ServiceError::DuplicateId { field: "request_id", id: id.clone() });
        }
        let batch = Arc::new(Batch::new(&mut request, self.shared.limits.max_packed_boards)?);
        let place = self.caller.take(batch.boards())?;
        let id = request.request_id;
        let reply = || {
            let (batch, id, answers) = (Arc::clone(&batch), id.clone(), self.answers.0.clone());
            // On the worker, so that only the answer waits to be sent, and not the table.
            Reply::new(trace::of_job(&self.span, &id), move |swept: Swept| {
                let answer = match swept {
                    Ok(table) => batch.answer(id, &table),
                    Err(failure) => packed::refusal(id, &failure.into()),
                };
                // Nobody listens any more when the conversation is gone.
                drop(answers.send(answer));
            })
        };
        match self.shared.engine.table(batch.goal(), self.turn, reply)? {
            TableAsked::Now(table) => Ok(Some(batch.answer(id, &table))),
            TableAsked::Later(ticket) => {
                self.waiting.insert(id, (ticket, place, room.take()));
                Ok(None)
            }
        }
    }
}

impl Dialogue for Batches {
    type Request = SolvePackedRequest;
    type Response = SolvePackedResponse;
    type Reply = SolvePackedResponse;

    const RPC: Rpc = Rpc::SolvePacked;
    /// An answer may be megabytes.
    const AHEAD: usize = 1;

    fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_PACKED_WAITING as usize
    }

    fn is_urgent(_: &SolvePackedRequest) -> bool {
        false
    }

    fn poll_landed(&mut self, cx: &mut Context) -> Poll<SolvePackedResponse> {
        if self.waiting.is_empty() {
            return Poll::Pending;
        }
        let Poll::Ready(Some(answer)) = self.answers.1.poll_recv(cx) else { return Poll::Pending };
        self.waiting.remove(&answer.request_id);
        Poll::Ready(answer)
    }

    fn hear(
        &mut self,
        request: SolvePackedRequest,
        room: &mut Room,
    ) -> Result<Option<SolvePackedResponse>, ServiceError> {
        let id = request.request_id.clone();
        Ok(self.ask(request, room).unwrap_or_else(|error| {
            self.shared.metrics.refused(&error);
            Some(packed::refusal(id, &error))
        }))
    }

    fn tell(answer: SolvePackedResponse) -> SolvePackedResponse {
        answer
    }

    fn give_up(&mut self) {
        self.waiting.clear();
    }

    fn count(response: &SolvePackedResponse, tally: &mut Tally) {
        tally.packed(response);
    }
}
