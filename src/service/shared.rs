//! What all calls share: engine, limits, drain, and the places of open calls. It knows
//! no RPC.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::metrics::{Metrics, Present, Rpc};
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
    pub(super) metrics: Metrics,
}

/// The place of an open call among those that may be.
pub(super) struct CallPlace {
    _place: OwnedSemaphorePermit,
    _counted: Present,
}

impl Shared {
    pub(super) fn open_call(&self, rpc: Rpc) -> Result<CallPlace, ServiceError> {
        if self.drain.has_begun() {
            return Err(ServiceError::Draining);
        }
        let limit = self.limits.max_streams;
        let place = Arc::clone(&self.calls).try_acquire_owned();
        let place = place.map_err(|_| ServiceError::Streams { limit })?;
        Ok(CallPlace { _place: place, _counted: self.metrics.call(rpc) })
    }
}
