//! The control plane over real HTTP on the loopback, and the remote link against it.

mod bed;
mod runbook;
mod refusals;
mod api;
mod seed;
mod plans;
mod kura;
mod rolls;
mod past;
mod retries;
mod release;
mod audit;
mod agents;
mod stream;
mod slow;
mod unread;
mod relink;
mod far;
mod process;
mod program;
mod guard;
mod strangers;
mod stopping;
mod limits;
