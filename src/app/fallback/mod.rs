//! The fallback of a console: its flags, what it stands on, and the agents it serves while it reconciles.

pub mod args;
mod agents;
mod standby;
