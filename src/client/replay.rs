//! Does a path lead from a board to its goal? The client's own proof, before anything is printed.
//!
//! It must never know: how the path was found. It shares no code with the solver, so that an error there
//! can't hide itself here.

use std::fmt;

use super::board::{Board, Layout, Shape};

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

/// Where the blank goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// On a grid: a direction.
    Way(Move),
    /// On a graph: along an edge.
    Edge {
        /// The vertex that it leaves.
        from: u32,
        /// The vertex that it enters.
        to: u32,
    },
}

/// How an answer writes it: the letter of a direction, or the vertex that the blank enters.
impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Way(way) => write!(f, "{}", way.letter()),
            Self::Edge { to, .. } => write!(f, "{to}"),
        }
    }
}

impl Course {
    /// Where the tile goes that makes room for the blank.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Way(way) => Self::Way(way.opposite()),
            Self::Edge { from, to } => Self::Edge { from: to, to: from },
        }
    }
}

/// A move with the tile that it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Where the blank goes.
    pub blank: Course,
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
    /// A move off the board, or along no edge.
    #[error("move {step} ({course}) leaves the board")]
    OffBoard {
        /// Which move, from 1.
        step: usize,
        /// Its letter or vertex.
        course: String,
    },
    /// The path ends elsewhere.
    #[error("the path ends at {0:?}, which is not the goal")]
    Elsewhere(Vec<u32>),
}

/// Follows `moves` on a grid from `start` and checks that `distance` of them end at `goal`.
///
/// # Errors
/// The first thing that is wrong.
pub fn replay(start: &Board, goal: &Board, distance: u32, moves: &str) -> Result<Vec<Step>, ReplayError> {
    let mut board = start.clone();
    let take = |(step, letter): (usize, char)| {
        let way = Move::from_letter(letter).ok_or(ReplayError::Letter { step, letter })?;
        slide(&mut board, way).ok_or_else(|| ReplayError::OffBoard { step, course: letter.into() })
    };
    let steps = numbered(distance, moves.chars())?.map(take).collect::<Result<_, _>>()?;
    arrived(board, goal, steps)
}

/// Follows the blank on a graph from `start` through `vertices`, as [`replay`] does on a grid.
///
/// # Errors
/// The first thing that is wrong.
pub fn replay_on_graph(
    start: &Board,
    goal: &Board,
    distance: u32,
    vertices: &[u32],
) -> Result<Vec<Step>, ReplayError> {
    let mut board = start.clone();
    let take = |(step, to): (usize, u32)| {
        enter(&mut board, to).ok_or_else(|| ReplayError::OffBoard { step, course: to.to_string() })
    };
    let steps = numbered(distance, vertices.iter().copied())?.map(take).collect::<Result<_, _>>()?;
    arrived(board, goal, steps)
}

/// The moves with their numbers from 1, if there are `distance` of them.
fn numbered<T>(
    distance: u32,
    moves: impl Iterator<Item = T> + Clone,
) -> Result<impl Iterator<Item = (usize, T)>, ReplayError> {
    let count = moves.clone().count();
    if u32::try_from(count) != Ok(distance) {
        return Err(ReplayError::Length { distance, moves: count });
    }
    Ok((1..).zip(moves))
}

fn arrived(board: Board, goal: &Board, steps: Vec<Step>) -> Result<Vec<Step>, ReplayError> {
    if board == *goal { Ok(steps) } else { Err(ReplayError::Elsewhere(board.tiles)) }
}

/// Makes a step that was replayed on a board like this one.
pub fn follow(board: &mut Board, step: Step) -> Option<Step> {
    match step.blank {
        Course::Way(way) => slide(board, way),
        Course::Edge { to, .. } => enter(board, to),
    }
}

/// Moves the blank on a grid; `None`, and nothing moves, if it would leave the board or there is no blank.
pub fn slide(board: &mut Board, way: Move) -> Option<Step> {
    let Layout::Grid(Shape { columns, .. }) = board.layout else { return None };
    let columns = columns as usize;
    let from = blank(board)?;
    let column = from % columns;
    let to = match way {
        Move::Up => from.checked_sub(columns)?,
        Move::Down => from + columns,
        Move::Left => from.checked_sub(1).filter(|_| column > 0)?,
        Move::Right => Some(from + 1).filter(|_| column + 1 < columns)?,
    };
    let tile = *board.tiles.get(to)?;
    board.tiles.swap(from, to);
    Some(Step { blank: Course::Way(way), tile })
}

/// Moves the blank on a graph into the vertex `to`; `None`, and nothing moves, if no edge leads there.
fn enter(board: &mut Board, to: u32) -> Option<Step> {
    let Layout::Graph(graph) = &board.layout else { return None };
    let from = blank(board)?;
    let left = u32::try_from(from + 1).ok()?;
    let entered = (to as usize).checked_sub(1).filter(|_| graph.joins(left, to))?;
    let tile = *board.tiles.get(entered)?;
    board.tiles.swap(from, entered);
    Some(Step { blank: Course::Edge { from: left, to }, tile })
}

fn blank(board: &Board) -> Option<usize> {
    board.tiles.iter().position(|&tile| tile == 0)
}

/// Whether theory says that `goal` can be reached: on a line the tiles keep their order; on other grids the
/// permutation of the cells is as odd as the walk of the blank. `None` if a board is not one of each tile, or on a
/// graph, unless it is solved already.
#[must_use]
pub fn reachable(start: &Board, goal: &Board) -> Option<bool> {
    let Layout::Grid(Shape { rows, columns }) = start.layout else {
        return (start == goal).then_some(true);
    };
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
    let blank = blank(start)?;
    let columns = columns as usize;
    let to = target[blank];
    let walk = (blank / columns).abs_diff(to / columns) + (blank % columns).abs_diff(to % columns);
    let inversions: usize =
        (0..cells).map(|cell| target[cell + 1..].iter().filter(|&&later| later < target[cell]).count()).sum();
    Some(inversions % 2 == walk % 2)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::gather::one;
    use super::*;

    fn board(text: &str) -> Board {
        one(text, None).unwrap()
    }

    #[test]
    fn letters_name_the_way_of_the_blank() {
        let goal = board("123456780");
        let steps = replay(&board("1 2 3/4 0 5/7 8 6"), &goal, 2, "RD").unwrap();
        let expected = [(Move::Right, 5), (Move::Down, 6)];
        assert_eq!(steps, expected.map(|(way, tile)| Step { blank: Course::Way(way), tile }));
        assert_eq!(replay(&goal, &goal, 0, ""), Ok(vec![]));
    }

    #[test]
    fn a_wrong_path_is_caught() {
        let goal = board("123456780");
        let start = board("123456708");
        let wrong = |distance, moves| replay(&start, &goal, distance, moves).unwrap_err();
        let off_board = |step, course: &str| ReplayError::OffBoard { step, course: course.into() };
        assert_eq!(wrong(2, "R"), ReplayError::Length { distance: 2, moves: 1 });
        assert_eq!(wrong(1, "r"), ReplayError::Letter { step: 1, letter: 'r' });
        assert_eq!(wrong(1, "D"), off_board(1, "D"));
        assert_eq!(wrong(3, "RRD"), off_board(2, "R"));
        assert_eq!(wrong(2, "LL"), off_board(2, "L"));
        assert!(matches!(wrong(1, "L"), ReplayError::Elsewhere(_)));
    }

    #[test]
    fn on_a_graph_the_blank_follows_edges() {
        let graph = Layout::Graph(Arc::new("1-2,2-3,3-1,3-4".parse().unwrap()));
        let board = |text| one(text, Some(&graph)).unwrap();
        let (start, goal) = (board("1 0 3 2"), board("3 1 2 0"));
        let replay = |distance, vertices: &[u32]| replay_on_graph(&start, &goal, distance, vertices);
        let edge = |from, to, tile| Step { blank: Course::Edge { from, to }, tile };
        assert_eq!(replay(3, &[1, 3, 4]), Ok(vec![edge(2, 1, 1), edge(1, 3, 3), edge(3, 4, 2)]));
        assert_eq!(replay(2, &[1]), Err(ReplayError::Length { distance: 2, moves: 1 }));
        for (vertices, step) in [(&[4][..], 1), (&[2], 1), (&[0], 1), (&[3, 5], 2), (&[1, 4], 2)] {
            let course = vertices[step - 1].to_string();
            let distance = u32::try_from(vertices.len()).unwrap();
            assert_eq!(replay(distance, vertices), Err(ReplayError::OffBoard { step, course }));
        }
        assert!(matches!(replay(1, &[3]), Err(ReplayError::Elsewhere(_))));
        assert_eq!((reachable(&start, &goal), reachable(&goal, &goal)), (None, Some(true)));
        assert_eq!(slide(&mut start.clone(), Move::Up), None);
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
