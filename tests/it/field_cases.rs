//! Boards from real bug reports of other tools, asked by the real client of the real
//! server: `tests/data/field_cases.jsonl` and the numbered cases of its collection.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::{Ran, client};

const CENTRE: &str = "123804765";

/// Asks for boards with one goal, and gives their answers as JSON, in order.
fn ask(goal: Option<&str>, boards: &str, more: &[&str]) -> (Ran, Vec<Value>) {
    let mut arguments = vec!["solve", "-", "--output", "json"];
    arguments.extend(goal.iter().flat_map(|goal| ["--goal", goal]));
    arguments.extend(more);
    let ran = client(&arguments, boards);
    let answers = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (ran, answers)
}

/// The distance of one board, or `None` when it can't be solved; with its path.
fn solve(board: &str, goal: Option<&str>, more: &[&str]) -> (Option<u64>, String) {
    let (ran, answers) = ask(goal, &format!("{board}\n\n"), more);
    let [answer] = &answers[..] else { panic!("{board}: {ran:?}") };
    if answer["outcome"] == "unsolvable" {
        return (None, String::new());
    }
    assert_eq!(answer["outcome"], "solved", "{board}: {ran:?}");
    (Some(answer["distance"].as_u64().unwrap()), answer["moves"].as_str().unwrap().to_owned())
}

fn distance(board: &str, goal: Option<&str>) -> Option<u64> {
    solve(board, goal, &[]).0
}

/// Follows the blank through rows of tiles; the client's own replay is not asked.
fn replayed(mut tiles: Vec<u64>, columns: usize, moves: &str) -> Vec<u64> {
    for letter in moves.chars() {
        let blank = tiles.iter().position(|&tile| tile == 0).unwrap();
        let to = match letter {
            'U' => blank.checked_sub(columns).unwrap(),
            'D' => blank + columns,
            'L' => (blank % columns > 0).then(|| blank - 1).unwrap(),
            'R' => (blank % columns + 1 < columns).then(|| blank + 1).unwrap(),
            other => panic!("no move: {other}"),
        };
        tiles.swap(blank, to);
    }
    tiles
}

fn tiles(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|tile| tile.as_u64().unwrap()).collect()
}

fn text(tiles: &[u64], columns: usize) -> String {
    let rows = tiles.chunks(columns).map(|row| row.iter().map(u64::to_string).collect::<Vec<_>>().join(" "));
    rows.collect::<Vec<_>>().join("/")
}

#[test]
fn every_grid_line_has_its_answer() {
    let lines = include_str!("../data/field_cases.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut by_goal: BTreeMap<String, Vec<(Value, usize)>> = BTreeMap::new();
    for case in lines.filter(|case| case["kind"] == "board" && case["metric"] == "single") {
        let columns = usize::try_from(case["cols"].as_u64().unwrap()).unwrap();
        by_goal.entry(text(&tiles(&case["goal"]), columns)).or_default().push((case, columns));
    }
    assert_eq!(by_goal.values().map(Vec::len).sum::<usize>(), 115, "no line of the data may be passed over");
    for (goal, cases) in by_goal {
        let mut boards = String::new();
        for (case, columns) in &cases {
            // An empty line after each, so that boards of one row are boards too.
            writeln!(boards, "{}\n", text(&tiles(&case["start"]), *columns)).unwrap();
        }
        // A goal of one row has no slash to be told by.
        let size = format!("{}x{}", cases[0].0["rows"], cases[0].0["cols"]);
        // The pattern databases of sixteen cells are made while other tests search.
        let (_, answers) = ask(Some(&goal), &boards, &["--size", &size, "--max-time", "60s"]);
        assert_eq!(answers.len(), cases.len(), "{goal}");
        for ((case, columns), answer) in cases.iter().zip(&answers) {
            if case["answer"] == -1 {
                assert_eq!(answer["outcome"], "unsolvable", "{case}");
                continue;
            }
            assert_eq!(answer["distance"], case["answer"], "{case}");
            let moves = answer["moves"].as_str().unwrap();
            assert_eq!(moves.len() as u64, case["answer"].as_u64().unwrap(), "{case}");
            assert_eq!(replayed(tiles(&case["start"]), *columns, moves), tiles(&case["goal"]), "{case}");
        }
    }
}

const IN_ORDER: &str = "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0";
const BLANK_FIRST: &str = "0 1 2 3/4 5 6 7/8 9 10 11/12 13 14 15";
/// Pattern databases are made while other tests search.
const PATIENT: [&str; 2] = ["--max-time", "60s"];

#[test]
fn g01_on_an_even_width_the_row_of_the_blank_counts() {
    let upper = "1 2 3 4/5 6 7 8/9 10 11";
    for (rest, found) in [
        (" 12/13 15 14 0", (None, "")),
        (" 12/13 14 0 15", (Some(1), "R")),
        (" 0/13 14 15 12", (Some(1), "D")),
        (" 0/14 13 15 12", (None, "")),
    ] {
        let (distance, moves) = solve(&format!("{upper}{rest}"), None, &PATIENT);
        assert_eq!((distance, moves.as_str()), found, "{rest}");
    }
}

#[test]
fn g02_the_blank_need_not_be_in_the_last_corner() {
    assert_eq!(distance("0 1 2/3 4 5/6 7 8", None), Some(22));
    // The two usual goals are of one class on 3x3, and not on 4x4.
    assert_eq!(distance(BLANK_FIRST, Some(IN_ORDER)), None);
    assert_eq!(distance(BLANK_FIRST, Some(BLANK_FIRST)), Some(0));
}

#[test]
fn g03_unsolvable_is_an_answer() {
    assert_eq!(distance("1 3 4/8 0 2/7 6 5", None), None);
    assert_eq!(solve("1 3 4/8 0 2/7 6 5", Some(CENTRE), &[]), (Some(4), "RULD".into()));
    assert_eq!(distance("1 3 4/8 0 2/7 5 6", None), Some(16));
}

#[test]
fn g04_unsolvable_needs_no_search() {
    let (_, answers) = ask(Some(IN_ORDER), "1 2 3 7/12 8 15 4/13 10 11 5/9 6 14 0\n", &[]);
    assert_eq!((&answers[0]["outcome"], &answers[0]["reason"]), (&"unsolvable".into(), &"parity".into()));
    assert_eq!(
        (&answers[0]["source"], &answers[0]["statistics"]["expanded"]),
        (&"rule".into(), &Value::Null)
    );
}

#[test]
fn g05_rectangles() {
    assert_eq!(solve("1 2 3 0 4 5", None, &["--size", "2x3"]), (Some(2), "RR".into()));
    assert_eq!(solve("1 2 3 0 4 5", None, &["--size", "3x2"]).0, None);
    assert_eq!(distance("1 2 3/5 4 0", None), None);
}

#[test]
fn g06_one_row_or_one_column() {
    assert_eq!(distance("1/0/2/3/4", None), Some(3));
    assert_eq!(solve("2 1 3 4 0", None, &["--size", "1x5"]).0, None);
    assert_eq!(solve("0 1 2 3 4", None, &["--size", "1x5"]).0, Some(4));
}

#[test]
fn g07_the_goal_is_part_of_the_question() {
    assert_eq!(distance("2 3 4/1 5 0/7 6 8", None), Some(19));
    assert_eq!(distance("2 3 4/1 5 0/7 6 8", Some(CENTRE)), None);
    assert_eq!(distance(CENTRE, None), None);
}

#[test]
fn g08_a_tile_twice_is_malformed() {
    let (ran, answers) = ask(None, "1 2 3 4/5 6 7 8/9 10 10 12/13 14 15 0\n", &[]);
    assert_eq!((ran.code, &answers[0]["outcome"]), (1, &Value::from("error")));
    let violation = &answers[0]["error"]["violations"][0];
    assert_eq!(violation["field"], "job.sliding.start[10]", "{ran:?}");
    let description = violation["description"].as_str().unwrap();
    assert!(description.contains("is 10, which stands at start[9] already"), "{description}");
    assert!(description.contains("11 is missing"), "{description}");
}

#[test]
fn g10_a_leading_zero_is_a_tile() {
    assert_eq!(solve("013824765", Some(CENTRE), &[]), (Some(2), "RD".into()));
    assert_eq!(distance("012345678", None), Some(22));
    let lost = client(&["solve", "13824765", "--goal", CENTRE], "");
    assert_eq!((lost.code, lost.stdout.as_str()), (1, "error\n"));
    assert!(lost.stderr.contains("`13824765` has 8 tiles and no blank, expected 9"), "{lost:?}");
}

#[test]
fn g11_many_names_for_the_blank() {
    let names =
        ["2 3 4 1 5 x 7 6 8", "2  3  4  1  5  X  7  6  8", "23415_768", "2 3 4 1 5 0 7 6 8", "23415.768"];
    let (_, answers) = ask(None, &names.join("\r\n"), &[]);
    let distances: Vec<_> = answers.iter().map(|answer| answer["distance"].as_u64()).collect();
    assert_eq!(distances, [Some(19); 5]);
    assert_eq!(distance("8 7 _ 6 5 4 3 2 1", None), Some(26));
    let (ran, answers) = ask(None, "2 3 4 1 x x 7 6 8\n", &[]);
    assert_eq!((ran.code, &answers[0]["outcome"]), (1, &Value::from("error")));
    assert_eq!(answers[0]["error"]["violations"][0]["field"], "job.sliding.start[5]", "{ran:?}");
}

#[test]
fn g12_a_snail_goal_spelled_out() {
    assert_eq!(solve("0 2 3/1 6 4/8 7 5", Some(CENTRE), &[]), (Some(4), "DDRU".into()));
}

#[test]
fn g16_to_g20_mistakes_of_others() {
    let cases = [
        ("2 0 3/1 6 8/4 7 5", 9),
        ("2 0 8/1 3 6/4 7 5", 13),
        ("7 8 0/6 5 4/1 2 3", 26),
        ("1 6 5/4 2 0/7 3 8", 13),
        ("1 0 6/4 8 2/7 3 5", 13),
        ("4 1 2/0 5 3/7 8 6", 5),
    ];
    for algorithm in ["auto", "bfs", "bidirectional", "astar", "astar-misplaced"] {
        for (board, expected) in cases {
            let found = solve(board, None, &["--algorithm", algorithm, "--bypass", "cache,table"]);
            assert_eq!(found.0, Some(expected), "{algorithm}: {board}");
        }
    }
}

#[test]
fn g21_a_solved_board_takes_nothing() {
    for (board, goal) in [
        ("1 2 3/4 5 6/7 8 0", None),
        (CENTRE, Some(CENTRE)),
        ("0 3/2 1", Some("0 3/2 1")),
        ("1 2 3 4/5 6 7 0", None),
        ("1/2/0", None),
    ] {
        assert_eq!(solve(board, goal, &[]), (Some(0), String::new()), "{board}");
    }
    assert_eq!(client(&["solve", CENTRE, "--goal", CENTRE], "").stdout, "0\n");
    assert_eq!(solve("0", None, &["--size", "1x1"]), (Some(0), String::new()));
}

#[test]
fn g22_a_fifteen_puzzle_of_forty_moves() {
    assert_eq!(solve("2 7 11 5/13 0 9 4/14 1 8 6/10 3 12 15", None, &PATIENT).0, Some(40));
}

#[test]
fn g23_a_file_may_mean_the_other_goal() {
    let board = "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3";
    assert_eq!(solve(board, Some(BLANK_FIRST), &PATIENT).0, Some(57));
    assert_eq!(distance(board, Some(IN_ORDER)), None);
}

#[test]
fn g24_hints_along_a_path_come_in_order_and_from_the_cache() {
    let path = "ULLDDRURDLLURDRULDR";
    let start = vec![2, 3, 4, 1, 5, 0, 7, 6, 8];
    let boards: Vec<String> =
        (0..=19).map(|moves| text(&replayed(start.clone(), 3, &path[..moves]), 3)).collect();
    let (ran, answers) = ask(None, &(boards.join("\n") + "\n"), &["--in-flight", "1", "--bypass", "table"]);
    let distances: Vec<u64> = answers.iter().map(|answer| answer["distance"].as_u64().unwrap()).collect();
    assert_eq!(distances, (0..=19).rev().collect::<Vec<_>>(), "{ran:?}");
    assert_eq!(answers[0]["source"], "search");
    // The player follows a shortest path that need not be ours; along ours all is known.
    let own = answers[0]["moves"].as_str().unwrap();
    let boards: Vec<String> =
        (0..19).map(|moves| text(&replayed(start.clone(), 3, &own[..moves]), 3)).collect();
    let (_, answers) = ask(None, &(boards.join("\n") + "\n"), &["--in-flight", "1", "--bypass", "table"]);
    let sources: Vec<&str> = answers.iter().map(|answer| answer["source"].as_str().unwrap()).collect();
    assert_eq!(sources, [&["search"][..], &["cache"; 18]].concat());
    for (passed, answer) in answers.iter().enumerate() {
        assert_eq!(
            answer["moves"].as_str().unwrap(),
            &own[passed..],
            "a suffix is the stored answer of its board"
        );
    }
}

#[test]
fn g25_a_limit_is_never_called_unsolvable() {
    assert_eq!(distance("8 6 7/2 5 4/3 0 1", None), Some(31));
    for (limit, named, bound) in [("--max-moves=30", "moves", 31), ("--max-nodes=100", "nodes", 1)] {
        let (ran, answers) = ask(None, "867254301\n", &[limit]);
        assert_eq!(
            (ran.code, &answers[0]["outcome"], &answers[0]["limit"]),
            (1, &"limit".into(), &named.into())
        );
        let lower_bound = answers[0]["lower_bound"].as_u64().unwrap();
        assert!((bound..=31).contains(&lower_bound), "{ran:?}");
    }
}

/// A double holds every number up to 2^53: what JSON tools read back is what was written.
#[test]
fn g42_no_number_is_too_large_for_json() {
    let (_, answers) = ask(None, "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15\n", &PATIENT);
    let tiles: Vec<u64> = (1..15).chain([0, 15]).collect();
    assert_eq!(answers[0]["start"].as_array().unwrap().len(), 16, "a board is its tiles, not one number");
    assert_eq!(self::tiles(&answers[0]["start"]), tiles);
    all_numbers_fit(&answers[0]);
}

fn all_numbers_fit(value: &Value) {
    match value {
        Value::Number(number) => assert!(number.as_f64().unwrap() < 2_f64.powi(53), "{number}"),
        Value::Array(values) => values.iter().for_each(all_numbers_fit),
        Value::Object(fields) => fields.values().for_each(all_numbers_fit),
        _ => {}
    }
}
