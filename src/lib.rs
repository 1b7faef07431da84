//! kura-console: the console, the control plane, the fallback reconciler and the simulator for gated rollouts.
//!
//! One decision core, many hosts: see ARCHITECTURE.md. The parts, in reading order.

pub mod domain;
pub mod wire;
pub mod console;
pub mod control;
pub mod adapters;
pub mod sim;
pub mod server;
pub mod agent;
pub mod terminal;
pub mod app;
