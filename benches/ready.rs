//! Servers as processes of their own: started, waited for, and what they weigh.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use taquin::service::check_health;
use taquin::service::pb::solver_service_client::SolverServiceClient;
use taquin::service::pb::{GetServerInfoRequest, TableStatistics};
use tokio::net::TcpStream;
use tonic::transport::Endpoint;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(1);
const ROUNDS: usize = 9;

/// A server that is killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    /// The worker, on a port that is free.
    pub(crate) fn worker(program: &Path) -> Self {
        let address = free_address();
        Self::spawn(Command::new(program).args(["--listen", &address.to_string()]), address)
    }

    /// The echo, on a port that is free.
    pub(crate) fn echo() -> Self {
        let (program, address) = (std::env::current_exe().expect("this program"), free_address());
        Self::spawn(Command::new(program).args(["echo", &address.to_string()]), address)
    }

    fn spawn(command: &mut Command, address: SocketAddr) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a server");
        Self { child, address }
    }

    /// Waits until it takes connections.
    pub(crate) async fn listens(&self) {
        while TcpStream::connect(self.address).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("as Linux writes it");
        line.trim().trim_end_matches(" kB").parse().expect("as Linux writes it")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("a bound socket")
}

/// Waits until a worker has its standard tables.
pub(crate) async fn tables(address: SocketAddr) {
    until(address, |tables| tables.standard_ready).await;
}

/// Waits until a worker has made all that it makes at its start, and so does nothing by itself.
pub(crate) async fn idle(address: SocketAddr) {
    until(address, |tables| tables.standard_ready && tables.pattern_goals > 0).await;
}

async fn until(address: SocketAddr, ready: impl Fn(TableStatistics) -> bool) {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    let mut client = SolverServiceClient::new(endpoint.connect().await.expect("it listens"));
    loop {
        let info = client.get_server_info(GetServerInfoRequest {}).await.expect("it serves").into_inner();
        if info.tables.is_some_and(&ready) {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Prints how long a worker takes until it serves, until it has its tables, and what is resident then.
pub(crate) async fn measure(program: &Path) {
    let mut rounds = [(); ROUNDS].map(|()| (Duration::ZERO, Duration::ZERO, 0));
    for (serves, swept, resident_kib) in &mut rounds {
        let since = Instant::now();
        let worker = Process::worker(program);
        let endpoint = format!("http://{}", worker.address);
        while check_health(&endpoint, Duration::from_secs(1)).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
        *serves = since.elapsed();
        tables(worker.address).await;
        *swept = since.elapsed();
        *resident_kib = worker.resident_kib();
    }
    let middle = |mut times: [Duration; ROUNDS]| {
        times.sort_unstable();
        (times[ROUNDS / 2].as_secs_f64() * 1e3, times[ROUNDS - 1].as_secs_f64() * 1e3)
    };
    let (serves, slowest) = middle(rounds.map(|round| round.0));
    println!("from the start until it serves: {serves:.0} ms, {slowest:.0} ms at most");
    let (swept, slowest) = middle(rounds.map(|round| round.1));
    println!("until the standard tables are there: {swept:.0} ms, {slowest:.0} ms at most");
    let most = rounds.iter().map(|round| round.2).max().expect("several rounds");
    println!("resident then: {:.1} MB at most", most as f64 * 1024.0 / 1e6);
}
