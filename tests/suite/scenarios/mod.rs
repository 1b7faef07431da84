//! Scenario files: those that are kept must pass, and files that are wrong must say where.

mod kept;
mod faults;
mod looks;
mod worlds;
mod program;
mod schema;
pub mod bench;
