//! Apply results: what agents reported of their runs. Telemetry, with outages of its own (R142-R147).

pub mod trim;
pub mod memory;
pub mod stored;
pub mod sqlite;
pub mod postgres;

#[cfg(test)]
mod tests;
