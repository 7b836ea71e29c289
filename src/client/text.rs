//! Text → boards: what one board looks like in writing.
//!
//! A *tile* is a number or a mark of the blank: `0 x X _ .`. Tiles are separated by any blanks, rows by `/` or by
//! lines. A board of at most ten cells has only one-character tiles, so there a row, or a whole board, may be one
//! word: `283104765`, `283/104/765`, `23415_768`. How lines are gathered into boards is [`super::gather`]'s matter.
//!
//! It must never know: where the text comes from, what a legal board is (a tile twice or a missing tile is the
//! server's to refuse, and so are two blanks, which are simply two zeros here), what becomes of the board.

use std::sync::Arc;

use super::board::{Board, Graph, Layout, MAX_CELLS, MAX_COMPACT_CELLS, Shape};

/// The characters of a word that a message repeats.
const MAX_QUOTED: usize = 40;
/// The marks of the blank.
const BLANKS: [char; 5] = ['0', 'x', 'X', '_', '.'];

/// Why a text is not a board.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// A word that is no tile.
    #[error("`{0}` is not a tile: expected a number, or one of 0 x X _ . for the blank")]
    Token(String),
    /// A row with too few or too many tiles.
    #[error("row length: row {row} (line {line}) has {got} tiles, expected {expected}")]
    RowLength {
        /// The line it is on, from 1.
        line: u64,
        /// Which row of its board, from 1.
        row: usize,
        /// Its tiles.
        got: usize,
        /// The tiles it should have.
        expected: usize,
    },
    /// Too few or too many rows.
    #[error("row count: {got} rows, expected {expected}")]
    RowCount {
        /// Its rows.
        got: usize,
        /// The rows it should have.
        expected: usize,
    },
    /// A row without a tile, as in `1 2//3 0`.
    #[error("row {0} is empty")]
    EmptyRow(usize),
    /// A line that is neither a row nor a board of the size that was given.
    #[error(
        "{got} tiles on a line: a {shape} board has {cells} tiles, a row of it {columns}",
        cells = shape.cells(),
        columns = shape.columns
    )]
    LineLength {
        /// Tiles on the line.
        got: usize,
        /// The size that was given.
        shape: Shape,
    },
    /// Tiles without rows, and not nine of them.
    #[error(
        "{got} tiles without rows: nine tiles are a 3x3 board; for other sizes split the rows by `/` or by lines, \
         or give --size RxC"
    )]
    NoRows {
        /// The tiles there are.
        got: usize,
    },
    /// A word that is one digit short and has no blank: a number that lost its leading zero.
    #[error(
        "`{word}` has {got} tiles and no blank, expected {expected} tiles: was a leading zero lost? 0{word}",
        got = word.len(),
        expected = word.len() + 1
    )]
    LostZero {
        /// The word.
        word: String,
    },
    /// A row written as one word on a board of more than ten cells.
    #[error(
        "`{word}`: tiles need blanks between them on boards of more than {MAX_COMPACT_CELLS} cells, here {cells}"
    )]
    Compact {
        /// The word.
        word: String,
        /// The cells there would be.
        cells: usize,
    },
    /// More rows without an empty line than any board has.
    #[error("more than {MAX_CELLS} tiles without an empty line: no board is that large")]
    TooLarge,
    /// A line too long to be read.
    #[error("a line of more than {0} bytes")]
    LineTooLong(usize),
    /// A text in another encoding.
    #[error("the text is UTF-16, expected UTF-8")]
    Utf16,
    /// Too few tiles for a graph.
    #[error("{got} tiles, expected a tile for each vertex, at least {largest}")]
    Vertices {
        /// The tiles there are.
        got: usize,
        /// The largest vertex that the graph names.
        largest: usize,
    },
    /// A judge's text that is not as the judge has it.
    #[error("{got}, expected {expected}")]
    Judged {
        /// What stands there.
        got: String,
        /// What should.
        expected: String,
    },
    /// A text that should be one board and is several or none.
    #[error("{0} boards, expected one")]
    NotOne(usize),
}

impl TextError {
    /// This word is no tile.
    fn token(word: &str) -> Self {
        Self::Token(cut(word))
    }

    /// This word is not what a judge's text should have in its place.
    pub(super) fn judged(word: &str, expected: &str) -> Self {
        Self::Judged { got: format!("`{}`", cut(word)), expected: expected.to_owned() }
    }
}

/// A word for a message, which a long one would drown and a control character might do anything to.
fn cut(word: &str) -> String {
    let mut cut = String::new();
    for c in word.chars().take(MAX_QUOTED) {
        if c.is_control() { cut.extend(c.escape_default()) } else { cut.push(c) }
    }
    if word.chars().nth(MAX_QUOTED).is_some() {
        cut.push('…');
    }
    cut
}

/// A row as it was written, with the line it stood on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) line: u64,
    pub(super) words: Vec<String>,
}

impl Row {
    pub(super) fn new(line: u64, text: &str) -> Self {
        Self { line, words: text.split_whitespace().map(str::to_owned).collect() }
    }

    /// The word that is the whole row, if it is made of several characters.
    pub(super) fn word(&self) -> Option<&str> {
        match self.words.as_slice() {
            [word] if word.chars().nth(1).is_some() => Some(word),
            _ => None,
        }
    }

    /// How many tiles it holds, a word being a tile a character if `compact`.
    pub(super) fn width(&self, compact: bool) -> usize {
        self.word().filter(|_| compact).map_or(self.words.len(), |word| word.chars().count())
    }

    /// Its tiles, a word being a tile a character if `compact`.
    pub(super) fn tiles(&self, compact: bool) -> Result<Vec<u32>, TextError> {
        match self.word().filter(|_| compact) {
            Some(word) => {
                let each = word.chars().map(character);
                each.collect::<Option<_>>().ok_or_else(|| TextError::token(word))
            }
            None => self.words.iter().map(|word| tile(word)).collect(),
        }
    }

    /// A digit or a mark of the blank is missing from this word if a board has `cells` cells.
    pub(super) fn lost_zero(&self, cells: usize) -> Option<TextError> {
        let word = self.word().filter(|word| word.len() + 1 == cells && cells <= MAX_COMPACT_CELLS)?;
        let lost = word.chars().all(|c| c.is_ascii_digit() && c != '0');
        lost.then(|| TextError::LostZero { word: word.to_owned() })
    }
}

/// A whole board on one line, without rows.
pub(super) fn flat(row: &Row, shape: Shape) -> Result<Board, TextError> {
    Ok(Board { layout: Layout::Grid(shape), tiles: row.tiles(shape.is_compact())? })
}

/// A whole board on one line, a tile for each vertex.
pub(super) fn on_graph(row: &Row, graph: &Arc<Graph>) -> Result<Board, TextError> {
    let largest = graph.largest();
    let tiles = row.tiles(largest <= MAX_COMPACT_CELLS)?;
    if tiles.len() < largest {
        return Err(TextError::Vertices { got: tiles.len(), largest });
    }
    if tiles.len() > MAX_CELLS as usize {
        return Err(TextError::TooLarge);
    }
    Ok(Board { layout: Layout::Graph(Arc::clone(graph)), tiles })
}

/// A board of rows, of this size if one is given.
pub(super) fn board(rows: &[Row], shape: Option<Shape>) -> Result<Board, TextError> {
    if let Some(row) = rows.iter().position(|row| row.words.is_empty()) {
        return Err(TextError::EmptyRow(row + 1));
    }
    let (compact, columns) = match shape {
        Some(shape) => (shape.is_compact(), shape.columns as usize),
        None => guess(rows)?,
    };
    let expected = shape.map_or(rows.len(), |shape| shape.rows as usize);
    let mut tiles = Vec::with_capacity(rows.len() * columns);
    for (index, row) in rows.iter().enumerate() {
        let got = row.tiles(compact)?;
        if got.len() != columns {
            return Err(TextError::RowLength {
                line: row.line,
                row: index + 1,
                got: got.len(),
                expected: columns,
            });
        }
        tiles.extend(got);
    }
    if rows.len() != expected {
        return Err(TextError::RowCount { got: rows.len(), expected });
    }
    let side = |n: usize| u32::try_from(n).map_err(|_| TextError::TooLarge);
    let shape = Shape { rows: side(rows.len())?, columns: side(columns)? };
    Ok(Board { layout: Layout::Grid(shape), tiles })
}

/// Whether words of several characters are several tiles, and how many columns the first row makes.
///
/// In more than ten rows a word can only be a number; in fewer it is a number only beside others, since a board
/// of one column then has no tile above 9.
fn guess(rows: &[Row]) -> Result<(bool, usize), TextError> {
    let compact = rows.len() <= MAX_COMPACT_CELLS;
    let columns = rows.first().map_or(0, |row| row.width(compact));
    let cells = rows.len() * columns;
    match rows.iter().find_map(Row::word) {
        Some(word) if compact && cells > MAX_COMPACT_CELLS => {
            Err(TextError::Compact { word: cut(word), cells })
        }
        _ => Ok((compact, columns)),
    }
}

/// The tile that a word names.
fn tile(word: &str) -> Result<u32, TextError> {
    let digits = || word.bytes().all(|b| b.is_ascii_digit()).then(|| word.parse().ok()).flatten();
    let mut characters = word.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => character(only),
        _ => digits(),
    }
    .ok_or_else(|| TextError::token(word))
}

/// The tile that a character names.
fn character(c: char) -> Option<u32> {
    if BLANKS.contains(&c) { Some(0) } else { c.to_digit(10) }
}
