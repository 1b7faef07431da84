//! Journals: where the changes of an account are kept, in memory or in a file.

pub mod open;
pub mod batch;
pub mod memory;
pub mod sqlite;
