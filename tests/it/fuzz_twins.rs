//! What the fuzzers call, called in every run: with all that they have found of interest, with
//! what that becomes by a few changes, and with any bytes.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use taquin::{client, config, heuristic, service};

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 5] = [
    ("config", config::fuzz::settings),
    ("job", service::fuzz::job),
    ("packed", service::fuzz::packed),
    ("table_file", heuristic::fuzz::table_file),
    ("text", client::fuzz::text),
];

/// The corpus of a target, in the order of its names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn what_fuzzers_have_found_is_taken() {
    for (name, target) in TARGETS {
        let corpus = corpus(name);
        assert!(!corpus.is_empty(), "{name}: no corpus");
        for bytes in &corpus {
            target(bytes);
        }
    }
}

#[test]
fn every_target_is_a_fuzzers_too() {
    let manifest = include_str!("../../fuzz/Cargo.toml");
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}

#[test]
fn a_sound_table_file_is_read() {
    let sound = heuristic::fuzz::sound_table_file();
    assert!(corpus("table_file").contains(&sound));
    heuristic::fuzz::table_file(&sound);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_are_taken(bytes in vec(any::<u8>(), 0..512)) {
        for (_, target) in TARGETS {
            target(&bytes);
        }
    }

    /// Some bytes of what was found replaced, and its end cut off.
    #[test]
    fn what_was_found_is_taken_changed(
        (which, of, keep) in (0..TARGETS.len(), any::<proptest::sample::Index>(), any::<proptest::sample::Index>()),
        changes in vec((any::<proptest::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let (name, target) = TARGETS[which];
        let corpus = corpus(name);
        let mut bytes = of.get(&corpus).clone();
        bytes.truncate(keep.index(bytes.len() + 1));
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        target(&bytes);
    }
}
