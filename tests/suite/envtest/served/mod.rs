//! The real program on a real API server: what an operator asks over HTTP happens in the cluster.

pub(super) mod bed;
mod deploying;
mod fleets;
mod keys;
mod killed;
pub(super) mod rights;
mod shown;
