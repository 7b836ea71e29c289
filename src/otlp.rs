//! Spans on their way to an OpenTelemetry collector (OTLP over gRPC), in builds with the cargo
//! feature `otlp`. It knows nothing of what they are spans of.

use std::time::Duration;

use opentelemetry::Context;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, TracerProvider,
};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry};

/// How long the collector may take for some spans.
const EXPORT_TIME: Duration = Duration::from_secs(5);
/// How long the last spans may take to leave: a collector that is gone keeps no worker.
const LAST_TIME: Duration = Duration::from_secs(1);
/// The crate whose spans are sent, lest those of the sending itself be.
const OURS: &str = env!("CARGO_CRATE_NAME");

/// Sends spans as long as it is held, some at a time on a thread of its own; those that a collector does not
/// take are lost.
pub struct Exporter(SdkTracerProvider);

impl Exporter {
    /// Sends to the collector at an endpoint, as `http://host:4317`.
    ///
    /// # Errors
    /// When that is no endpoint.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(endpoint: &str) -> Result<Self, ExporterBuildError> {
        let exporter =
            SpanExporter::builder().with_tonic().with_endpoint(endpoint).with_timeout(EXPORT_TIME).build()?;
        let resource = Resource::builder().with_service_name(OURS).build();
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource);
        Ok(Self(provider.build()))
    }

    /// What hears of spans.
    #[must_use]
    pub fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let spans = tracing_opentelemetry::layer().with_tracer(self.0.tracer(OURS));
        spans.with_filter(filter_fn(|what| what.target().starts_with(OURS))).boxed()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_TIME) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

/// Makes a span part of a trace that its caller has begun.
pub fn follow(span: &Span, trace_id: u128, span_id: u64, flags: u8) {
    let (trace_id, span_id) = (TraceId::from(trace_id), SpanId::from(span_id));
    let caller = SpanContext::new(trace_id, span_id, TraceFlags::new(flags), true, TraceState::default());
    // Refused where nobody hears of spans.
    let _ = span.set_parent(Context::new().with_remote_span_context(caller));
}
