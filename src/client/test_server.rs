//! A small server for the tests of the call: it solves 3×3 boards by breadth-first search from the goal, and can be
//! told to misbehave. It shares no code with the real one.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_types::pb::Status as RpcStatus;
use tonic_types::{ErrorDetails, StatusExt};

use crate::service::pb::solver_service_server::{SolverService, SolverServiceServer};
use crate::service::pb::{self, answer::Outcome, solve_stream_request::Kind};

/// How the server behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Each batch of so many boards is answered backwards.
    Backwards(usize),
    /// Nothing is said, not even headers, before the first board has come.
    Shy,
    /// The call ends with OK after so many answers.
    Ends(usize),
    /// The call ends with a status after so many answers.
    Fails(usize),
    /// The call ends as one that is old, after so many answers.
    Ages(usize),
    /// No answer comes after so many.
    Falls(usize),
    /// Every path has a wrong last move.
    Lies,
    /// Everything is answered twice.
    Stutters,
}

/// A running server; dropping it cuts all its connections.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    runtime: Option<Runtime>,
}

impl TestServer {
    pub(crate) fn start(manner: Manner) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            let incoming = TcpListenerStream::new(tokio::net::TcpListener::from_std(listener).unwrap());
            let service = SolverServiceServer::new(Solver(manner));
            Server::builder().add_service(service).serve_with_incoming(incoming).await
        });
        Self { address, runtime: Some(runtime) }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }
}

struct Solver(Manner);

type Answers = ReceiverStream<Result<pb::SolveStreamResponse, Status>>;

#[tonic::async_trait]
impl SolverService for Solver {
    type SolveStreamStream = Answers;
    type SolvePackedStream = tokio_stream::Empty<Result<pb::SolvePackedResponse, Status>>;

    async fn solve_packed(
        &self,
        _: Request<Streaming<pb::SolvePackedRequest>>,
    ) -> Result<Response<Self::SolvePackedStream>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn solve(&self, _: Request<pb::SolveRequest>) -> Result<Response<pb::SolveResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn get_server_info(
        &self,
        _: Request<pb::GetServerInfoRequest>,
    ) -> Result<Response<pb::GetServerInfoResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn solve_stream(
        &self,
        request: Request<Streaming<pb::SolveStreamRequest>>,
    ) -> Result<Response<Answers>, Status> {
        let mut requests = request.into_inner();
        // Room for two: a client that sends without reading would stop here for ever.
        let (sender, receiver) = mpsc::channel(2);
        let manner = self.0;
        let first = if manner == Manner::Shy { requests.next().await } else { None };
        tokio::spawn(async move { answer_all(manner, first, requests, sender).await });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

async fn answer_all(
    manner: Manner,
    first: Option<Result<pb::SolveStreamRequest, Status>>,
    requests: Streaming<pb::SolveStreamRequest>,
    sender: mpsc::Sender<Result<pb::SolveStreamResponse, Status>>,
) {
    let mut requests = tokio_stream::iter(first).chain(requests);
    let batch = if let Manner::Backwards(size) = manner { size } else { 1 };
    let mut sent = 0;
    loop {
        let mut jobs = Vec::new();
        while jobs.len() < batch {
            // The last batch may be short of boards that the client holds back: do not wait for ever.
            match tokio::time::timeout(Duration::from_millis(50), requests.next()).await {
                Ok(Some(Ok(pb::SolveStreamRequest { kind: Some(Kind::Job(job)) }))) => jobs.push(job),
                Err(_) if jobs.is_empty() => {}
                Err(_) => break,
                _ if jobs.is_empty() => return,
                _ => break,
            }
        }
        for job in jobs.into_iter().rev() {
            match manner {
                Manner::Ends(n) if sent == n => return,
                Manner::Fails(n) if sent == n => {
                    let _ = sender.send(Err(Status::unavailable("going away"))).await;
                    return;
                }
                Manner::Ages(n) if sent == n => {
                    let soon = ErrorDetails::with_retry_info(Some(Duration::from_millis(1)));
                    let old = Status::with_error_details(Code::Unavailable, "old", soon);
                    let _ = sender.send(Err(old)).await;
                    return;
                }
                Manner::Falls(n) if sent == n => return std::future::pending().await,
                _ => {}
            }
            let response = pb::SolveStreamResponse { answer: Some(answer(&job, manner)) };
            for _ in 0..if manner == Manner::Stutters { 2 } else { 1 } {
                let _ = sender.send(Ok(response.clone())).await;
            }
            sent += 1;
        }
    }
}

fn answer(job: &pb::Job, manner: Manner) -> pb::Answer {
    let Some(pb::job::Problem::Sliding(sliding)) = &job.problem else { panic!("no board") };
    let board: Option<[u8; 9]> =
        sliding.start.iter().map(|&t| u8::try_from(t).unwrap()).collect::<Vec<_>>().try_into().ok();
    let mut sorted = sliding.start.clone();
    sorted.sort_unstable();
    let outcome = match board.filter(|_| sorted.iter().copied().eq(0..9)) {
        None => Outcome::Error(RpcStatus { code: 3, message: "not a 3x3 board".into(), details: vec![] }),
        Some(board) => path(board).map_or(Outcome::Unsolvable(pb::Unsolvable { reason: 1 }), |mut moves| {
            let distance = u32::try_from(moves.len()).unwrap();
            if manner == Manner::Lies {
                moves.pop();
                moves.push('U');
            }
            Outcome::Solution(pb::Solution { distance, moves, vertices: vec![] })
        }),
    };
    pb::Answer { request_id: job.request_id.clone(), outcome: Some(outcome), source: 5, statistics: None }
}

const LETTERS: [(char, char); 4] = [('U', 'D'), ('D', 'U'), ('L', 'R'), ('R', 'L')];

fn moved(board: [u8; 9], letter: char) -> Option<[u8; 9]> {
    let from = board.iter().position(|&t| t == 0).unwrap();
    let to = match letter {
        'U' if from > 2 => from - 3,
        'D' if from < 6 => from + 3,
        'L' if from % 3 > 0 => from - 1,
        'R' if from % 3 < 2 => from + 1,
        _ => return None,
    };
    let mut board = board;
    board.swap(from, to);
    Some(board)
}

/// A shortest path to 1 … 8, blank last.
fn path(mut board: [u8; 9]) -> Option<String> {
    static TOWARDS: OnceLock<HashMap<[u8; 9], char>> = OnceLock::new();
    let towards = TOWARDS.get_or_init(|| {
        let goal = [1, 2, 3, 4, 5, 6, 7, 8, 0];
        let mut towards = HashMap::from([(goal, '.')]);
        let mut queue = VecDeque::from([goal]);
        while let Some(board) = queue.pop_front() {
            for (there, back) in LETTERS {
                let Some(next) = moved(board, there) else { continue };
                towards.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    back
                });
            }
        }
        towards
    });
    let mut path = String::new();
    loop {
        match *towards.get(&board)? {
            '.' => return Some(path),
            letter => {
                board = moved(board, letter)?;
                path.push(letter);
            }
        }
    }
}
