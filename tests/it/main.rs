//! One test binary: real servers on port 0, golden data, agreement of all algorithms.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that panics has failed")]

mod agreement;
mod boards;
mod budgets;
mod cancel;
mod cli;
mod configuration;
mod domain;
mod drain;
mod faults;
mod field_cases;
mod graph_theory;
mod graphs;
mod house;
mod instances;
mod judges;
mod lanes;
mod limits;
mod limits_in_flight;
mod linear_conflict;
mod load;
mod load_faults;
mod malformed;
mod metrics;
mod metrics_port;
#[cfg(feature = "otlp")]
mod otlp;
mod packed;
mod process;
mod proxy;
mod raw;
mod reflection;
mod scrape;
mod search;
mod sharing;
mod stalls;
mod streams;
mod suboptimal;
mod support;
mod sweep_3x4;
mod table_files;
mod tables;
mod traces;
mod unary;
mod wide;
