//! The command `load`: from options to a report and an exit code.
//!
//! It must never know: how boards are drawn, sent or checked, only who does it.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::{Instant, sleep, timeout};

use super::super::connect;
use super::super::output::say;
use super::generate::{Outcome, generate, interrupted};
use super::link::Worker;
use super::options::LoadOptions;
use super::outputs::Outputs;
use super::plan::Plan;
use super::record::{CODES, Recorder};
use super::report::{Ending, Report};
use super::settings::Settings;
use super::threshold;
use crate::service::{Dial, embedded_by_default, pb};

/// How long a server may take to say its version.
const VERSION_TIME: Duration = Duration::from_secs(1);
/// The pause before a name is looked up again that was not found.
const LOOKUP_PAUSE: Duration = Duration::from_millis(200);

/// Exit codes, as `--help` has them.
mod code {
    pub(super) const WELL: u8 = 0;
    pub(super) const WRONG: u8 = 1;
    pub(super) const USAGE: u8 = 2;
    pub(super) const FAULT: u8 = 4;
    pub(super) const THRESHOLD: u8 = 99;
    pub(super) const INTERRUPTED: u8 = 130;
}

/// Runs the load and returns the exit code.
pub(crate) fn run(options: &LoadOptions) -> u8 {
    let prepared =
        || Ok::<_, String>((Plan::new(options)?, options.report.outputs()?, Servers::new(options)?));
    let (plan, outputs, servers) = match prepared() {
        Ok(prepared) => prepared,
        Err(message) => {
            say(&message);
            return code::USAGE;
        }
    };
    let runtime = match Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            say(&format!("can't start a runtime: {error}"));
            return code::FAULT;
        }
    };
    let (report, is_faulty) = runtime.block_on(report(options, &plan, servers));
    // Nothing that still runs is worth a wait.
    runtime.shutdown_background();
    conclude(&report, is_faulty, &outputs)
}

/// The endpoints that are given, and how they are reached.
struct Servers {
    urls: Vec<String>,
    dial: Dial,
}

impl Servers {
    fn new(options: &LoadOptions) -> Result<Self, String> {
        // An empty variable is one that is not set.
        let urls: Vec<String> = options.endpoint.iter().filter(|text| !text.is_empty()).cloned().collect();
        let dial = if urls.is_empty() { Dial::default() } else { options.dial.load()? };
        for url in &urls {
            connect::endpoint(url, &dial).map_err(|e| format!("--endpoint {e}"))?;
        }
        Ok(Self { urls, dial })
    }
}

/// Runs the plan; the report of it, and whether anything failed.
async fn report(options: &LoadOptions, plan: &Plan, mut servers: Servers) -> (Report, bool) {
    let server = match servers.urls[..] {
        [] => match embedded_by_default().await {
            Ok(server) => {
                servers.urls.push(server.address().to_string());
                Some(server)
            }
            Err(error) => return failed(plan, &format!("can't start a server: {error}")),
        },
        _ => None,
    };
    let found =
        async { Ok::<_, String>((find(&servers, options.wait_ready).await?, version(&servers).await)) };
    let (workers, server_version): (Arc<[Worker]>, _) = tokio::select! {
        found = found => match found {
            Ok((workers, version)) => (workers.into(), version),
            Err(why) => return failed(plan, &why),
        },
        () = interrupted() => return never_begun(plan, Recorder::new(), Ending::Interrupted),
    };
    let connections = plan.connections.map_or(workers.len(), |wanted| workers.len().max(wanted as usize));
    let names = workers.iter().map(|worker| worker.name.clone()).collect();
    let settings = Settings { server: server_version, ..plan.settings(connections, names) };
    match generate(plan, &workers, connections).await {
        Ok(outcome) => {
            drop(server);
            let is_faulty = is_faulty(plan, &outcome);
            let Outcome { seen, started, elapsed, ending } = outcome;
            let mut report = Report::new(seen, settings, started, elapsed, ending);
            threshold::judge(&mut report, &options.report.fail_if);
            (report, is_faulty)
        }
        Err(error) => failed(plan, &format!("can't start a thread: {error}")),
    }
}

/// The workers at all endpoints, when they are ready if that is to be waited for.
async fn find(servers: &Servers, wait_ready: Option<Duration>) -> Result<Vec<Worker>, String> {
    let end = Instant::now() + wait_ready.unwrap_or_default();
    let mut workers = Vec::new();
    for url in &servers.urls {
        workers.extend(loop {
            match Worker::find(url, &servers.dial).await {
                Err(_) if Instant::now() < end => sleep(LOOKUP_PAUSE).await,
                found => break found?,
            }
        });
    }
    if wait_ready.is_some() {
        for worker in &workers {
            worker.ready(end).await?;
        }
    }
    Ok(workers)
}

/// What the first server says its version is, if it does.
async fn version(Servers { urls, dial }: &Servers) -> Option<String> {
    let asked = async {
        let mut client = connect::connect(&connect::endpoint(urls.first()?, dial).ok()?).await.ok()?;
        Some(client.get_server_info(pb::GetServerInfoRequest {}).await.ok()?.into_inner().version)
    };
    timeout(VERSION_TIME, asked).await.ok()?.filter(|version| !version.is_empty())
}

/// The report of a run that could not begin.
fn failed(plan: &Plan, why: &str) -> (Report, bool) {
    let mut seen = Recorder::new();
    seen.connect_error(why);
    never_begun(plan, seen, Ending::Failed(why.to_owned()))
}

fn never_begun(plan: &Plan, seen: Recorder, ending: Ending) -> (Report, bool) {
    let settings = plan.settings(0, Vec::new());
    (Report::new(seen, settings, std::time::SystemTime::now(), Duration::ZERO, ending), true)
}

/// Whether boards or connections failed, or boards had no answer.
fn is_faulty(plan: &Plan, outcome: &Outcome) -> bool {
    let seen = &outcome.seen;
    // A call of its own ends with the error of its board, which may be as was asked.
    let calls = &seen.calls[1..CODES];
    let broken = plan.mode != super::options::ModeName::Unary && calls.iter().any(|&calls| calls > 0);
    let failed = !seen.failed.corrected().is_empty();
    broken
        || failed
        || seen.resent > 0
        || seen.unfinished > 0
        || !seen.errors.is_empty()
        || matches!(outcome.ending, Ending::Failed(_))
}

/// Writes the report, and says which exit code it makes.
fn conclude(report: &Report, is_faulty: bool, outputs: &Outputs) -> u8 {
    let unwritten = outputs.write(report);
    for failure in &unwritten {
        say(failure);
    }
    if report.ending == Ending::Interrupted {
        code::INTERRUPTED
    } else if report.wrongs() > 0 || !unwritten.is_empty() {
        code::WRONG
    } else if report.verdicts.iter().any(|verdict| verdict.holds) {
        code::THRESHOLD
    } else if is_faulty {
        code::FAULT
    } else {
        code::WELL
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
