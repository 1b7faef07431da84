//! Decisions about fleet rolls, a file per question.

// People.
mod verbs;
mod start;
mod gates;

// The reconciler.
mod pass;
mod staging;
mod turn;
mod begin;
mod finish;
mod probing;
mod leftover;
mod tidy;
mod forgive;
mod ran;

pub(super) use pass::{seen, ticked};
pub(super) use verbs::verb;
