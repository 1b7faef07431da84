//! The journal in a Kubernetes cluster, for where no database is at hand: the head is one object that is replaced under
//! its version and carries the newest entries; older ones, worlds and links are pieces that never change.

pub mod address;
mod append;
mod beats;
pub mod book;
mod compact;
pub mod journal;
mod links;
mod load;
mod names;
mod snapshot;
mod tended;
