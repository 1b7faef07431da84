//! The way to a public endpoint, real on loopback: a resolver, certificates, and somebody behind `/up`.

mod resolver;
mod papers;
mod endpoint;
mod reach;
mod rounds;
