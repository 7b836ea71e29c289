//! What keeps a server's callers apart from everyone else, as its flags have it, read
//! before anything is served and again when it is asked for.

use std::net::SocketAddr;
use std::sync::Arc;

use super::callers::Callers;
use super::files::{FileError, NamedFile};
use super::tls::{Tls, TlsFiles};
use crate::config::{Reflection, SecurityConfig};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// See the module; by default everyone may ask, and see.
#[derive(Clone, Default)]
pub struct Security {
    tls: Option<Arc<Tls>>,
    callers: Option<Arc<Callers>>,
    reflection: Reflection,
}

impl Security {
    /// Reads what the settings name.
    ///
    /// # Errors
    /// When a file is not as it must be, with its flag and its path, or a flag wants another.
    pub fn load(config: &SecurityConfig) -> Result<Self> {
        config.check()?;
        let tls = match tls_files(config) {
            Some(files) => Some(Tls::load(files)?.into()),
            None => None,
        };
        let callers = match NamedFile::new("--tokens", config.tokens.as_ref()) {
            Some(file) => Some(Callers::load(file)?.into()),
            None => None,
        };
        Ok(Self { tls, callers, reflection: config.reflection })
    }

    /// Reads all files again. What is wrong with one is logged, and what it held before stays in force.
    pub fn reload(&self) {
        if let Some(tls) = &self.tls {
            log(tls.reload(), "certificates");
        }
        if let Some(callers) = &self.callers {
            log(callers.reload(), "tokens");
        }
    }

    /// Warns of what others on the network can do, if any reach this address.
    pub fn warn_if_open(&self, listen: SocketAddr) {
        if listen.ip().is_loopback() {
            return;
        }
        if self.tls.is_none() {
            tracing::warn!("others on the network can read and change what is said: --tls-cert, --tls-key");
        }
        if self.callers.is_none() && !self.tls.as_ref().is_some_and(|tls| tls.knows_clients()) {
            tracing::warn!("everyone who reaches this address may ask: --tokens, or --tls-client-ca");
        }
    }

    pub(super) fn tls(&self) -> Option<Arc<Tls>> {
        self.tls.clone()
    }

    pub(super) fn callers(&self) -> Option<Arc<Callers>> {
        self.callers.clone()
    }

    pub(super) fn reflects(&self) -> bool {
        self.reflection == Reflection::On
    }
}

/// The files of TLS, if it is to be spoken.
fn tls_files(config: &SecurityConfig) -> Option<TlsFiles> {
    Some(TlsFiles {
        chain: NamedFile::new("--tls-cert", config.tls_cert.as_ref())?,
        key: NamedFile::new("--tls-key", config.tls_key.as_ref())?,
        client_authorities: NamedFile::new("--tls-client-ca", config.tls_client_ca.as_ref()),
    })
}

/// Without the path, which is nobody's who reads a log.
fn log(reloaded: std::result::Result<(), FileError>, what: &str) {
    match reloaded {
        Ok(()) => tracing::info!(what, "read again"),
        Err(FileError { flag, why, .. }) => {
            tracing::error!(flag, why, what, "can't be used: what was read before stays in force");
        }
    }
}
