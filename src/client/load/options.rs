//! The options of `load`: what may be written on the command line.
//!
//! It must never know: how any of it is carried out.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};

use super::super::board::{Graph, Shape};
use super::super::options::{JobOptions, duration};
use super::check::Check;
use super::outputs::ReportOptions;
use super::schedule::{Line, Rate, Schedule, Steps};
use crate::service::DialOptions;

/// What follows the options in `--help`.
pub(crate) const AFTER_HELP: &str = "\
Loops:
  Closed (the default): each stream keeps --in-flight boards under way, a new one for each answer.
  Open (--rate, --rate-steps, --rate-line): each board is due at a time of its own, whatever became of those before.
  Its latency counts from that time; beside it stands the one from when it was sent. At the limit of --in-flight
  boards wait in the client, their time running.

Ends:
  After --total boards or --duration, whichever is first; without both, after the schedule, the boards of
  --data-file, or 10 s. Then no board is sent any more, and answers are waited for, for --grace at most; boards
  that have none by then are unfinished. An interrupt does the same.

Boards:
  Each is decided by --seed and its number alone: the same seed sends the same boards, whatever the connections.
  Packed messages are made before the run, 262,144 boards of them, and come again after that.

Faults:
  Boards lost with their connection are sent once more over a new one, after the delay that the server asks for.
  A call is given up when nothing comes for --timeout; a connection, when it can't be made again for 5 s.

Exit code (the first that holds):
  130  interrupted
  1    an answer was wrong, missing, or one too many; or the report can't be written
  99   a condition of --fail-if holds
  4    the server can't be reached, a connection was lost, or boards failed or were unfinished
  0    all was well
  2    the command line is wrong, or a file can't be read";

/// What is sent, how, and what is told of it.
#[derive(Debug, Clone, Args)]
pub(crate) struct LoadOptions {
    /// A worker, as http(s)://host:port or host:port; repeatable, and a name may have several addresses: each has a
    /// connection at least; without it one is started in this process
    #[arg(short, long, value_name = "URL", env = "TAQUIN_ENDPOINT", value_delimiter = ',')]
    pub(crate) endpoint: Vec<String>,

    #[command(flatten)]
    pub(crate) dial: DialOptions,

    /// How boards travel
    #[arg(short, long, value_enum, default_value_t = ModeName::Stream)]
    pub(crate) mode: ModeName,

    /// Connections in all [default: one to each address]
    #[arg(short, long, value_name = "N", value_parser = number(1..=1024))]
    pub(crate) connections: Option<u32>,

    /// Streams of each connection
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number(1..=1024))]
    pub(crate) streams: u32,

    /// Boards, or packed messages, in flight on each stream [default: 64, in an open loop 1024; packed 4]
    #[arg(long, value_name = "N", value_parser = number(1..=65536))]
    pub(crate) in_flight: Option<u32>,

    /// Boards of a packed message [default: 8192]
    #[arg(long, value_name = "N", value_parser = number(1..=1_000_000))]
    pub(crate) batch: Option<u32>,

    /// How many boards are sent, the warm-up not counted
    #[arg(short = 'n', long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=1 << 40))]
    pub(crate) total: Option<u64>,

    /// For how long boards are sent, as 500ms, 10s or 2m, the warm-up not counted
    #[arg(short = 'z', long, value_name = "DURATION", value_parser = duration)]
    pub(crate) duration: Option<Duration>,

    /// For how long boards are sent before any counts
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) warmup: Option<Duration>,

    /// The longest wait for an answer
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub(crate) timeout: Duration,

    /// The longest wait for answers when no more is sent
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration)]
    pub(crate) grace: Duration,

    /// Wait so long for every worker to say that it serves
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) wait_ready: Option<Duration>,

    #[command(flatten)]
    pub(crate) rates: RateOptions,

    #[command(flatten)]
    pub(crate) boards: BoardOptions,

    /// How answers are checked
    #[arg(long, value_enum, default_value_t = Check::Replay)]
    pub(crate) check: Check,

    #[command(flatten)]
    pub(crate) job: JobOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// When boards are due.
#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
pub(crate) struct RateOptions {
    /// Boards due a second
    #[arg(short, long, value_name = "RATE")]
    rate: Option<Rate>,

    /// Rates one after another, as 100x5s,200x5s: 100 a second for 5 s, then 200
    #[arg(long, value_name = "RATExTIME,...")]
    rate_steps: Option<Steps>,

    /// A rate that rises or falls evenly, as 10..1000/30s: from 10 a second to 1000 within 30 s
    #[arg(long, value_name = "FROM..TO/TIME")]
    rate_line: Option<Line>,
}

/// Which boards are sent.
#[derive(Debug, Clone, Args)]
pub(crate) struct BoardOptions {
    /// Rows and columns [default: those of the goal, or 3x3]
    #[arg(short, long, value_name = "RxC")]
    pub(crate) size: Option<Shape>,

    /// The wanted board, as `solve` takes it [default: 1, 2, ..., blank last]
    #[arg(short, long, value_name = "BOARD")]
    pub(crate) goal: Option<String>,

    /// Edges between vertices, as in 1-2,1-3: tiles move on this graph instead of a grid
    #[arg(long, value_name = "EDGES", conflicts_with = "size")]
    pub(crate) graph: Option<Graph>,

    /// What decides which boards are drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Boards of so many moves, as 20 or 10..20 [default: every board that can be solved, each as likely]
    #[arg(long, value_name = "N|A..B")]
    pub(crate) depth: Option<Depth>,

    /// The share of boards that were sent before, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = Share(0.0))]
    pub(crate) repeat_ratio: Share,

    /// The share of boards without a path
    #[arg(long, value_name = "SHARE", default_value_t = Share(0.0))]
    pub(crate) unsolvable_ratio: Share,

    /// The share of boards that are none, which the server must refuse
    #[arg(long, value_name = "SHARE", default_value_t = Share(0.0))]
    pub(crate) malformed_ratio: Share,

    /// Send the boards of a file instead, in their order and again from the first; `-` is standard input
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["seed", "depth", "repeat_ratio", "unsolvable_ratio", "malformed_ratio"]
    )]
    pub(crate) data_file: Option<PathBuf>,
}

/// How boards travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// A call for each
    Unary,
    /// One message for each, on streams
    Stream,
    /// Thousands in a message, on streams
    Packed,
}

impl ModeName {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unary => "unary",
            Self::Stream => "stream",
            Self::Packed => "packed",
        }
    }
}

/// A number of moves, or a range of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Depth(pub(crate) RangeInclusive<u16>);

impl FromStr for Depth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let bounds = from.parse().ok().zip(to.parse().ok()).filter(|(from, to)| from <= to);
        bounds
            .map(|(from, to)| Self(from..=to))
            .ok_or_else(|| "expected a number of moves, or a range as in 10..20".into())
    }
}

/// A share, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        share.map(Self).ok_or_else(|| "expected a share from 0 to 1".into())
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl RateOptions {
    /// The schedule of an open loop, if one is wanted.
    pub(crate) fn schedule(&self) -> Option<Schedule> {
        let constant = self.rate.map(Schedule::constant);
        let steps = || self.rate_steps.clone().map(|Steps(schedule)| schedule);
        let line = || self.rate_line.clone().map(|Line(schedule)| schedule);
        constant.or_else(steps).or_else(line)
    }
}

fn number(range: RangeInclusive<i64>) -> impl clap::builder::TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(range)
}
