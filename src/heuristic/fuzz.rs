//! What fuzzers call: bytes, read as the file of a pattern database. Of test builds alone.

use std::sync::{Arc, OnceLock};

use super::pattern::PatternTable;
use super::pattern_file::{Fault, Kind};
use crate::domain::sliding::{Board, Layout};
use crate::search::Limits;

/// The tiles of a pattern whose file is short.
const TILES: [u8; 2] = [1, 2];

/// A file is refused with a reason, unless it is the one sound file to the last byte.
pub fn table_file(bytes: &[u8]) {
    let kind =
        Kind { layout: Layout::grid(2, 2).expect("four cells"), goal: Board::standard(4, 0), tiles: &TILES };
    match kind.read_from(bytes, bytes.len() as u64) {
        Ok(_) => assert_eq!(bytes, sound(&kind), "a file that nobody wrote"),
        Err(Fault::Io(error)) => panic!("{error}: bytes in memory can be read"),
        Err(fault) => assert!(fault.to_string().len() < 200, "{fault}"),
    }
}

/// The sound file.
#[must_use]
pub fn sound_table_file() -> &'static [u8] {
    let kind =
        Kind { layout: Layout::grid(2, 2).expect("four cells"), goal: Board::standard(4, 0), tiles: &TILES };
    sound(&kind)
}

fn sound(kind: &Kind) -> &'static [u8] {
    static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
    SOUND.get_or_init(|| {
        let limits = Arc::new(Limits::unlimited());
        let table = PatternTable::new(kind.layout, kind.tiles, kind.goal, &limits, &|_| ());
        let mut bytes = Vec::new();
        kind.write_to(&table.expect("nothing ends it"), &mut bytes).expect("memory can be written");
        bytes
    })
}
