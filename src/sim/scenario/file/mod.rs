//! Scenario files as text: values with their places, and types read from them.

pub mod place;
pub mod node;
pub mod read;
