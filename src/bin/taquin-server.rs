//! The worker: reads its settings, serves, drains at a signal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use taquin::config::layers::Layers;
use taquin::config::{ServerConfig, TableSet};
use taquin::heuristic::{Progress, build_large};
use taquin::service::{self, DialOptions, Drained, Metrics, MetricsPort, Security};
use taquin::telemetry;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Everything taken was answered.
const EXIT_CLEAN: u8 = 0;
/// It could not start, or the transport failed.
const EXIT_FAILED: u8 = 1;
/// The drain's time was over before everything was answered.
const EXIT_CUT_OFF: u8 = 3;
/// A second signal ended it at once.
const EXIT_SECOND_SIGNAL: u8 = 4;

/// A gRPC worker that solves sliding-tile boards, shortest path proven
///
/// A setting is a flag, else an environment variable, else a key of the file (--config), else its default.
///
/// Exit codes: 0 stopped by a signal, everything answered; 1 could not start; 2 wrong
/// usage or setting; 3 drain time over, connections cut; 4 ended at once by a second signal.
#[derive(Parser)]
#[command(name = "taquin-server", version, verbatim_doc_comment)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    config: ServerConfig,
}

#[derive(Subcommand)]
enum Command {
    /// Print every setting as TOML, with where it comes from: what the flags before this word, the environment and the file give
    Config,
    /// Ask a running worker whether it serves: exit code 0 when it does, 1 otherwise
    Healthcheck {
        /// Where it listens, as http(s)://host:port or host:port; by default where a worker with these settings would
        #[arg(long, value_name = "URL")]
        endpoint: Option<String>,
        /// Milliseconds to wait for its answer
        #[arg(long, default_value_t = 2000)]
        timeout_ms: u64,
        #[command(flatten)]
        dial: DialOptions,
    },
    /// Pattern databases in files
    Tables {
        #[command(subcommand)]
        command: TablesCommand,
    },
}

#[derive(Subcommand)]
enum TablesCommand {
    /// Write the files of a set that are not there or not sound, for --tables: half a minute and 0.7 GB of memory
    Build {
        /// The set; the small one has no files
        #[arg(long, value_enum, default_value_t = TableSet::Large)]
        set: TableSet,
        /// Folder to write to, made if need be
        #[arg(long, value_name = "DIR")]
        dir: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let layers = Layers::read(Arguments::command(), std::env::args_os()).unwrap_or_else(|error| error.exit());
    let Arguments { command, config } =
        Arguments::from_arg_matches(layers.matches()).unwrap_or_else(|error| error.exit());
    let checked = || config.check().unwrap_or_else(|misuse| layers.misuse(misuse).exit());
    let code = match command {
        None => {
            checked();
            run(config).await
        }
        Some(Command::Config) => {
            checked();
            print_settings(&layers)
        }
        Some(Command::Healthcheck { endpoint, timeout_ms, dial }) => {
            let endpoint = endpoint.unwrap_or_else(|| own_endpoint(&config));
            check_health(&endpoint, &dial, Duration::from_millis(timeout_ms)).await.map(|()| EXIT_CLEAN)
        }
        Some(Command::Tables { command: TablesCommand::Build { set: TableSet::Small, .. } }) => {
            layers.misuse("--set small: the small set is made at each start, and has no files").exit()
        }
        Some(Command::Tables { command: TablesCommand::Build { set: TableSet::Large, dir } }) => {
            build_tables(&dir).map(|()| EXIT_CLEAN)
        }
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("taquin-server: {error}");
            ExitCode::from(EXIT_FAILED)
        }
    }
}

fn print_settings(layers: &Layers) -> Result<u8> {
    std::io::stdout().write_all(layers.to_string().as_bytes())?;
    Ok(EXIT_CLEAN)
}

/// Where a worker with these settings is reached from its own machine.
fn own_endpoint(config: &ServerConfig) -> String {
    let plain = service::loopback_endpoint(config.listen);
    if config.security.tls_cert.is_some() { plain.replacen("http:", "https:", 1) } else { plain }
}

async fn check_health(endpoint: &str, dial: &DialOptions, timeout: Duration) -> Result<()> {
    service::check_health_by(&dial.load()?, endpoint, timeout).await
}

fn build_tables(dir: &Path) -> Result<()> {
    let bar = ProgressBar::no_length().with_style(
        ProgressStyle::with_template("{prefix} {wide_bar} {percent} % {elapsed} (about {eta} left)")
            .expect("a template that was tried"),
    );
    build_large(dir, &|progress| match progress {
        Progress::Begun(path, places) => {
            bar.set_prefix(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            bar.reset();
            bar.set_length(places);
        }
        Progress::Filled(places) => bar.inc(places),
        Progress::Kept(path) => bar.suspend(|| println!("{}: there already", path.display())),
        Progress::Written(path) => bar.suspend(|| println!("{}: written", path.display())),
    })?;
    bar.finish_and_clear();
    Ok(())
}

/// Before all else, so that probes see a worker that reads its tables; it answers until the process is gone.
async fn open_metrics_port(config: &ServerConfig, metrics: &Metrics) -> Result<Option<MetricsPort>> {
    let Some(listen) = config.metrics_listen else { return Ok(None) };
    let port = MetricsPort::open(listen, metrics.clone())
        .await
        .map_err(|error| format!("can't listen on {listen} (--metrics-listen): {error}"))?;
    tracing::info!(metrics_address = %port.address(), "metrics are there to be read");
    Ok(Some(port))
}

async fn run(config: ServerConfig) -> Result<u8> {
    #[cfg(feature = "otlp")]
    let exporter = config.otlp_endpoint.as_deref().map(taquin::otlp::Exporter::start).transpose()?;
    #[cfg(feature = "otlp")]
    let spans = exporter.as_ref().map(taquin::otlp::Exporter::layer);
    #[cfg(not(feature = "otlp"))]
    let spans = None;
    telemetry::init(config.log_format, &config.log, spans)?;
    let metrics = Metrics::default();
    let _metrics_port = open_metrics_port(&config, &metrics).await?;
    // Before signals are taken and clients let in: tables on slow storage keep nobody waiting, and a
    // signal ends the reading.
    // Taken already: a reload that comes too early waits, and ends nothing.
    let hangup = signal(SignalKind::hangup())?;
    let security = Security::load(&config.security)?;
    let engine = service::start_configured(&config)?;
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(reload(hangup, security.clone()));
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|error| format!("can't listen on {} (--listen): {error}", config.listen))?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        address = %listener.local_addr()?,
        workers = config.workers(),
        "serving"
    );
    security.warn_if_open(listener.local_addr()?);
    let (first, mut begun) = tokio::sync::oneshot::channel();
    let signals = async move {
        let mut next = async || tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} };
        next().await;
        tracing::info!("draining");
        // The server may have failed meanwhile; then nobody waits for this.
        let _ = first.send(());
        next().await;
    };
    let shutdown = async move { drop((&mut begun).await) };
    tokio::select! {
        drained = service::serve(listener, engine, config.limits, metrics, &security, shutdown) => {
            let drained = drained?;
            tracing::info!(?drained, "stopped");
            Ok(if drained == Drained::Cleanly { EXIT_CLEAN } else { EXIT_CUT_OFF })
        }
        () = signals => {
            tracing::warn!("stopped at once by a second signal");
            Ok(EXIT_SECOND_SIGNAL)
        }
    }
}

/// Reads certificates and tokens again at each signal, on a thread that may wait for slow storage.
async fn reload(mut hangup: Signal, security: Security) {
    while hangup.recv().await.is_some() {
        let security = security.clone();
        if tokio::task::spawn_blocking(move || security.reload()).await.is_err() {
            tracing::error!("certificates and tokens were not read again");
        }
    }
}
