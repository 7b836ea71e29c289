//! The RPCs, thin: what they are told is turned by `convert`, answered by the
//! engine, and turned back.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;
use tonic::{Request, Response, Status, Streaming};
use tracing::Span;

use super::batches::Batches;
use super::callers::Caller;
use super::connection::Connection;
use super::conversation::{Call, Conversation, Dialogue};
use super::convert;
use super::deadline::Deadline;
use super::jobs::Jobs;
use super::metrics::{Answers, Kind, LayoutName, Rpc};
use super::pb::{self, solver_service_server::SolverService};
use super::shared::Shared;
use super::status::ServiceError;
use super::tally::Tally;
use super::trace;
use crate::config::{
    GREETING_TIMEOUT_MS, LimitsConfig, MAX_METRICS_CONNECTIONS, MAX_METRICS_HEADER_BYTES, MAX_PACKED_WAITING,
    MAX_REQUEST_ID_BYTES, MAX_UNREAD_BYTES, METRICS_TIMEOUT_MS,
};
use crate::domain::sliding::{LastGoal, MAX_CELLS, MAX_DENSE_CELLS};
use crate::engine::{
    Answer, Asked, MAX_KEPT_STATES, MAX_PATTERN_BYTES, PatternStatistics, Query, Reply, Verdict,
};

/// See the module.
pub(super) struct Solver(pub(super) Shared);

#[tonic::async_trait]
impl SolverService for Solver {
    type SolveStreamStream = Conversation<Jobs>;
    type SolvePackedStream = Conversation<Batches>;

    async fn solve(&self, request: Request<pb::SolveRequest>) -> Result<Response<pb::SolveResponse>, Status> {
        let span = trace::of_call(Rpc::Solve, &request);
        let (connection, caller) = (Connection::of(&request), caller(&request));
        let answered = self.solve_one(request.into_inner(), &connection, &caller, &span).await;
        let (metrics, mut count) = (&self.0.metrics, Answers::default());
        match &answered {
            Ok(answer) => count.answered(answer),
            Err(error) => {
                metrics.refused(error);
                count.count(Kind::Error, pb::Source::Unspecified, 1);
            }
        }
        metrics.add(&mut count);
        Ok(Response::new(pb::SolveResponse { answer: Some(answered?) }))
    }

    async fn solve_stream(
        &self,
        request: Request<Streaming<pb::SolveStreamRequest>>,
    ) -> Result<Response<Conversation<Jobs>>, Status> {
        let (caller, deadline) = (caller(&request), deadline(&request));
        let turn = caller.turn(&Connection::of(&request));
        let span = trace::of_call(Rpc::SolveStream, &request);
        let jobs = Jobs::new(self.0.clone(), caller, turn, deadline, span.clone());
        self.converse(jobs, request, span)
    }

    async fn solve_packed(
        &self,
        request: Request<Streaming<pb::SolvePackedRequest>>,
    ) -> Result<Response<Conversation<Batches>>, Status> {
        let caller = caller(&request);
        let turn = caller.turn(&Connection::of(&request));
        let span = trace::of_call(Rpc::SolvePacked, &request);
        self.converse(Batches::new(self.0.clone(), caller, turn, span.clone()), request, span)
    }

    async fn get_server_info(
        &self,
        _: Request<pb::GetServerInfoRequest>,
    ) -> Result<Response<pb::GetServerInfoResponse>, Status> {
        let engine = &self.0.engine;
        let (cache, tables) = (engine.cache_statistics(), engine.table_statistics());
        let patterns = engine.pattern_statistics();
        Ok(Response::new(pb::GetServerInfoResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            limits: Some(limits(&self.0.limits)),
            cache: Some(pb::CacheStatistics {
                entries: cache.entries,
                weight_bytes: cache.weight,
                hits: cache.hits,
                misses: cache.misses,
                coalesced: engine.coalesced(),
                evictions: cache.evictions,
            }),
            workers: u32::try_from(engine.config().workers).unwrap_or(u32::MAX),
            tables: Some(pb::TableStatistics {
                standard_ready: tables.standard_ready,
                standard_bytes: tables.standard_bytes,
                swept: tables.swept,
                swept_bytes: tables.swept_bytes,
                pattern_goals: patterns.goals,
                pattern_bytes: patterns.bytes,
                pattern_set: pattern_set(patterns).into(),
            }),
        }))
    }
}

fn pattern_set(patterns: PatternStatistics) -> pb::PatternSet {
    match patterns {
        PatternStatistics { large: true, .. } => pb::PatternSet::Large,
        PatternStatistics { goals: 0, .. } => pb::PatternSet::Unspecified,
        PatternStatistics { .. } => pb::PatternSet::Small,
    }
}

impl Solver {
    fn converse<D: Dialogue>(
        &self,
        dialogue: D,
        request: Request<Streaming<D::Request>>,
        span: Span,
    ) -> Result<Response<Conversation<D>>, Status> {
        let (shared, connection) = (&self.0, Connection::of(&request));
        let place = shared.open_call(D::RPC).inspect_err(|error| shared.metrics.refused(error))?;
        let tally = Tally::new(shared.metrics.clone(), caller(&request), span);
        let call = Call { connection, place, deadline: deadline(&request), tally };
        Ok(Response::new(Conversation::new(shared, dialogue, request.into_inner(), call)))
    }

    async fn solve_one(
        &self,
        request: pb::SolveRequest,
        connection: &Arc<Connection>,
        caller: &Caller,
        span: &Span,
    ) -> Result<pb::Answer, ServiceError> {
        let _call = self.0.open_call(Rpc::Solve)?;
        let (_open, _room) = (connection.open(), connection.job()?);
        let Some(job) = request.job else {
            return Err(ServiceError::Misuse("job: is not set, expected a job"));
        };
        ServiceError::check_id("job.request_id", &job.request_id)?;
        let (mut query, wants_path) = convert::query(&job, &self.0.limits, &mut LastGoal::default())?;
        query.caller = caller.turn(connection);
        let _place = caller.take(1)?;
        let answer = self.answer(&query, || trace::of_job(span, &job.request_id)).await?;
        if let Verdict::Failed(failure) = answer.verdict {
            return Err(failure.into());
        }
        Ok(convert::answer(job.request_id, answer, wants_path))
    }

    async fn answer(&self, query: &Query, span: impl FnOnce() -> Span) -> Result<Answer, ServiceError> {
        let (sender, receiver) = oneshot::channel();
        let (metrics, layout) = (self.0.metrics.clone(), LayoutName::of(query));
        let reply = || {
            Reply::new(span(), move |answer| {
                metrics.searched(layout, &answer);
                // Nobody listens any more when the caller is gone.
                drop(sender.send(answer));
            })
        };
        // The ticket lives as long as the call: a caller that goes gives its job up.
        let _ticket = match self.0.engine.ask(query, reply)? {
            Asked::Now(answer) => return Ok(answer),
            Asked::Found(found) => return Ok(found.read()),
            Asked::Later(ticket) => ticket,
        };
        Ok(receiver.await.expect("a reply is always sent, if only by its drop"))
    }
}

/// Who asks.
fn caller<R>(request: &Request<R>) -> Caller {
    request.extensions().get().cloned().unwrap_or_default()
}

/// When the caller's own time for a call is over, if it has said so.
fn deadline<R>(request: &Request<R>) -> Option<Instant> {
    request.extensions().get().map(|&Deadline(deadline)| deadline)
}

fn limits(limits: &LimitsConfig) -> pb::Limits {
    let small = |number: usize| u32::try_from(number).expect("constants of a few hundred at most");
    pb::Limits {
        max_message_bytes: limits.max_message_bytes,
        max_request_id_bytes: small(MAX_REQUEST_ID_BYTES),
        max_cells: small(MAX_CELLS),
        max_in_flight_per_stream: limits.max_in_flight_per_stream,
        max_in_flight: limits.max_in_flight,
        max_queue: limits.max_queue,
        max_connections: limits.max_connections,
        max_streams_per_connection: limits.max_streams_per_connection,
        max_streams: limits.max_streams,
        max_cache_bytes: limits.max_cache_bytes,
        default_time_ms: limits.default_time_ms.min(limits.max_time_ms),
        max_time_ms: limits.max_time_ms,
        default_nodes: limits.default_nodes.min(limits.max_nodes),
        max_nodes: limits.max_nodes,
        stall_timeout_ms: limits.stall_timeout_ms,
        drain_timeout_ms: limits.drain_timeout_ms,
        max_table_bytes: limits.max_table_bytes,
        max_packed_boards: limits.max_packed_boards,
        max_packed_waiting: MAX_PACKED_WAITING,
        max_unread_bytes: MAX_UNREAD_BYTES,
        greeting_timeout_ms: GREETING_TIMEOUT_MS,
        max_packed_cells: small(MAX_DENSE_CELLS),
        max_graph_vertices: small(MAX_CELLS),
        max_pattern_bytes: MAX_PATTERN_BYTES,
        max_kept_states: MAX_KEPT_STATES,
        max_metrics_connections: MAX_METRICS_CONNECTIONS,
        max_metrics_header_bytes: MAX_METRICS_HEADER_BYTES,
        metrics_timeout_ms: METRICS_TIMEOUT_MS,
        max_in_flight_per_connection: limits.max_in_flight_per_connection,
        max_stream_age_ms: limits.max_stream_age_ms,
        max_call_ms: u32::try_from(limits.max_call().as_millis()).unwrap_or(u32::MAX),
    }
}
