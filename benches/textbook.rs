//! The reference of `search`: breadth-first search as textbooks write it, and as it is
//! handed in for Luogu P1379. A state is a string of nine digits, 0 for the blank, and
//! the path is read back through the parents.

use std::collections::{HashMap, VecDeque};

/// A shortest path of the blank in letters, if there is one, and how many states were expanded.
pub(crate) fn solve(start: &str, goal: &str) -> (Option<String>, u64) {
    let mut parents = HashMap::from([(start.to_owned(), None)]);
    let mut queue = VecDeque::from([start.to_owned()]);
    let mut expanded = 0;
    while let Some(board) = queue.pop_front() {
        if board == goal {
            return (Some(path_to(&board, &parents)), expanded);
        }
        expanded += 1;
        let blank = board.find('0').expect("a board has a blank");
        let (row, column) = (blank / 3, blank % 3);
        let moves = [
            (row > 0, blank.wrapping_sub(3), 'U'),
            (row < 2, blank + 3, 'D'),
            (column > 0, blank.wrapping_sub(1), 'L'),
            (column < 2, blank + 1, 'R'),
        ];
        for (_, to, letter) in moves.into_iter().filter(|(inside, ..)| *inside) {
            let mut tiles = board.clone().into_bytes();
            tiles.swap(blank, to);
            let next = String::from_utf8(tiles).expect("digits");
            if !parents.contains_key(&next) {
                parents.insert(next.clone(), Some((board.clone(), letter)));
                queue.push_back(next);
            }
        }
    }
    (None, expanded)
}

fn path_to(board: &str, parents: &HashMap<String, Option<(String, char)>>) -> String {
    let mut letters = Vec::new();
    let mut board = board;
    while let Some((parent, letter)) = &parents[board] {
        letters.push(*letter);
        board = parent;
    }
    letters.iter().rev().collect()
}
