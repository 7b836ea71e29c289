//! Does a path lead from a board to its goal? The client's own proof, before anything is printed.
//!
//! It must never know: how the path was found. It shares no code with the solver, so that an error there
//! can't hide itself here.

use super::text::{Board, Shape};

/// The direction in which the blank goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// To the row above.
    Up,
    /// To the row below.
    Down,
    /// To the column before.
    Left,
    /// To the column after.
    Right,
}

impl Move {
    /// Reads a letter of the wire: `U D L R`.
    #[must_use]
    pub fn from_letter(letter: char) -> Option<Self> {
        match letter {
            'U' => Some(Self::Up),
            'D' => Some(Self::Down),
            'L' => Some(Self::Left),
            'R' => Some(Self::Right),
            _ => None,
        }
    }

    /// Its letter: `U D L R`.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Up => 'U',
            Self::Down => 'D',
            Self::Left => 'L',
            Self::Right => 'R',
        }
    }

    /// The direction in which the tile goes that makes room for the blank.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// A move with the tile that it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Where the blank goes.
    pub blank: Move,
    /// The number of the tile that takes its place.
    pub tile: u32,
}

/// Why a path is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The answer's distance is not its number of moves.
    #[error("distance {distance} with {moves} moves")]
    Length {
        /// The distance that was answered.
        distance: u32,
        /// The moves that were answered.
        moves: usize,
    },
    /// A letter that is no move.
    #[error("move {step} is `{letter}`, expected one of U D L R")]
    Letter {
        /// Which move, from 1.
        step: usize,
        /// The letter.
        letter: char,
    },
    /// A move off the board.
    #[error("move {step} ({letter}) leaves the board")]
    OffBoard {
        /// Which move, from 1.
        step: usize,
        /// Its letter.
        letter: char,
    },
    /// The path ends elsewhere.
    #[error("the path ends at {0:?}, which is not the goal")]
    Elsewhere(Vec<u32>),
}

/// Follows `moves` from `start` and checks that `distance` of them end at `goal`.
///
/// # Errors
/// The first thing that is wrong.
pub fn replay(start: &Board, goal: &Board, distance: u32, moves: &str) -> Result<Vec<Step>, ReplayError> {
    let count = moves.chars().count();
    if u32::try_from(count) != Ok(distance) {
        return Err(ReplayError::Length { distance, moves: count });
    }
    let mut board = start.clone();
    let mut steps = Vec::with_capacity(count);
    for (step, letter) in (1..).zip(moves.chars()) {
        let blank = Move::from_letter(letter).ok_or(ReplayError::Letter { step, letter })?;
        let tile = slide(&mut board, blank).ok_or(ReplayError::OffBoard { step, letter })?;
        steps.push(Step { blank, tile });
    }
    if board == *goal { Ok(steps) } else { Err(ReplayError::Elsewhere(board.tiles)) }
}

/// Moves the blank and returns the tile that took its place; `None`, and nothing moves, if it would leave the
/// board or there is no blank.
pub fn slide(board: &mut Board, blank: Move) -> Option<u32> {
    let columns = board.shape.columns as usize;
    let from = board.tiles.iter().position(|&tile| tile == 0)?;
    let column = from % columns;
    let to = match blank {
        Move::Up => from.checked_sub(columns)?,
        Move::Down => from + columns,
        Move::Left => from.checked_sub(1).filter(|_| column > 0)?,
        Move::Right => Some(from + 1).filter(|_| column + 1 < columns)?,
    };
    let tile = *board.tiles.get(to)?;
    board.tiles.swap(from, to);
    Some(tile)
}

/// Whether theory says that `goal` can be reached: on a line the tiles keep their order; on other grids the
/// permutation of the cells is as odd as the walk of the blank. `None` if a board is not one of each tile.
#[must_use]
pub fn reachable(start: &Board, goal: &Board) -> Option<bool> {
    let Shape { rows, columns } = start.shape;
    let cells = start.tiles.len();
    let mut place = vec![None; cells];
    for (cell, &tile) in goal.tiles.iter().enumerate() {
        *place.get_mut(tile as usize)? = Some(cell);
    }
    let target: Vec<usize> =
        start.tiles.iter().map(|&tile| place.get_mut(tile as usize)?.take()).collect::<Option<_>>()?;
    if rows == 1 || columns == 1 {
        let order = |board: &Board| board.tiles.iter().copied().filter(|&tile| tile != 0).collect::<Vec<_>>();
        return Some(order(start) == order(goal));
    }
    let blank = start.tiles.iter().position(|&tile| tile == 0)?;
    let columns = columns as usize;
    let to = target[blank];
    let walk = (blank / columns).abs_diff(to / columns) + (blank % columns).abs_diff(to % columns);
    let inversions: usize =
        (0..cells).map(|cell| target[cell + 1..].iter().filter(|&&later| later < target[cell]).count()).sum();
    Some(inversions % 2 == walk % 2)
}

#[cfg(test)]
mod tests {
    use super::super::gather::one;
    use super::*;

    fn board(text: &str) -> Board {
        one(text, None).unwrap()
    }

    #[test]
    fn letters_name_the_way_of_the_blank() {
        let goal = Board::ordered(Shape { rows: 3, columns: 3 });
        let steps = replay(&board("1 2 3/4 0 5/7 8 6"), &goal, 2, "RD").unwrap();
        assert_eq!(steps, [Step { blank: Move::Right, tile: 5 }, Step { blank: Move::Down, tile: 6 }]);
        assert_eq!(replay(&goal, &goal, 0, ""), Ok(vec![]));
    }

    #[test]
    fn a_wrong_path_is_caught() {
        let goal = board("123456780");
        let start = board("123456708");
        let wrong = |distance, moves| replay(&start, &goal, distance, moves).unwrap_err();
        assert_eq!(wrong(2, "R"), ReplayError::Length { distance: 2, moves: 1 });
        assert_eq!(wrong(1, "r"), ReplayError::Letter { step: 1, letter: 'r' });
        assert_eq!(wrong(1, "D"), ReplayError::OffBoard { step: 1, letter: 'D' });
        assert_eq!(wrong(3, "RRD"), ReplayError::OffBoard { step: 2, letter: 'R' });
        assert_eq!(wrong(2, "LL"), ReplayError::OffBoard { step: 2, letter: 'L' });
        assert!(matches!(wrong(1, "L"), ReplayError::Elsewhere(_)));
    }

    #[test]
    fn theory_tells_what_can_be_reached() {
        let known = |start, goal| reachable(&board(start), &board(goal));
        assert_eq!(known("1 3 4/8 0 2/7 6 5", "123456780"), Some(false));
        assert_eq!(known("1 3 4/8 0 2/7 6 5", "123804765"), Some(true));
        assert_eq!(known("1 2 3/0 4 5", "1 2 3/4 5 0"), Some(true));
        assert_eq!(known("1 2/3 0/4 5", "1 2/3 4/5 0"), Some(false));
        assert_eq!(known("1/0/2", "1/2/0"), Some(true));
        assert_eq!(known("2/0/1", "1/2/0"), Some(false));
        assert_eq!(known("1 1/2 0", "1 2/3 0"), None);
        assert_eq!(known("1 9/2 0", "1 2/3 0"), None);
    }
}
