//! Asks a worker whether it serves, as a container's health check does.

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

/// Whether the worker at an endpoint serves.
///
/// # Errors
/// When it does not, says so, or does not answer in time.
pub async fn check_health(
    endpoint: &str,
    timeout: Duration,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let asked = async {
        let channel = Endpoint::from_shared(endpoint.to_owned())?.connect().await?;
        let request = HealthCheckRequest { service: SERVICE_NAME.to_owned() };
        let status = HealthClient::new(channel).check(request).await?.into_inner().status();
        match status {
            ServingStatus::Serving => Ok(()),
            status => Err(format!("the worker at {endpoint} says {}", status.as_str_name()).into()),
        }
    };
    tokio::time::timeout(timeout, asked)
        .await
        .map_err(|_| format!("no answer from {endpoint} in {timeout:?}"))?
}
