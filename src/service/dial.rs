//! How a worker is reached: over TLS or not, and with which token. It knows nothing of
//! what is asked.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use clap::Args;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncBufReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::sign::SingleCertAndKey;
use tonic::body::Body;
use tonic::codegen::http::header::{AUTHORIZATION, HeaderValue};
use tonic::codegen::http::uri::Scheme;
use tonic::codegen::http::{Request, Response, Uri};
use tonic::codegen::{BoxFuture, Service};
use tonic::transport::{Channel, Endpoint};

use super::certificates::{ALPN, authorities, certified_key, provider};
use super::files::{FileError, NamedFile};

/// Where a token is looked for that no file holds; it is no flag, since others on a machine see those.
const TOKEN_VARIABLE: &str = "TAQUIN_TOKEN";

/// The longest time for a handshake, once the connection is there.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// How long a server's first word is waited for; one that waits for ours gets it then.
const FIRST_WORD_TIME: Duration = Duration::from_secs(1);

/// What others say when a connection is refused, and what that means here.
const HINTS: [(&str, &str); 11] = [
    ("UnknownIssuer", "no authority of --tls-ca has issued the server's certificate"),
    ("BadSignature", "no authority of --tls-ca has issued the server's certificate"),
    ("CaUsedAsEndEntity", "the server's certificate is an authority's own, which is none for a server"),
    ("not valid for name", "the server's certificate is of another name: --tls-domain"),
    ("certificate expired", "the server's certificate has expired"),
    ("certificate not valid yet", "the server's certificate is not valid yet"),
    ("CertificateRequired", "the server wants a client's certificate: --tls-cert, --tls-key"),
    ("UnknownCA", "the server does not know who issued the client's certificate (--tls-cert)"),
    ("CertificateExpired", "the client's certificate (--tls-cert) has expired"),
    ("InvalidContentType", "the port does not speak TLS: http://"),
    ("this port speaks TLS", "the port speaks TLS alone: https://"),
];

/// How a worker is reached, as flags have it; over TLS where the endpoint says https.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::doc_markdown, reason = "doc comments are the help text, which is no Markdown")]
pub struct DialOptions {
    /// Certificate authorities in PEM, one of which the server's certificate must come from; https:// needs it
    #[arg(long, value_name = "FILE", env = "TAQUIN_TLS_CA")]
    pub tls_ca: Option<PathBuf>,

    /// Certificate chain in PEM to show to a server that wants one
    #[arg(long, value_name = "FILE", env = "TAQUIN_CLIENT_CERT", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// Private key of --tls-cert, in PEM and not encrypted
    #[arg(long, value_name = "FILE", env = "TAQUIN_CLIENT_KEY", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// The name that the server's certificate must have [default: that of the endpoint]
    #[arg(long, value_name = "NAME", env = "TAQUIN_TLS_DOMAIN")]
    pub tls_domain: Option<String>,

    /// File with the bearer token to show; without it the variable TAQUIN_TOKEN, if it is set
    #[arg(long, value_name = "FILE", env = "TAQUIN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
}

impl DialOptions {
    /// Reads what they name.
    ///
    /// # Errors
    /// A sentence with flag and file, when one is not as it must be.
    pub fn load(&self) -> Result<Dial, String> {
        Ok(Dial { tls: self.tls()?, domain: self.tls_domain.clone(), authorization: self.authorization()? })
    }

    fn tls(&self) -> Result<Option<Arc<ClientConfig>>, String> {
        let said = |error: FileError| error.to_string();
        let identity = match NamedFile::new("--tls-cert", self.tls_cert.as_ref())
            .zip(NamedFile::new("--tls-key", self.tls_key.as_ref()))
        {
            Some((chain, key)) => Some(certified_key(&chain, &key).map_err(said)?),
            None => None,
        };
        let Some(file) = NamedFile::new("--tls-ca", self.tls_ca.as_ref()) else {
            let wanted = "--tls-cert wants to know whom to trust too: --tls-ca";
            return if identity.is_some() { Err(wanted.into()) } else { Ok(None) };
        };
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider has cipher suites of both versions")
            .with_root_certificates(authorities(&file).map_err(said)?);
        let mut config = match identity {
            Some(identity) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity))),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Some(config.into()))
    }

    fn authorization(&self) -> Result<Option<HeaderValue>, String> {
        if let Some(file) = NamedFile::new("--token-file", self.token_file.as_ref()) {
            let read = file.read().and_then(|text| header(&text).map_err(|why| file.wrong(why)));
            return read.map(Some).map_err(|error| error.to_string());
        }
        match std::env::var_os(TOKEN_VARIABLE).filter(|token| !token.is_empty()) {
            Some(text) => {
                let header = header(text.as_encoded_bytes());
                header.map(Some).map_err(|why| format!("{TOKEN_VARIABLE} {why}"))
            }
            None => Ok(None),
        }
    }
}

/// What shows a token.
fn header(text: &[u8]) -> Result<HeaderValue, &'static str> {
    let token = text.trim_ascii();
    if token.is_empty() || !token.iter().all(u8::is_ascii_graphic) {
        return Err("holds no token, expected a word of letters, digits and signs");
    }
    let mut header = HeaderValue::from_bytes(&[b"Bearer ", token].concat()).map_err(|_| "holds no token")?;
    header.set_sensitive(true);
    Ok(header)
}

/// See the module; by default in plain text, and without a token.
#[derive(Debug, Clone, Default)]
pub struct Dial {
    tls: Option<Arc<ClientConfig>>,
    domain: Option<String>,
    authorization: Option<HeaderValue>,
}

impl Dial {
    /// A worker at a URI, `http://host:port` or `https://host:port`, or at one of the addresses of its name.
    ///
    /// # Errors
    /// A sentence, when the URI does not go with the flags.
    pub fn target(&self, named: &Uri, address: Option<SocketAddr>) -> Result<Target, String> {
        let shake = match (&self.tls, named.scheme() == Some(&Scheme::HTTPS)) {
            (None, false) => None,
            (None, true) => return Err("https:// wants to know whom to trust: --tls-ca".into()),
            (Some(_), false) => return Err("--tls-ca is for https://, and the endpoint is none".into()),
            (Some(tls), true) => {
                let host = named.host().unwrap_or_default().trim_matches(['[', ']']);
                let domain = self.domain.as_deref().unwrap_or(host).to_owned();
                let none = format!("`{domain}` is no name that a certificate has (--tls-domain)");
                Some(Handshake {
                    tls: Arc::clone(tls),
                    name: ServerName::try_from(domain).map_err(|_| none)?,
                })
            }
        };
        let authority = address.map_or_else(
            || named.authority().map(ToString::to_string).unwrap_or_default(),
            |address| address.to_string(),
        );
        // To the transport all is plain: TLS is in what it is given for a connection.
        let endpoint = Endpoint::from_shared(format!("http://{authority}")).map_err(|e| causes(&e))?;
        let endpoint = endpoint.origin(named.clone());
        Ok(Target { named: named.clone(), endpoint, shake, authorization: self.authorization.clone() })
    }
}

/// A worker, and how it is reached.
#[derive(Debug, Clone)]
pub struct Target {
    named: Uri,
    endpoint: Endpoint,
    shake: Option<Handshake>,
    authorization: Option<HeaderValue>,
}

impl Target {
    /// What it is called.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.named
    }

    /// The same worker over a connection with other settings.
    #[must_use]
    pub fn with(mut self, settings: impl FnOnce(Endpoint) -> Endpoint) -> Self {
        self.endpoint = settings(self.endpoint);
        self
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// When it can't be reached so; [`causes`] says why.
    pub async fn connect(&self) -> Result<Authorized, tonic::transport::Error> {
        let channel = match &self.shake {
            None => self.endpoint.connect().await?,
            Some(shake) => self.endpoint.connect_with_connector(shake.clone()).await?,
        };
        Ok(Authorized { channel, authorization: self.authorization.clone() })
    }
}

/// Makes connections that speak TLS with a server of this name.
#[derive(Debug, Clone)]
struct Handshake {
    tls: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Handshake {
    async fn connect(self, uri: Uri) -> io::Result<TlsStream<TcpStream>> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, uri.port_u16().unwrap_or_default())).await?;
        stream.set_nodelay(true)?;
        let mut stream =
            timeout(HANDSHAKE_TIME, TlsConnector::from(self.tls).connect(self.name, stream)).await??;
        if stream.get_ref().1.alpn_protocol() != Some(ALPN) {
            return Err(io::Error::new(ErrorKind::InvalidData, "the server does not speak HTTP/2 (ALPN)"));
        }
        // To the client the handshake is over before the server has seen its certificate: only the server's
        // first word tells whether it was liked. HTTP/2 has servers say it unasked.
        match timeout(FIRST_WORD_TIME, stream.fill_buf()).await {
            Ok(Err(error)) => Err(error),
            Ok(Ok([])) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(Ok(_)) | Err(_) => Ok(stream),
        }
    }
}

impl Service<Uri> for Handshake {
    type Response = TokioIo<TlsStream<TcpStream>>;
    type Error = io::Error;
    type Future = BoxFuture<Self::Response, io::Error>;

    fn poll_ready(&mut self, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connect = self.clone().connect(uri);
        Box::pin(async move { connect.await.map(TokioIo::new) })
    }
}

/// A channel whose every call shows a token, if there is one.
#[derive(Debug, Clone)]
pub struct Authorized {
    channel: Channel,
    authorization: Option<HeaderValue>,
}

impl Service<Request<Body>> for Authorized {
    type Response = Response<Body>;
    type Error = tonic::transport::Error;
    type Future = <Channel as Service<Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context) -> Poll<Result<(), Self::Error>> {
        self.channel.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        self.channel.call(request)
    }
}

/// What an error means, if that is known, and what caused it, each once, the outermost first.
#[must_use]
pub fn causes(error: &(dyn Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    let mut told: Vec<String> = Vec::new();
    for cause in chain.map(ToString::to_string) {
        if told.iter().all(|told| !told.contains(&cause)) {
            told.push(cause);
        }
    }
    explained(told.join(": "))
}

/// What an error means, if that is known, and what caused it in the end.
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    error.source().map_or_else(|| explained(error.to_string()), root_cause)
}

fn explained(told: String) -> String {
    match HINTS.iter().find(|(sign, _)| told.contains(sign)) {
        Some((_, hint)) => format!("{hint} ({told})"),
        None => told,
    }
}
