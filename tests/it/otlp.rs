//! Spans that a collector is sent. It is one of its own, of the few fields that it looks at.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use rustix::process::Signal;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use crate::boards;
use crate::process::Worker;
use crate::support::{AT_ONCE, job, run, wait_until};

#[derive(Clone, PartialEq, prost::Message)]
struct Export {
    #[prost(message, repeated, tag = "1")]
    of_resources: Vec<OfResource>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct OfResource {
    #[prost(message, repeated, tag = "2")]
    of_scopes: Vec<OfScope>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct OfScope {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Sent>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Sent {
    #[prost(bytes, tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes, tag = "2")]
    span_id: Vec<u8>,
    #[prost(bytes, tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Taken {}

/// Takes what it is sent.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Sent>>>);

impl NamedService for Collector {
    const NAME: &'static str = "opentelemetry.proto.collector.trace.v1.TraceService";
}

impl UnaryService<Export> for Collector {
    type Response = Taken;
    type Future = BoxFuture<Response<Taken>, Status>;

    fn call(&mut self, request: Request<Export>) -> Self::Future {
        let scopes = request.into_inner().of_resources.into_iter().flat_map(|resource| resource.of_scopes);
        self.0.lock().unwrap().extend(scopes.flat_map(|scope| scope.spans));
        Box::pin(async { Ok(Response::new(Taken {})) })
    }
}

impl Service<http::Request<Body>> for Collector {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let collector = self.clone();
        Box::pin(async move {
            Ok(Grpc::new(ProstCodec::<Taken, Export>::default()).unary(collector, request).await)
        })
    }
}

async fn collect() -> (Collector, SocketAddr) {
    let (collector, listener) = (Collector::default(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let address = listener.local_addr().unwrap();
    let server = Server::builder().add_service(collector.clone());
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    (collector, address)
}

#[test]
fn a_collector_is_sent_the_spans_of_a_call_in_its_callers_trace() {
    run(async {
        let (collector, address) = collect().await;
        let endpoint = format!("http://{address}");
        let mut worker = Worker::spawn(&["--workers", "1", "--otlp-endpoint", &endpoint]);
        let call = taquin::service::pb::SolveRequest { job: Some(job("job", boards::at(14, 0))) };
        let mut traced = Request::new(call.clone());
        let header = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
        traced.metadata_mut().insert("traceparent", header.parse().unwrap());
        worker.connect().await.solve(traced).await.unwrap();
        // One that its caller does not record, and one of no trace, whose job the cache knows.
        let mut untraced = Request::new(call.clone());
        untraced.metadata_mut().insert("traceparent", header.replace("-01", "-00").parse().unwrap());
        worker.connect().await.solve(untraced).await.unwrap();
        worker.connect().await.solve(call).await.unwrap();
        // What has not been sent yet is sent at the end.
        worker.signal(Signal::TERM);
        assert_eq!(worker.exit_code(10 * AT_ONCE).await, 0);

        wait_until("three spans came", AT_ONCE, || collector.0.lock().unwrap().len() == 3).await;
        let sent = collector.0.lock().unwrap().clone();
        let trace_id = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes();
        let of_trace = |name: &str| {
            sent.iter()
                .find(|span| span.name == name && span.trace_id == trace_id)
                .expect("a span of the trace")
        };
        let (call, job) = (of_trace("call"), of_trace("job"));
        assert_eq!(call.parent_span_id, 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes());
        assert_eq!(job.parent_span_id, call.span_id);
        let own = sent.iter().find(|span| span.trace_id != trace_id).unwrap();
        assert_eq!((own.name.as_str(), own.parent_span_id.as_slice()), ("call", &[][..]));
    });
}

#[test]
fn a_collector_that_is_gone_keeps_no_worker() {
    run(async {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut worker = Worker::spawn(&["--workers", "1", "--otlp-endpoint", &format!("http://{nobody}")]);
        let call = taquin::service::pb::SolveRequest { job: Some(job("job", boards::at(14, 0))) };
        worker.connect().await.solve(call).await.unwrap();
        worker.signal(Signal::TERM);
        assert_eq!(worker.exit_code(20 * AT_ONCE).await, 0);
    });
}
