//! Scenario files, whatever is in them.
#![no_main]

#[path = "../feeds.rs"]
mod feeds;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| feeds::scenario_files(bytes));
