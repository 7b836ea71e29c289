//! Code map.
pub mod client;
pub mod config;
pub mod service;
