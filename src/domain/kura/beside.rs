//! What is kept beside facts and is none: what was worked out of them once.

use std::fmt;

/// Never stored, and equal to any other, so that facts stay equal whatever was worked out of them.
#[derive(Clone, Default)]
pub struct Beside<T>(pub T);

impl<T> PartialEq for Beside<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Beside<T> {}

impl<T> fmt::Debug for Beside<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Beside")
    }
}
