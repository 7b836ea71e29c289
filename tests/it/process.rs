//! The real binary as a process, with its signals and exit codes.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tonic::transport::Endpoint;

use crate::support::{Client, soon, wait_until};

/// A worker process; killed when it is dropped.
pub(crate) struct Worker {
    child: Child,
    log: Arc<Mutex<String>>,
    pub(crate) address: SocketAddr,
    /// Where its metrics are, if it was asked for them.
    pub(crate) metrics_address: Option<SocketAddr>,
    /// When it was asked for.
    pub(crate) spawned: Instant,
}

impl Worker {
    pub(crate) fn spawn(arguments: &[&str]) -> Self {
        let spawned = Instant::now();
        let listen: &[&str] =
            if arguments.contains(&"--listen") { &[] } else { &["--listen", "127.0.0.1:0"] };
        let mut child = command()
            .args(listen)
            // Without tables, which leave nothing to search.
            .args(["--log-format", "json", "--sweep", "off"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut metrics_address = None;
        let address = lines.find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line).ok()?;
            let address = |name: &str| line[name].as_str()?.parse().ok();
            metrics_address = metrics_address.or_else(|| address("metrics_address"));
            address("address")
        });
        // Its log must not fill the pipe.
        let log = Arc::<Mutex<String>>::default();
        let kept = Arc::clone(&log);
        std::thread::spawn(move || lines.for_each(|line| kept.lock().unwrap().push_str(&(line + "\n"))));
        Self { child, log, address: address.expect("it says where it listens"), metrics_address, spawned }
    }

    /// What it has logged since it listens, a line each.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The log lines of a message, so far.
    pub(crate) fn logged(&self, message: &str) -> Vec<serde_json::Value> {
        // The runtime's own words on a panic are none.
        let log = self.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.filter(|line| line["message"] == message).collect()
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::new(soon(Endpoint::from_shared(self.endpoint()).unwrap().connect()).await.unwrap())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn exit_code_now(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().map(|status| status.code().expect("no signal ended it"))
    }

    pub(crate) async fn exit_code(&mut self, within: Duration) -> i32 {
        let mut code = None;
        wait_until("the process is gone", within, || {
            code = self.exit_code_now();
            code.is_some()
        })
        .await;
        code.unwrap()
    }

    /// Bytes of memory it holds now.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// File descriptors it holds now.
    pub(crate) fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Processor time it uses from now on until so much time has passed.
    pub(crate) async fn busy_within(&self, time: Duration) -> Duration {
        let before = self.processor_time();
        tokio::time::sleep(time).await;
        self.processor_time().saturating_sub(before)
    }

    /// Processor time it has used since its start, to a hundredth of a second.
    fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // Its name, in brackets, may hold anything; the times of user and system come eleven fields behind.
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        fields.skip(11).take(2).map(|ticks| Duration::from_millis(10 * ticks.parse::<u64>().unwrap())).sum()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may be gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The binary, with none of this machine's settings.
pub(crate) fn command() -> Command {
    without_settings(env!("CARGO_BIN_EXE_taquin-server"))
}

/// A program, with none of this machine's settings.
pub(crate) fn without_settings(program: &str) -> Command {
    let mut command = Command::new(program);
    // To write a backtrace takes all debug symbols into memory.
    command.env_remove("RUST_BACKTRACE");
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TAQUIN_")) {
        command.env_remove(name);
    }
    command
}
