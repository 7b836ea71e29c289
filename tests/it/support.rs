//! What all modules share: a server in this process, clients, jobs, and bounds on
//! every wait, so that nothing hangs.

use std::time::{Duration, Instant};

use prost::Message;
use taquin::config::{LimitsConfig, Sweep};
use taquin::service::pb::solver_service_client::SolverServiceClient;
use taquin::service::pb::{self, answer::Outcome, cancel::Which, solve_stream_request::Kind};
use taquin::service::{Embedded, embedded};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};
use tonic_types::{ErrorDetails, StatusExt};

use crate::boards::{self, Board};

pub(crate) type Client = SolverServiceClient<Channel>;

/// Longer than any wait on a busy machine, shorter than anyone's patience.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// What a promise of 100 ms is held to on a machine that does other things too.
pub(crate) const AT_ONCE: Duration = Duration::from_millis(400);

/// Runs a test on a runtime of its own, and fails it when it hangs.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ended = runtime.block_on(async { tokio::time::timeout(2 * PATIENCE, test).await });
    runtime.shutdown_background();
    ended.expect("the test hangs");
}

/// Waits no longer than a test may.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("nothing comes")
}

/// Waits until something holds, for so long at most.
pub(crate) async fn wait_until(what: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < within, "after {within:?}, still not: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// A server without tables, which leave nothing to search.
pub(crate) async fn serve(limits: LimitsConfig, workers: usize) -> Embedded {
    embedded(limits, workers, Sweep::Off).await.unwrap()
}

/// A server with default limits and a client of it.
pub(crate) async fn serve_and_connect(workers: usize) -> (Embedded, Client) {
    let server = serve(LimitsConfig::default(), workers).await;
    let client = connect(&server).await;
    (server, client)
}

pub(crate) async fn connect(server: &Embedded) -> Client {
    Client::new(soon(endpoint(server).connect()).await.unwrap())
}

pub(crate) fn endpoint(server: &Embedded) -> Endpoint {
    Endpoint::from_shared(format!("http://{}", server.address())).unwrap()
}

/// A 3x3 board that is searched, whatever tables there are.
pub(crate) fn job(request_id: impl Into<String>, board: Board) -> pb::Job {
    let sliding = pb::SlidingPuzzle {
        layout: Some(pb::sliding_puzzle::Layout::Grid(pb::Grid { rows: 3, columns: 3 })),
        start: board.map(u32::from).to_vec(),
        goal: Vec::new(),
    };
    let problem = Some(pb::job::Problem::Sliding(sliding));
    pb::Job { request_id: request_id.into(), problem, bypass_table: true, ..pb::Job::default() }
}

pub(crate) fn budget(job: pb::Job, budget: pb::Budget) -> pb::Job {
    pb::Job { budget: Some(budget), ..job }
}

/// A board that keeps its worker busy until it is cancelled.
pub(crate) fn blocker(name: &str) -> pb::Job {
    job(format!("{name}#delay-ms=20000"), boards::at(31, 0))
}

pub(crate) fn request(job: pb::Job) -> pb::SolveStreamRequest {
    pb::SolveStreamRequest { kind: Some(Kind::Job(job)) }
}

pub(crate) fn cancel(which: Which) -> pb::SolveStreamRequest {
    pb::SolveStreamRequest { kind: Some(Kind::Cancel(pb::Cancel { which: Some(which) })) }
}

/// One open stream.
pub(crate) struct Talk {
    pub(crate) requests: mpsc::UnboundedSender<pb::SolveStreamRequest>,
    pub(crate) answers: Streaming<pb::SolveStreamResponse>,
}

impl Talk {
    /// Opens a stream without a word; the server's headers must come first.
    pub(crate) async fn open(client: &Client) -> Self {
        Self::try_open(client).await.unwrap()
    }

    pub(crate) async fn try_open(client: &Client) -> Result<Self, Status> {
        let (requests, receiver) = mpsc::unbounded_channel();
        let response = client.clone().solve_stream(UnboundedReceiverStream::new(receiver)).await;
        soon(async { Ok(Self { requests, answers: response?.into_inner() }) }).await
    }

    pub(crate) fn say(&self, request: pb::SolveStreamRequest) {
        // A stream that has ended takes nothing; its status is what tests look at.
        drop(self.requests.send(request));
    }

    pub(crate) fn send(&self, job: pb::Job) {
        self.say(request(job));
    }

    pub(crate) fn cancel(&self, request_id: &str) {
        self.say(cancel(Which::RequestId(request_id.to_owned())));
    }

    /// The next answer.
    pub(crate) async fn answer(&mut self) -> pb::Answer {
        self.next().await.unwrap().expect("the stream is over")
    }

    /// The next answer, the end, or its status.
    pub(crate) async fn next(&mut self) -> Result<Option<pb::Answer>, Status> {
        let message = soon(self.answers.message()).await?;
        Ok(message.map(|message| message.answer.unwrap()))
    }

    pub(crate) async fn ask(&mut self, job: pb::Job) -> pb::Answer {
        self.send(job);
        self.answer().await
    }

    /// The status that ends it, with nothing before.
    pub(crate) async fn end(&mut self) -> Status {
        self.next().await.expect_err("the stream goes on")
    }

    /// Half-closes; every answer until the end, which must be OK.
    pub(crate) async fn rest(self) -> Vec<pb::Answer> {
        let Self { requests, mut answers } = self;
        drop(requests);
        let mut rest = Vec::new();
        while let Some(message) = soon(answers.message()).await.unwrap() {
            rest.push(message.answer.unwrap());
        }
        rest
    }
}

/// The answer holds a path that leads from `board` to the solved one in as many moves as it takes.
pub(crate) fn assert_solves(answer: &pb::Answer, board: Board) {
    let Some(Outcome::Solution(solution)) = &answer.outcome else { panic!("no solution: {answer:?}") };
    assert_eq!(solution.distance, boards::distance_of(&board), "{answer:?}");
    assert_eq!(solution.moves.len(), solution.distance as usize, "{answer:?}");
    assert!(boards::solves(&solution.moves, board), "{answer:?} does not solve {board:?}");
}

pub(crate) fn assert_cancelled(answer: &pb::Answer, request_id: &str) {
    assert_eq!(answer.request_id, request_id);
    assert!(matches!(answer.outcome, Some(Outcome::Cancelled(_))), "{answer:?}");
}

/// The limit that ended a job, and its bound.
pub(crate) fn limit_of(answer: &pb::Answer) -> (pb::limit_reached::Limit, u32) {
    let Some(Outcome::LimitReached(reached)) = &answer.outcome else { panic!("no limit: {answer:?}") };
    (reached.limit(), reached.lower_bound)
}

/// The error of an item, as the status it stands for.
pub(crate) fn error_of(answer: &pb::Answer) -> Status {
    let Some(Outcome::Error(error)) = &answer.outcome else { panic!("no error: {answer:?}") };
    assert_eq!(answer.source(), pb::Source::Unspecified);
    Status::with_details(Code::from(error.code), &error.message, error.encode_to_vec().into())
}

/// Shed, with a time to come back.
pub(crate) fn assert_shed(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(retry_delay(status).is_some(), "{status:?}");
}

pub(crate) fn retry_delay(status: &Status) -> Option<Duration> {
    details(status).retry_info()?.retry_delay
}

pub(crate) fn details(status: &Status) -> ErrorDetails {
    status.get_error_details()
}
