//! The house: every arrow points down. Read from the sources themselves.

use std::fs;
use std::path::{Path, PathBuf};

const ALL: &[&str] = &[
    "search",
    "domain",
    "heuristic",
    "table",
    "cache",
    "engine",
    "service",
    "client",
    "config",
    "telemetry",
];
/// All but the last two.
const BUT_THE_GROUND: &[&str] = ALL.split_at(ALL.len() - 2).0;

/// Each floor, and the floors it must not import from.
const ABOVE: [(&str, &[&str]); 13] = [
    ("space.rs", ALL),
    (
        "search",
        &["domain", "heuristic", "table", "cache", "engine", "service", "client", "config", "telemetry"],
    ),
    (
        "domain",
        &["search", "heuristic", "table", "cache", "engine", "service", "client", "config", "telemetry"],
    ),
    ("heuristic", &["table", "cache", "engine", "service", "client", "config", "telemetry"]),
    ("table", &["heuristic", "cache", "engine", "service", "client", "config", "telemetry"]),
    ("cache", &["search", "heuristic", "table", "engine", "service", "client", "config", "telemetry"]),
    ("engine", &["service", "client", "config", "telemetry"]),
    ("service", &["client"]),
    // It asks a worker over the wire, or has the service start one; it takes nothing from below.
    ("client", &["search", "domain", "heuristic", "table", "cache", "engine", "config", "telemetry"]),
    ("config", BUT_THE_GROUND),
    ("config.rs", BUT_THE_GROUND),
    ("otlp.rs", ALL),
    (
        "telemetry.rs",
        &["search", "domain", "heuristic", "table", "cache", "engine", "service", "client", "config"],
    ),
];

fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|entry| sources(&entry))
        .filter(|file| file.extension().is_some_and(|end| end == "rs"))
        .collect()
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn every_arrow_points_down() {
    for (floor, above) in ABOVE {
        let files = sources(&src().join(floor));
        assert!(!files.is_empty(), "{floor}");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for module in above {
                assert!(!text.contains(&format!("crate::{module}")), "{} imports {module}", file.display());
            }
        }
    }
}

#[test]
fn wire_types_stop_at_service_and_client() {
    for file in
        ["space.rs", "search", "domain", "heuristic", "table", "cache", "engine", "config", "config.rs"]
            .map(|floor| src().join(floor))
    {
        for file in sources(&file) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains("tonic") && !text.contains("pb::"), "{}", file.display());
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for file in sources(&src()) {
        assert!(fs::read_to_string(&file).unwrap().starts_with("//! "), "{}", file.display());
    }
}
