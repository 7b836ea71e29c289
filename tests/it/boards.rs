//! Boards whose distance is known without the crate: a plain breadth-first search
//! of its own, and a replay of its own.

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) type Board = [u8; 9];

pub(crate) const SOLVED: Board = [1, 2, 3, 4, 5, 6, 7, 8, 0];

struct Reference {
    distances: HashMap<Board, u32>,
    /// Nearest first.
    boards: Vec<Board>,
}

static REFERENCE: LazyLock<Reference> = LazyLock::new(|| {
    let (mut distances, mut boards) = (HashMap::from([(SOLVED, 0)]), vec![SOLVED]);
    let mut next = 0;
    while let Some(&board) = boards.get(next) {
        next += 1;
        let distance = distances[&board] + 1;
        for moved in "UDLR".chars().filter_map(|letter| moved(board, letter)) {
            distances.entry(moved).or_insert_with(|| {
                boards.push(moved);
                distance
            });
        }
    }
    Reference { distances, boards }
});

/// The board after the blank went one cell in the direction of a letter.
fn moved(mut board: Board, letter: char) -> Option<Board> {
    let blank = board.iter().position(|&tile| tile == 0)?;
    let to = match letter {
        'U' if blank >= 3 => blank - 3,
        'D' if blank < 6 => blank + 3,
        'L' if blank % 3 > 0 => blank - 1,
        'R' if blank % 3 < 2 => blank + 1,
        _ => return None,
    };
    board.swap(blank, to);
    Some(board)
}

/// Every solvable 3x3 board, nearest first.
pub(crate) fn all() -> &'static [Board] {
    &REFERENCE.boards
}

/// The `n`-th of the boards at a distance.
pub(crate) fn at(distance: u32, n: usize) -> Board {
    let board = all()[all().partition_point(|board| distance_of(board) < distance) + n];
    assert_eq!(distance_of(&board), distance);
    board
}

pub(crate) fn distance_of(board: &Board) -> u32 {
    REFERENCE.distances[board]
}

/// Whether moves lead from a board to the solved one.
pub(crate) fn solves(moves: &str, start: Board) -> bool {
    moves.chars().try_fold(start, moved) == Some(SOLVED)
}
