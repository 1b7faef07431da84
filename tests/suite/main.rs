//! The integration tests: one binary, one module per topic.

mod house;
mod journal;
