//! What the text forms mean, form by form, and that no text makes the reader fail.

use proptest::prelude::*;

use super::*;

fn grid(size: &str) -> Layout {
    Layout::Grid(size.parse().unwrap())
}

fn read(text: &str, size: Option<&str>) -> Vec<Found> {
    let mut gather = Gather::new(size.map(grid).as_ref());
    for (number, line) in (1..).zip(text.split('\n')) {
        gather.line(number, line);
    }
    gather.end();
    std::iter::from_fn(|| gather.pop()).collect()
}

/// Boards as `line:RxC:tiles`, errors as `line:sentence`.
fn told(text: &str, size: Option<&str>) -> Vec<String> {
    let tell = |found: Found| match found.board {
        Ok(Board { layout: Layout::Graph(_), .. }) => panic!("no graph was asked for"),
        Ok(Board { layout: Layout::Grid(shape), tiles }) => {
            let tiles: Vec<_> = tiles.iter().map(u32::to_string).collect();
            format!("{}:{shape}:{}", found.line, tiles.join(" "))
        }
        Err(error) => format!("{}:{error}", found.line),
    };
    read(text, size).into_iter().map(tell).collect()
}

#[test]
fn many_forms_of_one_board() {
    let forms = [
        "2 3 4 1 5 x 7 6 8",
        "2  3  4  1  5  X  7  6  8",
        "23415_768",
        "23415.768",
        "\u{feff}2\t3 4 1 5 0 7 6 8\r",
        "2 3 4/1 5 _/7 6 8",
        "234/15x/768",
        " 2 3 4 / 1 5 . / 7 6 8 # a comment",
        "2 3 4\n1 5 0\n7 6 8",
        "# head\n\n234\r\n15x\r\n# between\n768\r\n\r\n",
        "3 #lol\n2 3 4 #1 2 3\n1 5 0   #\n7 6 8",
    ];
    for form in forms {
        for size in [None, Some("3x3")] {
            let found = read(form, size);
            assert_eq!(found.len(), 1, "{form:?} {found:?}");
            let board = found[0].board.as_ref().unwrap();
            assert_eq!(board.tiles, [2, 3, 4, 1, 5, 0, 7, 6, 8], "{form:?}");
            assert_eq!(board.layout, Layout::Grid(THREE_BY_THREE));
        }
    }
}

#[test]
fn other_sizes() {
    assert_eq!(told("1 2/3 0", None), ["1:2x2:1 2 3 0"]);
    assert_eq!(told("1/0/2/3/4", None), ["1:5x1:1 0 2 3 4"]);
    assert_eq!(told("12345/678x9", None), ["1:2x5:1 2 3 4 5 6 7 8 0 9"]);
    assert_eq!(told("12\n30", None), ["1:2x2:1 2 3 0"]);
    assert_eq!(told("1 2 3\n4 5 0", None), ["1:2x3:1 2 3 4 5 0"]);
    assert_eq!(told("1/2/3/4/5/6/7/8/9/10/0", None), ["1:11x1:1 2 3 4 5 6 7 8 9 10 0"]);
    assert_eq!(told("1 0 2 3", Some("1x4")), ["1:1x4:1 0 2 3"]);
    assert_eq!(told("10\n01", Some("1x2")), ["1:1x2:1 0", "2:1x2:0 1"]);
    assert_eq!(told("1\n0\n2", Some("3x1")), ["1:3x1:1 0 2"]);
    assert_eq!(told("102", Some("3x1")), ["1:3x1:1 0 2"]);
    assert_eq!(told("0", Some("1x1")), ["1:1x1:0"]);
    assert_eq!(
        told("12345670\n1 2 3 4 5 6 0 7", Some("2x4")),
        ["1:2x4:1 2 3 4 5 6 7 0", "2:2x4:1 2 3 4 5 6 0 7"]
    );
    let fifteen = "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0";
    assert_eq!(told(fifteen, None), told(&fifteen.replace('/', " "), Some("4x4")));
    assert_eq!(told(fifteen, None), told(&fifteen.replace('/', "\n"), None));
}

#[test]
fn boards_follow_each_other() {
    let by_line = "283104765\n1 2 3 4 5 6 7 8 0\n1 2/3 0\n";
    assert_eq!(told(by_line, None), ["1:3x3:2 8 3 1 0 4 7 6 5", "2:3x3:1 2 3 4 5 6 7 8 0", "3:2x2:1 2 3 0"]);
    let by_rows = "1 2\n3 0\n\n1 2 3\n4 5 0\n\n\n123456780";
    assert_eq!(told(by_rows, None), ["1:2x2:1 2 3 0", "4:2x3:1 2 3 4 5 0", "8:3x3:1 2 3 4 5 6 7 8 0"]);
    assert_eq!(told("1 2\n3 0\n3 0\n1 2", Some("2x2")), ["1:2x2:1 2 3 0", "3:2x2:3 0 1 2"]);
}

#[test]
fn a_lost_zero_is_named() {
    let lost = "`13824765` has 8 tiles and no blank, expected 9 tiles: was a leading zero lost? 013824765";
    for size in [None, Some("3x3")] {
        assert_eq!(
            told("13824765\n13824765\n123456780", size),
            [format!("1:{lost}"), format!("2:{lost}"), "3:3x3:1 2 3 4 5 6 7 8 0".into()]
        );
    }
}

#[test]
fn ragged_rows_are_named() {
    let long = "row length: row 1 (line 2) has 4 tiles, expected 3";
    assert_eq!(told("3\n1 1 0 1\n8 4 6\n3 7 2", None), [format!("2:{long}").replacen('2', "1", 1)]);
    assert_eq!(told("3\n1 1 0 1\n8 4 6\n3 7 2", Some("3x3")), [format!("2:{long}")]);
    assert_eq!(told("3\n1 2 3\n4 5 6\n7 8 0\n1 2 3", None), ["1:row count: 4 rows, expected 3"]);
    assert_eq!(told("1 2 3/4 5/7 8 0", None), ["1:row length: row 2 (line 1) has 2 tiles, expected 3"]);
    assert_eq!(told("1 2 3\n4 5\n7 8 0", None), ["1:row length: row 2 (line 2) has 2 tiles, expected 3"]);
    assert_eq!(told("1 2 3/4 5 0", Some("3x3")), ["1:row count: 2 rows, expected 3"]);
    assert_eq!(told("1 2//3 0", None), ["1:row 2 is empty"]);
    assert_eq!(
        told("1 2 3\n4 5 6\n\n7 8 0", Some("3x3")),
        ["1:row count: 2 rows, expected 3", "4:row count: 1 rows, expected 3"]
    );
}

#[test]
fn a_bad_line_loses_no_other() {
    let file = "123456780\noops\n1 2 q 4 5 6 7 8 0\n1 2 3\n123456708\n";
    let tell = told(file, None);
    assert_eq!(tell.len(), 5);
    assert!(tell[1].starts_with("2:`oops` is not a tile"), "{}", tell[1]);
    assert!(tell[2].starts_with("3:`q` is not a tile"), "{}", tell[2]);
    assert!(tell[3].starts_with("4:3 tiles without rows"), "{}", tell[3]);
    assert_eq!(tell[4], "5:3x3:1 2 3 4 5 6 7 0 8");
    // Rows gathered before it shows that the paragraph goes line by line.
    let tell = told("oops\n1 2 3\n123456780\n", None);
    assert_eq!(tell.len(), 3);
    assert!(tell[0].starts_with("1:`oops`") && tell[1].starts_with("2:3 tiles"), "{tell:?}");
}

#[test]
fn two_blanks_are_two_zeros() {
    assert_eq!(told("1 2 x 4 5 _ 7 8 0", None), ["1:3x3:1 2 0 4 5 0 7 8 0"]);
}

#[test]
fn what_is_no_tile() {
    for token in ["-1", "+1", "1,", "0x", "1.0", "99999999999", "é"] {
        let found = read(&format!("1 2/{token} 0"), None);
        assert_eq!(found[0].board, Err(TextError::Token(token.into())));
    }
    assert_eq!(read("1 \u{1b}[2J/\0 0", None)[0].board, Err(TextError::Token(r"\u{1b}[2J".into())));
    let long = "9".repeat(1000);
    assert!(told(&format!("{long} 0/1 2"), None)[0].len() < 200);
    assert!(told("1234/5678/9012/3456", None)[0].contains("tiles need blanks between them"));
}

#[test]
fn an_endless_paragraph_is_one_error() {
    let rows = "1 2 3 4\n".repeat(10_000);
    let found = read(&format!("{rows}\n1 2/3 0"), None);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0], Found { line: 1, board: Err(TextError::TooLarge) });
    assert_eq!((found[1].line, found[1].board.is_ok()), (10_002, true));
}

#[test]
fn an_argument_is_one_board() {
    assert!(one("1 2 3\n4 5 6\n7 8 0", None).is_ok());
    assert_eq!(one("", None), Err(TextError::NotOne(0)));
    assert_eq!(one("123456780\n123456780\n123456780", None), Err(TextError::NotOne(3)));
    assert_eq!(one("1 2 3 0", None), Err(TextError::NoRows { got: 4 }));
    assert_eq!(one("1 2 3 4 0", Some(&grid("2x2"))).unwrap_err().to_string(), {
        "5 tiles on a line: a 2x2 board has 4 tiles, a row of it 2"
    });
}

#[test]
fn on_a_graph_each_line_is_a_board() {
    let graph = Arc::new("1-2,2-4".parse::<Graph>().unwrap());
    let layout = Layout::Graph(Arc::clone(&graph));
    let read = |text: &str| one(text, Some(&layout));
    for text in ["1 2 x 3", "12_3", " 1  2\t0 3 # with a comment"] {
        let board = Board { layout: layout.clone(), tiles: vec![1, 2, 0, 3] };
        assert_eq!(read(text), Ok(board), "{text}");
    }
    assert_eq!(read("1 2 3 4 0").unwrap().tiles.len(), 5);
    assert_eq!(read("1 2 0"), Err(TextError::Vertices { got: 3, largest: 4 }));
    assert_eq!(read("1 2/0 3"), Err(TextError::Token("2/0".into())));
    assert_eq!(read("1 2 0 3\n0 1 2 3"), Err(TextError::NotOne(2)));
}

proptest! {
    #[test]
    fn a_board_comes_back_from_each_form(
        rows in 1_u32..5, columns in 1_u32..5, seed in any::<u64>(), mark in prop::sample::select(vec!['0', 'x', 'X', '_', '.']),
    ) {
        let shape = Shape { rows, columns };
        let layout = Layout::Grid(shape);
        let mut tiles: Vec<u32> = (0..rows * columns).collect();
        let by = usize::try_from(seed % u64::from(rows * columns)).unwrap();
        tiles.rotate_left(by);
        let word = |&tile: &u32| if tile == 0 { mark.to_string() } else { tile.to_string() };
        let lines = |between: &str| {
            let row = |row: &[u32]| row.iter().map(word).collect::<Vec<_>>().join(between);
            tiles.chunks(columns as usize).map(row).collect::<Vec<_>>()
        };
        let wanted = Ok(Board { layout: layout.clone(), tiles: tiles.clone() });
        let mut forms = vec![lines(" ").join("/"), lines("\t").join(" \n"), lines("  ").join(" ")];
        if shape.is_compact() {
            forms.extend([lines("").join("/"), lines("").join("\r\n"), lines("").join("")]);
        }
        for form in &forms {
            prop_assert_eq!(&one(form, Some(&layout)), &wanted, "{:?}", form);
            if rows > 1 && form.contains(['/', '\n']) && (columns != 9 || form.contains('/')) {
                prop_assert_eq!(&one(form, None), &wanted, "{:?}", form);
            }
        }
    }

    #[test]
    fn no_text_makes_it_fail(text in "[0-9xX_. /#\t\r\n\u{feff}é-]{0,200}", rows in 0_u32..4, columns in 1_u32..4) {
        let size = (rows > 0).then_some(Layout::Grid(Shape { rows, columns }));
        let mut gather = Gather::new(size.as_ref());
        for (number, line) in (1..).zip(text.split('\n')) {
            gather.line(number, line);
        }
        gather.end();
        let mut last = 0;
        while let Some(found) = gather.pop() {
            prop_assert!(found.line >= last);
            last = found.line;
            if let Ok(board) = found.board {
                prop_assert!(matches!(board.layout, Layout::Grid(shape) if shape.cells() == board.tiles.len()));
                prop_assert!(size.as_ref().is_none_or(|size| *size == board.layout));
            }
        }
    }
}
