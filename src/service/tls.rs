//! TLS on the server's port: its handshake, and certificates that can be read again for
//! the connections to come. It knows nothing of what is said inside.

use std::io::{self, ErrorKind};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::sign::SingleCertAndKey;
use tokio_rustls::server::TlsStream;

use super::certificates::{ALPN, authorities, certified_key, provider};
use super::files::{FileError, NamedFile};

/// The first byte of a TLS connection.
const TLS_HANDSHAKE: u8 = 22;
/// What a peer is told that speaks HTTP/2 without TLS: empty SETTINGS.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
/// And GOAWAY for no stream, with the code `INADEQUATE_SECURITY` (12) and a word of debug data.
const TLS_ONLY: &[u8] = b"\0\0\x2a\x07\0\0\0\0\0\
    \0\0\0\0\0\0\0\x0c\
    this port speaks TLS: ask https://";
/// How long a peer in plain text has to open its first call.
const TIME_TO_CALL: Duration = Duration::from_millis(200);
/// How long a peer is listened to that was turned away, so that it reads why: a connection that is
/// closed with bytes unread takes back what was sent last.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The files of a port that speaks TLS.
#[derive(Debug)]
pub(super) struct TlsFiles {
    pub(super) chain: NamedFile,
    pub(super) key: NamedFile,
    /// Whose certificates clients must show; none need be shown without.
    pub(super) client_authorities: Option<NamedFile>,
}

/// See the module.
pub(super) struct Tls {
    files: TlsFiles,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// TLS with the certificates of these files.
    ///
    /// # Errors
    /// When one is not as it must be.
    pub(super) fn load(files: TlsFiles) -> Result<Self, FileError> {
        let current = RwLock::new(read(&files)?.into());
        Ok(Self { files, current })
    }

    /// Reads the files again: connections to come see what is new, those that are open go on.
    ///
    /// # Errors
    /// When one is not as it must be; then all stays as it was.
    pub(super) fn reload(&self) -> Result<(), FileError> {
        let new = read(&self.files)?.into();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    /// Whether only those get through who show a certificate.
    pub(super) fn knows_clients(&self) -> bool {
        self.files.client_authorities.is_some()
    }

    /// The handshake with a peer, who is told why when it fails. How long it may take is the caller's to say.
    ///
    /// # Errors
    /// When the peer speaks no TLS, shows no certificate that is wanted, or is gone.
    pub(super) async fn accept(&self, mut stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let mut first = [TLS_HANDSHAKE];
        stream.peek(&mut first).await?;
        if first != [TLS_HANDSHAKE] {
            stream.write_all(SETTINGS).await?;
            // A client hands on what it is told to the calls that are open by then.
            sleep(TIME_TO_CALL).await;
            stream.write_all(TLS_ONLY).await?;
            turn_away(stream).await;
            return Err(io::Error::new(ErrorKind::InvalidData, "the peer does not speak TLS"));
        }
        let config = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        match TlsAcceptor::from(config).accept(stream).into_fallible().await {
            // A peer that names no protocol at all gets through the handshake.
            Ok(stream) if stream.get_ref().1.alpn_protocol() != Some(ALPN) => {
                Err(io::Error::new(ErrorKind::InvalidData, "the peer does not ask for HTTP/2 (ALPN)"))
            }
            Ok(stream) => Ok(stream),
            Err((error, stream)) => {
                turn_away(stream).await;
                Err(error)
            }
        }
    }
}

fn read(files: &TlsFiles) -> Result<ServerConfig, FileError> {
    let certified = certified_key(&files.chain, &files.key)?;
    files.key.warn_if_public();
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("the provider has cipher suites of both versions");
    let builder = match &files.client_authorities {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(authorities(file)?.into(), provider());
            let verifier = verifier.build().map_err(|error| file.wrong(error.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(config)
}

/// Lets a peer read what it was told last.
async fn turn_away(mut stream: TcpStream) {
    let heard = async {
        stream.shutdown().await?;
        while stream.read(&mut [0; 1024]).await? > 0 {}
        Ok::<_, io::Error>(())
    };
    // He may be gone, or never stop: nothing more is owed to him.
    drop(timeout(LAST_WORDS, heard).await);
}
