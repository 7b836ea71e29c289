//! taquin: sliding-tile boards in, shortest paths out, each proven.
//!
//! Code map; every arrow points down, and each module says what it must never know.
//!
//! | module | what it is |
//! |---|---|
//! | [`client`] | text forms of boards, the stream that asks a worker, output |
//! | [`service`] | gRPC: wire to domain and back, streams, limits, TLS and tokens, drain; metrics |
//! | [`engine`] | which search for which board, workers, one flight for each board |
//! | [`cache`] | solved boards, bounded by weight |
//! | [`table`] | every board of one goal, swept once |
//! | [`heuristic`] | lower bounds |
//! | [`search`] | algorithms over any state space |
//! | [`domain`] | the puzzles |
//! | [`space`] | the one page that searches and puzzles share |
//! | [`config`], [`telemetry`], `otlp` | ground floor: settings, logs and (a cargo feature) traces, for service and binaries |

pub mod cache;
pub mod client;
pub mod config;
pub mod domain;
pub mod engine;
pub mod heuristic;
#[cfg(feature = "otlp")]
pub mod otlp;
pub mod search;
pub mod service;
pub mod space;
pub mod table;
pub mod telemetry;
