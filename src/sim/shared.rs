//! A value that several tasks and threads of a simulation look at, one after the other.

use std::sync::{Arc, Mutex, PoisonError};

/// A value behind one lock. The lock is never held across an await.
#[derive(Debug, Default)]
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T> Shared<T> {
    /// Puts a value behind a lock.
    pub fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    /// Looks at the value, or changes it. A panic elsewhere does not make it unreachable.
    pub fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
