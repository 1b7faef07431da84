//! The update: what each message does to the model, and which effects follow.

mod entry;
mod picture;
mod keys;
mod navigate;
mod servers;
mod rolls;
mod seats;
mod fields;
mod filters;
mod verbs;
mod dialogs;
mod lines;
mod answers;

pub(super) use answers::machine_of;
pub use entry::update;
pub(super) use fields::matching;
pub(super) use filters::typed as filter_typed;
