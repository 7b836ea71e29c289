//! A file of settings: TOML without tables, a key for each flag, with underscores for its hyphens.
//! It knows no setting: which there are, and what they may be, the command says.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::{Command, Id};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::setting::{Setting, key_of, like, settings};

/// Bytes of a file; a setting takes some ten.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A setting as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name among the matches.
    pub id: Id,
    /// Its line, from 1.
    pub line: usize,
    /// The arguments that would set it; several if its flag may be given several times.
    pub arguments: Vec<OsString>,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {message}")]
pub struct Fault {
    line: usize,
    message: String,
}

/// Reads the settings that a file has for a command.
///
/// # Errors
/// When it can't be read, or as [`parse`]; the file is named.
pub fn read(path: &Path, command: &Command) -> Result<Vec<Entry>, String> {
    let name = path.display();
    let text = read_text(path).map_err(|error| format!("can't read {name} (--config): {error}"))?;
    parse(&text, command).map_err(|fault| format!("{name}:{fault}"))
}

fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let bytes = File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if bytes as u64 > MAX_FILE_BYTES {
        return Err(std::io::Error::other(format!("it has more than {MAX_FILE_BYTES} bytes")));
    }
    Ok(text)
}

/// The settings that a text has for a command, in the order of their lines.
///
/// # Errors
/// When it is no TOML, or has a key that is none of the command's, or a value that is none of the
/// key's: the first of them, with its line.
pub fn parse(text: &str, command: &Command) -> Result<Vec<Entry>, Fault> {
    let line_at = |place: usize| 1 + text.bytes().take(place).filter(|&byte| byte == b'\n').count();
    let table = DeTable::parse(text).map_err(|error| Fault {
        line: line_at(error.span().map_or(0, |span| span.start)),
        // Without the line itself, which may be of a file that was named by mistake, and secret.
        message: error.message().to_owned(),
    })?;
    let mut pairs: Vec<_> =
        table.get_ref().iter().map(|(key, value)| (line_at(key.span().start), key, value)).collect();
    pairs.sort_by_key(|(line, ..)| *line);
    let entries = pairs.into_iter().map(|(line, key, value)| {
        entry(line, key, value.get_ref(), command).map_err(|message| Fault { line, message })
    });
    entries.collect()
}

fn entry(
    line: usize,
    key: &Spanned<DeString<'_>>,
    value: &DeValue<'_>,
    command: &Command,
) -> Result<Entry, String> {
    let key = key.get_ref().as_ref();
    let setting =
        settings(command).find(|setting| setting.key() == key).ok_or_else(|| unknown(key, command))?;
    let arguments = setting.values_of(value).and_then(|values| {
        values.iter().map(|value| setting.argument(command, value.as_ref())).collect::<Result<_, _>>()
    });
    let arguments = arguments.map_err(|fault| format!("{key}: {fault}"))?;
    Ok(Entry { id: setting.id().clone(), line, arguments })
}

fn unknown(key: &str, command: &Command) -> String {
    let meant = settings(command).map(Setting::key).find(|known| *known == key_of(key));
    let meant = meant.or_else(|| like(key, command));
    let meant =
        meant.map_or_else(|| "no flag has that name".to_owned(), |meant| format!("is `{meant}` meant?"));
    format!("unknown key `{}`: {meant}", key.escape_debug())
}
