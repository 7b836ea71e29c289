//! The options of `solve`: what may be written on the command line, and what it means on the wire.
//!
//! It must never know: how any of it is carried out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::board::{Graph, Layout, Shape};
use super::judge::{JUDGES, Judge};
use super::render::{Format, Notation};
use crate::service::{DialOptions, pb};

/// What follows the options in `--help`.
pub(crate) const AFTER_HELP: &str = "\
Boards:
  283104765, '2 8 3 1 0 4 7 6 5', '2 8 3/1 0 4/7 6 5' or rows on lines of their own; the blank is one of
  0 x X _ . and # starts a comment. Nine tiles without rows are a 3x3 board; other sizes need rows or --size.
  In a file a line of nine tiles, or with /, is a board; otherwise rows up to an empty line make one.
  With --graph each line is a board, a tile for each vertex, 0 for the empty one.

Judges:
  With --format the input is read and the output written as the judge has them, to the byte; each answer is a
  line, and the last one ends in a newline too. The first thing that the judge would not write ends it: nothing
  is printed in its place or after it. Arguments are lines of the input.

Output:
  A board that has no distance is one of: unsolvable, limit>=N, cancelled, error. Before a distance that is not
  proven stands suboptimal>=N (--max-ratio) or limit>=N (--best-path): no path is shorter than N.

Exit code (the first that holds):
  5    a wrong answer was caught
  4    the server can't be reached, or the call broke before all was answered
  1    some board is malformed, ended in an error or a limit, or input or output failed
  3    some board is unsolvable, and that is no answer of the judge's
  0    every board is solved
  2    the command line is wrong, or a file can't be opened
  130  interrupted";

/// The ways to name boards, which the error says too when there are none.
pub(crate) const USAGE: &str = "\
taquin-client solve [OPTIONS] <BOARD>...
       taquin-client solve [OPTIONS] -                (boards on standard input)
       taquin-client solve [OPTIONS] --file <FILE>    (`-` is standard input)";

/// The longest wait for an answer beyond the time that the board itself may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Boards and what is asked of them.
#[derive(Debug, Clone, Args)]
pub(crate) struct SolveOptions {
    /// Boards, one an argument; `-` alone reads them from standard input
    #[arg(value_name = "BOARD", required_unless_present = "file")]
    pub(crate) boards: Vec<String>,

    /// Read boards from a file; `-` is standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "boards")]
    pub(crate) file: Option<PathBuf>,

    /// The wanted board, in the same forms [default: 1, 2, ..., blank last]
    #[arg(short, long, value_name = "BOARD")]
    pub(crate) goal: Option<String>,

    /// Rows and columns of every board [default: those of the goal, or as the text shows]
    #[arg(short, long, value_name = "RxC")]
    pub(crate) size: Option<Shape>,

    /// Edges between vertices, as in 1-2,1-3: tiles move on this graph instead of a grid
    #[arg(long, value_name = "EDGES", conflicts_with = "size")]
    graph: Option<Graph>,

    /// Read and write as a judge does
    #[arg(
        long = "format",
        value_name = "JUDGE",
        value_parser = judges(),
        conflicts_with_all = ["goal", "size", "graph", "output", "notation"]
    )]
    pub(crate) judge: Option<&'static Judge>,

    /// What is printed
    #[arg(short, long, value_enum, default_value_t = Format::Path)]
    pub(crate) output: Format,

    /// How moves are written
    #[arg(short, long, value_enum, default_value_t = Notation::Blank)]
    pub(crate) notation: Notation,

    #[command(flatten)]
    job: JobOptions,

    /// The server, as http(s)://host:port or host:port; without it one is started in this process
    #[arg(short, long, value_name = "URL", env = "TAQUIN_ENDPOINT")]
    pub(crate) endpoint: Option<String>,

    #[command(flatten)]
    pub(crate) dial: DialOptions,

    /// The most boards between being read and being printed
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) in_flight: u32,

    /// Give up when no answer comes for so long [default: 60s more than --max-time]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
}

/// What is asked of every board.
#[derive(Debug, Clone, Args)]
pub(crate) struct JobOptions {
    /// The search
    #[arg(short, long, value_enum, default_value_t = AlgorithmName::Auto)]
    algorithm: AlgorithmName,

    /// What the server must do without
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    bypass: Vec<Bypass>,

    /// Of all shortest paths the first in U < D < L < R, on graphs by vertex number
    #[arg(long)]
    smallest: bool,

    /// Who goes first when boards queue
    #[arg(long, value_enum, default_value_t = PriorityName::Normal)]
    priority: PriorityName,

    /// The most time a board may take, as 500, 500ms, 2s or 1m [default: the server's]
    #[arg(long, value_name = "DURATION", value_parser = milliseconds)]
    max_time: Option<u32>,

    /// The most states a board may expand [default: the server's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_nodes: Option<u64>,

    /// The longest path that is of interest [default: any]
    #[arg(long, value_name = "N")]
    max_moves: Option<u32>,

    /// When the time or the states end first, print the best path known by then after `limit>=N`
    #[arg(long)]
    best_path: bool,

    /// Take a path proven to be at most so many times as long as a shortest one; printed after `suboptimal>=N`
    #[arg(long, value_name = "RATIO", conflicts_with = "smallest")]
    max_ratio: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AlgorithmName {
    /// The server chooses
    Auto,
    /// Breadth-first search
    Bfs,
    /// Breadth-first search from both ends
    Bidirectional,
    /// A* with the sum of distances
    Astar,
    /// A* with the number of misplaced tiles
    AstarMisplaced,
    /// IDA* with pattern databases, the one for more than nine cells
    IdaStar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bypass {
    /// The cache of solved boards
    Cache,
    /// The table of solved boards
    Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PriorityName {
    Low,
    Normal,
    High,
}

impl JobOptions {
    /// The job of each board, but for its id and the board itself. The path is always asked for: it is replayed.
    pub(crate) fn job(&self) -> pb::Job {
        let algorithm = match self.algorithm {
            AlgorithmName::Auto => pb::Algorithm::Unspecified,
            AlgorithmName::Bfs => pb::Algorithm::BreadthFirst,
            AlgorithmName::Bidirectional => pb::Algorithm::Bidirectional,
            AlgorithmName::Astar => pb::Algorithm::AStar,
            AlgorithmName::AstarMisplaced => pb::Algorithm::AStarMisplaced,
            AlgorithmName::IdaStar => pb::Algorithm::IdaStar,
        };
        let priority = match self.priority {
            PriorityName::Low => pb::Priority::Low,
            PriorityName::Normal => pb::Priority::Normal,
            PriorityName::High => pb::Priority::High,
        };
        let objective = if self.smallest { pb::Objective::SmallestPath } else { pb::Objective::ShortestPath };
        pb::Job {
            algorithm: algorithm.into(),
            objective: objective.into(),
            metric: pb::Metric::SingleTile.into(),
            budget: Some(pb::Budget {
                max_time_ms: self.max_time.unwrap_or_default(),
                max_nodes: self.max_nodes.unwrap_or_default(),
                max_moves: self.max_moves,
            }),
            priority: priority.into(),
            bypass_cache: self.bypass.contains(&Bypass::Cache),
            bypass_table: self.bypass.contains(&Bypass::Table),
            best_path: self.best_path,
            allow_suboptimal: self.max_ratio.map(|max_ratio| pb::AllowSuboptimal { max_ratio }),
            ..pb::Job::default()
        }
    }
}

impl SolveOptions {
    /// What is asked of every board, by its options or by the judge.
    pub(crate) fn job(&self) -> pb::Job {
        let smallest = self.job.smallest || self.judge.is_some_and(Judge::wants_smallest);
        JobOptions { smallest, ..self.job.clone() }.job()
    }

    /// The layout that is named.
    pub(crate) fn layout(&self) -> Option<Layout> {
        let graph = || Some(Layout::Graph(Arc::new(self.graph.clone()?)));
        self.size.map(Layout::Grid).or_else(graph)
    }

    /// The longest wait for the next answer.
    pub(crate) fn patience(&self) -> Duration {
        let board = Duration::from_millis(self.job.max_time.unwrap_or_default().into());
        self.timeout.unwrap_or(PATIENCE + board)
    }
}

/// The names of the judges, each for its judge.
fn judges() -> impl TypedValueParser<Value = &'static Judge> {
    PossibleValuesParser::new(JUDGES.iter().map(|judge| judge.name))
        .try_map(|name| Judge::named(&name).ok_or("no judge has this name"))
}

/// Reads `500`, `500ms`, `2s` or `1m`, at least a millisecond.
fn milliseconds(text: &str) -> Result<u32, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "" | "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        _ => None,
    };
    let value = || number.parse::<u32>().ok()?.checked_mul(unit?);
    value().filter(|&value| value > 0).ok_or_else(|| "expected a time as in 500, 500ms, 2s or 1m".into())
}

/// Reads a time as [`milliseconds`] does.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    milliseconds(text).map(|value| Duration::from_millis(value.into()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: SolveOptions,
    }

    #[test]
    fn what_is_asked_of_every_board() {
        let asked = |line: &str| Line::parse_from(line.split(' ')).options.job();
        let plain = asked("c -");
        assert_eq!(plain.objective(), pb::Objective::ShortestPath);
        assert!(!plain.bypass_cache && !plain.bypass_table);
        let named = asked("c --smallest --bypass table,cache -a bfs --max-moves 3 -");
        assert_eq!(named.objective(), pb::Objective::SmallestPath);
        assert!(named.bypass_cache && named.bypass_table);
        assert_eq!(named.algorithm(), pb::Algorithm::BreadthFirst);
        assert_eq!(named.budget.and_then(|budget| budget.max_moves), Some(3));
        assert_eq!(asked("c --format poj-1077 -").objective(), pb::Objective::SmallestPath);
        assert_eq!(asked("c --format acwing-845 -").objective(), pb::Objective::ShortestPath);
    }

    #[test]
    fn times() {
        let good = [("500", 500), ("500ms", 500), ("2s", 2000), ("1m", 60_000)];
        for (text, value) in good {
            assert_eq!(milliseconds(text), Ok(value));
        }
        for bad in ["", "0", "0s", "s", "1h", "-1", "1.5s", "5000000s", "1 s"] {
            assert!(milliseconds(bad).is_err(), "{bad}");
        }
    }
}
