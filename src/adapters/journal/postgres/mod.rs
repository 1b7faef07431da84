//! The journal in PostgreSQL: for fleets that outgrow one machine, and for several servers on one database.

mod append;
mod beats;
mod compact;
pub mod journal;
mod links;
mod load;
mod rows;
mod snapshot;
mod tended;
pub mod watch;
