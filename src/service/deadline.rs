//! Holds each call to the deadline that its caller has set, since the transport would end
//! it with CANCELLED, and of a stream bounds no more than the headers; and to a longest time
//! until it is answered, lest half a request hold it for ever. A stream is answered when it is opened.

use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::timeout_at;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::codegen::{BoxFuture, Service};
use tonic::server::NamedService;

use super::grpc_timeout;
use super::status::ServiceError;

/// How long before the deadline a call is given up, so that the transport's own timer is never first.
const MARGIN: Duration = Duration::from_millis(5);

/// When the caller's time for a call is over: an extension of its request.
#[derive(Clone, Copy)]
pub(super) struct Deadline(pub(super) Instant);

/// A service whose calls answer in time, however late their request comes.
#[derive(Clone)]
pub(super) struct Punctual<S> {
    service: S,
    /// The longest that a call may take until it is answered.
    longest: Duration,
}

impl<S> Punctual<S> {
    pub(super) fn new(service: S, longest: Duration) -> Self {
        Self { service, longest }
    }
}

impl<S: NamedService> NamedService for Punctual<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Punctual<S>
where
    S: Service<Request<Body>, Error = Infallible, Future = BoxFuture<Response<Body>, Infallible>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let longest = (Instant::now() + self.longest, ServiceError::Request { within: self.longest });
        let (give_up, late) = match deadline(request.headers()) {
            Some(deadline) => {
                request.extensions_mut().insert(Deadline(deadline));
                let give_up = deadline.checked_sub(MARGIN).unwrap_or(deadline);
                if give_up < longest.0 { (give_up, ServiceError::Deadline) } else { longest }
            }
            None => longest,
        };
        let answer = self.service.call(request);
        Box::pin(async move {
            let late = |_| Ok(Status::from(late).into_http());
            timeout_at(give_up.into(), answer).await.unwrap_or_else(late)
        })
    }
}

fn deadline(headers: &HeaderMap) -> Option<Instant> {
    let timeout = grpc_timeout::parse(headers.get("grpc-timeout")?.to_str().ok()?)?;
    Instant::now().checked_add(timeout)
}
