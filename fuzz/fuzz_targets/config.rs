//! The file of settings.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| taquin::config::fuzz::settings(bytes));
