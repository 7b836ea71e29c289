//! A wire with faults: between a client and a server, it delays, freezes and cuts.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// A proxy on a runtime of its own; dropping it cuts all its connections.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    faults: Arc<Faults>,
    runtime: Option<Runtime>,
}

struct Faults {
    /// Nothing goes through.
    frozen: watch::Sender<bool>,
    /// How often all connections were cut.
    cuts: watch::Sender<u64>,
    /// Milliseconds that bytes take, each way.
    delay_ms: AtomicU64,
    connections: AtomicU64,
    bytes: AtomicU64,
}

impl Proxy {
    /// A wire to this server, without a fault for now.
    pub(crate) fn to(server: SocketAddr) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let faults = Arc::new(Faults {
            frozen: watch::Sender::new(false),
            cuts: watch::Sender::new(0),
            delay_ms: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(accept(listener, server, Arc::clone(&faults)));
        Self { address, faults, runtime: Some(runtime) }
    }

    /// Nothing goes through until it is thawed.
    pub(crate) fn freeze(&self) {
        self.faults.frozen.send_replace(true);
    }

    pub(crate) fn thaw(&self) {
        self.faults.frozen.send_replace(false);
    }

    /// Ends all connections that are open.
    pub(crate) fn cut(&self) {
        self.faults.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Lets bytes take so long, each way.
    pub(crate) fn delay(&self, delay: Duration) {
        self.faults.delay_ms.store(u64::try_from(delay.as_millis()).unwrap(), SeqCst);
    }

    /// How many bytes went through, both ways.
    pub(crate) fn bytes(&self) -> u64 {
        self.faults.bytes.load(SeqCst)
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> u64 {
        self.faults.connections.load(SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, faults: Arc<Faults>) {
    while let Ok((client, _)) = listener.accept().await {
        faults.connections.fetch_add(1, SeqCst);
        let faults = Arc::clone(&faults);
        tokio::spawn(async move {
            let Ok(upstream) = TcpStream::connect(server).await else { return };
            client.set_nodelay(true).unwrap();
            upstream.set_nodelay(true).unwrap();
            let mut cuts = faults.cuts.subscribe();
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), upstream.into_split());
            tokio::select! {
                () = pump(from_client, to_server, &faults) => {}
                () = pump(from_server, to_client, &faults) => {}
                _ = cuts.changed() => {}
            }
        });
    }
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, faults: &Faults) {
    let mut frozen = faults.frozen.subscribe();
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        if frozen.wait_for(|frozen| !frozen).await.is_err() {
            return;
        }
        let delay = faults.delay_ms.load(SeqCst);
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
        faults.bytes.fetch_add(read as u64, SeqCst);
    }
}
