//! Asks a worker whether it serves, as a container's health check does.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tonic::transport::Endpoint;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::SERVICE_NAME;

/// Where a worker that listens on an address is reached from its own machine.
#[must_use]
pub fn loopback_endpoint(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}

/// Whether the worker at an endpoint, `http://host:port` or `host:port`, serves.
///
/// # Errors
/// When it does not, says so, or does not answer in time.
pub async fn check_health(endpoint: &str, timeout: Duration) -> Result<(), Box<dyn Error + Send + Sync>> {
    let url = if endpoint.contains("://") { endpoint.to_owned() } else { format!("http://{endpoint}") };
    let asked = async {
        let address = Endpoint::from_shared(url.clone())
            .ok()
            .filter(|address| address.uri().port_u16().is_some())
            .ok_or_else(|| format!("--endpoint `{endpoint}`: expected http://host:port or host:port"))?;
        let channel = address.connect().await.map_err(|e| format!("can't reach {url}: {}", root(&e)))?;
        let request = HealthCheckRequest { service: SERVICE_NAME.to_owned() };
        let answer = HealthClient::new(channel).check(request).await;
        let status = answer.map_err(|status| match status.source() {
            Some(cause) => format!("no answer from {url}: {}", root(cause)),
            None => format!("{url} answers {:?}: {}", status.code(), status.message()),
        })?;
        match status.into_inner().status() {
            ServingStatus::Serving => Ok(()),
            status => Err(format!("the worker at {url} says {}", status.as_str_name()).into()),
        }
    };
    tokio::time::timeout(timeout, asked).await.map_err(|_| format!("no answer from {url} in {timeout:?}"))?
}

/// What caused an error in the end.
fn root(error: &(dyn Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}
