//! Lines → boards: which lines belong together.
//!
//! `#` starts a comment that ends with its line; a line with nothing but a comment is passed over, an empty line
//! separates. A byte-order mark, tabs, CRLF and repeated blanks don't matter. A line that holds `/` is always a
//! board by itself (`2 8 3/1 0 4/7 6 5`, a column is `1/0/2`). For the other lines:
//!
//! **Without a size.** The lines up to an empty one are a *paragraph*.
//! - A line of nine tiles, or one word of nine characters, is a 3×3 board. A word of six or more characters can't
//!   be a row (boards in words have at most ten cells), so it is meant as a board and is an error unless it has nine.
//! - A paragraph with such a line, or one with `/`, is read line by line: each line is a board or an error.
//! - Any other paragraph is one board, a row a line. It needs two rows: a single one could be anything. If its
//!   first line is one number n and the second has several tiles, the first is a size line: n rows of n follow.
//!
//! **With a size R×C** (`--size`, or that of `--goal`).
//! - A line of R·C tiles is a board; one of C tiles is a row; R rows make a board, and no empty line is needed.
//! - A line that is just n before a board of n×n is a size line, and passed over.
//! - A line of any other length is an error. It counts as a row of the board that was begun; if none was, as a row
//!   or a board, whichever length is nearer (as a board, too, right after a line that was a board).
//!
//! **On a graph** (`--graph`). Each line is a board, a tile for each vertex; `/` has no meaning.
//!
//! ```text
//! 283104765            3x3                         1 2 3   # rows up to an empty line: 2x3
//! 1 2 3 4 5 x 7 8 6    3x3                         4 5 0
//! 1 2/3 0              2x2
//! 13824765             error: a lost zero          3       # size line: 3x3
//! 1 2 3 0              error: needs --size         5 1 0
//!                                                  8 4 6
//! 1 2 3 0   with --size 2x2: a board               3 7 2
//! ```
//!
//! It must never know: where lines come from, what becomes of a board. Its memory is bounded by [`MAX_CELLS`].

use std::collections::VecDeque;
use std::sync::Arc;

use super::board::{Board, Graph, Layout, MAX_CELLS, Shape, THREE_BY_THREE};
use super::text::{self, Row, TextError};

/// A word of this many characters can't be a row of a board of ten cells and two rows.
const MIN_WHOLE_WORD: usize = 6;

/// A board, or the error in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The line it starts on, from 1.
    pub line: u64,
    /// The board, or why it is none.
    pub board: Result<Board, TextError>,
}

/// Gathers lines into boards.
#[derive(Debug)]
pub struct Gather {
    size: Option<Shape>,
    graph: Option<Arc<Graph>>,
    rows: Vec<Row>,
    tiles: usize,
    /// The paragraph is read line by line.
    by_line: bool,
    /// The paragraph was too large: what follows in it is part of its one error.
    overflown: bool,
    found: VecDeque<Found>,
}

/// What a line without `/` is for itself.
enum Kind {
    Whole(Shape),
    /// Meant as a board, and none.
    Bad(TextError),
    Row,
    SizeLine,
}

impl Gather {
    /// Boards of this layout, or of any grid.
    #[must_use]
    pub fn new(layout: Option<&Layout>) -> Self {
        let (size, graph) = match layout {
            None => (None, None),
            Some(Layout::Grid(shape)) => (Some(*shape), None),
            Some(Layout::Graph(graph)) => (None, Some(Arc::clone(graph))),
        };
        let found = VecDeque::new();
        Self { size, graph, rows: Vec::new(), tiles: 0, by_line: false, overflown: false, found }
    }

    /// The next board that is complete.
    pub fn pop(&mut self) -> Option<Found> {
        self.found.pop_front()
    }

    /// Takes the line with this number (from 1), with or without its line end.
    pub fn line(&mut self, line: u64, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        let (text, comment) = text.split_once('#').map_or((text, false), |(text, _)| (text, true));
        let text = text.trim();
        if text.is_empty() {
            if !comment {
                self.end();
            }
            return;
        }
        if let Some(graph) = &self.graph {
            let board = text::on_graph(&Row::new(line, text), graph);
            return self.alone(line, board);
        }
        if text.contains('/') {
            let rows: Vec<_> = text.split('/').map(|row| Row::new(line, row)).collect();
            return self.alone(line, text::board(&rows, self.size));
        }
        let row = Row::new(line, text);
        match self.kind(&row) {
            Kind::Whole(shape) => self.alone(line, text::flat(&row, shape)),
            Kind::Bad(error) => self.alone(line, row.tiles(true).and(Err(error))),
            Kind::SizeLine => {}
            Kind::Row => self.row(row),
        }
    }

    /// An error stands in the place of a line that could not be read.
    pub fn unreadable(&mut self, line: u64, error: TextError) {
        self.alone(line, Err(error));
    }

    /// The paragraph ends: at an empty line and at the end of the text.
    pub fn end(&mut self) {
        self.flush();
        self.by_line = false;
        self.overflown = false;
    }

    fn kind(&self, row: &Row) -> Kind {
        let shape = self.size.unwrap_or(THREE_BY_THREE);
        let (cells, columns) = (shape.cells(), shape.columns as usize);
        let width = row.width(shape.is_compact());
        if width == cells {
            return Kind::Whole(shape);
        }
        let lost = || row.lost_zero(cells);
        if self.size.is_none() {
            let word = row.word().is_some_and(|word| word.chars().count() >= MIN_WHOLE_WORD);
            let meant_whole = word || self.by_line;
            let error = || lost().unwrap_or(TextError::NoRows { got: width });
            return if meant_whole { Kind::Bad(error()) } else { Kind::Row };
        }
        if width == columns || !self.rows.is_empty() {
            return Kind::Row;
        }
        if shape.rows == shape.columns && row.words == [shape.rows.to_string()] {
            return Kind::SizeLine;
        }
        let nearer = width.abs_diff(cells) < width.abs_diff(columns);
        let error = || lost().unwrap_or(TextError::LineLength { got: width, shape });
        if nearer || self.by_line { Kind::Bad(error()) } else { Kind::Row }
    }

    /// A line that is a board, or stands for one, whatever was gathered before.
    fn alone(&mut self, line: u64, board: Result<Board, TextError>) {
        if self.size.is_none() && !self.overflown {
            for row in std::mem::take(&mut self.rows) {
                let error = TextError::NoRows { got: row.width(true) };
                self.found.push_back(Found { line: row.line, board: row.tiles(true).and(Err(error)) });
            }
            self.tiles = 0;
        }
        self.flush();
        self.by_line = true;
        self.overflown = false;
        self.found.push_back(Found { line, board });
    }

    fn row(&mut self, row: Row) {
        if self.overflown {
            return;
        }
        self.by_line = false;
        self.tiles += row.width(true);
        let line = row.line;
        self.rows.push(row);
        if self.tiles > MAX_CELLS as usize {
            let line = self.rows.first().map_or(line, |row| row.line);
            self.rows.clear();
            self.tiles = 0;
            self.overflown = true;
            self.found.push_back(Found { line, board: Err(TextError::TooLarge) });
        } else if self.size.is_some_and(|size| self.rows.len() == size.rows as usize) {
            self.flush();
        }
    }

    /// Makes a board of the rows so far.
    fn flush(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        self.tiles = 0;
        let Some(first) = rows.first() else { return };
        let line = first.line;
        let board = match self.size {
            Some(shape) => text::board(&rows, Some(shape)),
            None => paragraph(&rows),
        };
        self.found.push_back(Found { line, board });
    }
}

/// A board of the rows of a paragraph of no given size.
fn paragraph(rows: &[Row]) -> Result<Board, TextError> {
    if let [only] = rows {
        return only.tiles(true).and(Err(TextError::NoRows { got: only.width(true) }));
    }
    match size_line(rows) {
        Some(side) => text::board(&rows[1..], Some(Shape { rows: side, columns: side })),
        None => text::board(rows, None),
    }
}

/// The side that a first line of one digit before longer ones means.
fn size_line(rows: &[Row]) -> Option<u32> {
    let [size, first, ..] = rows else { return None };
    let digit = size.words.first().filter(|_| size.width(true) == 1 && first.width(true) > 1)?;
    digit.parse().ok().filter(|&side| side > 1)
}

/// Reads a text that is one board: an argument of the command line.
///
/// # Errors
/// Why it is not one; lines are counted within the text.
pub fn one(text: &str, layout: Option<&Layout>) -> Result<Board, TextError> {
    let mut gather = Gather::new(layout);
    for (number, line) in (1..).zip(text.lines()) {
        gather.line(number, line);
    }
    gather.end();
    match (gather.pop(), gather.found.len()) {
        (Some(found), 0) => found.board,
        (first, more) => Err(TextError::NotOne(usize::from(first.is_some()) + more)),
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
