//! Journals: where the changes of an account are kept, in memory, in a file or in a database.

pub mod open;
pub mod batch;
pub mod memory;
pub mod postgres;
pub mod row;
pub mod sqlite;
