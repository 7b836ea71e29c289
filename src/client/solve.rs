//! The command `solve`: from options to exit code.
//!
//! It must never know: how boards are written, sent or printed, only who does it.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::timeout;

use super::board::{Board, Layout};
use super::input::{Reading, Source};
use super::options::SolveOptions;
use super::output::{self, Tally, say};
use super::progress::Progress;
use super::render::{Renderer, Style};
use super::stream::{Plan, StreamError, exchange};
use super::{connect, gather};
use crate::service::{Dial, Target, embedded_by_default};

/// What is printed may still leave after an interrupt for so long.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Exit codes, as `--help` has them.
mod code {
    pub(super) const SOLVED: u8 = 0;
    pub(super) const FAILED: u8 = 1;
    pub(super) const USAGE: u8 = 2;
    pub(super) const UNSOLVABLE: u8 = 3;
    pub(super) const TRANSPORT: u8 = 4;
    pub(super) const WRONG: u8 = 5;
    pub(super) const INTERRUPTED: u8 = 130;
}

/// Why the command ended before its boards were answered, with its exit code.
struct Refusal(u8, String);

impl Refusal {
    fn usage(message: impl Into<String>) -> Self {
        Self(code::USAGE, message.into())
    }

    fn local(what: &str, error: &io::Error) -> Self {
        Self(code::FAILED, format!("{what}: {error}"))
    }
}

/// All that is decided before the first board is read.
struct Work {
    source: Source,
    reading: Reading,
    plan: Plan,
    style: Style,
}

/// Solves the boards and returns the exit code.
pub(crate) fn run(options: SolveOptions) -> u8 {
    match prepare(options) {
        Ok((work, target)) => carry_out(work, target),
        Err(refusal) => Err(refusal),
    }
    .unwrap_or_else(|Refusal(code, message)| {
        say(&message);
        code
    })
}

fn prepare(options: SolveOptions) -> Result<(Work, Option<Target>), Refusal> {
    let target = match options.endpoint.as_deref() {
        // An empty variable is one that is not set.
        None | Some("") => None,
        Some(text) => {
            let dial = options.dial.load().map_err(Refusal::usage)?;
            let target = connect::endpoint(text, &dial);
            Some(target.map_err(|e| Refusal::usage(format!("--endpoint {e}")))?)
        }
    };
    let layout = options.layout();
    let goal: Option<Board> = match &options.goal {
        Some(text) => {
            Some(gather::one(text, layout.as_ref()).map_err(|e| Refusal::usage(format!("--goal: {e}")))?)
        }
        None => None,
    };
    let layout: Option<Layout> = layout.or(goal.as_ref().map(|goal| goal.layout.clone()));
    let plan =
        Plan { job: options.job(), in_flight: options.in_flight as usize, timeout: options.patience() };
    let source = match &options.file {
        Some(path) => Source::open(path).map_err(Refusal::usage)?,
        None => Source::arguments(options.boards, layout.as_ref()).map_err(Refusal::usage)?,
    };
    let (reading, style) = match options.judge {
        Some(judge) => (Reading::Judged(judge), Style::Judged(judge)),
        None => (
            Reading::Own { layout, goal: goal.map(Arc::new) },
            Style::Own(Renderer { format: options.output, notation: options.notation }),
        ),
    };
    Ok((Work { source, reading, plan, style }, target))
}

fn carry_out(work: Work, target: Option<Target>) -> Result<u8, Refusal> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("taquin-client")
        .enable_all()
        .build()
        .map_err(|e| Refusal::local("can't start", &e))?;
    let code = runtime.block_on(async {
        let Some(target) = target else {
            let server =
                embedded_by_default().await.map_err(|e| Refusal::local("can't start a server", &e))?;
            let target = connect::endpoint(&server.address().to_string(), &Dial::default());
            return until_interrupted(work, target.map_err(|e| Refusal(code::FAILED, e))?).await;
        };
        until_interrupted(work, target).await
    });
    // Nothing that still runs is worth a wait.
    runtime.shutdown_background();
    code
}

/// Solves, unless an interrupt comes first.
async fn until_interrupted(work: Work, target: Target) -> Result<u8, Refusal> {
    let wanted = work.source.may_be_long() && io::stderr().is_terminal() && !io::stdout().is_terminal();
    let progress = Progress::new(wanted, work.source.bytes());
    let (replies, mut printed) =
        output::spawn(work.style, progress).map_err(|e| Refusal::local("can't print", &e))?;
    let solving = async {
        let client = connect::connect(&target).await.map_err(|e| Refusal(code::TRANSPORT, e))?;
        let items = work.source.read(work.reading).map_err(|e| Refusal::local("can't read", &e))?;
        let ended = exchange(client, work.plan, items, replies).await;
        Ok::<_, Refusal>((ended, (&mut printed).await))
    };
    tokio::select! {
        done = solving => {
            let (ended, tally) = done?;
            let tally = tally.map_err(|_| Refusal(code::FAILED, "the printer failed".into()))?;
            Ok(conclude(&tally, ended.as_ref().err()))
        }
        signal = tokio::signal::ctrl_c() => {
            signal.map_err(|e| Refusal::local("can't wait for an interrupt", &e))?;
            // The sender of replies is gone with the solving: the printer ends when it has printed what it has.
            let _ = timeout(LAST_WORDS, printed).await;
            Ok(code::INTERRUPTED)
        }
    }
}

/// Says what went wrong with the call, and which exit code it all makes.
fn conclude(tally: &Tally, ended: Option<&StreamError>) -> u8 {
    if let Some(error) = ended {
        say(&error.to_string());
    }
    if let Some(error) = &tally.write_error {
        say(&format!("can't write: {error}"));
    }
    match ended {
        _ if tally.wrong > 0 => code::WRONG,
        Some(StreamError::Broken { .. }) => code::TRANSPORT,
        Some(StreamError::Input(_)) => code::FAILED,
        None if tally.lost > 0 => code::TRANSPORT,
        None if tally.failed > 0 || tally.write_error.is_some() => code::FAILED,
        None if tally.unsolvable > 0 => code::UNSOLVABLE,
        None => code::SOLVED,
    }
}
