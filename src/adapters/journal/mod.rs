//! Journals: where the changes of an account are kept, in memory, in a file, in a database or in a cluster.

pub mod open;
pub mod tended;
pub mod compaction;
pub mod row;
pub mod kept;
pub mod memory;
pub mod sqlite;
pub mod postgres;
pub mod kubernetes;
