//! Log lines, for people or as JSON, on standard error. It knows nothing of what is logged.

use std::io;
use std::panic::{self, Location};
use std::path::Path;

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
pub fn directives(text: &str) -> Result<String, String> {
    // The parser slices within letters of several bytes, and panics.
    if !text.is_ascii() {
        return Err("has letters beyond ASCII, which no directive has".to_owned());
    }
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// What hears of spans and events besides.
pub type Hearer = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts logging. Of a panic only the place is logged from then on: its message may hold what a client
/// has sent, and neither goes where the log goes.
///
/// # Errors
/// When `directives` are none, or logging was started before.
pub fn init(
    format: LogFormat,
    directives: &str,
    besides: Option<Hearer>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let filter = EnvFilter::try_new(self::directives(directives)?)?;
    panic::set_hook(Box::new(|panic| {
        let place = panic.location();
        let file = place.and_then(|place| Path::new(place.file()).file_name()).unwrap_or_default();
        let line = place.map(Location::line);
        tracing::error!(file = %file.display(), line, "a thread panicked");
    }));
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = match format {
        LogFormat::Human => lines.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).boxed(),
        // The list of spans has the current one too.
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
    };
    Ok(tracing_subscriber::registry().with(besides).with(lines).with(filter).try_init()?)
}
