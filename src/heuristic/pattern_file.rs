//! The large set of pattern databases in files, one a pattern: written under another name and
//! then renamed, so that one that has its name is whole; read with every byte checked. It knows
//! no search.
//!
//! A file is a header, a CRC-32 of header and bits, and the bits, eight bytes a word, all with the
//! lowest byte first. The header has the name of the format and its version, rows, columns, the
//! goal's blank cell, the pattern's tiles (0 where there is none) and the number of words.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

use crc32fast::Hasher;

use super::partition::{PatternSet, patterns};
use super::pattern::PatternTable;
use super::pattern_sum::PatternSum;
use crate::domain::sliding::{Board, Layout, Shape, Shared, Tile};
use crate::search::{Limits, Stop};

const MAGIC: [u8; 8] = *b"taquinPD";
const VERSION: u8 = 1;
/// Magic, version, rows, columns, blank, eight tiles, words.
const HEADER_BYTES: usize = 8 + 4 + 8 + 8;
/// Words read and checked at a time.
const WORDS_AT_ONCE: usize = 1 << 15;

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct TableFileError {
    path: PathBuf,
    fault: Fault,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is no regular file")]
    Kind,
    #[error("it is no pattern database of taquin")]
    Magic,
    #[error("it has version {0}, expected {VERSION}: build the tables again")]
    Version(u8),
    #[error("it is of a grid of {0}x{1}, expected {2}x{3}")]
    Layout(u8, u8, u8, u8),
    #[error("it is of goals with the blank on cell {0}, expected {1}")]
    Blank(u8, u8),
    #[error("it is of the tiles {0:?}, expected {1:?}")]
    Tiles(Vec<Tile>, Vec<Tile>),
    #[error("it has {0} bytes, expected {1}: it was cut off or added to")]
    Length(u64, u64),
    #[error("its checksum does not fit its content: it was damaged")]
    Checksum,
}

/// What a building of files tells of itself.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// This file is there already, and sound.
    Kept(&'a Path),
    /// The pattern of this file is begun; it has so many places.
    Begun(&'a Path, u64),
    /// So many more places are filled.
    Filled(u64),
    /// This file is written.
    Written(&'a Path),
}

/// The goal of the large set: its blank is on the first cell.
fn large_goal() -> (&'static Shared<Layout>, Board) {
    (Layout::grid(4, 4).expect("sixteen cells"), Board::standard(16, 0))
}

/// Writes the files of the large set that are not there, or not sound.
///
/// # Errors
/// When one can't be written.
pub fn build_large(folder: &Path, tell: &(dyn Fn(Progress) + Sync)) -> Result<(), TableFileError> {
    let ((layout, goal), limits) = (large_goal(), Arc::new(Limits::unlimited()));
    fs::create_dir_all(folder).map_err(|error| at(folder, error.into()))?;
    for tiles in patterns(PatternSet::Large, layout, goal) {
        let kind = Kind { layout, goal, tiles: &tiles };
        let path = folder.join(kind.file_name());
        if kind.read(&path).is_ok() {
            tell(Progress::Kept(&path));
            continue;
        }
        tell(Progress::Begun(&path, PatternTable::empty(layout, &tiles, goal).places()));
        let filled = |places| tell(Progress::Filled(places));
        let made = PatternTable::new(layout, &tiles, goal, &limits, &filled);
        let made = made.expect("nothing ends unlimited limits");
        kind.write(&made, &path).map_err(|error| at(&path, error.into()))?;
        tell(Progress::Written(&path));
    }
    Ok(())
}

/// The large set, made in memory.
///
/// # Errors
/// [`Stop::Cancelled`] when the limits are cancelled.
pub fn make_large(limits: &Arc<Limits>) -> Result<PatternSum, Stop> {
    let (layout, goal) = large_goal();
    PatternSum::new(PatternSet::Large, layout, goal, limits)
}

/// The large set, as its files have it.
///
/// # Errors
/// Which file is not as it must be, and why.
pub fn load_large(folder: &Path) -> Result<PatternSum, TableFileError> {
    let (layout, goal) = large_goal();
    PatternSum::of(PatternSet::Large, layout, goal, |tiles| {
        let kind = Kind { layout, goal, tiles };
        let path = folder.join(kind.file_name());
        kind.read(&path).map_err(|fault| at(&path, fault))
    })
}

fn at(path: &Path, fault: Fault) -> TableFileError {
    TableFileError { path: path.to_owned(), fault }
}

/// What a file is of.
pub(super) struct Kind<'a> {
    pub(super) layout: &'a Shared<Layout>,
    pub(super) goal: Board,
    pub(super) tiles: &'a [Tile],
}

impl Kind<'_> {
    fn sides(&self) -> (u8, u8) {
        let Shape::Grid { rows, columns, .. } = self.layout.shape() else {
            unreachable!("what is kept in files is of grids")
        };
        (rows, columns)
    }

    fn file_name(&self) -> String {
        let (rows, columns) = self.sides();
        let tiles = self.tiles.iter().map(ToString::to_string).collect::<Vec<_>>().join("-");
        format!("{rows}x{columns}-blank-{}-tiles-{tiles}.pattern", self.goal.cell_of(0))
    }

    fn header(&self, words: usize) -> Vec<u8> {
        let (rows, columns) = self.sides();
        let mut tiles = self.tiles.to_vec();
        tiles.resize(8, 0);
        let words = (words as u64).to_le_bytes();
        [&MAGIC[..], &[VERSION, rows, columns, self.goal.cell_of(0)], &tiles, &words].concat()
    }

    fn write(&self, table: &PatternTable, path: &Path) -> io::Result<()> {
        // Of this process alone: who else builds the same writes another.
        let unfinished = path.with_extension(format!("{}.unfinished", process::id()));
        let written = self.write_all(table, &unfinished).and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            // It may not be there at all; what went wrong is told.
            drop(fs::remove_file(&unfinished));
        }
        written
    }

    fn write_all(&self, table: &PatternTable, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        self.write_to(table, &mut file)?;
        file.into_inner()?.sync_all()
    }

    pub(super) fn write_to(&self, table: &PatternTable, file: &mut impl Write) -> io::Result<()> {
        let header = self.header(table.words());
        let mut hasher = Hasher::new();
        hasher.update(&header);
        table.bits().iter().for_each(|word| hasher.update(&word.to_le_bytes()));
        file.write_all(&header)?;
        file.write_all(&hasher.finalize().to_le_bytes())?;
        table.bits().iter().try_for_each(|word| file.write_all(&word.to_le_bytes()))
    }

    fn read(&self, path: &Path) -> Result<PatternTable, Fault> {
        // Before it is opened: of a pipe that alone may take for ever.
        if !fs::metadata(path)?.is_file() {
            return Err(Fault::Kind);
        }
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        self.read_from(BufReader::new(file), length)
    }

    /// Reads a file of so many bytes.
    pub(super) fn read_from(&self, mut file: impl Read, length: u64) -> Result<PatternTable, Fault> {
        let (mut header, mut checksum) = ([0; HEADER_BYTES], [0; 4]);
        file.read_exact(&mut header).map_err(not_whole)?;
        self.check(&header)?;
        let table = PatternTable::empty(self.layout, self.tiles, self.goal);
        let expected = (HEADER_BYTES + checksum.len() + 8 * table.words()) as u64;
        if length != expected || header[..] != self.header(table.words()) {
            return Err(Fault::Length(length, expected));
        }
        file.read_exact(&mut checksum).map_err(not_whole)?;
        let mut hasher = Hasher::new();
        hasher.update(&header);
        let mut bits = Vec::with_capacity(table.words());
        let mut bytes = vec![0; 8 * WORDS_AT_ONCE];
        while bits.len() < table.words() {
            let some = 8 * WORDS_AT_ONCE.min(table.words() - bits.len());
            file.read_exact(&mut bytes[..some]).map_err(not_whole)?;
            hasher.update(&bytes[..some]);
            let words = bytes[..some].as_chunks().0.iter();
            bits.extend(words.map(|&word| u64::from_le_bytes(word)));
        }
        if hasher.finalize().to_le_bytes() == checksum { Ok(table.with(bits)) } else { Err(Fault::Checksum) }
    }

    /// Whether a file of this header is of this kind.
    fn check(&self, header: &[u8; HEADER_BYTES]) -> Result<(), Fault> {
        let (magic, rest) = header.split_at(MAGIC.len());
        let (rows, columns) = self.sides();
        let blank = self.goal.cell_of(0);
        let tiles: Vec<Tile> = rest[4..12].iter().copied().filter(|&tile| tile != 0).collect();
        match *rest {
            _ if magic != MAGIC => Err(Fault::Magic),
            [version, ..] if version != VERSION => Err(Fault::Version(version)),
            [_, r, c, ..] if (r, c) != (rows, columns) => Err(Fault::Layout(r, c, rows, columns)),
            [_, _, _, cell, ..] if cell != blank => Err(Fault::Blank(cell, blank)),
            _ if tiles != self.tiles => Err(Fault::Tiles(tiles, self.tiles.to_vec())),
            _ => Ok(()),
        }
    }
}

/// A file that ends too soon is no pattern database.
fn not_whole(error: io::Error) -> Fault {
    if error.kind() == ErrorKind::UnexpectedEof { Fault::Magic } else { Fault::Io(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILES: [Tile; 3] = [1, 2, 6];

    fn kind(tiles: &[Tile]) -> Kind<'_> {
        Kind { layout: Layout::grid(2, 5).unwrap(), goal: Board::standard(10, 0), tiles }
    }

    fn made(kind: &Kind) -> PatternTable {
        let limits = Arc::new(Limits::unlimited());
        PatternTable::new(kind.layout, kind.tiles, kind.goal, &limits, &|_| ()).unwrap()
    }

    /// A file of its own, gone with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("taquin-{}-{name}", std::process::id())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let (kind, file) = (kind(&TILES), Scratch::new("round"));
        let table = made(&kind);
        kind.write(&table, &file.0).unwrap();
        assert_eq!(kind.read(&file.0).unwrap().bits(), table.bits());
        assert!(!file.0.with_extension("unfinished").exists());
    }

    #[test]
    fn every_flipped_byte_is_found() {
        let (kind, file) = (kind(&TILES), Scratch::new("flipped"));
        kind.write(&made(&kind), &file.0).unwrap();
        let sound = fs::read(&file.0).unwrap();
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&file.0, bytes).unwrap();
            assert!(kind.read(&file.0).is_err(), "byte {at}");
        }
    }

    #[test]
    fn another_file_is_refused_with_the_reason() {
        let (wanted, file) = (kind(&TILES), Scratch::new("another"));
        wanted.write(&made(&wanted), &file.0).unwrap();
        let sound = fs::read(&file.0).unwrap();
        let refused = |kind: &Kind, bytes: &[u8], reason: &str| {
            fs::write(&file.0, bytes).unwrap();
            let error = at(&file.0, kind.read(&file.0).unwrap_err()).to_string();
            assert!(error.starts_with(file.0.to_str().unwrap()) && error.contains(reason), "{error}");
        };
        let changed = |at: usize, byte| {
            let mut bytes = sound.clone();
            bytes[at] = byte;
            bytes
        };
        refused(&wanted, &sound[..sound.len() - 1], "cut off");
        refused(&wanted, &[&sound[..], &[0]].concat(), "cut off or added to");
        refused(&wanted, &sound[..20], "no pattern database");
        refused(&wanted, &changed(0, b'T'), "no pattern database");
        refused(&wanted, &changed(8, 2), "version 2, expected 1");
        refused(&wanted, &changed(9, 3), "a grid of 3x5, expected 2x5");
        refused(&wanted, &changed(11, 4), "blank on cell 4, expected 0");
        refused(&wanted, &changed(sound.len() - 1, !sound[sound.len() - 1]), "damaged");
        refused(&kind(&[1, 2, 7]), &sound, "the tiles [1, 2, 6], expected [1, 2, 7]");
        fs::remove_file(&file.0).unwrap();
        assert!(matches!(wanted.read(&file.0), Err(Fault::Io(_))));
    }
}
