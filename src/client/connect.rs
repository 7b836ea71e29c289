//! Where the server is, and how it is spoken to.
//!
//! It must never know: what is said on the connection.

use std::net::SocketAddr;
use std::time::Duration;

use tonic::codegen::http::Uri;
use tonic::transport::Endpoint;

use crate::service::pb::solver_service_client::SolverServiceClient;
use crate::service::{Authorized, Dial, Target, causes};

/// The longest time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a silent connection is asked for a sign of life, and how long that may take.
const KEEPALIVE: Duration = Duration::from_secs(20);
/// The most bytes of a message, either way.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// A client of the service.
pub(crate) type Client = SolverServiceClient<Authorized>;

/// Reads `http://host:port`, `https://host:port`, or `host:port` alone.
///
/// # Errors
/// A sentence that says what is wrong.
pub(crate) fn endpoint(text: &str, dial: &Dial) -> Result<Target, String> {
    let wrong = |what: &str| format!("`{text}` {what}: expected http(s)://host:port or host:port");
    let url = match text.split_once("://") {
        None => format!("http://{text}"),
        Some(("http" | "https", _)) => text.to_owned(),
        Some(_) => return Err(wrong("has an unknown scheme")),
    };
    let uri: Uri = url.parse().map_err(|_| wrong("is no address"))?;
    if uri.host().is_none_or(str::is_empty) || uri.port_u16().is_none() {
        return Err(wrong("has no port"));
    }
    if uri.path() != "/" || uri.query().is_some() {
        return Err(wrong("has a path"));
    }
    endpoint_at(&uri, None, dial).map_err(|why| format!("`{text}`: {why}"))
}

/// The worker at a URI, or at one of the addresses of its name.
///
/// # Errors
/// A sentence that says what is wrong.
pub(crate) fn endpoint_at(named: &Uri, address: Option<SocketAddr>, dial: &Dial) -> Result<Target, String> {
    let kept = |endpoint: Endpoint| {
        endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .tcp_keepalive(Some(KEEPALIVE))
            .http2_keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE)
    };
    Ok(dial.target(named, address)?.with(kept))
}

/// Opens a connection.
///
/// # Errors
/// A sentence with the causes of the failure.
pub(crate) async fn connect(target: &Target) -> Result<Client, String> {
    let connected = target.connect().await;
    let channel = connected.map_err(|error| format!("can't reach {}: {}", target.uri(), causes(&error)))?;
    Ok(SolverServiceClient::new(channel)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in ["localhost:50051", "http://127.0.0.1:1", "[::1]:50051", "http://a.b:9/"] {
            assert!(endpoint(good, &Dial::default()).is_ok(), "{good}");
        }
        let bad = [
            "",
            "localhost",
            "http://",
            "https://a:1",
            "ftp://a:1",
            "a:b",
            "a:99999",
            "a:1/x",
            ":1",
            "a b:1",
        ];
        for bad in bad {
            assert!(endpoint(bad, &Dial::default()).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn no_server_is_said_with_its_cause() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let said = connect(&endpoint(&free.to_string(), &Dial::default()).unwrap()).await.unwrap_err();
        assert!(said.starts_with(&format!("can't reach http://{free}/: ")), "{said}");
        assert!(said.contains("refused"), "{said}");
    }
}
