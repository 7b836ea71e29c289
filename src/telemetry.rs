//! Log lines, for people or as JSON, on standard error. It knows nothing of what is logged.

use std::io;

use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

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

/// What hears of spans and events besides.
pub type Hearer = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts logging.
///
/// # Errors
/// When `directives` are none, or logging was started before.
pub fn init(
    format: LogFormat,
    directives: &str,
    besides: Option<Hearer>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let filter = EnvFilter::try_new(directives)?;
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = match format {
        LogFormat::Human => lines.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).boxed(),
        // The list of spans has the current one too.
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
    };
    Ok(tracing_subscriber::registry().with(besides).with(lines).with(filter).try_init()?)
}
