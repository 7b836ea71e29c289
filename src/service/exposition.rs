//! What a scrape shows: every family by name, unit and meaning, in the text format of
//! `OpenMetrics`. What is not counted as it happens is asked of the engine and the system here. README.md has
//! the same table.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::UNIX_EPOCH;

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry, Unit};

use super::metrics::{Metrics, Phase};
use super::usage::Usage;
use crate::config::LimitsConfig;
use crate::engine::Engine;

/// The media type of what [`text()`] writes.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Everything, as of now.
///
/// # Errors
/// None: a string takes all that is written.
pub(super) fn text(metrics: &Metrics) -> Result<String, fmt::Error> {
    let mut all = Registry::default();
    counted(all.sub_registry_with_prefix("taquin"), metrics);
    if let Some((engine, limits)) = metrics.counts().serving.get() {
        asked(all.sub_registry_with_prefix("taquin"), engine, limits);
    }
    used(all.sub_registry_with_prefix("process"), metrics);
    let mut text = String::new();
    text::encode(&mut text, &all)?;
    Ok(text)
}

/// What the service has counted.
fn counted(families: &mut Registry, metrics: &Metrics) {
    let counts = metrics.counts();
    families.register("answers", "Boards answered, by outcome and source", counts.answers.clone());
    families.register("shed", "Jobs and calls refused or given up, by reason", counts.shed.clone());
    families.register_with_unit(
        "queue_time",
        "Wait of an answered job for a worker or pattern databases",
        Unit::Seconds,
        counts.queue_time.clone(),
    );
    families.register_with_unit(
        "solve_time",
        "Time of a search, by layout",
        Unit::Seconds,
        counts.solve_time.clone(),
    );
    families.register("connections_open", "Connections open", counts.connections.clone());
    families.register("calls_open", "Calls open, by RPC", counts.calls.clone());
    let draining = u64::from(metrics.phase() == Phase::Draining);
    number(families, "draining", "Whether the worker drains, 1 or 0", draining);
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    families.register("build", "Which release this is", version);
}

/// What the engine says of itself.
fn asked(families: &mut Registry, engine: &Engine, limits: &LimitsConfig) {
    let (queue, cache) = (engine.queue_statistics(), engine.cache_statistics());
    let (tables, patterns) = (engine.table_statistics(), engine.pattern_statistics());
    let whole = |number: usize| number as u64;
    let lanes = [("light", whole(queue.light)), ("heavy", whole(queue.heavy)), ("aside", whole(queue.aside))];
    families.register("queue_depth", "Searches that wait, by lane", by("lane", lanes));
    number(families, "jobs_in_flight", "Jobs taken and not yet answered", whole(engine.in_flight()));
    number(families, "workers", "Workers of each lane", whole(engine.config().workers));
    let of = [
        ("queue", limits.max_queue.into()),
        ("jobs_in_flight", limits.max_in_flight.into()),
        ("connections", limits.max_connections.into()),
        ("calls", limits.max_streams.into()),
    ];
    families.register("limit", "How many there may be, by what is limited", by("of", of));
    count(families, "panics", "Panics caught in searches and in the making of tables", engine.panics());
    number(families, "cache_entries", "Boards in the cache", cache.entries);
    bytes(families, "cache", "Weight of the cache", cache.weight);
    bytes(families, "cache_limit", "What the cache may weigh", limits.max_cache_bytes);
    count(families, "cache_hits", "Boards found in the cache", cache.hits);
    count(families, "cache_misses", "Boards not found in the cache", cache.misses);
    count(families, "cache_evictions", "Boards that left the cache for want of room", cache.evictions);
    let kinds = [("standard", tables.standard_bytes), ("swept", tables.swept_bytes)];
    let help = "Tables of all boards of a goal: the standard ones, and others asked often";
    families.register_with_unit("tables", help, Unit::Bytes, by("kind", kinds));
    number(families, "pattern_database_goals", "Goals that have pattern databases", patterns.goals);
    bytes(families, "pattern_databases", "Pattern databases", patterns.bytes);
}

/// What the system says of the process.
fn used(families: &mut Registry, metrics: &Metrics) {
    let began = metrics.counts().began.duration_since(UNIX_EPOCH).unwrap_or_default();
    let began = ConstGauge::new(began.as_secs_f64());
    families.register_with_unit("start_time", "When the worker began, in Unix time", Unit::Seconds, began);
    let Usage { cpu, resident, open_files, max_files } = Usage::now();
    if let Some(cpu) = cpu {
        let cpu = ConstCounter::new(cpu.as_secs_f64());
        families.register_with_unit("cpu", "Processor time spent", Unit::Seconds, cpu);
    }
    if let Some(resident) = resident {
        bytes(families, "resident_memory", "Memory held", resident);
    }
    if let Some(open) = open_files {
        number(families, "open_fds", "File descriptors open", open);
    }
    if let Some(max) = max_files {
        number(families, "max_fds", "File descriptors that may be open", max);
    }
}

fn number(families: &mut Registry, name: &str, help: &str, value: u64) {
    families.register(name, help, ConstGauge::new(value));
}

fn count(families: &mut Registry, name: &str, help: &str, value: u64) {
    families.register(name, help, ConstCounter::new(value));
}

fn bytes(families: &mut Registry, name: &str, help: &str, value: u64) {
    families.register_with_unit(name, help, Unit::Bytes, ConstGauge::new(value));
}

/// Numbers, told apart by one label.
fn by<const N: usize>(label: &'static str, values: [(&'static str, u64); N]) -> impl Metric {
    let family = Family::<[(&'static str, &'static str); 1], Gauge<u64, AtomicU64>>::default();
    for (name, value) in values {
        family.get_or_create(&[(label, name)]).set(value);
    }
    family
}
