//! The loop around the core: inputs in, decisions appended, worlds published. Technology stays behind the ports.

pub mod ports;
pub mod host;
pub mod picture;
pub mod link;
