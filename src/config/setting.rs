//! A setting as the command line has it: its key in a file, what the file holds it as, and
//! whether a value is one of its values. It knows none by name.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, Id};
use toml::de::DeValue;
use toml_writer::{ToTomlValue, TomlStringBuilder};

/// The flag that names the file, which is no setting.
pub(super) const FILE: &str = "config";

/// A flag that can be set elsewhere too.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    arg: &'a Arg,
    /// The flag, without its hyphens.
    flag: &'a str,
}

/// What TOML holds a setting as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    String,
}

/// What a setting is set to.
pub(super) enum Toml {
    Value(String),
    Unset,
    /// A path that is not UTF-8, which TOML is.
    NoText,
}

/// Every setting of a command that is not built yet: what building adds, `--help`, is none.
pub(super) fn settings(command: &Command) -> impl Iterator<Item = Setting<'_>> {
    let flags = command.get_arguments().filter(|arg| arg.get_id() != FILE);
    flags.filter_map(|arg| Some(Setting { arg, flag: arg.get_long()? }))
}

/// The key of a flag.
pub(super) fn key_of(flag: &str) -> String {
    flag.replace('-', "_")
}

/// The key that is most like another, if one is.
pub(super) fn like(key: &str, command: &Command) -> Option<String> {
    let flag = format!("--{}=", key.replace('_', "-"));
    let error = alone(command).try_get_matches_from([flag]).err()?;
    match error.get(ContextKind::SuggestedArg)? {
        ContextValue::String(flag) => Some(key_of(flag.trim_start_matches("--"))),
        _ => None,
    }
}

/// The command without its program's name, and whatever the environment says.
fn alone(command: &Command) -> Command {
    command.clone().no_binary_name(true).mut_args(|arg| arg.env(Resettable::Reset))
}

impl<'a> Setting<'a> {
    /// Its name among the matches.
    pub(super) fn id(self) -> &'a Id {
        self.arg.get_id()
    }

    /// Its key in a file.
    pub(super) fn key(self) -> String {
        key_of(self.flag)
    }

    /// Its environment variable.
    pub(super) fn variable(self) -> Option<&'a OsStr> {
        self.arg.get_env()
    }

    /// The argument that sets it to this value.
    ///
    /// # Errors
    /// Why it does not take the value.
    pub(super) fn argument(self, command: &Command, value: &OsStr) -> Result<OsString, String> {
        let mut argument = OsString::from(format!("--{}=", self.flag));
        argument.push(value);
        match alone(command).try_get_matches_from([&argument]) {
            Err(error) if is_of_a_value(&error) => Err(first_paragraph(&error)),
            _ => Ok(argument),
        }
    }

    /// The values that a file gives it.
    ///
    /// # Errors
    /// When they are not of its type.
    pub(super) fn values_of(self, value: &DeValue<'_>) -> Result<Vec<String>, String> {
        match value {
            DeValue::Array(values) if self.is_list() => {
                values.iter().map(|value| self.kind().text_of(value.get_ref())).collect()
            }
            value => self.kind().text_of(value).map(|text| vec![text]),
        }
    }

    /// What it is set to, as TOML on one line.
    pub(super) fn toml(self, matches: &ArgMatches) -> Toml {
        let Some(values) = matches.get_raw(self.id().as_str()) else { return Toml::Unset };
        if self.kind() == Kind::Boolean {
            // However it was written: `yes` is an environment variable's way.
            return Toml::Value(matches.get_flag(self.id().as_str()).to_string());
        }
        let values: Option<Vec<_>> = values.map(|value| Some(self.kind().toml(value.to_str()?))).collect();
        match values {
            Some(values) if self.is_list() => Toml::Value(format!("[{}]", values.join(", "))),
            Some(values) => Toml::Value(values.concat()),
            None => Toml::NoText,
        }
    }

    fn is_list(self) -> bool {
        matches!(self.arg.get_action(), ArgAction::Append)
    }

    fn kind(self) -> Kind {
        let numbers = [
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<usize>(),
            TypeId::of::<NonZeroU32>(),
            TypeId::of::<NonZeroU64>(),
            TypeId::of::<NonZeroUsize>(),
        ];
        let id = self.arg.get_value_parser().type_id();
        if id == TypeId::of::<bool>() {
            Kind::Boolean
        } else if numbers.iter().any(|number| id == *number) {
            Kind::Integer
        } else {
            Kind::String
        }
    }
}

impl Kind {
    /// The text that the flag would be given.
    fn text_of(self, value: &DeValue<'_>) -> Result<String, String> {
        match (self, value) {
            (Self::Boolean, DeValue::Boolean(value)) => Ok(value.to_string()),
            (Self::Integer, DeValue::Integer(value)) => i128::from_str_radix(value.as_str(), value.radix())
                .map(|number| number.to_string())
                .map_err(|_| "no setting has so large a number".into()),
            (Self::String, DeValue::String(value)) => Ok(value.to_string()),
            (kind, other) => Err(format!("expected {}, found {}", kind.name(), other.type_str())),
        }
    }

    /// A text that its flag took, as TOML on one line.
    fn toml(self, text: &str) -> String {
        match text.parse::<i128>() {
            Ok(number) if self == Self::Integer => number.to_string(),
            _ => TomlStringBuilder::new(text).as_basic().to_toml_value(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Boolean => "true or false",
            Self::Integer => "an integer",
            Self::String => "a string",
        }
    }
}

fn is_of_a_value(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::InvalidUtf8)
}

/// What an error says, without what it says of usage.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let said = text.split("\n\n").next().unwrap_or_default();
    said.trim_start_matches("error: ").replace("\n  ", " ")
}
