//! Vaults: contents by digest, beside the journal that holds the digests.

pub mod digest;
pub mod memory;
pub mod file;
pub mod postgres;
pub mod kubernetes;
