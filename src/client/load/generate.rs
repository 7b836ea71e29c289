//! A run from its connections to the last answer: threads with connections of their own, their drivers, and the two
//! ends, of sending and of waiting.
//!
//! It must never know: what a board is, what a report says.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::drive::Driver;
use super::link::{Link, Worker};
use super::modes::{Batches, Jobs};
use super::options::ModeName;
use super::pace;
use super::plan::Plan;
use super::progress::Goal;
use super::quota::Quota;
use super::record::Recorder;
use super::report::Ending;
use super::run::{Nanos, Pace, Run, nanos};
use super::unary::Unary;
use super::wire::{Envelope, Template};

/// Nanoseconds by which a time may be off that was computed from a rate.
const ROUNDING: Nanos = 1000;
/// How long the threads may take to end when nothing is waited for any more.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What came of a run.
pub(super) struct Outcome {
    pub(super) seen: Recorder,
    pub(super) started: SystemTime,
    pub(super) elapsed: Duration,
    pub(super) ending: Ending,
}

/// What drives a stream, but for its number and its connection.
#[derive(Clone)]
enum Kind {
    Unary(Jobs),
    Stream(Jobs),
    Packed(Batches),
}

impl Kind {
    fn new(plan: &Plan) -> Self {
        let workload = Arc::clone(&plan.workload);
        let jobs = |envelope| {
            let template = |problem| Template::new(envelope, &plan.job, problem);
            let templates = plan.workload.problems().iter().map(template).collect();
            Jobs { workload: Arc::clone(&workload), templates, check: plan.check }
        };
        match plan.mode {
            ModeName::Unary => Self::Unary(jobs(Envelope::Unary)),
            ModeName::Stream => Self::Stream(jobs(Envelope::Stream)),
            ModeName::Packed => Self::Packed(Batches::new(
                workload,
                plan.job.clone(),
                plan.batch.into(),
                plan.total,
                plan.check,
            )),
        }
    }

    async fn drive(self, run: Arc<Run>, link: Arc<Link>, number: usize, in_flight: u32) -> Recorder {
        match self {
            Self::Unary(jobs) => Unary::new(run, link, number, jobs, in_flight).drive().await,
            Self::Stream(jobs) => Driver::new(run, link, number, jobs, in_flight).drive().await,
            Self::Packed(batches) => Driver::new(run, link, number, batches, in_flight).drive().await,
        }
    }
}

/// Runs a plan against workers, over so many connections.
///
/// # Errors
/// When the system gives no thread.
pub(super) async fn generate(
    plan: &Plan,
    workers: &Arc<[Worker]>,
    connections: usize,
) -> io::Result<Outcome> {
    let run = Arc::new(prepare(plan, connections * plan.streams as usize));
    let mut threads = Threads::spawn(plan, &run, workers, connections)?;
    let mut seen = Recorder::new();
    let errors = threads.connect().await;
    for error in &errors {
        seen.connect_error(error);
    }
    if errors.len() >= connections {
        run.cut.cancel();
        let ending = Ending::Failed("no worker could be reached".into());
        return Ok(Outcome { seen, started: SystemTime::now(), elapsed: Duration::ZERO, ending });
    }
    run.start();
    let started = SystemTime::now() + Duration::from_nanos(run.counts_from);
    pace::spawn(&run)?;
    let (ending, over) = lead(plan, &run, &mut threads, &mut seen).await;
    count_unsent(plan, &run, &mut seen);
    let end = over.max(run.last_answer.load(Relaxed));
    Ok(Outcome { seen, started, elapsed: run.counted(end), ending })
}

fn prepare(plan: &Plan, drivers: usize) -> Run {
    let batch = u64::from(plan.batch);
    let pace = plan.schedule.clone().map(|schedule| {
        let (schedule, boards) = schedule.after(plan.warmup);
        Pace { schedule, boards: batch, warm: boards / batch }
    });
    let counts_from = pace.as_ref().map_or(plan.warmup, |pace| pace.due(pace.warm));
    let warm = pace.as_ref().map_or(0, |pace| pace.warm);
    let total = plan.total.map_or(u64::MAX, |total| warm + total.div_ceil(batch));
    // What is due as an open loop ends is not sent: how many boards it has is no matter of luck.
    let length = plan.duration.map(|duration| nanos(counts_from + duration) - ROUNDING);
    let in_time = pace.as_ref().zip(length).map(|(pace, length)| pace::first_after(pace, 0, length));
    let end = in_time.map_or(total, |in_time| total.min(in_time));
    Run {
        quota: Quota::new(end, drivers as u64, pace.is_some()),
        pace,
        counts_from: nanos(counts_from),
        timeout: plan.timeout,
        stop: CancellationToken::new(),
        cut: CancellationToken::new(),
        started: CancellationToken::new(),
        begin: OnceLock::new(),
        last_answer: AtomicU64::new(0),
        live: Arc::default(),
        wakes: (0..drivers).map(|_| Notify::new()).collect(),
    }
}

/// Waits for the end of sending, then of waiting; how the run ended, and when the sending did if it was ended here.
async fn lead(plan: &Plan, run: &Arc<Run>, threads: &mut Threads, seen: &mut Recorder) -> (Ending, Nanos) {
    let length = plan.duration.map(|duration| Duration::from_nanos(run.counts_from) + duration);
    let live = Arc::clone(&run.live);
    let mut shown = pin!(live.show(Goal { total: plan.total, duration: length }));
    let mut drivers = pin!(threads.finish(seen));
    let mut ending = Ending::Complete;
    let over = tokio::select! {
        () = &mut drivers => {
            if !run.quota.is_spent() {
                ending = Ending::Failed("every stream was given up before all boards were sent".into());
            }
            let is_over = run.pace.is_some() && plan.total.is_none() && run.quota.is_spent();
            return (ending, length.filter(|_| is_over).map_or(0, nanos));
        }
        () = &mut shown => 0,
        () = sleep(length.unwrap_or_default()), if length.is_some() => run.now(),
        () = interrupted() => {
            ending = Ending::Interrupted;
            run.now()
        }
    };
    run.stop.cancel();
    tokio::select! {
        () = &mut drivers => return (ending, over),
        () = &mut shown => {}
        () = sleep(plan.grace) => {}
        () = interrupted() => ending = Ending::Interrupted,
    }
    run.cut.cancel();
    if timeout(LAST_WORDS, drivers).await.is_err() {
        ending = Ending::Failed("the streams did not come to an end".into());
    }
    (ending, over)
}

/// Ends when the user wants an end; if that can't be known, never.
pub(super) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// In an open loop, boards were offered when they were due, and are unfinished if they were not sent.
fn count_unsent(plan: &Plan, run: &Run, seen: &mut Recorder) {
    let Some(pace) = &run.pace else { return };
    let boards = |number: u64| {
        let boards = number.saturating_sub(pace.warm) * pace.boards;
        plan.total.map_or(boards, |total| boards.min(total))
    };
    seen.offered(boards(run.quota.due()));
    seen.unfinished(boards(run.quota.due()) - boards(run.quota.taken()));
}

/// Threads, each with a runtime, connections and drivers of its own: no board ever goes from one to another.
struct Threads {
    connecting: Vec<oneshot::Receiver<Vec<String>>>,
    driving: Vec<oneshot::Receiver<Recorder>>,
}

impl Threads {
    fn spawn(plan: &Plan, run: &Arc<Run>, workers: &Arc<[Worker]>, connections: usize) -> io::Result<Self> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(connections);
        let (kind, mut all) = (Kind::new(plan), Self { connecting: Vec::new(), driving: Vec::new() });
        for first in 0..threads {
            let ((connected, connecting), (seen, driving)) = (oneshot::channel(), oneshot::channel());
            let link = |number| (number, Arc::new(Link::new(Arc::clone(workers), number % workers.len())));
            let links = (first..connections).step_by(threads).map(link).collect();
            let (run, kind, streams) = (Arc::clone(run), kind.clone(), plan.streams as usize);
            let part = Part { run, kind, links, streams, in_flight: plan.in_flight };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            thread::Builder::new().name(format!("taquin-load-{first}")).spawn(move || {
                runtime.block_on(part.play(connected, seen));
            })?;
            all.connecting.push(connecting);
            all.driving.push(driving);
        }
        Ok(all)
    }

    /// Waits for all connections; what went wrong with which.
    async fn connect(&mut self) -> Vec<String> {
        let mut errors = Vec::new();
        for connecting in self.connecting.drain(..) {
            errors.extend(connecting.await.unwrap_or_else(|_| vec!["a thread failed".into()]));
        }
        errors
    }

    /// Waits for all drivers.
    async fn finish(&mut self, seen: &mut Recorder) {
        for driving in &mut self.driving {
            match driving.await {
                Ok(recorder) => seen.merge(recorder),
                Err(_) => seen.error("a thread of the load failed", 1),
            }
        }
    }
}

/// What one thread does.
struct Part {
    run: Arc<Run>,
    kind: Kind,
    links: Vec<(usize, Arc<Link>)>,
    streams: usize,
    in_flight: u32,
}

impl Part {
    async fn play(self, connected: oneshot::Sender<Vec<String>>, seen: oneshot::Sender<Recorder>) {
        let mut connecting = JoinSet::new();
        for (_, link) in &self.links {
            let link = Arc::clone(link);
            connecting.spawn(async move { link.connect().await });
        }
        let ended = connecting.join_all().await;
        // No one waits for either after an interrupt.
        let _ = connected.send(ended.into_iter().filter_map(Result::err).collect());
        self.run.started.cancelled().await;
        let _ = seen.send(self.drive().await);
    }

    async fn drive(self) -> Recorder {
        let mut drivers = JoinSet::new();
        for (number, link) in &self.links {
            for stream in 0..self.streams {
                let (run, link) = (Arc::clone(&self.run), Arc::clone(link));
                let number = number * self.streams + stream;
                drivers.spawn(self.kind.clone().drive(run, link, number, self.in_flight));
            }
        }
        let mut seen = Recorder::new();
        while let Some(driven) = drivers.join_next().await {
            match driven {
                Ok(recorder) => seen.merge(recorder),
                Err(error) => seen.error(&format!("a stream of the load failed: {error}"), 1),
            }
        }
        seen
    }
}
