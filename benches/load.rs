//! The load client beside the bare driver, on the same servers in turn: what it costs to count, time and check.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crate::driver::{Load, drive};
use crate::ready::{self, Process};
use crate::{middle, rate};

/// Measurements of each, in turn.
const ROUNDS: usize = 9;
/// Boards of one measurement.
const JOBS: usize = 1_000_000;
const PACKED_BOARDS: usize = 10_000_000;

/// Prints what the client reaches of the bare driver's throughput.
pub(crate) async fn share(server: &Path, client: &Path) {
    let (echo, worker) = (Process::echo(), Process::worker(server));
    echo.listens().await;
    worker.listens().await;
    ready::idle(worker.address).await;
    println!("| load | against | bare driver, boards/s | client, boards/s | share of the driver's |");
    println!("|---|---|--:|--:|--:|");
    let loads = [
        ("1 stream", Load::jobs(1), JOBS, "--mode stream --in-flight 2048"),
        ("4 streams", Load::jobs(4), JOBS, "--mode stream --in-flight 2048 --streams 4"),
        ("packed", Load::packed(), PACKED_BOARDS, "--mode packed --in-flight 8"),
    ];
    for (name, load, boards, options) in loads {
        for (against, address, check) in [
            ("echo, no check", echo.address, "none"),
            ("worker, no check", worker.address, "none"),
            ("worker, paths replayed", worker.address, "replay"),
        ] {
            let options = format!("{options} --total {boards} --check {check}");
            let (mut bare, mut full) = ([0.0; ROUNDS], [0.0; ROUNDS]);
            for (bare, full) in bare.iter_mut().zip(&mut full) {
                *bare = rate(drive(address, &load, boards).await);
                *full = run(client, address, &options);
            }
            let (bare, full) = (middle(bare), middle(full));
            println!("| {name} | {against} | {bare:.0} | {full:.0} | {:.2} |", full / bare);
        }
    }
}

/// The rate that a report says.
fn run(client: &Path, address: SocketAddr, options: &str) -> f64 {
    let output = Command::new(client)
        .args(["load", "--format", "json", "--endpoint", &address.to_string()])
        .args(options.split(' '))
        .output()
        .expect("the client runs");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert!(output.status.success(), "{report:#}");
    report["rate"]["succeeded_per_second"].as_f64().expect("a rate")
}
