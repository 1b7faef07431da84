//! The view: the model as cells. It changes nothing and does nothing twice.

mod entry;

pub use entry::view;
