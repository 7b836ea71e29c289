//! Lets calls through that show a token, and ends those whose token is one no more. It
//! knows nothing of what is asked.

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::header::AUTHORIZATION;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::codegen::{BoxFuture, Service};
use tonic::server::NamedService;

use super::callers::{Caller, Callers};
use super::status::ServiceError;

/// What stands before a token, in any case of letters.
const SCHEME: &[u8] = b"Bearer ";

/// A service for those who show a token, if tokens are wanted.
#[derive(Clone)]
pub(super) struct Guarded<S> {
    service: S,
    callers: Option<Arc<Callers>>,
}

impl<S> Guarded<S> {
    pub(super) fn new(service: S, callers: Option<Arc<Callers>>) -> Self {
        Self { service, callers }
    }
}

impl<S: NamedService> NamedService for Guarded<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Response<Body>, Infallible>;

    fn poll_ready(&mut self, cx: &mut Context) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let Some(callers) = &self.callers else { return Box::pin(self.service.call(request)) };
        let caller = match admit(callers, request.headers_mut()) {
            Ok(caller) => caller,
            Err(error) => return Box::pin(ready(Ok(Status::from(error).into_http()))),
        };
        let mut revoked = Box::pin(caller.revoked());
        request.extensions_mut().insert(caller);
        let answer = self.service.call(request);
        Box::pin(async move {
            tokio::select! {
                answer = answer => answer.map(|answer| {
                    answer.map(|body| Body::new(Revocable { body: Some(body), revoked }))
                }),
                () = &mut revoked => Ok(Status::from(ServiceError::Revoked).into_http()),
            }
        })
    }
}

/// Who calls. His token goes no further than this.
fn admit(callers: &Callers, headers: &mut HeaderMap) -> Result<Caller, ServiceError> {
    let shown = headers.remove(AUTHORIZATION).ok_or(ServiceError::NoToken)?;
    let (scheme, token) = shown.as_bytes().split_at_checked(SCHEME.len()).ok_or(ServiceError::NoToken)?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return Err(ServiceError::NoToken);
    }
    callers.find(token).ok_or(ServiceError::WrongToken)
}

/// An answer that ends when its caller is revoked.
struct Revocable {
    /// `None` once it has ended so.
    body: Option<Body>,
    revoked: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl http_body::Body for Revocable {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        if this.revoked.as_mut().poll(cx).is_pending() {
            return Pin::new(body).poll_frame(cx);
        }
        this.body = None;
        let mut trailers = HeaderMap::new();
        let told = Status::from(ServiceError::Revoked).add_header(&mut trailers);
        Poll::Ready(Some(told.map(|()| Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }
}
