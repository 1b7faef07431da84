//! SQLite files: the floor under the journal in a file, presence and apply results. Knows nothing of what they keep.

pub mod fault;
pub mod schema;
pub mod file;
pub mod telemetry;
