//! What all calls share: engine, limits, drain, and the places of open calls. It knows
//! no RPC.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::status::ServiceError;
use crate::config::LimitsConfig;
use crate::engine::Engine;

/// Whether and when the worker stops taking jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Drain {
    token: CancellationToken,
    /// The token's state, to be read without its lock on every job.
    begun: Arc<AtomicBool>,
}

impl Drain {
    pub(super) fn begin(&self) {
        self.begun.store(true, Relaxed);
        self.token.cancel();
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun.load(Relaxed)
    }

    pub(super) fn token(&self) -> CancellationToken {
        self.token.clone()
    }
}

/// What all calls share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) engine: Engine,
    pub(super) limits: LimitsConfig,
    pub(super) drain: Drain,
    /// A permit for each call that may be open.
    pub(super) calls: Arc<Semaphore>,
}

impl Shared {
    pub(super) fn open_call(&self) -> Result<OwnedSemaphorePermit, ServiceError> {
        if self.drain.has_begun() {
            return Err(ServiceError::Draining);
        }
        let limit = self.limits.max_streams;
        Arc::clone(&self.calls).try_acquire_owned().map_err(|_| ServiceError::Streams { limit })
    }
}
