//! What a worker counts while it works: answers, what it refused, waits, open calls and
//! connections. It knows neither the names under which that is shown nor who looks at it.
//!
//! A stream counts for itself and adds what it has now and then ([`Answers`]), so that threads that
//! answer boards do not meet here.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use prometheus_client::encoding::{EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::pb::{self, Source, answer::Outcome};
use super::status::ServiceError;
use crate::config::LimitsConfig;
use crate::domain::sliding::Shape;
use crate::engine::{self, Engine, Overload, Query};

/// Upper ends of the classes into which times are counted, in seconds: from a hit in the cache to the longest job.
const TIMES: [f64; 14] =
    [0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0];
/// Layouts whose times are there from the start, lest the first board of one be no growth.
const USUAL_LAYOUTS: [LayoutName; 3] =
    [LayoutName::Grid { rows: 3, columns: 3 }, LayoutName::Grid { rows: 4, columns: 4 }, LayoutName::Graph];

/// A label: its name, and what it is.
type Label<V = &'static str> = [(&'static str, V); 1];
type Histograms = Family<Label<LayoutName>, Histogram, fn() -> Histogram>;

/// See the module. Cheap to clone; all clones count together.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Counts>);

/// What is counted, and what can be asked when it is shown.
pub(super) struct Counts {
    pub(super) answers: Family<[(&'static str, &'static str); 2], Counter>,
    pub(super) shed: Family<Label, Counter>,
    pub(super) queue_time: Histogram,
    pub(super) solve_time: Histograms,
    pub(super) connections: Gauge,
    pub(super) calls: Family<Label, Gauge>,
    pub(super) began: SystemTime,
    /// There when the worker serves.
    pub(super) serving: OnceLock<(Engine, LimitsConfig)>,
    /// There when it drains.
    pub(super) draining: OnceLock<()>,
}

impl Default for Counts {
    /// Whatever may be counted is there from the start, as nothing.
    fn default() -> Self {
        let counts = Self {
            answers: Family::default(),
            shed: Family::default(),
            queue_time: times(),
            solve_time: Histograms::new_with_constructor(times),
            connections: Gauge::default(),
            calls: Family::default(),
            began: SystemTime::now(),
            serving: OnceLock::new(),
            draining: OnceLock::new(),
        };
        for kind in [Kind::Solved, Kind::Unsolvable, Kind::Suboptimal, Kind::Limit] {
            for source in [Source::Rule, Source::Table, Source::Cache, Source::Coalesced, Source::Search] {
                drop(counts.answers.get_or_create(&labels(kind, source)));
            }
        }
        for kind in [Kind::Cancelled, Kind::Error] {
            drop(counts.answers.get_or_create(&labels(kind, Source::Unspecified)));
        }
        for reason in SHEDS {
            drop(counts.shed.get_or_create(&reason.label()));
        }
        for layout in USUAL_LAYOUTS {
            drop(counts.solve_time.get_or_create(&[("layout", layout)]));
        }
        for rpc in [Rpc::Solve, Rpc::SolveStream, Rpc::SolvePacked] {
            drop(counts.calls.get_or_create(&rpc.label()));
        }
        counts
    }
}

fn times() -> Histogram {
    Histogram::new(TIMES)
}

/// What a worker is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has yet to read tables, or to listen.
    Starting,
    /// It takes jobs.
    Serving,
    /// It answers what it has taken.
    Draining,
}

impl Metrics {
    pub(super) fn counts(&self) -> &Counts {
        &self.0
    }

    /// From now on it takes jobs, with this engine.
    pub(super) fn serves(&self, engine: &Engine, limits: &LimitsConfig) {
        // A second engine under the same counts would not be asked.
        let _ = self.0.serving.set((engine.clone(), *limits));
    }

    /// From now on it takes no job.
    pub(super) fn drains(&self) {
        let _ = self.0.draining.set(());
    }

    pub(super) fn phase(&self) -> Phase {
        match (self.0.serving.get(), self.0.draining.get()) {
            (_, Some(())) => Phase::Draining,
            (Some(_), None) => Phase::Serving,
            (None, None) => Phase::Starting,
        }
    }

    /// Whether every task of the engine runs.
    pub(super) fn is_whole(&self) -> bool {
        self.0.serving.get().is_none_or(|(engine, _)| engine.is_whole())
    }

    /// Adds answers, and leaves none of them.
    pub(super) fn add(&self, answers: &mut Answers) {
        for (kind, by_source) in KINDS.into_iter().zip(&mut answers.0) {
            for (source, count) in SOURCES.into_iter().zip(by_source) {
                if *count > 0 {
                    self.0.answers.get_or_create(&labels(kind, source)).inc_by(*count);
                    *count = 0;
                }
            }
        }
    }

    /// Counts what an error refused for want of room, if it did.
    pub(super) fn refused(&self, error: &ServiceError) {
        if let Some(reason) = Shed::of(error) {
            self.0.shed.get_or_create(&reason.label()).inc();
        }
    }

    /// Counts what a job has cost that waited for a search.
    pub(super) fn searched(&self, layout: LayoutName, answer: &engine::Answer) {
        let statistics = &answer.statistics;
        self.0.queue_time.observe(statistics.queue_time.as_secs_f64());
        // A search is counted once, however many joined it, and not one that expired in the queue.
        if answer.source == engine::Source::Search && statistics.solve_time > Duration::ZERO {
            let time = statistics.solve_time.as_secs_f64();
            self.0.solve_time.get_or_create(&[("layout", layout)]).observe(time);
        }
    }

    /// Counts a connection while it is open.
    pub(super) fn connection(&self) -> Present {
        Present::new(self.0.connections.clone())
    }

    /// Counts a call while it is open.
    pub(super) fn call(&self, rpc: Rpc) -> Present {
        Present::new(self.0.calls.get_or_create(&rpc.label()).clone())
    }
}

/// Counts something in, and out when it is dropped.
pub(super) struct Present(Gauge);

impl Present {
    fn new(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// What came of a board, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Solved,
    Unsolvable,
    Suboptimal,
    Limit,
    Cancelled,
    Error,
}

pub(super) const KINDS: [Kind; 6] =
    [Kind::Solved, Kind::Unsolvable, Kind::Suboptimal, Kind::Limit, Kind::Cancelled, Kind::Error];
const SOURCES: [Source; 6] =
    [Source::Unspecified, Source::Rule, Source::Table, Source::Cache, Source::Coalesced, Source::Search];

fn labels(kind: Kind, source: Source) -> [(&'static str, &'static str); 2] {
    let outcome = match kind {
        Kind::Solved => "solved",
        Kind::Unsolvable => "unsolvable",
        Kind::Suboptimal => "suboptimal",
        Kind::Limit => "limit",
        Kind::Cancelled => "cancelled",
        Kind::Error => "error",
    };
    let source = match source {
        Source::Unspecified => "none",
        Source::Rule => "rule",
        Source::Table => "table",
        Source::Cache => "cache",
        Source::Coalesced => "coalesced",
        Source::Search => "search",
    };
    [("outcome", outcome), ("source", source)]
}

/// Answers by kind and source, of one who adds them to the worker's later.
#[derive(Default)]
pub(super) struct Answers([[u64; SOURCES.len()]; KINDS.len()]);

impl Answers {
    pub(super) fn count(&mut self, kind: Kind, source: Source, boards: u64) {
        self.0[kind as usize][source as usize] += boards;
    }

    /// Counts one answer.
    pub(super) fn answered(&mut self, answer: &pb::Answer) {
        let kind = match answer.outcome {
            Some(Outcome::Solution(_)) => Kind::Solved,
            Some(Outcome::Unsolvable(_)) => Kind::Unsolvable,
            Some(Outcome::Suboptimal(_)) => Kind::Suboptimal,
            Some(Outcome::LimitReached(_)) => Kind::Limit,
            Some(Outcome::Cancelled(_)) => Kind::Cancelled,
            Some(Outcome::Error(_)) | None => Kind::Error,
        };
        self.count(kind, answer.source(), 1);
    }

    /// How many of each kind, in the order of [`Kind`].
    pub(super) fn by_kind(&self) -> [u64; KINDS.len()] {
        self.0.map(|by_source| by_source.iter().sum())
    }
}

/// The calls that have boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rpc {
    Solve,
    SolveStream,
    SolvePacked,
}

impl Rpc {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Solve => "Solve",
            Self::SolveStream => "SolveStream",
            Self::SolvePacked => "SolvePacked",
        }
    }

    fn label(self) -> Label {
        [("rpc", self.name())]
    }
}

/// Why something was refused or given up that another worker, or this one later, could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shed {
    /// As many searches wait as may.
    Queue,
    /// As many jobs are in flight as may be.
    InFlight,
    /// As many calls are open as may be.
    Streams,
    /// The worker is about to stop.
    Draining,
    /// Answers were left unread.
    Stalled,
    /// As many jobs of a connection are in flight as may be.
    Connection,
    /// As many jobs of a token's caller are in flight as may be.
    Caller,
    /// A token's caller asks for more jobs a second than it may.
    Rate,
}

const SHEDS: [Shed; 8] = [
    Shed::Queue,
    Shed::InFlight,
    Shed::Streams,
    Shed::Draining,
    Shed::Stalled,
    Shed::Connection,
    Shed::Caller,
    Shed::Rate,
];

impl Shed {
    /// How an error is counted that refuses, or gives up, for want of room or because the worker stops.
    fn of(error: &ServiceError) -> Option<Self> {
        match error {
            ServiceError::Overload(Overload::Queue { .. }) => Some(Self::Queue),
            ServiceError::Overload(Overload::InFlight { .. }) => Some(Self::InFlight),
            ServiceError::Streams { .. } => Some(Self::Streams),
            ServiceError::Connection { .. } => Some(Self::Connection),
            ServiceError::CallerInFlight { .. } => Some(Self::Caller),
            ServiceError::CallerRate { .. } => Some(Self::Rate),
            ServiceError::Draining => Some(Self::Draining),
            ServiceError::ReaderStalled { .. } => Some(Self::Stalled),
            ServiceError::Invalid { .. }
            | ServiceError::DuplicateId { .. }
            | ServiceError::Failure(_)
            | ServiceError::Misuse(_)
            | ServiceError::NoToken
            | ServiceError::WrongToken
            | ServiceError::Revoked
            | ServiceError::Aged
            | ServiceError::Request { .. }
            | ServiceError::Deadline => None,
        }
    }

    fn label(self) -> Label {
        let reason = match self {
            Self::Queue => "queue",
            Self::InFlight => "in_flight",
            Self::Streams => "streams",
            Self::Draining => "draining",
            Self::Stalled => "stalled",
            Self::Connection => "connection",
            Self::Caller => "caller",
            Self::Rate => "rate",
        };
        [("reason", reason)]
    }
}

/// A layout as a label: there are fifty grids of at most sixteen cells, and all graphs are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LayoutName {
    Grid { rows: u8, columns: u8 },
    Graph,
}

impl LayoutName {
    pub(super) fn of(query: &Query) -> Self {
        match query.canonical.goal().frame().layout().shape() {
            Shape::Grid { rows, columns, .. } => Self::Grid { rows, columns },
            Shape::Graph => Self::Graph,
        }
    }
}

impl EncodeLabelValue for LayoutName {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> std::fmt::Result {
        use std::fmt::Write;
        match self {
            Self::Grid { rows, columns } => write!(encoder, "{rows}x{columns}"),
            Self::Graph => encoder.write_str("graph"),
        }
    }
}
