//! Wire to domain and back: a message of packed boards.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| taquin::service::fuzz::packed(bytes));
