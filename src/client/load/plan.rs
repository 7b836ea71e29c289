//! From options to all that is decided before the first board is sent.
//!
//! It must never know: where the workers are, how boards are sent.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::super::board::{Board, Layout, Shape, THREE_BY_THREE};
use super::super::gather;
use super::super::input::{Reading, Source};
use super::check::Check;
use super::optimal::Table;
use super::options::{BoardOptions, Depth, LoadOptions, ModeName, Share};
use super::schedule::Schedule;
use super::settings::Settings;
use super::tiles::{Cells, MAX_CELLS, permutation};
use super::workload::{Nature, Problem, Ratios, Shot, Workload};
use crate::service::pb;

/// How long a run is that has no other end.
const DURATION: Duration = Duration::from_secs(10);
/// The most boards of a file.
const MAX_LISTED: usize = 4_000_000;
/// Boards in flight on a stream, in a closed and in an open loop, and messages of packed boards.
const IN_FLIGHT: (u32, u32, u32) = (64, 1024, 4);
/// Boards of a packed message.
const BATCH: u32 = 8192;

/// See the module.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) mode: ModeName,
    pub(super) job: pb::Job,
    pub(super) workload: Arc<Workload>,
    pub(super) check: Check,
    pub(super) connections: Option<u32>,
    pub(super) streams: u32,
    pub(super) in_flight: u32,
    /// Boards of a packed message, else 1.
    pub(super) batch: u32,
    pub(super) schedule: Option<Schedule>,
    pub(super) total: Option<u64>,
    pub(super) duration: Option<Duration>,
    pub(super) warmup: Duration,
    pub(super) timeout: Duration,
    pub(super) grace: Duration,
    /// The options that say which boards, as the report names them.
    boards: Vec<(&'static str, String)>,
    seed: u64,
}

impl Plan {
    /// What the options say.
    ///
    /// # Errors
    /// A sentence that names the option.
    pub(super) fn new(options: &LoadOptions) -> Result<Self, String> {
        let mode = options.mode;
        let job = without_defaults(options.job.job());
        let is_packed = mode == ModeName::Packed;
        if !is_packed && options.batch.is_some() {
            return Err("--batch is of --mode packed only".into());
        }
        if is_packed {
            fits_packed(&job)?;
        }
        let workload = workload(&options.boards, is_packed)?;
        let schedule = options.rates.schedule();
        let total = options.total.or_else(|| workload.listed_len().filter(|_| options.duration.is_none()));
        let scheduled = schedule.as_ref().and_then(Schedule::length);
        let duration = options.duration.or(scheduled).or_else(|| total.is_none().then_some(DURATION));
        let in_flight = options.in_flight.unwrap_or(match mode {
            ModeName::Packed => IN_FLIGHT.2,
            _ if schedule.is_some() => IN_FLIGHT.1,
            _ => IN_FLIGHT.0,
        });
        Ok(Self {
            mode,
            job,
            workload: workload.into(),
            check: options.check,
            connections: options.connections,
            streams: options.streams,
            in_flight,
            batch: if is_packed { options.batch.unwrap_or(BATCH) } else { 1 },
            schedule,
            total,
            duration,
            warmup: options.warmup.unwrap_or_default(),
            timeout: options.timeout,
            grace: options.grace,
            boards: told(&options.boards),
            seed: options.boards.seed,
        })
    }

    /// The settings, as a report shows them.
    pub(super) fn settings(&self, connections: usize, endpoints: Vec<String>) -> Settings {
        let check = match self.check {
            Check::None => "none",
            Check::Replay => "replay",
            Check::Optimal => "optimal",
        };
        Settings {
            mode: self.mode.name(),
            connections: connections as u64,
            streams: self.streams.into(),
            in_flight: self.in_flight.into(),
            batch: self.batch.into(),
            rate: self.schedule.as_ref().map(ToString::to_string),
            total: self.total,
            duration: self.duration,
            warmup: self.warmup,
            seed: self.seed,
            boards: self.boards.clone(),
            check: check.into(),
            endpoints,
            server: None,
        }
    }
}

/// The same job in fewer bytes: what is left out means the default.
fn without_defaults(mut job: pb::Job) -> pb::Job {
    let leave_out = |field: &mut i32, default: i32| {
        if *field == default {
            *field = 0;
        }
    };
    leave_out(&mut job.objective, pb::Objective::ShortestPath.into());
    leave_out(&mut job.metric, pb::Metric::SingleTile.into());
    leave_out(&mut job.priority, pb::Priority::Normal.into());
    job.budget = job.budget.filter(|budget| *budget != pb::Budget::default());
    job
}

/// Whether packed messages can ask for what is asked.
fn fits_packed(job: &pb::Job) -> Result<(), String> {
    let plain = pb::Job::default();
    let budget = job.budget.unwrap_or_default();
    let wants = [
        ("--smallest", job.objective() == pb::Objective::SmallestPath),
        ("--algorithm", job.algorithm != plain.algorithm),
        ("--bypass", job.bypass_cache || job.bypass_table),
        ("--priority", job.priority != plain.priority),
        ("--max-time", budget.max_time_ms != 0),
        ("--max-nodes", budget.max_nodes != 0),
    ];
    match wants.into_iter().find(|(_, wanted)| *wanted) {
        Some((option, _)) => {
            Err(format!("{option} does not go with --mode packed, which answers from tables alone"))
        }
        None => Ok(()),
    }
}

fn workload(options: &BoardOptions, is_packed: bool) -> Result<Workload, String> {
    let named = || Some(Layout::Graph(Arc::new(options.graph.clone()?)));
    let layout = options.size.map(Layout::Grid).or_else(named);
    let goal = match &options.goal {
        Some(text) => Some(gather::one(text, layout.as_ref()).map_err(|error| format!("--goal: {error}"))?),
        None => None,
    };
    if let Some(path) = &options.data_file {
        return listed(path, layout, goal.as_ref(), is_packed);
    }
    let goal_sent = goal.as_ref().map(|goal| goal.tiles.clone()).unwrap_or_default();
    let goal = match (goal, layout) {
        (Some(goal), _) => goal,
        (None, layout) => ordered(layout.unwrap_or(Layout::Grid(THREE_BY_THREE)))?,
    };
    let problem = problem(&goal, goal_sent)?;
    let numbers = match &options.depth {
        None => 0..problem.table.len(),
        Some(Depth(depths)) => problem.table.range(depths).ok_or_else(|| {
            format!("--depth: no board is so far from the goal, expected 0 to {}", problem.table.farthest())
        })?,
    };
    let (Share(repeat), Share(unsolvable), Share(malformed)) =
        (options.repeat_ratio, options.unsolvable_ratio, options.malformed_ratio);
    Workload::drawn(problem, numbers, Ratios { repeat, unsolvable, malformed }, options.seed, is_packed)
}

/// The goal that is meant on a layout when none is named.
fn ordered(layout: Layout) -> Result<Board, String> {
    let cells = match &layout {
        Layout::Grid(shape) => Shape::cells(*shape),
        Layout::Graph(graph) => graph.largest(),
    };
    let option = if matches!(layout, Layout::Grid(_)) { "--size" } else { "--graph" };
    if !(1..=MAX_CELLS).contains(&cells) {
        return Err(format!("{option}: {cells} cells, expected 1 to {MAX_CELLS}"));
    }
    Ok(Board { layout, tiles: vec![0; cells] }.ordered())
}

fn problem(goal: &Board, goal_sent: Vec<u32>) -> Result<Problem, String> {
    let tiles = permutation(goal).map_err(|error| format!("--goal: {error}"))?;
    if let Layout::Graph(graph) = &goal.layout
        && graph.largest() > goal.tiles.len()
    {
        return Err(format!(
            "--graph: vertex {}, but the goal has {} tiles",
            graph.largest(),
            goal.tiles.len()
        ));
    }
    let cells = Cells::of(goal).ok_or_else(|| format!("--goal: more than {MAX_CELLS} cells"))?;
    let table = Table::sweep(&cells, tiles);
    Ok(Problem { cells, goal: tiles, goal_sent, table })
}

/// The boards of a file, all read before the run.
fn listed(
    path: &Path,
    layout: Option<Layout>,
    goal: Option<&Board>,
    is_packed: bool,
) -> Result<Workload, String> {
    let named = |error: &dyn Display| format!("--data-file {}: {error}", path.display());
    let layout = layout.or_else(|| goal.map(|goal| goal.layout.clone()));
    let reading = Reading::Own { layout, goal: None };
    let mut items = Source::open(path)?.read(reading).map_err(|error| named(&error))?;
    let (mut problems, mut boards) = (Problems::default(), Vec::new());
    while let Some(item) = items.blocking_recv() {
        let item = item.map_err(|error| named(&error))?;
        let board = item.board.as_ref().map_err(|error| named(&format!("{}: {error}", item.place)))?;
        let shot = problems.shot(board, goal).map_err(|error| named(&format!("{}: {error}", item.place)))?;
        boards.push(shot);
        if boards.len() > MAX_LISTED {
            return Err(named(&format!("more than {MAX_LISTED} boards")));
        }
    }
    match problems.all.len() {
        0 => Err(named(&"it holds no board")),
        2.. if is_packed => Err(named(&"--mode packed takes boards of one size")),
        _ => Ok(Workload::listed(problems.all, boards)),
    }
}

/// The problems of a file's boards, made as they are met.
#[derive(Default)]
struct Problems {
    all: Vec<Problem>,
    /// By layout and number of tiles.
    known: HashMap<String, u16>,
}

impl Problems {
    fn shot(&mut self, board: &Board, goal: Option<&Board>) -> Result<Shot, String> {
        let tiles = permutation(board)?;
        let key = format!("{:?} {}", board.layout, board.tiles.len());
        let index = match self.known.get(&key) {
            Some(&index) => index,
            None => self.add(key, board, goal)?,
        };
        let distance = self.all[usize::from(index)].table.distance(tiles);
        Ok(Shot { tiles, nature: distance.map_or(Nature::Unsolvable, Nature::Solvable), problem: index })
    }

    fn add(&mut self, key: String, board: &Board, goal: Option<&Board>) -> Result<u16, String> {
        let goal_sent = goal.map(|goal| goal.tiles.clone()).unwrap_or_default();
        let goal = goal.cloned().unwrap_or_else(|| board.ordered());
        if goal.tiles.len() != board.tiles.len() {
            return Err(format!("{} tiles, expected {} as in the goal", board.tiles.len(), goal.tiles.len()));
        }
        let index = u16::try_from(self.all.len()).map_err(|_| "too many sizes".to_owned())?;
        self.all.push(problem(&goal, goal_sent)?);
        self.known.insert(key, index);
        Ok(index)
    }
}

/// The options that say which boards, of those that were given.
fn told(options: &BoardOptions) -> Vec<(&'static str, String)> {
    let edges = |graph: &super::super::board::Graph| {
        graph.edges.iter().map(|(a, b)| format!("{a}-{b}")).collect::<Vec<_>>().join(",")
    };
    let depth = |Depth(depths): &Depth| match (depths.start(), depths.end()) {
        (from, to) if from == to => from.to_string(),
        (from, to) => format!("{from}..{to}"),
    };
    let share = |Share(share): Share| (share > 0.0).then(|| share.to_string());
    let given = [
        ("size", options.size.map(|size| size.to_string())),
        ("graph", options.graph.as_ref().map(edges)),
        ("goal", options.goal.clone()),
        ("depth", options.depth.as_ref().map(depth)),
        ("repeat-ratio", share(options.repeat_ratio)),
        ("unsolvable-ratio", share(options.unsolvable_ratio)),
        ("malformed-ratio", share(options.malformed_ratio)),
        ("data-file", options.data_file.as_ref().map(|path| path.display().to_string())),
    ];
    given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
