//! A real API server with a real controller manager on loopback; tests play the kubelet.
//! Programs come from the folder KUBEBUILDER_ASSETS names (`tests/envtest/provision`); without it these tests say so and
//! pass, but fail with `CI=true`. `.ci/run` always sets it.

mod assets;
mod papers;
mod programs;
pub(crate) mod cluster;
pub(crate) mod rest;
mod kubelet;
mod objects;
pub mod eyes;
pub(crate) mod wire_cutter;
mod host;
mod screen;
mod plane;
mod controller;

mod server;
mod rolling;
mod seeing;
mod streaming;
mod incidents;
mod tending;
mod explaining;
mod doing;
mod outage;
mod many;
mod rolls;
mod served;
mod keeping;
mod ladder;
