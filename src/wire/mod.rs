//! Bodies of the HTTP API and of records on disk: exact shapes, locked by golden files.

pub mod problem;
pub mod agent;
