//! Asks the port for metrics as Prometheus does, by an HTTP client and a reader of `OpenMetrics`
//! of its own.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use taquin::service::{Embedded, Metrics, MetricsPort};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::soon;

/// A port for these metrics that the system chooses.
pub(crate) async fn open(metrics: &Metrics) -> MetricsPort {
    MetricsPort::open((Ipv4Addr::LOCALHOST, 0).into(), metrics.clone()).await.unwrap()
}

/// A port for the metrics of a server, once it serves.
pub(crate) async fn of_server(server: &Embedded) -> MetricsPort {
    let port = open(server.metrics()).await;
    while get(port.address(), "/readyz").await.status != 200 {}
    port
}

/// An answer: status, head and body.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// All that comes until the connection is closed, which a refusal may do without reading all.
pub(crate) async fn said(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while let Ok(read @ 1..) = soon(stream.read(&mut part)).await {
        bytes.extend_from_slice(&part[..read]);
    }
    String::from_utf8(bytes).unwrap()
}

/// Sends these bytes on a connection of their own; `None` when that is closed without a word.
pub(crate) async fn send(address: SocketAddr, request: &[u8]) -> Option<Page> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // It may be closed before all is sent.
    drop(stream.write_all(request).await);
    let text = said(&mut stream).await;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().unwrap();
    Some(Page { status, head: head.to_lowercase(), body: body.to_owned() })
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Page {
    send(address, format!("GET {path} HTTP/1.1\r\nHost: worker\r\n\r\n").as_bytes()).await.unwrap()
}

/// What a family is.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) help: String,
    pub(crate) unit: Option<String>,
}

/// One scrape.
#[derive(Debug)]
pub(crate) struct Scrape {
    pub(crate) families: BTreeMap<String, Family>,
    /// Each value by its name and labels, as they are written.
    pub(crate) samples: BTreeMap<String, f64>,
}

impl Scrape {
    pub(crate) async fn of(address: SocketAddr) -> Self {
        let page = get(address, "/metrics").await;
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(
            page.head.contains("content-type: application/openmetrics-text; version=1.0.0"),
            "{}",
            page.head
        );
        Self::read(&page.body)
    }

    /// Reads a text, which must be as `OpenMetrics` wants it.
    fn read(text: &str) -> Self {
        let lines = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
        let (mut families, mut samples) = (BTreeMap::<String, Family>::new(), BTreeMap::new());
        let mut family = String::new();
        for line in lines.lines() {
            if let Some(told) = line.strip_prefix("# ") {
                let [what, name, text] = told.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
                family = String::from(name);
                let family = families.entry(name.to_owned()).or_default();
                match what {
                    "HELP" => family.help = String::from(text),
                    "TYPE" => family.kind = String::from(text),
                    "UNIT" => family.unit = Some(text.to_owned()),
                    other => panic!("{other}"),
                }
                continue;
            }
            let (name, value) = line.rsplit_once(' ').unwrap();
            let bare = name.split('{').next().unwrap();
            let suffix = bare.strip_prefix(&family).unwrap_or_else(|| panic!("{line} is none of {family}"));
            let suffixes: &[&str] = match families[&family].kind.as_str() {
                "counter" => &["_total"],
                "gauge" => &[""],
                "histogram" => &["_sum", "_count", "_bucket"],
                "info" => &["_info"],
                other => panic!("{other}"),
            };
            assert!(suffixes.contains(&suffix), "{line}");
            let before = samples.insert(name.to_owned(), value.parse().unwrap());
            assert!(before.is_none(), "{name} twice");
        }
        for (name, Family { help, kind, unit }) in &families {
            assert!(!help.is_empty() && !kind.is_empty(), "{name} has no help or type");
            assert!(
                unit.as_ref().is_none_or(|unit| name.ends_with(&format!("_{unit}"))),
                "{name} in {unit:?}"
            );
        }
        Self { families, samples }
    }

    /// A value that is there, whole.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of a test")]
    pub(crate) fn count(&self, sample: &str) -> u64 {
        self.value(sample) as u64
    }

    pub(crate) fn value(&self, sample: &str) -> f64 {
        *self.samples.get(sample).unwrap_or_else(|| panic!("no {sample} in {:#?}", self.samples.keys()))
    }

    /// The samples of a family that are not 0, by their labels.
    pub(crate) fn counted(&self, name: &str) -> BTreeMap<&str, u64> {
        let of = |sample: &str| sample.strip_prefix(name).is_some_and(|rest| rest.starts_with('{'));
        let samples = self.samples.iter().filter(|(sample, value)| of(sample) && **value != 0.0);
        samples.map(|(sample, _)| (&sample[name.len()..], self.count(sample))).collect()
    }
}
