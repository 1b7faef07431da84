//! Presence: when each machine last polled. In memory, and shared between servers through what lies beside the journal.

pub mod table;
pub mod memory;
pub mod shared;
pub mod sqlite;
pub mod postgres;
pub mod kubernetes;
