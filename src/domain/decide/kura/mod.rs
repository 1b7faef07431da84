//! Decisions about Kura servers, a file per question.

// People.
mod verbs;
mod deploy;
mod removal;
mod home;

// The reconciler.
mod pass;
mod schedule;
mod converge;
mod roll;
mod forgive;
mod project;
mod collect;
mod destroy;
mod ran;

pub(super) use home::settle;
pub(super) use pass::{seen, ticked};
pub(super) use verbs::verb;
