//! The text formats of boards: the client's own and every judge's.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| taquin::client::fuzz::text(bytes));
