//! kura-console: the console, the control plane, the fallback reconciler and the simulator for gated rollouts.
//!
//! One decision core, many hosts: see ARCHITECTURE.md. The parts, in reading order.

pub mod domain;
pub mod control;
