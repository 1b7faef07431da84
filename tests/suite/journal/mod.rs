//! The journal: one suite for every backend, what a file must survive, and what an old file must still say.

pub(crate) mod changes;
mod kura;
mod rolls;
pub(crate) mod beds;
mod conformance;
mod fold;
mod file;
mod kill;
mod golden;
mod compact;
mod postgres;
mod kubernetes;
mod operations;
