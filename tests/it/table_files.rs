//! Files of pattern databases, as the binary reads and refuses them before it serves anything.

use std::fs;

use crate::folder::Folder;
use crate::process::command;

const FIRST: &str = "4x4-blank-0-tiles-1-4-5-8-9-12-13.pattern";

/// What the binary says before it ends with exit code 1.
fn refused(arguments: &[&str]) -> String {
    refused_with(1, arguments)
}

fn refused_with(code: i32, arguments: &[&str]) -> String {
    let output = command().args(["--listen", "127.0.0.1:0"]).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

#[test]
fn a_folder_without_the_large_set_is_refused_by_the_file_that_is_missing() {
    let folder = Folder::new();
    let said = refused(&["--tables", folder.place()]);
    assert!(said.contains(FIRST) && said.contains("No such file"), "{said}");
    assert!(said.contains(&format!("`taquin-server tables build --dir {}`", folder.place())), "{said}");
}

#[test]
fn what_is_no_table_is_refused_with_its_name() {
    let folder = Folder::new();
    fs::write(folder.path(FIRST), [b'x'; 100]).unwrap();
    let said = refused(&["--tables", folder.place()]);
    assert!(said.contains(FIRST) && said.contains("no pattern database"), "{said}");
}

#[test]
fn what_is_no_file_is_refused_without_being_opened() {
    let folder = Folder::new();
    fs::create_dir(folder.path(FIRST)).unwrap();
    let said = refused(&["--tables", folder.place()]);
    assert!(said.contains(FIRST) && said.contains("no regular file"), "{said}");
}

#[test]
fn a_set_that_can_not_be_had_is_refused() {
    assert!(refused_with(2, &["--set", "large"]).contains("--tables"), "what it wants is named");
    let said = refused_with(2, &["--tables", "unused", "--on-demand"]);
    assert!(said.contains("--tables") && said.contains("--on-demand"), "{said}");
    // Switched off is not asked for.
    let off = command().args(["--tables", "unused"]).env("TAQUIN_ON_DEMAND", "no").output().unwrap();
    assert!(String::from_utf8(off.stderr).unwrap().contains(FIRST), "the folder was looked into");
    for with in [&["--tables", "unused"][..], &["--on-demand"]] {
        let said = refused_with(2, &[&["--set", "small"], with].concat());
        assert!(said.contains("--set small") && said.contains(with[0]), "{said}");
    }
    assert!(refused_with(2, &["tables", "build", "--set", "small", "--dir", "unused"]).contains("--set"));
    // The large one is built unless it is said; here there can be no folder.
    let said = refused(&["tables", "build", "--dir", "/dev/null/tables"]);
    assert!(said.contains("/dev/null/tables"), "{said}");
}
