//! Where settings come from: flags, environment, a file, defaults; and what is said of those
//! that are none.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::process::Output;

use clap::{Args, Command, Parser};
use proptest::prelude::*;
use taquin::config::layers::Layers;
use taquin::config::{ServerConfig, file};
use taquin::service::pb;

use crate::folder::Folder;
use crate::process::{Worker, command};
use crate::support::{run, soon};

/// A file of its own, gone with the test.
struct File {
    path: String,
    _folder: Folder,
}

impl File {
    fn new(text: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        Self { path: folder.write("taquin.toml", text), _folder: folder }
    }

    fn path(&self) -> &str {
        &self.path
    }
}

fn server(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    command().envs(variables.iter().copied()).args(arguments).output().unwrap()
}

/// What `taquin-server config` prints.
fn printed(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let output = server(variables, &[arguments, &["config"]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
    String::from_utf8(output.stdout).unwrap()
}

/// What is said of wrong usage.
fn refused(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let output = server(variables, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{said}");
    said
}

/// Each key and its value, without where it comes from.
fn values(printed: &str) -> BTreeMap<&str, &str> {
    let lines = printed.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(" # ").unwrap().0.split_once(" = ").unwrap()).collect()
}

fn assert_has_lines(printed: &str, lines: &[&str]) {
    for line in lines {
        assert!(printed.lines().any(|printed| printed == *line), "no line `{line}` in\n{printed}");
    }
}

#[test]
fn a_flag_beats_a_variable_which_beats_the_file_which_beats_the_default() {
    let file = File::new("max_queue = 11\nmax_streams = 12\n# and\nmax_connections = 13\non_demand = true\n");
    let variables = [
        ("TAQUIN_CONFIG", file.path()),
        ("TAQUIN_MAX_QUEUE", "21"),
        ("TAQUIN_MAX_STREAMS", "22"),
        ("TAQUIN_SWEEP", "off"),
    ];
    let printed = printed(&variables, &["--max-queue", "31", "--log-format", "json"]);
    assert_has_lines(
        &printed,
        &[
            &format!("# file: {}", file.path()),
            "max_queue = 31 # flag",
            "log_format = \"json\" # flag",
            "max_streams = 22 # environment variable TAQUIN_MAX_STREAMS",
            "sweep = \"off\" # environment variable TAQUIN_SWEEP",
            "max_connections = 13 # file, line 4",
            "on_demand = true # file, line 5",
            "max_in_flight = 65536 # default",
            "# tables is not set",
        ],
    );
}

#[test]
fn a_worker_is_as_its_file_says() {
    run(async {
        let file = File::new("workers = 3\nmax_queue = 7\nmax_nodes = 18_446_744_073_709_551_615\n");
        let worker = Worker::spawn(&["--config", file.path(), "--max-queue=8"]);
        let info = soon(worker.connect().await.get_server_info(pb::GetServerInfoRequest {}))
            .await
            .unwrap()
            .into_inner();
        let limits = info.limits.unwrap();
        assert_eq!((info.workers, limits.max_queue, limits.max_nodes), (3, 8, u64::MAX));

        // The health check asks where the same file has a worker listen.
        let file = File::new(format!("listen = \"{}\"\n", worker.address));
        let ask = || server(&[], &["--config", file.path(), "healthcheck"]).status.code();
        assert_eq!(ask(), Some(0));
        drop(worker);
        assert_eq!(ask(), Some(1));
    });
}

#[test]
fn what_is_printed_can_be_read_back() {
    let tables = "a \"folder\" of\ttables # é";
    let set = ["--tables", tables, "--workers", "05", "--log", "info,taquin=debug", "--listen", "[::1]:1"];
    let first = printed(&[("TAQUIN_MAX_CACHE_BYTES", "0")], &set);
    let file = File::new(&first);
    let second = printed(&[], &["--config", file.path()]);
    assert_eq!(values(&first), values(&second));
    let values = values(&second);
    assert_eq!((values["workers"], values["max_cache_bytes"]), ("5", "0"));
    assert_has_lines(&second, &[r#"tables = "a \"folder\" of\ttables # é" # file, line 5"#]);
}

#[test]
fn every_setting_is_printed_and_none_twice() {
    let printed = printed(&[], &[]);
    let keys: Vec<_> =
        printed.lines().map(|line| line.trim_start_matches("# ").split(' ').next().unwrap()).collect();
    let command = ServerConfig::augment_args(Command::new("taquin-server"));
    let flags: Vec<_> =
        command.get_arguments().map(|arg| arg.get_long().unwrap().replace('-', "_")).collect();
    assert_eq!(keys, flags);
}

#[test]
fn the_file_of_the_readme_is_one() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let (_, block) = readme.split_once("```toml\n").unwrap();
    let file = File::new(block.split("```").next().unwrap());
    assert_has_lines(
        &printed(&[], &["--config", file.path()]),
        &["workers = 4 # file, line 3", "on_demand = false # file, line 8"],
    );
}

#[test]
fn a_fault_of_the_file_is_named_by_line_and_key() {
    for (text, said) in [
        ("max_qeue = 1", "1: unknown key `max_qeue`: is `max_queue` meant?"),
        ("max-queue = 1", "1: unknown key `max-queue`: is `max_queue` meant?"),
        ("config = 'other.toml'", "1: unknown key `config`: "),
        ("help = true", "1: unknown key `help`: "),
        ("# limits\n[limits]\nmax_queue = 1", "2: unknown key `limits`: no flag has that name"),
        ("\n\nmax_queue = '5'", "3: max_queue: expected an integer, found string"),
        ("max_queue = 5.0", "1: max_queue: expected an integer, found float"),
        ("max_queue = [5]", "1: max_queue: expected an integer, found array"),
        ("max_queue.most = 5", "1: max_queue: expected an integer, found table"),
        ("log = 5", "1: log: expected a string, found integer"),
        ("on_demand = 1", "1: on_demand: expected true or false, found integer"),
        (
            "max_queue = 0",
            "1: max_queue: invalid value '0' for '--max-queue <MAX_QUEUE>': expected a whole number from 1 to 4294967295",
        ),
        ("max_queue = 4294967296", "expected a whole number from 1 to 4294967295"),
        ("max_nodes = 18446744073709551616", "expected a whole number from 1 to 18446744073709551615"),
        ("max_nodes = -1", "expected a whole number from 1 to"),
        ("max_cache_bytes = -1", "expected a whole number from 0 to 18446744073709551615"),
        ("workers = 0", "expected a whole number from 1 to 18446744073709551615"),
        (
            "sweep = 'maybe'",
            "1: sweep: invalid value 'maybe' for '--sweep <SWEEP>' [possible values: on, off]",
        ),
        ("listen = 'localhost:1'", "1: listen: invalid value 'localhost:1'"),
        ("tables = ''", "1: tables: a value is required"),
        ("log = 'eé=2'", "1: log: invalid value 'eé=2'"),
        ("log = 'taquin=loud'", "1: log: invalid value 'taquin=loud'"),
        ("max_queue = 1\nmax_queue = 2", "2: duplicate key"),
        ("workers = 1\nmax_queue", "2: "),
        ("secret of another file", "1: "),
    ] {
        let file = File::new(text);
        // Though a flag above it has a value that is one.
        let refused = refused(&[], &["--config", file.path(), "--max-queue", "1", "config"]);
        assert!(
            refused.contains(&format!("{}:{said}", file.path())) || refused.contains(said),
            "{text}: {refused}"
        );
        assert!(refused.contains(&format!("{}:", file.path())), "{text}: {refused}");
        assert!(!refused.contains("of another file"), "{refused}");
    }
}

#[test]
fn the_bounds_of_a_number_are_taken() {
    let file = File::new("max_queue = 4294967295\nmax_streams = 1\nmax_nodes = 0xffff_ffff_ffff_ffff\n");
    let printed = printed(&[], &["--config", file.path()]);
    let values = values(&printed);
    assert_eq!(
        (values["max_queue"], values["max_streams"], values["max_nodes"]),
        ("4294967295", "1", "18446744073709551615")
    );
}

#[test]
fn a_file_that_can_not_be_read_is_named() {
    let most = 1 << 20;
    let comment = File::new(vec![b'#'; most]);
    assert!(printed(&[], &["--config", comment.path()]).contains("# default"));
    let (large, binary) = (File::new(vec![b'#'; most + 1]), File::new([0xff]));
    let folder = std::env::temp_dir();
    for (path, said) in [
        (large.path(), "more than 1048576 bytes"),
        (binary.path(), "UTF-8"),
        (folder.to_str().unwrap(), "directory"),
        ("no/such.toml", "No such file"),
    ] {
        let refused = refused(&[("TAQUIN_CONFIG", path)], &["config"]);
        assert!(
            refused.contains(&format!("can't read {path} (--config): ")) && refused.contains(said),
            "{refused}"
        );
    }
}

#[test]
fn an_empty_variable_is_one_that_is_not_set() {
    let variables =
        ["TAQUIN_CONFIG", "TAQUIN_LISTEN", "TAQUIN_MAX_QUEUE", "TAQUIN_ON_DEMAND", "TAQUIN_TABLES"];
    assert_eq!(printed(&variables.map(|name| (name, "")), &[]), printed(&[], &[]));
    // A flag was meant to be something.
    assert!(refused(&[], &["--listen=", "config"]).contains("--listen"));
}

#[test]
fn a_variable_with_a_wrong_value_is_named() {
    for (name, value, said) in [
        ("TAQUIN_MAX_QUEUE", "0", "expected a whole number from 1 to 4294967295"),
        ("TAQUIN_MAX_QUEUE", " 1", "expected a whole number"),
        ("TAQUIN_SWEEP", "yes", "possible values: on, off"),
        ("TAQUIN_ON_DEMAND", "maybe", "boolean"),
    ] {
        let refused = refused(&[(name, value)], &["config"]);
        assert!(
            refused.contains(&format!("environment variable {name}: ")) && refused.contains(said),
            "{refused}"
        );
        assert_eq!(server(&[(name, value)], &["--help"]).status.code(), Some(0));
    }
    // One that is not asked for is not looked at.
    assert_eq!(values(&printed(&[("TAQUIN_MAX_QUEUE", "0")], &["--max-queue", "1"]))["max_queue"], "1");
}

#[test]
fn bytes_that_are_no_text_are_named_and_not_printed_as_another() {
    let path = OsString::from_vec(b"\xff".to_vec());
    let output = command().env("TAQUIN_TABLES", &path).arg("config").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_has_lines(
        &printed,
        &["# tables is no UTF-8, which a file is # environment variable TAQUIN_TABLES"],
    );
    let output = command().env("TAQUIN_MAX_QUEUE", &path).arg("config").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && said.contains("environment variable TAQUIN_MAX_QUEUE: "),
        "{said}"
    );
}

#[test]
fn settings_that_do_not_go_together_are_refused_whichever_layer_they_are_of() {
    let file = File::new("on_demand = true\n");
    let with_file = ["--config", file.path()];
    for arguments in [&["--set", "small"][..], &["--tables", "unused"]] {
        for end in [&["config"][..], &[]] {
            let said = refused(&[], &[&with_file, arguments, end].concat());
            assert!(said.contains("--on-demand"), "{said}");
        }
    }
    let taken_back = printed(&[], &[&with_file[..], &["--on-demand=false", "--set", "small"]].concat());
    assert_has_lines(&taken_back, &["on_demand = false # flag"]);
    assert_eq!(values(&printed(&[("TAQUIN_ON_DEMAND", "no")], &with_file))["on_demand"], "false");
}

/// A command with what the worker's has not.
#[derive(Parser)]
struct Other {
    #[arg(long)]
    quiet: bool,
    #[arg(long)]
    name: Vec<String>,
    #[arg(long)]
    lives: Option<u16>,
}

#[test]
fn a_flag_that_is_added_needs_nothing_else() {
    use clap::{CommandFactory, FromArgMatches};
    let read = |text: &str, arguments: &[&str]| {
        let file = File::new(text);
        let arguments = [&["other", "--config", file.path()], arguments].concat();
        let layers = Layers::read(Other::command(), arguments.into_iter().map(OsString::from)).unwrap();
        let other = Other::from_arg_matches(layers.matches()).unwrap();
        ((other.quiet, other.name, other.lives), layers.to_string())
    };
    let text = "quiet = true\nname = [\"a,b\", '-c']\nlives = 9\n";
    let names = vec!["a,b".to_owned(), "-c".to_owned()];
    let (other, printed) = read(text, &[]);
    assert_eq!(other, (true, names.clone(), Some(9)));
    assert_eq!(read(&printed, &[]).0, other);
    assert_eq!(read("", &[]).0, (false, Vec::new(), None));
    assert_eq!(read(text, &["--quiet=false", "--name", "d"]).0, (false, vec!["d".into()], Some(9)));
    assert!(read("quiet = false", &["--quiet"]).0.0);
    assert_eq!(read("name = 'one'", &[]).0.1, ["one"]);
}

fn settings() -> Command {
    ServerConfig::augment_args(Command::new("taquin-server"))
}

/// A line that is nearly one of a file.
fn line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("max_queue".to_owned()),
        Just("tables".into()),
        Just("on_demand".into()),
        "[a-z_.\"-]{0,12}"
    ];
    let value = prop_oneof!["-?[0-9]{1,40}", "\"[^\"]{0,8}\"", "true|false", "\\[.{0,6}\\]", "\\PC{0,12}"];
    (key, value).prop_map(|(key, value)| format!("{key} = {value}\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_file_holds_is_read_or_refused(text in "\\PC{0,200}|[\\x00-\\x7f]{0,200}", lines in prop::collection::vec(line(), 0..4)) {
        for text in [text, lines.concat()] {
            if let Err(fault) = file::parse(&text, &settings()) {
                let said = fault.to_string();
                let (line, _) = said.split_once(": ").unwrap();
                prop_assert!((1..=text.split('\n').count()).contains(&line.parse().unwrap()), "{said}");
            }
        }
    }

    #[test]
    fn whatever_is_set_is_printed_so_that_it_is_read_back(
        tables in "[^\\x00]{1,24}", workers in 1_usize.., max_nodes in 1_u64.., max_cache_bytes: u64, max_queue in 1_u32..,
    ) {
        let arguments = [
            "taquin-server".to_owned(),
            format!("--tables={tables}"),
            format!("--workers={workers}"),
            format!("--max-nodes={max_nodes}"),
            format!("--max-cache-bytes={max_cache_bytes}"),
            format!("--max-queue={max_queue}"),
        ];
        let layers = Layers::read(settings(), arguments.iter().map(OsString::from)).unwrap();
        let printed = layers.to_string();
        let entries = file::parse(&printed, &settings()).unwrap();
        let given: Vec<_> = entries.into_iter().flat_map(|entry| entry.arguments).collect();
        for argument in &arguments[1..] {
            prop_assert!(given.contains(&OsString::from(argument)), "{argument} is not in\n{printed}");
        }
    }
}
