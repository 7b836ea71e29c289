//! The worker from outside, over real sockets.
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod boards;
mod budgets;
mod cancel;
mod drain;
mod faults;
mod limits;
mod limits_in_flight;
mod malformed;
mod process;
mod raw;
mod reflection;
mod sharing;
mod stalls;
mod streams;
mod support;
mod unary;
