//! The integration tests: one binary, one module per topic.
// A test may stop with a sentence, and nothing outside this binary can reach anything inside it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, unreachable_pub)]

mod agent;
mod basic;
mod e2e;
mod envtest;
mod git;
mod house;
mod faults;
mod scenarios;
mod screenshots;
mod journal;
mod probe;
mod pty;
mod seeds;
mod server;
mod sim;
mod wire;
