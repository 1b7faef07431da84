//! Scenario files: a world, what happens to it, and what must be seen.

pub mod file;
