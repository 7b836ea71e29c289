//! What fuzzers call: bytes, read as the file of a pattern database. Of test builds alone.

use std::sync::Arc;

use super::pattern::PatternTable;
use super::pattern_file::{Fault, Kind};
use crate::domain::sliding::{Board, Layout};
use crate::search::Limits;

/// The tiles of a pattern whose file is short.
const TILES: [u8; 2] = [1, 2];

/// A file is refused with a reason, or it is what would be written of the table read: a checksum
/// finds damage, not a file that somebody has made up.
pub fn table_file(bytes: &[u8]) {
    let kind = kind();
    match kind.read_from(bytes, bytes.len() as u64) {
        Ok(table) => assert_eq!(bytes, written(&kind, &table), "it would be written otherwise"),
        Err(Fault::Io(error)) => panic!("{error}: bytes in memory can be read"),
        Err(fault) => assert!(fault.to_string().len() < 200, "{fault}"),
    }
}

/// The sound file.
#[must_use]
pub fn sound_table_file() -> Vec<u8> {
    let (kind, limits) = (kind(), Arc::new(Limits::unlimited()));
    let table = PatternTable::new(kind.layout, kind.tiles, kind.goal, &limits, &|_| ());
    written(&kind, &table.expect("nothing ends it"))
}

fn kind() -> Kind<'static> {
    Kind { layout: Layout::grid(2, 2).expect("four cells"), goal: Board::standard(4, 0), tiles: &TILES }
}

fn written(kind: &Kind, table: &PatternTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    kind.write_to(table, &mut bytes).expect("memory can be written");
    bytes
}
