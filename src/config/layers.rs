//! Where each setting of a command comes from: its flag, else its environment variable, else a
//! file, else its default. It knows no setting: a flag that is added has its variable and its key.

use std::env;
use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::file::{self, Entry};
use super::setting::{FILE, Setting, Toml, settings};

/// The settings of a command, each from the highest layer that has it.
#[derive(Debug)]
pub struct Layers {
    command: Command,
    matches: ArgMatches,
    /// What the file has that no layer above it has.
    from_file: Vec<Entry>,
}

impl Layers {
    /// Reads every layer. The command gets a flag `--config` for the file, its switches take a
    /// value (`--switch=false`), so that a layer can take back what one below it has set, and
    /// an empty environment variable is one that is not set.
    ///
    /// # Errors
    /// As clap has them, help and version too: an argument that is none, or a value that is not
    /// its setting's, whichever layer it is of, named by flag, variable, or file, line and key.
    pub fn read(
        command: Command,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, clap::Error> {
        let command = layered(command);
        let mut arguments: Vec<_> = arguments.into_iter().collect();
        let above = command.clone().try_get_matches_from(&arguments).map_err(|error| {
            // Clap names the flag alone. What is asked for, help, is no error.
            let fault = if error.use_stderr() { fault_of_variables(&command) } else { None };
            fault.map_or(error, |fault| misuse(&command, &fault))
        })?;
        let Some(path) = above.get_one::<PathBuf>(FILE) else {
            return Ok(Self { command, matches: above, from_file: Vec::new() });
        };
        let mut from_file = file::read(path, &command).map_err(|fault| misuse(&command, &fault))?;
        from_file.retain(|entry| is_default(&above, entry.id.as_str()));
        // Read again, with what the file has before what was given, and after the program's name.
        let place = arguments.len().min(1);
        arguments.splice(place..place, from_file.iter().flat_map(|entry| entry.arguments.iter().cloned()));
        let matches = command.clone().try_get_matches_from(arguments)?;
        Ok(Self { command, matches, from_file })
    }

    /// What clap has found.
    #[must_use]
    pub fn matches(&self) -> &ArgMatches {
        &self.matches
    }

    /// An error of settings that do not go together.
    #[must_use]
    pub fn misuse(&self, message: &str) -> clap::Error {
        misuse(&self.command, message)
    }

    fn origin(&self, setting: Setting<'_>) -> String {
        if let Some(entry) = self.from_file.iter().find(|entry| entry.id == *setting.id()) {
            return format!("file, line {}", entry.line);
        }
        match (self.matches.value_source(setting.id().as_str()), setting.variable()) {
            (Some(ValueSource::CommandLine), _) => "flag".into(),
            (Some(ValueSource::EnvVariable), Some(name)) => {
                format!("environment variable {}", name.display())
            }
            _ => "default".into(),
        }
    }
}

/// Each setting as TOML that can be read back, a line each, with where it comes from.
impl Display for Layers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(path) = self.matches.get_one::<PathBuf>(FILE) {
            writeln!(f, "# file: {}", path.display().to_string().escape_debug())?;
        }
        for setting in settings(&self.command) {
            let (key, origin) = (setting.key(), self.origin(setting));
            match setting.toml(&self.matches) {
                Toml::Value(value) => writeln!(f, "{key} = {value} # {origin}")?,
                Toml::Unset => writeln!(f, "# {key} is not set")?,
                Toml::NoText => writeln!(f, "# {key} is no UTF-8, which a file is # {origin}")?,
            }
        }
        Ok(())
    }
}

fn layered(command: Command) -> Command {
    let file = Arg::new(FILE)
        .long(FILE)
        .env("TAQUIN_CONFIG")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .display_order(0)
        .help(
            "File of settings: TOML, a key for each flag, with underscores for its hyphens (max_queue = 100)",
        );
    command.arg(file).mut_args(|arg| switch(without_empty_variable(arg)))
}

/// A switch that can be switched off, too.
fn switch(arg: Arg) -> Arg {
    match arg.get_action() {
        ArgAction::SetTrue => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .default_value("false"),
        _ => arg,
    }
}

fn without_empty_variable(arg: Arg) -> Arg {
    let empty = arg.get_env().and_then(env::var_os).is_some_and(|value| value.is_empty());
    if empty { arg.env(Resettable::Reset) } else { arg }
}

fn is_default(matches: &ArgMatches, id: &str) -> bool {
    matches!(matches.value_source(id), None | Some(ValueSource::DefaultValue))
}

/// The first environment variable whose value its setting does not take.
fn fault_of_variables(command: &Command) -> Option<String> {
    settings(command).find_map(|setting| {
        let name = setting.variable()?;
        let fault = setting.argument(command, &env::var_os(name)?).err()?;
        Some(format!("environment variable {}: {fault}", name.display()))
    })
}

fn misuse(command: &Command, message: &str) -> clap::Error {
    command.clone().error(ErrorKind::ValueValidation, message)
}
