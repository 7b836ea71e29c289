//! The only place that knows gRPC.
pub mod pb;
