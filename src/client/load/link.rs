//! Where the workers are, and the connections to them, each shared by its streams and replaced when it is lost.
//!
//! It must never know: what is said on a connection.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::super::connect::{endpoint, endpoint_at};
use crate::service::{Authorized, Dial, Target, ask_health, causes};

/// For how long a lost connection is tried again.
pub(super) const RECONNECT_TIME: Duration = Duration::from_secs(5);
/// The first and the longest pause between two tries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));
/// The longest wait for a name to be looked up.
const LOOKUP_TIME: Duration = Duration::from_secs(5);
/// The longest wait for a word on whether a worker serves.
const HEALTH_TIME: Duration = Duration::from_secs(1);
/// Windows of HTTP/2 that never hold the server up; what may be in flight bounds what comes.
const WINDOW_BYTES: u32 = 16 << 20;

/// An address of a worker.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    target: Target,
    /// The address, as the report names it.
    pub(super) name: String,
}

impl Worker {
    fn new(target: Target, name: String) -> Self {
        let target = target.with(|endpoint| {
            endpoint.initial_stream_window_size(WINDOW_BYTES).initial_connection_window_size(4 * WINDOW_BYTES)
        });
        Self { target, name }
    }

    /// The workers at an endpoint: one for each address of its name.
    ///
    /// # Errors
    /// A sentence.
    pub(super) async fn find(text: &str, dial: &Dial) -> Result<Vec<Self>, String> {
        let named = endpoint(text, dial)?;
        let authority = named.uri().authority().map(ToString::to_string).unwrap_or_default();
        let lookup = timeout(LOOKUP_TIME, tokio::net::lookup_host(authority.clone())).await;
        let failed = |what: &str| format!("can't reach {authority}: {what}");
        let found: Vec<SocketAddr> = match lookup {
            Ok(Ok(addresses)) => addresses.collect(),
            Ok(Err(error)) => return Err(failed(&causes(&error))),
            Err(_) => return Err(failed("its name was not found in time")),
        };
        // A worker that has an address of each kind is one worker.
        let is_v4 = found.iter().any(SocketAddr::is_ipv4);
        let mut seen = HashSet::new();
        let addresses: Vec<_> =
            found.into_iter().filter(|address| address.is_ipv4() == is_v4 && seen.insert(*address)).collect();
        let worker = |address: SocketAddr| {
            let target = endpoint_at(named.uri(), Some(address), dial)?;
            Ok(Self::new(target, address.to_string()))
        };
        match addresses[..] {
            [] => Err(failed("its name has no address")),
            _ => addresses.into_iter().map(worker).collect(),
        }
    }

    /// Waits until it says that it serves.
    ///
    /// # Errors
    /// A sentence, when it does not in time.
    pub(super) async fn ready(&self, end: Instant) -> Result<(), String> {
        let mut pause = PAUSES.0;
        loop {
            let checked = timeout(HEALTH_TIME, ask_health(&self.target)).await;
            match checked.unwrap_or_else(|_| Err(format!("no answer in {HEALTH_TIME:?}"))) {
                Ok(()) => return Ok(()),
                Err(error) if Instant::now() + pause >= end => {
                    return Err(format!("{} is not ready: {error}", self.name));
                }
                Err(_) => sleep(pause).await,
            }
            pause = (2 * pause).min(PAUSES.1);
        }
    }

    async fn connect(&self) -> Result<Authorized, String> {
        let connected = self.target.connect().await;
        connected.map_err(|error| format!("can't reach {}: {}", self.name, causes(&error)))
    }
}

/// A connection as it is now.
#[derive(Debug, Clone)]
pub(super) struct Connected {
    pub(super) channel: Authorized,
    /// The index of the worker.
    pub(super) worker: usize,
    /// How many there were before.
    generation: u64,
}

impl Connected {
    /// Whether it is the same connection of a link.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.generation == other.generation
    }
}

/// One connection, whichever it is.
#[derive(Debug)]
pub(super) struct Link {
    workers: Arc<[Worker]>,
    /// The worker that it goes to first.
    worker: usize,
    now: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// There never was a connection.
    Absent,
    Up(Connected),
    /// It was lost, and no other could be made: so was said.
    Lost(String),
}

impl Link {
    /// A link to one of the workers, or to another if that one is lost.
    pub(super) fn new(workers: Arc<[Worker]>, worker: usize) -> Self {
        Self { workers, worker, now: Mutex::new(State::Absent) }
    }

    /// Makes the first connection, with one try.
    ///
    /// # Errors
    /// A sentence.
    pub(super) async fn connect(&self) -> Result<(), String> {
        let channel = self.workers[self.worker].connect().await?;
        *self.now.lock().await = State::Up(Connected { channel, worker: self.worker, generation: 0 });
        Ok(())
    }

    /// The connection, if there ever was one.
    pub(super) async fn get(&self) -> Option<Connected> {
        match &*self.now.lock().await {
            State::Up(connected) => Some(connected.clone()),
            State::Absent | State::Lost(_) => None,
        }
    }

    /// Another connection than this one: the one that another stream made since, or a new one. Other workers are
    /// tried too, the own first.
    ///
    /// # Errors
    /// The last try's sentence.
    pub(super) async fn renew(&self, lost: &Connected) -> Result<Connected, String> {
        let mut now = self.now.lock().await;
        match &*now {
            State::Up(newer) if newer.generation > lost.generation => Ok(newer.clone()),
            State::Lost(why) => Err(why.clone()),
            _ => {
                let replaced = self.replace(lost).await;
                *now = match &replaced {
                    Ok(connected) => State::Up(connected.clone()),
                    Err(why) => State::Lost(why.clone()),
                };
                replaced
            }
        }
    }

    async fn replace(&self, lost: &Connected) -> Result<Connected, String> {
        let end = Instant::now() + RECONNECT_TIME;
        let mut pause = PAUSES.0;
        let mut why = String::new();
        loop {
            for step in 0..self.workers.len() {
                let worker = (lost.worker + step) % self.workers.len();
                match timeout_at(end, self.workers[worker].connect()).await {
                    Ok(Ok(channel)) => {
                        return Ok(Connected { channel, worker, generation: lost.generation + 1 });
                    }
                    Ok(Err(error)) => why = error,
                    Err(_) if why.is_empty() => {
                        why = format!("{} does not answer", self.workers[worker].name);
                    }
                    Err(_) => {}
                }
            }
            if Instant::now() + pause >= end {
                return Err(why);
            }
            sleep(pause).await;
            pause = (2 * pause).min(PAUSES.1);
        }
    }
}
