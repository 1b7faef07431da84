//! A simulated cluster for Kura servers: objects, the controllers and the kubelet that move them, and its API.

pub mod objects;
mod rolling;
pub mod api;
mod view;
pub mod faults;
pub mod fences;
pub mod port;
pub mod outside;
pub mod fleet;
mod envelope;
pub mod rolls;
