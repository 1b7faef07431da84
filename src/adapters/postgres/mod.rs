//! PostgreSQL: one database that any number of processes share, and what can be wrong with it.

pub mod database;
pub mod fault;
pub mod schema;
