//! Log lines, for people or as JSON, on standard error. It knows nothing of what is logged.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Human,
    /// One JSON object a line
    Json,
}

/// The directives, if they are such.
///
/// # Errors
/// When they are none.
pub fn directives(text: &str) -> Result<String, ParseError> {
    EnvFilter::try_new(text).map(|_| text.to_owned())
}

/// Starts logging.
///
/// # Errors
/// When `directives` are none, or logging was started before.
pub fn init(format: LogFormat, directives: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let filter = EnvFilter::try_new(directives)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Human => lines.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    }
}
