//! Tests of the loop, on ports in memory and in virtual time.

mod driver;
mod store;
pub(super) mod bed;
mod turn;
mod service;
mod desk;
mod following;
mod rendering;
