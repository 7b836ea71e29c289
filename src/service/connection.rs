//! What all calls of one connection share: who asks, how much of his may be in flight, and
//! whether any of them is still read. It knows neither sockets nor calls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, PollSemaphore};
use tonic::Request;

use super::status::ServiceError;
use crate::engine::Caller;

/// See the module.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) caller: Caller,
    pub(super) peer: Option<SocketAddr>,
    max_jobs: u32,
    /// A permit for each job that may be in flight.
    jobs: Arc<Semaphore>,
    /// Calls open, and how many of them nobody reads.
    calls: AtomicUsize,
    stalled: AtomicUsize,
    closed: CancellationToken,
}

/// One more whom the engine serves in turn.
pub(super) fn next_caller() -> Caller {
    static CALLERS: AtomicU64 = AtomicU64::new(1);
    Caller(CALLERS.fetch_add(1, Relaxed))
}

impl Connection {
    pub(super) fn new(peer: Option<SocketAddr>, max_jobs: u32) -> Arc<Self> {
        Arc::new(Self {
            caller: next_caller(),
            peer,
            max_jobs,
            jobs: Arc::new(Semaphore::new(max_jobs as usize)),
            calls: AtomicUsize::new(0),
            stalled: AtomicUsize::new(0),
            closed: CancellationToken::new(),
        })
    }

    /// The connection by which a request came.
    pub(super) fn of<R>(request: &Request<R>) -> Arc<Self> {
        let connection: Option<&Arc<Self>> = request.extensions().get();
        Arc::clone(connection.expect("whatever is accepted brings its own"))
    }

    /// A place for one more job in flight, if there is one.
    ///
    /// # Errors
    /// [`ServiceError::Connection`] when there is none.
    pub(super) fn job(&self) -> Result<OwnedSemaphorePermit, ServiceError> {
        let limit = self.max_jobs;
        Arc::clone(&self.jobs).try_acquire_owned().map_err(|_| ServiceError::Connection { limit })
    }

    /// Counts a call.
    pub(super) fn open(self: &Arc<Self>) -> OpenCall {
        self.calls.fetch_add(1, Relaxed);
        OpenCall { connection: Arc::clone(self), stalled: false }
    }

    /// Cancelled when it is to be closed.
    pub(super) fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }
}

/// A call on a connection, while it is open.
pub(super) struct OpenCall {
    connection: Arc<Connection>,
    stalled: bool,
}

impl OpenCall {
    /// Nobody reads this one.
    pub(super) fn stall(&mut self) {
        if !std::mem::replace(&mut self.stalled, true) {
            self.connection.stalled.fetch_add(1, Relaxed);
        }
    }

    /// Closes the connection, unless others of its calls are read.
    pub(super) fn close_if_all_stall(&self) {
        if self.connection.stalled.load(Relaxed) >= self.connection.calls.load(Relaxed) {
            self.connection.closed.cancel();
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.connection.calls.fetch_sub(1, Relaxed);
        if self.stalled {
            self.connection.stalled.fetch_sub(1, Relaxed);
        }
    }
}

/// A stream's way to places for its jobs in flight.
pub(super) struct Room {
    jobs: PollSemaphore,
    /// For the next job, if that needs one.
    place: Option<OwnedSemaphorePermit>,
}

impl Room {
    pub(super) fn new(connection: &Connection) -> Self {
        Self { jobs: PollSemaphore::new(Arc::clone(&connection.jobs)), place: None }
    }

    /// Ready when there is room for one more job.
    pub(super) fn poll(&mut self, cx: &mut Context) -> Poll<()> {
        if self.place.is_none() {
            self.place = ready!(self.jobs.poll_acquire(cx));
        }
        Poll::Ready(())
    }

    /// The place for a job that is now in flight; `None` unless it was polled for.
    pub(super) fn take(&mut self) -> Option<OwnedSemaphorePermit> {
        self.place.take()
    }

    /// Leaves the line for places too: nothing is heard any more.
    pub(super) fn give_up(&mut self) {
        *self = Self { jobs: self.jobs.clone(), place: None };
    }

    /// Leaves a place that was not needed to the connection's other streams.
    pub(super) fn leave(&mut self) {
        self.place = None;
    }
}
