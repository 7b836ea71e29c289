//! What the worker reaches of the *roof*: the same messages over the same transport with
//! no solving. `benches/run` says what it takes to run this.
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

mod boards;
mod driver;
mod echo;
mod hit;
mod load;
mod query;
mod ready;

use std::net::SocketAddr;
use std::path::Path;

use driver::{Load, drive};
use ready::Process;

/// Measurements of each server, in turn.
const ROUNDS: usize = 15;
/// Boards of one measurement.
const JOBS: usize = 250_000;
const PACKED_BOARDS: usize = 2_500_000;

const USAGE: &str = "\
roof share SERVER         the worker's share of the echo's throughput
roof load SERVER CLIENT   the load client's share of the bare driver's throughput
roof hit                  nanoseconds of a hit inside the process
roof ready SERVER         milliseconds until a worker serves, and its memory
roof idle ADDRESS         waits until a worker has all that it makes at its start
roof echo ADDRESS         serves the echo
roof drive ADDRESS COUNT  sends boards to a server, one a message
roof pack ADDRESS COUNT   sends boards to a server, 8,192 a message";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["echo", address] => on_all_cores(echo::serve(socket(address))),
        ["share", server] => on_one_core(share(Path::new(server))),
        ["load", server, client] => on_one_core(load::share(Path::new(server), Path::new(client))),
        ["hit"] => on_one_core(hit::measure()),
        ["ready", server] => on_one_core(ready::measure(Path::new(server))),
        ["idle", address] => on_one_core(ready::idle(socket(address))),
        ["drive", address, count] => on_one_core(send(address, Load::jobs(1), count)),
        ["pack", address, count] => on_one_core(send(address, Load::packed(), count)),
        _ => println!("{USAGE}"),
    }
}

fn socket(address: &str) -> SocketAddr {
    address.parse().expect("an address and a port")
}

fn on_all_cores(what: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("threads").block_on(what);
}

fn on_one_core(what: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("no thread is needed").block_on(what);
}

async fn send(address: &str, load: Load, count: &str) {
    let count = count.parse().expect("a number of boards");
    let (boards, time) = drive(socket(address), &load, count).await;
    println!("{:.1} ns a board", time.as_secs_f64() * 1e9 / boards as f64);
}

async fn share(server: &Path) {
    let (echo, worker) = (Process::echo(), Process::worker(server));
    echo.listens().await;
    worker.listens().await;
    ready::idle(worker.address).await;
    println!("| load | echo, boards/s | worker, boards/s | share of the roof |\n|---|--:|--:|--:|");
    let loads = [
        ("one board a message, 1 stream", Load::jobs(1), JOBS),
        ("one board a message, 4 streams", Load::jobs(4), JOBS),
        ("8,192 boards a message, with paths", Load::packed(), PACKED_BOARDS),
    ];
    for (name, load, boards) in loads {
        let (mut echoed, mut solved) = ([0.0; ROUNDS], [0.0; ROUNDS]);
        for (echoed, solved) in echoed.iter_mut().zip(&mut solved) {
            *echoed = rate(drive(echo.address, &load, boards).await);
            *solved = rate(drive(worker.address, &load, boards).await);
        }
        let (echoed, solved) = (middle(echoed), middle(solved));
        println!("| {name} | {echoed:.0} | {solved:.0} | {:.2} |", solved / echoed);
    }
}

fn rate((boards, time): (usize, std::time::Duration)) -> f64 {
    boards as f64 / time.as_secs_f64()
}

fn middle<const N: usize>(mut rates: [f64; N]) -> f64 {
    rates.sort_unstable_by(f64::total_cmp);
    rates[N / 2]
}
