//! A journal in an SQLite file, shared by any number of processes of one machine.

pub mod journal;
pub mod append;
pub mod rows;
pub mod load;
pub mod snapshot;
pub mod watch;
pub mod beats;
pub mod links;
pub mod compact;
mod tended;
