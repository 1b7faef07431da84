//! The rules of Kura deployments, proven one by one on a small estate.

mod rig;
mod scheduling;
mod deploying;
mod converging;
mod corners;
mod foreign;
mod waits;
mod projection;
mod rolling;
mod gateways;
mod removal;
mod leaving;
mod home;
mod rendering;
mod looking;
mod sentences;
mod random;
mod resting;
