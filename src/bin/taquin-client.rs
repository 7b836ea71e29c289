//! `taquin-client`: parses the command line, runs it, exits with its code.

use std::process::ExitCode;

use clap::Parser;
use taquin::client::cli::Cli;

fn main() -> ExitCode {
    ExitCode::from(Cli::parse().run())
}
