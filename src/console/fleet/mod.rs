//! Fleet rolls and nodes on screen: what is seen of each, how they are listed, what is said about them, what needs a human.

// What is known of each.
pub mod roll_row;
pub mod facts;

// The lists.
pub mod filter;
pub mod list;

// What is said.
pub mod said;
mod told;
mod wants;

pub use facts::FleetFacts;
pub use list::Listing;
pub(super) use told::{advice, subject_of};
pub(super) use wants::wants;
