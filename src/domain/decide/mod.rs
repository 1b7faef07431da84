//! The one decision function and its parts, a file per question.

mod entry;

pub use entry::decide;
