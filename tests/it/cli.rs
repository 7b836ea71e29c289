//! The real client, run as a user runs it.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::process::without_settings;

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The real client, with none of this machine's settings.
pub(crate) fn command() -> Command {
    without_settings(env!("CARGO_BIN_EXE_taquin-client"))
}

/// Starts `taquin-client` with these arguments, and with pipes.
pub(crate) fn start<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Child {
    command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs `taquin-client` with these arguments and this standard input; it ends by itself, at
/// the latest by its own timeout.
pub(crate) fn client(arguments: &[&str], stdin: &str) -> Ran {
    let mut child = start(arguments.iter().copied());
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_owned();
    // A client that reads no input closes the pipe, which is its right.
    let writer = thread::spawn(move || drop(pipe.write_all(stdin.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn the_first_command_of_the_readme_prints_four_and_a_path_that_replays() {
    let ran = client(&["solve", "283104765", "--goal", "123804765"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "4 ULDR\n"), "{ran:?}");
}

#[test]
fn unsolvable_and_malformed_boards_have_exit_codes_of_their_own() {
    assert_eq!(client(&["solve", "213456780"], "").code, 3);
    let malformed = client(&["solve", "113456780", "123456780"], "");
    assert_eq!((malformed.code, malformed.stdout.as_str()), (1, "error\n0\n"));
    assert_eq!(client(&["solve", "--no-such-option"], "").code, 2);
    assert_eq!(client(&["solve", "123456780", "--endpoint", "http://127.0.0.1:1"], "").code, 4);
}
