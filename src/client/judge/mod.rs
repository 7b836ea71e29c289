//! Judges: how each of them writes its boards and wants its answers. A judge is one row of [`JUDGES`].
//!
//! It must never know: how boards are sent or solved, what an answer is, where text comes from or goes.

pub(crate) mod read;

use super::board::Board;
use read::Reader;

/// How a judge asks and how it is answered.
#[derive(Debug)]
pub(crate) struct Judge {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Reads one board.
    read: Reader,
    /// How many boards there are.
    boards: Boards,
    /// The goal, a tile for each cell; empty means 1, 2, …, blank last.
    goal: &'static [u32],
    /// What is printed of a path.
    pub(crate) print: Print,
    /// What is printed of a board without a path; a judge without a word for it promises that there is none.
    pub(crate) unsolvable: Option<&'static str>,
    /// What stands between two answers, after the line end of the first.
    pub(crate) between: &'static str,
}

/// How many boards a judge's input holds.
#[derive(Debug, Clone, Copy)]
enum Boards {
    One,
    /// As many as a first line says.
    Counted,
    /// As many as there are.
    ToTheEnd,
}

/// What is printed of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Print {
    /// Its number of moves.
    Count,
    /// The way of the blank in letters `u d l r`: of all shortest paths the first in u < d < l < r, which is one
    /// of those that are right wherever any will do.
    Letters,
}

/// The ordered board around a blank in the centre.
const RING: &[u32] = &[1, 2, 3, 8, 0, 4, 7, 6, 5];

/// A judge with one 3×3 board on a line that wants the path; the rows below say where they differ.
const LETTERS: Judge = Judge {
    name: "",
    read: read::line,
    boards: Boards::One,
    goal: &[],
    print: Print::Letters,
    unsolvable: Some("unsolvable"),
    between: "",
};

/// As [`LETTERS`], but it wants the number of moves.
const COUNT: Judge = Judge { print: Print::Count, unsolvable: Some("-1"), ..LETTERS };

/// All judges, in the order of their names.
pub(crate) static JUDGES: &[Judge] = &[
    Judge { name: "abc224-d", read: read::graph, ..COUNT },
    Judge { name: "acwing-179", ..LETTERS },
    Judge { name: "acwing-845", ..COUNT },
    Judge { name: "aoj-alds1-13-b", read: read::rows, unsolvable: None, ..COUNT },
    Judge { name: "boj-1525", read: read::rows, ..COUNT },
    Judge { name: "hdu-1043", boards: Boards::ToTheEnd, ..LETTERS },
    Judge { name: "leetcode-773", read: read::array, boards: Boards::ToTheEnd, ..COUNT },
    Judge { name: "luogu-p1379", read: read::word, goal: RING, unsolvable: None, ..COUNT },
    Judge { name: "poj-1077", ..LETTERS },
    Judge { name: "uva-652", boards: Boards::Counted, between: "\n", ..LETTERS },
];

impl Judge {
    /// The judge of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        JUDGES.iter().find(|judge| judge.name == name)
    }

    /// The goal of a board; none means the ordered one.
    pub(crate) fn goal(&self, board: &Board) -> Option<Board> {
        let goal = || Board { layout: board.layout.clone(), tiles: self.goal.to_vec() };
        (!self.goal.is_empty()).then(goal)
    }

    /// Whether it is the smallest of all shortest paths that must be asked for.
    pub(crate) fn wants_smallest(&self) -> bool {
        self.print == Print::Letters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_found() {
        assert!(JUDGES.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(
            JUDGES.iter().all(|judge| Judge::named(judge.name).is_some_and(|found| found.name == judge.name))
        );
        assert!(Judge::named("").is_none());
    }
}
