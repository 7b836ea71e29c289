//! What fuzzers call: bytes, read as a file of settings. Of test builds alone.

use clap::{Args, Command};

use super::ServerConfig;
use super::file;
use super::layers::Layers;

/// Bytes a fault may be told in, besides a value that it repeats to whoever wrote it.
const MAX_FAULT_BYTES: usize = 1024;

/// A file is refused with a reason, or each of its settings is one that the command takes.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let command = ServerConfig::augment_args(Command::new("taquin-server"));
    match file::parse(text, &command) {
        Err(fault) => assert!(fault.to_string().len() <= text.len() + MAX_FAULT_BYTES, "{fault}"),
        Ok(entries) => {
            let given = entries.iter().flat_map(|entry| entry.arguments.iter().cloned());
            let taken = Layers::read(command, std::iter::once("taquin-server".into()).chain(given));
            assert!(taken.is_ok(), "{:?}", taken.err());
        }
    }
}
