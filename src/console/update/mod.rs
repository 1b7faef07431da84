//! The update: what each message does to the model, and which effects follow.

mod entry;

pub use entry::update;
