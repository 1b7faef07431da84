//! The real program on a real API server: what an operator asks over HTTP happens in the cluster.

mod bed;
mod deploying;
mod fleets;
mod killed;
mod rights;
mod shown;
