//! Who may ask a server, and what others may see of what is said: certificates, tokens,
//! reflection. It knows nothing of what it sets.

use std::path::PathBuf;

use clap::Args;

/// Callers of a tokens file: the token that a call shows is compared with all of theirs.
pub const MAX_CALLERS: usize = 256;
/// Bytes of a token at least, so that none is guessed.
pub const MIN_TOKEN_BYTES: usize = 16;
/// Bytes of a token at most.
pub const MAX_TOKEN_BYTES: usize = 128;

/// What keeps a server's callers apart from everyone else; nothing does by default.
#[derive(Clone, Debug, Default, Args)]
pub struct SecurityConfig {
    /// Certificate chain in PEM, the server's own first: the port speaks TLS then, and nothing else; read again at SIGHUP
    #[arg(long, env = "TAQUIN_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// Private key of --tls-cert, in PEM and not encrypted; read again at SIGHUP
    #[arg(long, env = "TAQUIN_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// Certificate authorities in PEM: clients must show a certificate of one of them; read again at SIGHUP
    #[arg(long, env = "TAQUIN_TLS_CLIENT_CA", value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,

    /// Callers and their bearer tokens, a line each: `name token [max_in_flight=N] [rate=N]`, # starts a comment; read again at SIGHUP
    #[arg(long, env = "TAQUIN_TOKENS", value_name = "FILE")]
    pub tokens: Option<PathBuf>,

    /// Whether the server describes its contract to those who ask
    #[arg(long, env = "TAQUIN_REFLECTION", value_enum, default_value_t)]
    pub reflection: Reflection,
}

impl SecurityConfig {
    /// Whether the settings go together.
    ///
    /// # Errors
    /// Which do not, by flag.
    pub fn check(&self) -> Result<(), &'static str> {
        match (&self.tls_cert, &self.tls_key, &self.tls_client_ca) {
            (Some(_), None, _) => Err("--tls-cert wants the key of the certificate too (--tls-key)"),
            (None, Some(_), _) => Err("--tls-key wants the certificate of the key too (--tls-cert)"),
            (None, None, Some(_)) => {
                Err("--tls-client-ca wants a certificate of the server too (--tls-cert, --tls-key)")
            }
            _ => Ok(()),
        }
    }
}

/// A switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Reflection {
    /// To those with a token, where tokens are wanted
    #[default]
    On,
    /// It is UNIMPLEMENTED
    Off,
}
