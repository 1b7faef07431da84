//! Kura servers on screen: what is seen of each, how they are listed, what is said about them, what needs a human.

// What is known of each.
pub mod part;
pub mod row;
mod rendered;
mod kept;
pub mod facts;
mod sources;

// The list.
pub mod filter;
mod order;
pub mod list;

// What is said.
pub mod said;
mod words;
mod told;
mod remedy;
mod cause;
mod wants;

pub use facts::KuraFacts;
pub use list::KuraList;
pub use part::{Part, Token};
pub(super) use remedy::{Matter, as_run, remedies};
pub use sources::Veiled;
pub(super) use sources::unread;
pub(super) use told::{explain, matter, said as field_said};
pub(super) use wants::wants;
pub(super) use words::{counted, open_ones, short};
