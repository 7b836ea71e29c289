//! What judges write is read, and what they would not write is told with its line and what was expected.

use super::super::super::lines::MAX_LINE_BYTES;
use super::*;

fn read(judge: &str, text: &str) -> Vec<Found> {
    let mut input = Input::new(Judge::named(judge).unwrap(), Lines::new(text.as_bytes()));
    std::iter::from_fn(|| input.next().unwrap()).collect()
}

/// Boards as `line:tiles`, an error as `line: sentence`.
fn told(judge: &str, text: &str) -> Vec<String> {
    let tell = |found: Found| match found.board {
        Ok(board) => {
            format!("{}:{}", found.line, board.tiles.iter().map(u32::to_string).collect::<String>())
        }
        Err(error) => format!("{}: {error}", found.line),
    };
    read(judge, text).into_iter().map(tell).collect()
}

fn complaint(judge: &str, text: &str) -> String {
    let told = told(judge, text);
    assert_eq!(told.len(), 1, "{told:?}");
    told.into_iter().next().unwrap()
}

#[test]
fn judges_write_with_blanks_and_empty_lines() {
    assert_eq!(told("luogu-p1379", "\u{feff}283104765\r\n\n"), ["1:283104765"]);
    assert_eq!(told("poj-1077", "\n 2  3  4  1\t5  x  7  6  8 \n\n"), ["2:234150768"]);
    assert_eq!(told("boj-1525", "1 0 3\n4 2 5\n7 8 6"), ["1:103425786"]);
    assert_eq!(told("leetcode-773", " [[1, 2,3], [4,0,5]]\n[[1,2,3],[4,5,0]]\n"), ["1:123405", "2:123450"]);
    assert_eq!(told("hdu-1043", "1 2 3 x 4 6 7 5 8\n\n12345678x\n").len(), 2);
    assert_eq!(told("hdu-1043", ""), [""; 0]);
    let blocks = "2\n\n2 3 4 1 5 x 7 6 8\n\n1 2 3 4 5 6 7 8 x\n";
    assert_eq!(told("uva-652", blocks), ["3:234150768", "5:123456780"]);
    assert_eq!(told("uva-652", "0\n"), [""; 0]);
}

#[test]
fn a_graph_is_read_with_its_pieces() {
    let found = read("abc224-d", "2\n1 2\n9 2\n3 9 2 4 5 6 7 8\n");
    let [Found { line: 1, board: Ok(Board { layout: Layout::Graph(graph), tiles }) }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((&graph.edges[..], &tiles[..]), (&[(1, 2), (9, 2)][..], &[0, 3, 1, 4, 5, 6, 7, 8, 2][..]));
    assert_eq!(told("abc224-d", "0\n1 2 3 4 5 6 7 8"), ["1:123456780"]);
}

#[test]
fn what_is_no_board() {
    let nine = "expected a line of 9 tiles with spaces between them";
    let once = "expected each of 1 to 8 and the blank once";
    let cases = [
        ("acwing-845", "", format!("1: the input ends, {nine}")),
        ("acwing-179", "\n\n", format!("3: the input ends, {nine}")),
        ("acwing-845", "2 3 4 1 5 x 7 6", format!("1: 8 tiles, {nine}")),
        ("poj-1077", "1 2 3\n4 5 6\n7 8 x", format!("1: 3 tiles, {nine}")),
        ("poj-1077", "1 2 3 4 5 6 7 8 9", format!("1: tile 9, {once}")),
        ("poj-1077", "1 2 3 4 5 6 7 7 x", format!("1: tile 7 twice, {once}")),
        ("poj-1077", "1 2 3 4 5 6 7 x x", format!("1: the blank twice, {once}")),
        ("acwing-179", "1 2 3 4 5 6 7 8 x\n1 2 3 4 5 6 7 x 8", "2: more input, expected its end".into()),
        ("luogu-p1379", "2831047650", "1: 10 tiles, expected a word of 9 tiles".into()),
        ("luogu-p1379", "2 8 3 1 0 4 7 6 5", "1: 9 words, expected a word of 9 tiles".into()),
        (
            "boj-1525",
            "1 0 3\n4 2 5 7\n8 6",
            "2: 4 tiles, expected a line of 3 tiles with spaces between them".into(),
        ),
        (
            "aoj-alds1-13-b",
            "1 0 3\n4 2 5\n",
            "3: the input ends, expected a line of 3 tiles with spaces between them".into(),
        ),
        ("aoj-alds1-13-b", "1 0 3\n4 2 3\n7 8 6", format!("2: tile 3 twice, {once}")),
    ];
    for (judge, text, expected) in cases {
        assert_eq!(complaint(judge, text), expected, "{judge}: {text}");
    }
    assert!(complaint("luogu-p1379", "13824765").contains("was a leading zero lost? 013824765"));
    assert!(complaint("poj-1077", "1 2 3 4 5 6 7 8 q").starts_with("1: `q` is not a tile"));
    assert!(complaint("poj-1077", "12345678x").starts_with("1: 1 tile, "));
    let long = "1".repeat(MAX_LINE_BYTES + 1);
    assert_eq!(complaint("poj-1077", &long), format!("1: a line of more than {MAX_LINE_BYTES} bytes"));
}

#[test]
fn what_is_no_array() {
    let expected = "expected two rows of three tiles as in [[1,2,3],[4,0,5]]";
    for (text, got) in [
        ("[[1,2,3],[4,0]]", "rows of [3, 2] tiles"),
        ("[[1,2,3,4,0,5]]", "rows of [6] tiles"),
        ("[1,2,3,4,0,5]", "no array of arrays of tiles"),
        ("[[1,2,3],[4,x,5]]", "no array of arrays of tiles"),
    ] {
        assert_eq!(complaint("leetcode-773", text), format!("1: {got}, {expected}"));
    }
    let expected = "1: tile 6, expected each of 1 to 5 and the blank once";
    assert_eq!(complaint("leetcode-773", "[[1,2,3],[4,6,5]]"), expected);
}

#[test]
fn what_is_no_graph() {
    let pieces = "expected the vertices of the pieces 1 to 8, each from 1 to 9";
    let edge = "expected edge 2 of 2: two vertices from 1 to 9";
    let cases = [
        ("x", "1: `x`, expected the number of edges, at most 36".to_owned()),
        ("37", "1: `37`, expected the number of edges, at most 36".to_owned()),
        ("2\n1 2", format!("3: the input ends, {edge}")),
        ("2\n1 2\n1 2 3", format!("3: 3 numbers, {edge}")),
        ("2\n1 2\n1 10", format!("3: `10`, {edge}")),
        ("2\n1 2\n3 3", format!("3: vertex 3 twice, {edge}")),
        ("0\n1 2 3 4 5 6 7", format!("2: 7 numbers, {pieces}")),
        ("0\n1 2 3 4 5 6 7 7", format!("2: pieces 7 and 8 on vertex 7, {pieces}")),
        ("0\n1 2 3 4 5 6 7 8\n9", "3: more input, expected its end".to_owned()),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint("abc224-d", text), expected, "{text}");
    }
}

#[test]
fn several_boards_end_at_the_first_error() {
    let good = "1 2 3 4 5 6 7 8 x";
    assert_eq!(
        told("hdu-1043", &format!("{good}\n1 2 3\n{good}\n")),
        ["1:123456780", "2: 3 tiles, expected a line of 9 tiles with spaces between them"]
    );
    let (two, one) = (format!("2\n\n{good}\n"), format!("1\n\n{good}\n\n{good}\n"));
    let missing = ["3:123456780", "4: the input ends, expected a line of 9 tiles with spaces between them"];
    assert_eq!(told("uva-652", &two), missing);
    assert_eq!(told("uva-652", &one), ["5: more input, expected its end"]);
    assert_eq!(told("uva-652", good), ["1: `x`, expected the number of boards"]);
}
