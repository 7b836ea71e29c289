//! Asks a worker whether it serves, as a container's health check does.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tonic::codegen::http::Uri;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::SERVICE_NAME;
use super::dial::{Dial, Target, root_cause};

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
    check_health_by(&Dial::default(), endpoint, timeout).await
}

/// Whether the worker at an endpoint, reached as `dial` says, serves.
///
/// # Errors
/// When it does not, says so, can't be reached so, or does not answer in time.
pub async fn check_health_by(
    dial: &Dial,
    endpoint: &str,
    timeout: Duration,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let url = if endpoint.contains("://") { endpoint.to_owned() } else { format!("http://{endpoint}") };
    let uri = url.parse::<Uri>().ok().filter(|uri| uri.port_u16().is_some());
    let uri =
        uri.ok_or_else(|| format!("--endpoint `{endpoint}`: expected http(s)://host:port or host:port"))?;
    let target = dial.target(&uri, None)?;
    let asked = ask_health(&target);
    tokio::time::timeout(timeout, asked)
        .await
        .map_err(|_| format!("no answer from {url} in {timeout:?}"))??;
    Ok(())
}

/// Whether a worker serves, for as long as it takes to say so.
///
/// # Errors
/// A sentence, when it does not, or says so.
pub async fn ask_health(target: &Target) -> Result<(), String> {
    let url = target.uri().to_string();
    let url = url.trim_end_matches('/');
    let channel = target.connect().await.map_err(|e| format!("can't reach {url}: {}", root_cause(&e)))?;
    let request = HealthCheckRequest { service: SERVICE_NAME.to_owned() };
    let answer = HealthClient::new(channel).check(request).await;
    let status = answer.map_err(|status| match status.source() {
        Some(cause) => format!("no answer from {url}: {}", root_cause(cause)),
        None => format!("{url} answers {:?}: {}", status.code(), status.message()),
    })?;
    match status.into_inner().status() {
        ServingStatus::Serving => Ok(()),
        status => Err(format!("the worker at {url} says {}", status.as_str_name())),
    }
}
