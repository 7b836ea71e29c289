//! The command line of `taquin-client`: its commands, each with its options.
//!
//! It must never know: what a command does.

use clap::{Parser, Subcommand};

use super::options::{AFTER_HELP, SolveOptions, USAGE};
use super::{load, solve};

/// Solves sliding-tile boards with a taquin server.
#[derive(Debug, Parser)]
#[command(name = "taquin-client", version, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Solve boards from arguments, a file or standard input; answers come in the order of the boards
    #[command(after_help = AFTER_HELP, override_usage = USAGE)]
    Solve(Box<SolveOptions>),

    /// Send boards by the million, time and check each answer, and report; without --endpoint to a server in this process
    #[command(after_help = load::AFTER_HELP)]
    Load(Box<load::LoadOptions>),
}

impl Cli {
    /// Runs the command and returns the exit code, as `--help` explains it.
    #[must_use]
    pub fn run(self) -> u8 {
        match self.command {
            Command::Solve(options) => solve::run(*options),
            Command::Load(options) => load::run(&options),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn boards_or_a_file_are_needed() {
        let ok = |line: &str| Cli::try_parse_from(line.split(' ')).is_ok();
        assert!(ok("c solve 123456780") && ok("c solve -") && ok("c solve --file -"));
        assert!(ok("c solve --graph 1-2,2-3 --smallest --bypass cache,table -o json -"));
        assert!(ok("c solve --format poj-1077 --bypass table -") && !ok("c solve --format poj -"));
        assert!(!ok("c solve --format poj-1077 -o json -") && !ok("c solve --format poj-1077 --goal 1 -"));
        assert!(!ok("c solve --graph 1-2 --size 1x2 10") && !ok("c solve --graph 1-x 10"));
        assert!(ok("c solve -a astar-misplaced --bypass cache --max-time 2s -o json 123456780"));
        let said = Cli::try_parse_from(["c", "solve"]).unwrap_err().to_string();
        assert!(said.contains("solve [OPTIONS] -  ") && said.contains("--file <FILE>"), "{said}");
        assert!(!ok("c solve --file f 123456780") && !ok("c solve --in-flight 0 -"));
    }
}
