//! Who calls, as a span of the logs; and what of the caller's own trace he has told (W3C Trace
//! Context, the header `traceparent`). It decides nothing.

use std::fmt;

use tonic::Request;
use tracing::{Span, field, info_span};

use super::connection::Connection;
use super::metrics::Rpc;

/// The span of a call.
pub(super) fn of_call<R>(rpc: Rpc, request: &Request<R>) -> Span {
    let header = request.metadata().get("traceparent").and_then(|header| header.to_str().ok());
    let parent = header.and_then(TraceParent::parse);
    let peer = Connection::of(request).peer.map(field::display);
    let trace_id = parent.map(|parent| field::display(Hex::<32>(parent.trace_id)));
    let span_id = parent.map(|parent| field::display(Hex::<16>(parent.span_id.into())));
    let span = info_span!("call", rpc = rpc.name(), peer, trace_id, span_id);
    #[cfg(feature = "otlp")]
    if let Some(TraceParent { trace_id, span_id, flags }) = parent {
        crate::otlp::follow(&span, trace_id, span_id, flags);
    }
    span
}

/// The span of a job that waits for a search or a table, within that of its call.
pub(super) fn of_job(call: &Span, request_id: &str) -> Span {
    info_span!(parent: call, "job", request_id)
}

/// What a caller tells of his span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TraceParent {
    trace_id: u128,
    span_id: u64,
    /// Bit 0: whether the caller records it.
    flags: u8,
}

impl TraceParent {
    /// A header of any version but 255, which is none; what later versions add is passed over.
    fn parse(header: &str) -> Option<Self> {
        let mut parts = header.splitn(5, '-');
        let version = u8::try_from(hex(parts.next()?, 2)?).ok()?;
        let trace_id = hex(parts.next()?, 32)?;
        let span_id = u64::try_from(hex(parts.next()?, 16)?).ok()?;
        let flags = u8::try_from(hex(parts.next()?, 2)?).ok()?;
        let is_one = version != u8::MAX && (version > 0 || parts.next().is_none());
        (is_one && trace_id != 0 && span_id != 0).then_some(Self { trace_id, span_id, flags })
    }
}

/// A number of so many lower-case digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_number = text.len() == digits && text.bytes().all(is_digit);
    is_number.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// A number in so many digits.
struct Hex<const DIGITS: usize>(u128);

impl<const DIGITS: usize> fmt::Display for Hex<DIGITS> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{:0DIGITS$x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn reads_what_a_caller_tells() {
        for header in [format!("00-{TRACE}-{SPAN}-01"), format!("cc-{TRACE}-{SPAN}-01-what-is-to-come")] {
            let parent = TraceParent::parse(&header).unwrap();
            assert_eq!(Hex::<32>(parent.trace_id).to_string(), TRACE);
            assert_eq!(Hex::<16>(parent.span_id.into()).to_string(), SPAN);
            assert_eq!(parent.flags, 1);
        }
    }

    #[test]
    fn passes_over_what_is_none() {
        let (no_trace, no_span) = ("0".repeat(32), "0".repeat(16));
        for header in [
            String::new(),
            "00".to_owned(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{no_trace}-{SPAN}-01"),
            format!("00-{TRACE}-{no_span}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-+{}-{SPAN}-01", &TRACE[1..]),
            format!("00-{TRACE}0-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-\n1"),
        ] {
            assert_eq!(TraceParent::parse(&header), None, "{header:?}");
        }
    }
}
