//! Failure modes: what is wrong, recognised from the facts, with what to do and what to verify afterwards (B18).

mod mode;
mod finding;
mod rollout;
mod ring;
mod machine;

pub use finding::{Finding, findings, of_machine, of_ring, of_rollout};
pub use mode::FailureMode;
