//! The head of a journal in a cluster, whatever is in it.
#![no_main]

#[path = "../feeds.rs"]
mod feeds;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| feeds::cluster_journal(bytes));
