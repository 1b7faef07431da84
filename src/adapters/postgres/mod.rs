//! PostgreSQL: one database that any number of processes share, and what can be wrong with it.

pub mod address;
pub mod database;
pub mod fault;
mod schema;
