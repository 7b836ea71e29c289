//! The wire types, generated from `proto/`: nothing here is written by hand.
#![allow(clippy::pedantic, missing_docs, unreachable_pub)]

tonic::include_proto!("taquin.v1");

/// The descriptors of the contract with all it imports, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/taquin_descriptor.bin"));
