//! Tests of the loop, on ports in memory and in virtual time.

mod driver;
mod store;
mod cluster;
pub(super) mod bed;
mod turn;
mod service;
mod lookout;
mod desk;
mod following;
mod rendering;
