//! Bodies about Kura servers: what is shown of them, and the requests that verbs on them are.

pub mod deployment;
pub mod server;
pub mod manifest;
pub mod gateway;
pub mod tag;
mod env;
pub mod request;
