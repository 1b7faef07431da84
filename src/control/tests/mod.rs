//! Tests of the loop, on ports in memory and in virtual time.

mod driver;
mod store;
mod cluster;
pub(super) mod bed;
mod turn;
mod fencing;
mod service;
mod running;
mod beneath;
mod ladder;
mod lookout;
mod chronicle;
mod desk;
mod following;
mod rendering;
