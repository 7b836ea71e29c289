//! A board found in a table, and not read yet: a line of a large table is a while on its
//! way from the memory, and who has other work does that first. It knows no search.

use super::job::{Answer, Source, within};
use crate::domain::sliding::{Canonical, Cell, Frame, Path, Shared, Solution};
use crate::space::Cost;
use crate::table::{Place, Table};

/// See the module.
pub struct Found {
    table: &'static Table,
    place: Place,
    frame: Shared<Frame>,
    blank: Cell,
    max_moves: Cost,
}

impl Found {
    /// A board's place in a table that is there for good; `None` when the table has no word for it.
    pub(super) fn new(table: &'static Table, canonical: &Canonical, max_moves: Cost) -> Option<Self> {
        let (start, frame) = (canonical.start(), canonical.goal().frame());
        let blank = start.cell_of(0);
        Some(Self { table, place: table.seek(start, blank)?, frame: frame.clone(), blank, max_moves })
    }

    /// The answer to its board.
    #[must_use]
    pub fn read(self) -> Answer {
        let path = Path::Word(self.table.word_at(self.place));
        let solution = Solution::in_frame(self.frame, self.blank, path);
        Answer::at_once(within(solution, self.max_moves), Source::Table)
    }
}
