//! Where the server is, and how it is spoken to.
//!
//! It must never know: what is said on the connection.

use std::error::Error;
use std::time::Duration;

use tonic::transport::{Channel, Endpoint};

use crate::service::pb::solver_service_client::SolverServiceClient;

/// The longest time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a silent connection is asked for a sign of life, and how long that may take.
const KEEPALIVE: Duration = Duration::from_secs(20);
/// The most bytes of a message, either way.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// A client of the service.
pub(crate) type Client = SolverServiceClient<Channel>;

/// Reads `http://host:port`, or `host:port` alone.
///
/// # Errors
/// A sentence that says what is wrong.
pub(crate) fn endpoint(text: &str) -> Result<Endpoint, String> {
    let wrong = |what: &str| format!("`{text}` {what}: expected http://host:port or host:port");
    let url = match text.split_once("://") {
        None => format!("http://{text}"),
        Some(("http", _)) => text.to_owned(),
        Some(("https", _)) => return Err(wrong("asks for TLS, which this client does not speak")),
        Some(_) => return Err(wrong("has an unknown scheme")),
    };
    let endpoint = Endpoint::from_shared(url).map_err(|_| wrong("is no address"))?;
    let uri = endpoint.uri();
    if uri.host().is_none_or(str::is_empty) || uri.port_u16().is_none() {
        return Err(wrong("has no port"));
    }
    if uri.path() != "/" || uri.query().is_some() {
        return Err(wrong("has a path"));
    }
    Ok(endpoint
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .tcp_keepalive(Some(KEEPALIVE))
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE))
}

/// Opens a connection.
///
/// # Errors
/// A sentence with the causes of the failure.
pub(crate) async fn connect(endpoint: &Endpoint) -> Result<Client, String> {
    let channel = endpoint
        .connect()
        .await
        .map_err(|error| format!("can't reach {}: {}", endpoint.uri(), causes(&error)))?;
    Ok(SolverServiceClient::new(channel)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES))
}

/// An error and what caused it, each once, the outermost first.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut told = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_told = cause.to_string();
        if told.iter().all(|told| !told.contains(&cause_told)) {
            told.push(cause_told);
        }
        next = cause.source();
    }
    told.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in ["localhost:50051", "http://127.0.0.1:1", "[::1]:50051", "http://a.b:9/"] {
            assert!(endpoint(good).is_ok(), "{good}");
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
            assert!(endpoint(bad).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn no_server_is_said_with_its_cause() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let said = connect(&endpoint(&free.to_string()).unwrap()).await.unwrap_err();
        assert!(said.starts_with(&format!("can't reach http://{free}/: ")), "{said}");
        assert!(said.contains("refused"), "{said}");
    }
}
