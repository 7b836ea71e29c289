//! Which boards are sent: each by its number alone, so that the same seed gives the same boards however many
//! connections share them.
//!
//! It must never know: how boards are sent, when, or what is answered.

use fastrand::Rng;

use super::optimal::Table;
use super::tiles::{Cells, MAX_CELLS, Tiles};

/// Set in the number of a board that is sent to warm up: it takes none from those that count.
pub(super) const WARM: u64 = 1 << 63;

/// A layout and goal, and all that is known of its boards.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) cells: Cells,
    pub(super) goal: Tiles,
    /// The goal as it is sent; empty for the ordered one.
    pub(super) goal_sent: Vec<u32>,
    pub(super) table: Table,
}

/// What is wrong with a board on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Two cells have one tile.
    Twice,
    /// A tile that the board can't have.
    OutOfRange,
    /// No tile for the last cell.
    TooFew,
    /// A tile more than cells.
    TooMany,
    /// No board at all.
    Nothing,
}

/// What a board is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// It can be solved in so many moves.
    Solvable(u16),
    Unsolvable,
    Malformed(Flaw),
}

/// A board to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shot {
    pub(super) tiles: Tiles,
    pub(super) nature: Nature,
    /// The index of its [`Problem`].
    pub(super) problem: u16,
}

/// Shares of boards that are not like the others.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ratios {
    pub(super) repeat: f64,
    pub(super) unsolvable: f64,
    pub(super) malformed: f64,
}

/// Where boards come from.
#[derive(Debug)]
enum Source {
    /// Boards of the table with these numbers, each as likely.
    Drawn(std::ops::Range<usize>),
    /// These, over and over.
    Listed(Vec<Shot>),
}

/// All boards of a run.
#[derive(Debug)]
pub(super) struct Workload {
    problems: Vec<Problem>,
    source: Source,
    ratios: Ratios,
    /// What every board's number is mixed with.
    seed: u64,
    flaws: &'static [Flaw],
}

/// What can be wrong with a board of a message of its own.
const FLAWS: &[Flaw] = &[Flaw::Twice, Flaw::OutOfRange, Flaw::TooFew, Flaw::TooMany, Flaw::Nothing];
/// What can be wrong with a packed board.
const PACKED_FLAWS: &[Flaw] = &[Flaw::Twice, Flaw::OutOfRange];
/// What can be wrong with a board of one cell.
const LONE_FLAWS: &[Flaw] = &[Flaw::OutOfRange];

impl Workload {
    /// Boards drawn from those of a table with these numbers.
    ///
    /// # Errors
    /// A sentence, when there are no unsolvable boards and some are wanted.
    pub(super) fn drawn(
        problem: Problem,
        numbers: std::ops::Range<usize>,
        ratios: Ratios,
        seed: u64,
        packed: bool,
    ) -> Result<Self, String> {
        if ratios.unsolvable > 0.0 && problem.table.is_whole() {
            return Err("--unsolvable-ratio: every board of this layout can be solved".into());
        }
        let flaws = match problem.cells.count {
            1 => LONE_FLAWS,
            _ if packed => PACKED_FLAWS,
            _ => FLAWS,
        };
        let seed = Rng::with_seed(seed).u64(..);
        Ok(Self { problems: vec![problem], source: Source::Drawn(numbers), ratios, seed, flaws })
    }

    /// These boards in their order, again and again.
    pub(super) fn listed(problems: Vec<Problem>, boards: Vec<Shot>) -> Self {
        let (ratios, seed, flaws) = (Ratios::default(), 0, FLAWS);
        Self { problems, source: Source::Listed(boards), ratios, seed, flaws }
    }

    /// How many boards are listed, if they are.
    pub(super) fn listed_len(&self) -> Option<u64> {
        match &self.source {
            Source::Drawn(_) => None,
            Source::Listed(boards) => Some(boards.len() as u64),
        }
    }

    /// The layouts and goals.
    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The problem of a board.
    pub(super) fn problem(&self, shot: Shot) -> &Problem {
        &self.problems[usize::from(shot.problem)]
    }

    /// The board with a number.
    pub(super) fn shot(&self, number: u64) -> Shot {
        match &self.source {
            Source::Listed(boards) => {
                let index = (number & !WARM) % boards.len() as u64;
                boards[usize::try_from(index).expect("below a length")]
            }
            Source::Drawn(numbers) => self.draw(number, numbers),
        }
    }

    fn draw(&self, mut number: u64, numbers: &std::ops::Range<usize>) -> Shot {
        let mut dice = self.dice(number);
        while chance(&mut dice, self.ratios.repeat) && number & !WARM > 0 {
            number = number & WARM | dice.u64(..number & !WARM);
            dice = self.dice(number);
        }
        let problem = &self.problems[0];
        let (tiles, distance) = problem.table.board(dice.usize(numbers.clone()));
        if chance(&mut dice, self.ratios.malformed) {
            let flaw = self.flaws[dice.usize(..self.flaws.len())];
            let tiles = spoilt(tiles, flaw, problem.cells.count, &mut dice);
            return Shot { tiles, nature: Nature::Malformed(flaw), problem: 0 };
        }
        if chance(&mut dice, self.ratios.unsolvable) {
            return Shot { tiles: unreachable(problem, &mut dice), nature: Nature::Unsolvable, problem: 0 };
        }
        Shot { tiles, nature: Nature::Solvable(distance), problem: 0 }
    }

    /// What decides over the board with this number.
    fn dice(&self, number: u64) -> Rng {
        // Odd and without a pattern, so that neighbours have nothing in common.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        Rng::with_seed(self.seed ^ number.wrapping_mul(STEP))
    }
}

fn chance(dice: &mut Rng, ratio: f64) -> bool {
    ratio > 0.0 && dice.f64() < ratio
}

/// A board with a flaw that shows in its tiles; the others show in how it is written.
fn spoilt(tiles: Tiles, flaw: Flaw, cells: usize, dice: &mut Rng) -> Tiles {
    // The ninth cell of a packed board is not sent.
    let sent = cells.min(MAX_CELLS - 1);
    match flaw {
        Flaw::Twice => {
            let (from, to) = (dice.usize(..sent), dice.usize(1..sent));
            tiles.with((from + to) % sent, tiles.get(from))
        }
        Flaw::OutOfRange => {
            let least = u8::try_from(cells).expect("few");
            tiles.with(dice.usize(..sent), dice.u8(least..16))
        }
        Flaw::TooFew | Flaw::TooMany | Flaw::Nothing => tiles,
    }
}

/// A board that can't reach the goal; at least half of all are, where there are any.
fn unreachable(problem: &Problem, dice: &mut Rng) -> Tiles {
    let mut tiles: [u8; MAX_CELLS] = std::array::from_fn(|cell| u8::try_from(cell).expect("few"));
    loop {
        dice.shuffle(&mut tiles[..problem.cells.count]);
        let board = Tiles::new(tiles[..problem.cells.count].iter().copied());
        if problem.table.distance(board).is_none() {
            return board;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::super::board::Board;
    use super::super::super::gather::one;
    use super::super::tiles::permutation;
    use super::*;

    fn problem(goal: &str) -> Problem {
        let goal: Board = one(goal, None).unwrap();
        let (cells, tiles) = (Cells::of(&goal).unwrap(), permutation(&goal).unwrap());
        Problem { table: Table::sweep(&cells, tiles), cells, goal: tiles, goal_sent: vec![] }
    }

    fn workload(ratios: Ratios, seed: u64) -> Workload {
        let problem = problem("123456780");
        let all = 0..problem.table.len();
        Workload::drawn(problem, all, ratios, seed, false).unwrap()
    }

    fn shots(workload: &Workload, count: u64) -> Vec<Shot> {
        (0..count).map(|number| workload.shot(number)).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_boards() {
        let ratios = Ratios { repeat: 0.2, unsolvable: 0.2, malformed: 0.2 };
        let boards = shots(&workload(ratios, 7), 1000);
        assert_eq!(boards, shots(&workload(ratios, 7), 1000));
        assert_ne!(boards, shots(&workload(ratios, 8), 1000));
        assert_ne!(boards[5], workload(ratios, 7).shot(5 | WARM));
    }

    #[test]
    fn boards_are_uniform() {
        let boards = shots(&workload(Ratios::default(), 1), 100_000);
        // Of so many draws from 181,440 boards 42.37 % of all are met.
        let met = boards.iter().map(|shot| shot.tiles.0).collect::<HashSet<_>>().len();
        assert!((76_000..78_000).contains(&met), "{met}");
        let sum: u64 = boards
            .iter()
            .map(|shot| match shot.nature {
                Nature::Solvable(distance) => u64::from(distance),
                other => panic!("{other:?}"),
            })
            .sum();
        // The mean distance of all boards is 21.97.
        assert!((2_180_000..2_215_000).contains(&sum), "{sum}");
        for cell in 0..9 {
            let blanks = boards.iter().filter(|shot| shot.tiles.get(cell) == 0).count();
            assert!((10_500..11_700).contains(&blanks), "{cell}: {blanks}");
        }
    }

    #[test]
    fn ratios_hold_and_natures_are_true() {
        let workload = workload(Ratios { repeat: 0.0, unsolvable: 0.25, malformed: 0.2 }, 3);
        let boards = shots(&workload, 10_000);
        let count = |is: fn(Nature) -> bool| boards.iter().filter(|shot| is(shot.nature)).count();
        assert!((1800..2200).contains(&count(|nature| matches!(nature, Nature::Malformed(_)))));
        assert!((1800..2200).contains(&count(|nature| nature == Nature::Unsolvable)));
        for flaw in FLAWS {
            assert!(boards.iter().any(|shot| shot.nature == Nature::Malformed(*flaw)), "{flaw:?}");
        }
        let table = &workload.problems()[0].table;
        for shot in boards {
            let mut tiles: Vec<u8> = shot.tiles.iter(9).collect();
            tiles.sort_unstable();
            let is_board = tiles.iter().copied().eq(0..9);
            match shot.nature {
                Nature::Solvable(distance) => assert_eq!(table.distance(shot.tiles), Some(distance)),
                Nature::Unsolvable => assert!(is_board && table.distance(shot.tiles).is_none()),
                Nature::Malformed(Flaw::Twice | Flaw::OutOfRange) => assert!(!is_board, "{shot:?}"),
                Nature::Malformed(_) => assert!(is_board),
            }
        }
    }

    #[test]
    fn repeats_are_boards_from_before() {
        let boards = shots(&workload(Ratios { repeat: 0.5, ..Ratios::default() }, 3), 10_000);
        let met = boards.iter().map(|shot| shot.tiles.0).collect::<HashSet<_>>().len();
        assert!((4500..5500).contains(&met), "{met}");
    }

    #[test]
    fn no_unsolvable_boards_is_said() {
        let problem = problem("1/0");
        let error = Workload::drawn(problem, 0..2, Ratios { unsolvable: 0.1, ..Ratios::default() }, 0, false);
        assert!(error.unwrap_err().contains("every board"));
    }
}
