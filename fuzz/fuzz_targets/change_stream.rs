//! The change stream of a control plane, whatever is in it.
#![no_main]

#[path = "../feeds.rs"]
mod feeds;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| feeds::change_stream(bytes));
