//! What `SolvePacked` is about: messages of packed boards, answered by tables, of which
//! some must be made first. It knows no board, and nothing of the stream.

use std::collections::HashMap;
use std::task::{Context, Poll};

use tokio::sync::mpsc;

use super::conversation::Dialogue;
use super::packed::{self, Batch};
use super::pb::{SolvePackedRequest, SolvePackedResponse};
use super::solver::Shared;
use super::status::ServiceError;
use super::tally::Tally;
use crate::engine::{Reply, Swept};

/// Messages of one stream that may wait for a table; with the boards of one message
/// bounded, this bounds what a stream holds.
const MAX_WAITING: usize = 16;

type Landed = (String, Swept);

/// See the module.
pub(super) struct Batches {
    shared: Shared,
    waiting: HashMap<String, Batch>,
    /// Unbounded, but every message in it belongs to a batch that waits, and those are bounded.
    tables: (mpsc::UnboundedSender<Landed>, mpsc::UnboundedReceiver<Landed>),
}

impl Batches {
    pub(super) fn new(shared: Shared) -> Self {
        Self { shared, waiting: HashMap::new(), tables: mpsc::unbounded_channel() }
    }

    /// The answer to a message, or the message when a table must be made first.
    fn ask(
        &self,
        request: &mut SolvePackedRequest,
    ) -> Result<Result<SolvePackedResponse, Batch>, ServiceError> {
        ServiceError::check_id("request_id", &request.request_id)?;
        if self.waiting.contains_key(&request.request_id) {
            return Err(ServiceError::DuplicateId { field: "request_id", id: request.request_id.clone() });
        }
        let batch = Batch::new(request, self.shared.limits.max_packed_boards)?;
        let reply = || {
            let (id, tables) = (request.request_id.clone(), self.tables.0.clone());
            // Nobody listens any more when the conversation is gone.
            Reply::new(move |swept| drop(tables.send((id, swept))))
        };
        Ok(match self.shared.engine.table(batch.goal(), reply)? {
            Some(table) => Ok(batch.answer(request.request_id.clone(), &table)),
            None => Err(batch),
        })
    }
}

impl Dialogue for Batches {
    type Request = SolvePackedRequest;
    type Response = SolvePackedResponse;

    fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_WAITING
    }

    fn poll_landed(&mut self, cx: &mut Context) -> Poll<SolvePackedResponse> {
        if self.waiting.is_empty() {
            return Poll::Pending;
        }
        let Poll::Ready(Some((request_id, swept))) = self.tables.1.poll_recv(cx) else {
            return Poll::Pending;
        };
        let batch = self.waiting.remove(&request_id).expect("who was promised a table waits for it");
        Poll::Ready(match swept {
            Ok(table) => batch.answer(request_id, &table),
            Err(failure) => packed::refusal(request_id, &failure.into()),
        })
    }

    fn hear(&mut self, mut request: SolvePackedRequest) -> Result<Option<SolvePackedResponse>, ServiceError> {
        Ok(match self.ask(&mut request) {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(batch)) => {
                self.waiting.insert(request.request_id, batch);
                None
            }
            Err(error) => Some(packed::refusal(request.request_id, &error)),
        })
    }

    fn give_up(&mut self) {
        self.waiting.clear();
    }

    fn count(response: &SolvePackedResponse, tally: &mut Tally) {
        tally.packed(response);
    }
}
