//! One test binary: real servers on port 0, golden data, agreement of all algorithms.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that panics has failed")]

mod agreement;
mod cli;
mod domain;
mod field_cases;
mod house;
mod judges;
mod search;
mod support;
