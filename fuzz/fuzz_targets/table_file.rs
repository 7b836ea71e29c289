//! The file of a pattern database.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| taquin::heuristic::fuzz::table_file(bytes));
