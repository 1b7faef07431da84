//! Fleet rolls on a real API server: nodes whose kubelets a script plays, Jobs whose pods the real controller makes.

pub mod fleet;
mod bed;

mod seeing;
mod doing;
mod walking;
mod probing;
mod gating;
mod staging;
mod stopping;
mod crashing;
