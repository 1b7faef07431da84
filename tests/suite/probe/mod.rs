//! The way to a public endpoint, real on loopback: a resolver, certificates, and somebody behind `/up`.

pub mod resolver;
pub mod papers;
pub mod endpoint;
mod reach;
mod rounds;
