//! Wire to domain: a job.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| taquin::service::fuzz::job(bytes));
