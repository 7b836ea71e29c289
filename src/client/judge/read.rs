//! A judge's input → boards, one at a time, with nothing in it that the judge would not write but blanks and empty
//! lines. A text ends at its first error, since what follows could be read in no certain way.
//!
//! It must never know: what is asked of a board or printed of its answer.

use std::io;
use std::sync::Arc;

use super::super::board::{Board, Graph, Layout, Shape, THREE_BY_THREE};
use super::super::gather::Found;
use super::super::lines::Lines;
use super::super::text::{Row, TextError};
use super::{Boards, Judge};

/// Reads one board.
pub(super) type Reader = fn(&mut Lines) -> Result<Board, Stop>;

/// Why there is no board.
#[derive(Debug)]
pub(super) enum Stop {
    /// A line is not what it should be.
    Malformed(u64, TextError),
    /// The text could not be read on.
    Input(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Input(error)
    }
}

/// The boards of a text.
pub(crate) struct Input<'a> {
    judge: &'static Judge,
    lines: Lines<'a>,
    /// The boards yet to be read, if that is known.
    left: Option<u64>,
    begun: bool,
}

impl<'a> Input<'a> {
    pub(crate) fn new(judge: &'static Judge, lines: Lines<'a>) -> Self {
        Self { judge, lines, left: None, begun: false }
    }

    /// The bytes read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.lines.offset()
    }

    /// The next board; an error in its place is the last.
    pub(crate) fn next(&mut self) -> io::Result<Option<Found>> {
        match self.read() {
            Ok(found) => Ok(found),
            Err(Stop::Malformed(line, error)) => {
                self.left = Some(0);
                Ok(Some(Found { line, board: Err(error) }))
            }
            Err(Stop::Input(error)) => Err(error),
        }
    }

    fn read(&mut self) -> Result<Option<Found>, Stop> {
        if !self.begun {
            self.begun = true;
            self.left = match self.judge.boards {
                Boards::One => Some(1),
                Boards::Counted => Some(count(&mut self.lines)?),
                Boards::ToTheEnd => None,
            };
            self.check_end()?;
        }
        let more = self.lines.peek()?.is_some();
        if !self.left.map_or(more, |left| left > 0) {
            return Ok(None);
        }
        let line = self.lines.following();
        let board = (self.judge.read)(&mut self.lines)?;
        self.left = self.left.map(|left| left - 1);
        self.check_end()?;
        Ok(Some(Found { line, board: Ok(board) }))
    }

    /// With the last board the text must end, or none of its answers can be trusted to be that of its board.
    fn check_end(&mut self) -> Result<(), Stop> {
        match self.left {
            Some(0) => match self.lines.peek()? {
                Some(line) => Err(malformed(line, "more input", "its end")),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

fn malformed(line: u64, got: impl Into<String>, expected: impl Into<String>) -> Stop {
    Stop::Malformed(line, TextError::Judged { got: got.into(), expected: expected.into() })
}

/// The next line that is not empty, with its number; at the end of the text an error says what was expected.
fn full_line(lines: &mut Lines, expected: &str) -> Result<(u64, String), Stop> {
    lines.peek()?;
    let Some(line) = lines.next()? else {
        return Err(malformed(lines.following(), "the input ends", expected));
    };
    match line.text {
        Ok(text) => Ok((line.number, text.trim().trim_start_matches('\u{feff}').to_owned())),
        Err(error) => Err(Stop::Malformed(line.number, error)),
    }
}

/// The tiles of a board as they come, checked one by one.
struct Tiles {
    tiles: Vec<u32>,
    cells: usize,
}

impl Tiles {
    fn of(shape: Shape) -> Self {
        Self { tiles: Vec::new(), cells: shape.cells() }
    }

    /// Takes the tiles of a line.
    fn take(&mut self, line: u64, tiles: impl IntoIterator<Item = u32>) -> Result<(), Stop> {
        for tile in tiles {
            let named = if tile == 0 { "the blank".into() } else { format!("tile {tile}") };
            let expected = || format!("each of 1 to {} and the blank once", self.cells - 1);
            if tile as usize >= self.cells {
                return Err(malformed(line, named, expected()));
            }
            if self.tiles.contains(&tile) {
                return Err(malformed(line, named + " twice", expected()));
            }
            self.tiles.push(tile);
        }
        Ok(())
    }

    fn board(self, shape: Shape) -> Board {
        Board { layout: Layout::Grid(shape), tiles: self.tiles }
    }
}

/// Takes a line of tiles, each a word, or if `compact` each a character.
fn tile_line(lines: &mut Lines, tiles: &mut Tiles, count: usize, compact: bool) -> Result<(), Stop> {
    let expected = if compact {
        format!("a word of {count} tiles")
    } else {
        format!("a line of {count} tiles with spaces between them")
    };
    let (line, text) = full_line(lines, &expected)?;
    let row = Row::new(line, &text);
    if let Some(error) = row.lost_zero(count).filter(|_| compact) {
        return Err(Stop::Malformed(line, error));
    }
    if compact && row.words.len() != 1 {
        return Err(malformed(line, plural(row.words.len(), "word"), expected));
    }
    let got = row.width(compact);
    if got != count {
        return Err(malformed(line, plural(got, "tile"), expected));
    }
    tiles.take(line, row.tiles(compact).map_err(|error| Stop::Malformed(line, error))?)
}

/// `1 tile`, `2 tiles`.
fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn three_by_three(lines: &mut Lines, rows: usize, compact: bool) -> Result<Board, Stop> {
    let mut tiles = Tiles::of(THREE_BY_THREE);
    let count = THREE_BY_THREE.cells() / rows;
    for _ in 0..rows {
        tile_line(lines, &mut tiles, count, compact)?;
    }
    Ok(tiles.board(THREE_BY_THREE))
}

/// A line of nine tiles.
pub(super) fn line(lines: &mut Lines) -> Result<Board, Stop> {
    three_by_three(lines, 1, false)
}

/// Three lines of three tiles.
pub(super) fn rows(lines: &mut Lines) -> Result<Board, Stop> {
    three_by_three(lines, 3, false)
}

/// A word of nine tiles.
pub(super) fn word(lines: &mut Lines) -> Result<Board, Stop> {
    three_by_three(lines, 1, true)
}

/// A line that is a 2×3 array of arrays.
pub(super) fn array(lines: &mut Lines) -> Result<Board, Stop> {
    const SHAPE: Shape = Shape { rows: 2, columns: 3 };
    const EXPECTED: &str = "two rows of three tiles as in [[1,2,3],[4,0,5]]";
    let (line, text) = full_line(lines, EXPECTED)?;
    let rows: Vec<Vec<u32>> =
        serde_json::from_str(&text).map_err(|_| malformed(line, "no array of arrays of tiles", EXPECTED))?;
    let lengths: Vec<_> = rows.iter().map(Vec::len).collect();
    if lengths != [SHAPE.columns as usize; SHAPE.rows as usize] {
        return Err(malformed(line, format!("rows of {lengths:?} tiles"), EXPECTED));
    }
    let mut tiles = Tiles::of(SHAPE);
    tiles.take(line, rows.into_iter().flatten())?;
    Ok(tiles.board(SHAPE))
}

/// The number of edges, a line for each, and the vertices of the pieces 1 to 8 among nine.
pub(super) fn graph(lines: &mut Lines) -> Result<Board, Stop> {
    const VERTICES: u32 = 9;
    const MOST_EDGES: u32 = VERTICES * (VERTICES - 1) / 2;
    let count =
        numbers(lines, 1, 0..=MOST_EDGES, &format!("the number of edges, at most {MOST_EDGES}"))?.1[0];
    let mut edges = Vec::new();
    for edge in 1..=count {
        let expected = format!("edge {edge} of {count}: two vertices from 1 to {VERTICES}");
        let (line, ends) = numbers(lines, 2, 1..=VERTICES, &expected)?;
        if ends[0] == ends[1] {
            return Err(malformed(line, format!("vertex {} twice", ends[0]), expected));
        }
        edges.push((ends[0], ends[1]));
    }
    let expected = format!("the vertices of the pieces 1 to {}, each from 1 to {VERTICES}", VERTICES - 1);
    let (line, vertices) = numbers(lines, VERTICES as usize - 1, 1..=VERTICES, &expected)?;
    let mut tiles = vec![0; VERTICES as usize];
    for (piece, &vertex) in (1..).zip(&vertices) {
        let tile = &mut tiles[vertex as usize - 1];
        if *tile != 0 {
            return Err(malformed(line, format!("pieces {tile} and {piece} on vertex {vertex}"), expected));
        }
        *tile = piece;
    }
    Ok(Board { layout: Layout::Graph(Arc::new(Graph { edges })), tiles })
}

/// The number of boards.
fn count(lines: &mut Lines) -> Result<u64, Stop> {
    Ok(numbers(lines, 1, 0..=u32::MAX, "the number of boards")?.1[0].into())
}

/// A line of exactly `count` numbers in a range, with its number.
fn numbers(
    lines: &mut Lines,
    count: usize,
    range: std::ops::RangeInclusive<u32>,
    expected: &str,
) -> Result<(u64, Vec<u32>), Stop> {
    let (line, text) = full_line(lines, expected)?;
    let number = |word: &str| {
        let number = word.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| Stop::Malformed(line, TextError::judged(word, expected)))
    };
    let numbers = text.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
    if numbers.len() == count {
        Ok((line, numbers))
    } else {
        Err(malformed(line, plural(numbers.len(), "number"), expected))
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
