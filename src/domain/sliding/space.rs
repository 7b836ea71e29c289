//! Sliding tiles as a state space, its boards packed as its maker wants. It knows no goal.

use std::iter::Copied;
use std::marker::PhantomData;
use std::slice;

use super::{Board, Cell, Layout, Packed32, Packing, Shared};
use crate::space::StateSpace;

/// A board, and where its blank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    board: Board,
    blank: Cell,
}

impl Position {
    /// The position of a board that has a blank.
    #[must_use]
    pub fn new(board: Board) -> Self {
        Self { board, blank: board.cell_of(0) }
    }

    /// Its board.
    #[must_use]
    pub fn board(&self) -> Board {
        self.board
    }

    /// The position after the blank has entered a neighbouring cell.
    #[must_use]
    pub fn slid(&self, to: Cell) -> Self {
        Self { board: self.board.slide(self.blank, to), blank: to }
    }

    /// Where its blank is.
    #[must_use]
    pub fn blank(&self) -> Cell {
        self.blank
    }

    /// The position after the blank has gone to a cell of its component by a shortest way.
    #[must_use]
    pub(super) fn led_to(mut self, layout: &Layout, target: Cell) -> Self {
        while self.blank != target {
            let nearer = |cell: &&Cell| layout.distance(**cell, target) < layout.distance(self.blank, target);
            let next = layout.neighbours(self.blank).iter().find(nearer).expect("one component");
            self = self.slid(*next);
        }
        self
    }
}

/// The boards of one layout. An action is the cell that the blank enters.
#[derive(Clone, Debug)]
pub struct SlidingSpace<P = Packed32> {
    layout: Shared<Layout>,
    packing: PhantomData<P>,
}

/// The boards of a layout of more than nine cells.
pub type WideSpace = SlidingSpace<Board>;

impl<P: Packing> SlidingSpace<P> {
    /// The space of a layout.
    ///
    /// # Panics
    /// When its boards can't be packed so.
    #[must_use]
    pub fn new(layout: Shared<Layout>) -> Self {
        assert!(layout.cells() <= P::CELLS, "{} cells are not packed so", layout.cells());
        Self { layout, packing: PhantomData }
    }

    /// Its layout.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl<P: Packing> StateSpace for SlidingSpace<P> {
    type State = Position;
    type Packed = P;
    type Action = Cell;
    type Actions<'a> = Copied<slice::Iter<'a, Cell>>;

    fn actions<'a>(&'a self, position: &Position) -> Self::Actions<'a> {
        self.layout.neighbours(position.blank).iter().copied()
    }

    fn apply(&self, position: &mut Position, to: Cell) -> Cell {
        let from = position.blank;
        *position = position.slid(to);
        from
    }

    fn pack(&self, position: &Position) -> P {
        P::new(position.board)
    }

    fn unpack(&self, packed: P) -> Position {
        Position::new(packed.unpack(self.layout.cells()))
    }
}
