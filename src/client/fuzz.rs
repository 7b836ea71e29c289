//! What fuzzers call: bytes, read as each of the text formats, and what must hold whatever
//! they are. Of test builds alone; it knows no server.

use std::sync::Arc;

use super::board::{Board, Graph, Layout};
use super::gather::{Found, Gather, one};
use super::judge::{JUDGES, read::Input};
use super::lines::Lines;

/// Bytes an error may be told in: what is wrong is quoted, not printed whole.
const MAX_ERROR_BYTES: usize = 1024;

/// Boards in the client's own forms, on grids and on a graph, and in those of every judge.
pub fn text(bytes: &[u8]) {
    own(bytes, None);
    let graph: Graph = "1-2,2-3,3-4,4-1,1-3".parse().expect("edges");
    own(bytes, Some(&Layout::Graph(Arc::new(graph))));
    for judge in JUDGES {
        let mut input = Input::new(judge, Lines::new(bytes));
        let mut found = Vec::new();
        while let Some(next) = input.next().expect("bytes in memory can be read") {
            found.push(next);
        }
        // The first error is the last board.
        assert!(found.iter().rev().skip(1).all(|found| found.board.is_ok()));
        found.iter().for_each(check);
    }
}

fn own(bytes: &[u8], layout: Option<&Layout>) {
    let (mut lines, mut gather, mut last) = (Lines::new(bytes), Gather::new(layout), 0);
    loop {
        let line = lines.next().expect("bytes in memory can be read");
        let ended = line.is_none();
        match line.map(|line| (line.number, line.text)) {
            None => gather.end(),
            Some((number, Ok(text))) => gather.line(number, &text),
            Some((number, Err(error))) => gather.unreadable(number, error),
        }
        while let Some(found) = gather.pop() {
            assert!(found.line >= last, "boards come in the order of their lines");
            last = found.line;
            check(&found);
            if let Ok(board) = &found.board {
                assert_eq!(one(&written(board), Some(&board.layout)).as_ref(), Ok(board));
            }
        }
        if ended {
            return;
        }
    }
}

/// The board as it may be written on one line.
fn written(board: &Board) -> String {
    let row = |row: &[u32]| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    board.rows().map(row).collect::<Vec<_>>().join("/")
}

fn check(found: &Found) {
    match &found.board {
        Ok(board) => assert!(!board.tiles.is_empty(), "a board without a cell"),
        Err(error) => assert!(error.to_string().len() <= MAX_ERROR_BYTES, "{error}"),
    }
}
