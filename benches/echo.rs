//! The roof: a service of the same messages that solves nothing. Each message is decoded
//! and answered at once with a constant of the usual size, on a transport with the
//! server's own settings, and nothing stands between the two.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use taquin::service::pb::solver_service_server::{SolverService, SolverServiceServer};
use taquin::service::pb::{self, answer::Outcome, solve_stream_request::Kind};
use tokio_stream::Stream;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

/// A path as long as that of most 3x3 boards.
const MOVES: &str = "ULDDRUULDDRUULDDRUULDR";
/// The windows of the server.
const STREAM_WINDOW_BYTES: u32 = 65_535;
const CONNECTION_WINDOW_BYTES: u32 = 128 * 20 * STREAM_WINDOW_BYTES;

/// Serves until it is killed.
pub(crate) async fn serve(address: SocketAddr) {
    let served = Server::builder()
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .add_service(SolverServiceServer::new(Echo))
        .serve(address)
        .await;
    served.expect("the port was free");
}

struct Echo;

/// Requests in, answers out.
struct Echoed<Q, A> {
    requests: Streaming<Q>,
    answer: fn(Q) -> A,
}

impl<Q, A> Stream for Echoed<Q, A> {
    type Item = Result<A, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Self::Item>> {
        let answer = self.answer;
        Pin::new(&mut self.requests).poll_next(cx).map(|next| next.map(|request| request.map(answer)))
    }
}

fn echo_job(request: pb::SolveStreamRequest) -> pb::SolveStreamResponse {
    let Some(Kind::Job(job)) = request.kind else { return pb::SolveStreamResponse::default() };
    let distance = u32::try_from(MOVES.len()).expect("short");
    let solution = pb::Solution { distance, moves: MOVES.to_owned(), vertices: Vec::new() };
    pb::SolveStreamResponse {
        answer: Some(pb::Answer {
            request_id: job.request_id,
            outcome: Some(Outcome::Solution(solution)),
            source: pb::Source::Table.into(),
            statistics: None,
        }),
    }
}

fn echo_boards(request: pb::SolvePackedRequest) -> pb::SolvePackedResponse {
    let boards = request.boards.len() / 4;
    pb::SolvePackedResponse {
        request_id: request.request_id,
        outcomes: vec![1; boards],
        distances: vec![1; 2 * boards],
        words: vec![1; 8 * boards],
        ..pb::SolvePackedResponse::default()
    }
}

#[tonic::async_trait]
impl SolverService for Echo {
    type SolveStreamStream = Echoed<pb::SolveStreamRequest, pb::SolveStreamResponse>;
    type SolvePackedStream = Echoed<pb::SolvePackedRequest, pb::SolvePackedResponse>;

    async fn solve(&self, _: Request<pb::SolveRequest>) -> Result<Response<pb::SolveResponse>, Status> {
        Err(Status::unimplemented("streams only"))
    }

    async fn solve_stream(
        &self,
        request: Request<Streaming<pb::SolveStreamRequest>>,
    ) -> Result<Response<Self::SolveStreamStream>, Status> {
        Ok(Response::new(Echoed { requests: request.into_inner(), answer: echo_job }))
    }

    async fn solve_packed(
        &self,
        request: Request<Streaming<pb::SolvePackedRequest>>,
    ) -> Result<Response<Self::SolvePackedStream>, Status> {
        Ok(Response::new(Echoed { requests: request.into_inner(), answer: echo_boards }))
    }

    async fn get_server_info(
        &self,
        _: Request<pb::GetServerInfoRequest>,
    ) -> Result<Response<pb::GetServerInfoResponse>, Status> {
        Err(Status::unimplemented("streams only"))
    }
}
