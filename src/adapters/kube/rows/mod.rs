//! Objects as they come over the wire, and what is kept of each.

pub mod instance;
pub mod gateway;
pub mod stateful_set;
pub mod pod;
pub mod storage;
pub mod ingress;
pub mod service;
pub mod certificate;
pub mod notice;
pub mod node;
pub mod fleet_pod;
pub mod job;
