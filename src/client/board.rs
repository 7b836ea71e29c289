//! What a board is to the client: a layout, and a tile for each of its cells.
//!
//! It must never know: how boards are written or sent, what a legal board is, how one is solved.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The most cells a board may have in writing: far above any server's limit, so only memory is guarded here.
pub const MAX_CELLS: u32 = 1024;
/// The most cells of a board whose tiles may be written without blanks between them.
pub const MAX_COMPACT_CELLS: usize = 10;
/// The size of a board of nine tiles that does not say its rows.
pub const THREE_BY_THREE: Shape = Shape { rows: 3, columns: 3 };

/// Rows and columns, each at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

impl Shape {
    /// How many cells there are.
    #[must_use]
    pub fn cells(self) -> usize {
        self.rows as usize * self.columns as usize
    }

    /// Whether a row or a board may be written as one word.
    pub(super) fn is_compact(self) -> bool {
        self.cells() <= MAX_COMPACT_CELLS
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

impl FromStr for Shape {
    type Err = String;

    /// Reads `RxC`, as in `3x3` or `2X4`.
    ///
    /// # Errors
    /// A sentence that says what was expected.
    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once(['x', 'X'])
            .and_then(|(rows, columns)| Some(Self { rows: number(rows)?, columns: number(columns)? }))
            .filter(|shape| shape.cells() <= MAX_CELLS as usize)
            .ok_or_else(|| format!("expected rows x columns, as in 3x3, with at most {MAX_CELLS} cells"))
    }
}

/// Edges between vertices, which are numbered from 1. How many vertices there are is the board's to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Pairs of vertices, as they were written.
    pub edges: Vec<(u32, u32)>,
}

impl Graph {
    /// The largest vertex that is named, 0 if none is: no board on this graph has fewer.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.edges.iter().map(|&(a, b)| a.max(b) as usize).max().unwrap_or(0)
    }

    /// Whether there is an edge between two vertices.
    #[must_use]
    pub fn joins(&self, a: u32, b: u32) -> bool {
        self.edges.iter().any(|&edge| edge == (a, b) || edge == (b, a))
    }
}

impl FromStr for Graph {
    type Err = String;

    /// Reads `1-2,1-3`; an empty text has no edges.
    ///
    /// # Errors
    /// A sentence that says what was expected.
    fn from_str(text: &str) -> Result<Self, String> {
        let edge = |text: &str| {
            let ends = text.split_once('-').and_then(|(a, b)| Some((number(a.trim())?, number(b.trim())?)));
            ends.ok_or_else(|| {
                let ends = "two vertices from 1 to";
                format!("`{text}` is no edge: expected {ends} {MAX_CELLS}, as in 1-2,1-3")
            })
        };
        let edges = text.split(',').filter(|_| !text.trim().is_empty()).map(edge);
        Ok(Self { edges: edges.collect::<Result<_, _>>()? })
    }
}

fn number(word: &str) -> Option<u32> {
    word.parse().ok().filter(|number| (1..=MAX_CELLS).contains(number))
}

/// The cells of a board and which are adjacent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// Rows and columns.
    Grid(Shape),
    /// Vertices, of which each tile of a board has one.
    Graph(Arc<Graph>),
}

/// A board as it was written: a tile for each cell in reading order or by vertex, 0 for the blank.
///
/// On a grid there are as many tiles as cells; nothing else about them is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// Its cells.
    pub layout: Layout,
    /// Its tiles in the order of the cells.
    pub tiles: Vec<u32>,
}

impl Board {
    /// The goal that is meant when none is named: 1, 2, …, blank last.
    #[must_use]
    pub fn ordered(&self) -> Self {
        let tiles = (1..).take(self.tiles.len().saturating_sub(1)).chain([0]).collect();
        Self { layout: self.layout.clone(), tiles }
    }

    /// Its tiles, a row of the grid each; all in one row on a graph.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u32]> {
        let columns = match &self.layout {
            Layout::Grid(shape) => shape.columns as usize,
            Layout::Graph(_) => self.tiles.len(),
        };
        self.tiles.chunks(columns.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        for bad in ["", "3", "x", "0x3", "3x0", "3x", "-1x2", "33x33", "3x3x3", "99999999999x1"] {
            assert!(bad.parse::<Shape>().is_err(), "{bad}");
        }
        assert_eq!("32X32".parse::<Shape>().unwrap().cells(), 1024);
    }

    #[test]
    fn edges_are_pairs_of_vertices() {
        let graph: Graph = "1-2, 9-3,2-1".parse().unwrap();
        assert_eq!((graph.edges.len(), graph.largest()), (3, 9));
        assert!(graph.joins(3, 9) && !graph.joins(1, 3));
        let none: Graph = "".parse().unwrap();
        assert_eq!((none.edges.len(), none.largest()), (0, 0));
        for bad in ["1", "1-", "-1-2", "0-1", "1-2,", "1-2-3", "1-2;2-3", "1-2000", "a-b"] {
            assert!(bad.parse::<Graph>().unwrap_err().contains("as in 1-2,1-3"), "{bad}");
        }
    }
}
