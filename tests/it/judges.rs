//! What a judge asks is answered as the judge wants it, to the byte: `tests/data/judge`, through the real client.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use crate::cli::{Ran, client};

/// The judges that the client knows, from what it says to a name that is none.
fn judges() -> Vec<String> {
    let said = client(&["solve", "--format", "none", "-"], "").stderr;
    let (_, names) = said.split_once("[possible values: ").unwrap();
    names.split(']').next().unwrap().split(", ").map(str::to_owned).collect()
}

/// The files of the data, each with the judge whose name it begins with; what follows a dot tells pairs apart.
fn data() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/judge");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name =
        |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned();
    paths.map(|path| (name(&path), path)).collect()
}

#[test]
fn every_pair_of_the_data_has_its_judge() {
    let judges = judges();
    for (name, path) in data() {
        assert!(judges.contains(&name), "{name}");
        let pair = path.with_extension("in").is_file() && path.with_extension("out").is_file();
        assert!(pair, "{}", path.display());
    }
}

#[test]
fn every_judge_is_answered_to_the_byte() {
    let (judges, data) = (judges(), data());
    assert!(judges.len() > 9, "{judges:?}");
    let judge = |name: &str| {
        let inputs = data.iter().filter(|(of, path)| of == name && path.extension().unwrap() == "in");
        let mut pairs = 0;
        for (_, input) in inputs {
            let ran = client(&["solve", "--format", name, "--file", input.to_str().unwrap()], "");
            let output = fs::read_to_string(input.with_extension("out")).unwrap();
            assert_eq!((ran.code, &ran.stdout, ran.stderr.as_str()), (0, &output, ""), "{}", input.display());
            pairs += 1;
        }
        assert!(pairs > 1, "{name}: {pairs} pairs");
    };
    // Two at a time: each client starts a server.
    thread::scope(|scope| {
        for half in judges.chunks(judges.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(|name| judge(name)));
        }
    });
}

#[test]
fn judges_are_asked_by_argument_or_standard_input() {
    let printed = |arguments: &[&str], stdin: &str| {
        let ran = client(&[&["solve", "--format"], arguments].concat(), stdin);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    };
    assert_eq!(printed(&["luogu-p1379", "283104765"], ""), "4\n");
    assert_eq!(printed(&["luogu-p1379", "-"], "283104765"), "4\n");
    assert_eq!(printed(&["acwing-845", "2 3 4 1 5 x 7 6 8"], ""), "19\n");
    assert_eq!(printed(&["acwing-845", "2", "3", "4", "1", "5", "x", "7", "6", "8"], ""), "19\n");
    assert_eq!(printed(&["boj-1525", "1 0 3", "4 2 5", "7 8 6"], ""), "3\n");
    assert_eq!(printed(&["leetcode-773", "[[1,2,3],[4,0,5]]"], ""), "1\n");
    assert_eq!(printed(&["leetcode-773", "[[1,2,3],[4,0,5]]", "[[1,2,3],[5,4,0]]"], ""), "1\n-1\n");
    assert_eq!(printed(&["hdu-1043", "--in-flight", "1", "-"], ""), "");
}

#[test]
fn judged_boards_that_are_malformed_are_named_and_not_answered() {
    let told = |name: &str, stdin: &str| {
        let Ran { code, stdout, stderr } = client(&["solve", "--format", name, "-"], stdin);
        (code, stdout, stderr.trim_start_matches("taquin-client: ").to_owned())
    };
    let good = "1 2 3 4 5 6 7 8 x\n";
    let short = "expected a line of 9 tiles with spaces between them\n";
    let more = "more input, expected its end\n";
    assert_eq!(told("acwing-845", "1 2 3\n"), (1, String::new(), format!("line 1: 3 tiles, {short}")));
    assert_eq!(told("acwing-845", &good.repeat(2)), (1, String::new(), format!("line 2: {more}")));
    assert_eq!(told("poj-1077", ""), (1, String::new(), format!("line 1: the input ends, {short}")));
    let broken = format!("{good}1 2 3\n{good}");
    assert_eq!(told("hdu-1043", &broken), (1, "\n".into(), format!("line 2: 3 tiles, {short}")));
    let broken = format!("2\n\n{good}\n1 2 3\n");
    assert_eq!(told("uva-652", &broken), (1, "\n".into(), format!("line 5: 3 tiles, {short}")));
    assert_eq!(told("uva-652", &format!("0\n{good}")), (1, String::new(), format!("line 2: {more}")));
}

#[test]
fn judged_boards_without_an_answer_print_nothing() {
    let unsolvable = client(&["solve", "--format", "luogu-p1379", "213804765"], "");
    assert_eq!((unsolvable.code, unsolvable.stdout.as_str()), (3, ""), "{unsolvable:?}");
    let said = "line 1: unsolvable, for which the judge has no answer";
    assert!(unsolvable.stderr.contains(said), "{unsolvable:?}");
    let boards = "1 2 3 4 5 6 7 8 x\n8 6 7 2 5 4 3 x 1\n1 2 3 4 5 6 7 x 8\n";
    let limited = client(&["solve", "--format", "hdu-1043", "--max-moves", "5", "-"], boards);
    assert_eq!((limited.code, limited.stdout.as_str()), (1, "\n"), "{limited:?}");
    assert!(limited.stderr.contains("line 2: limit>="), "{limited:?}");
}

#[test]
fn graphs_of_judges_are_solved_in_the_clients_own_forms() {
    let edges = "1-2,1-3,1-9,2-9,3-9";
    let boards = "0 3 1 4 5 6 7 8 2\n12345678x\n1 2 3 5 4 6 7 8 0\n1 2 3\n";
    let ran = client(&["solve", "--graph", edges, "--smallest", "-o", "distance", "-"], boards);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "5\n0\nunsolvable\nerror\n"), "{ran:?}");
    assert!(ran.stderr.contains("line 4: 3 tiles, expected a tile for each vertex, at least 9"), "{ran:?}");
    let ran = client(&["solve", "--graph", "1-2,2-3", "--goal", "0 1 2", "102"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1 1\n"), "{ran:?}");
}
