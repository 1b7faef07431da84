//! The wish to stop, seen by every loop of a service at once.

use tokio::sync::watch;

/// One side asks for the end, every other side waits for it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Stop {
    asked: watch::Sender<bool>,
}

impl Default for Stop {
    fn default() -> Self {
        Self { asked: watch::Sender::new(false) }
    }
}

impl Stop {
    /// Asks every loop to come to its end.
    pub fn ask(&self) {
        self.asked.send_replace(true);
    }

    /// True once it was asked.
    pub fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// Returns once it was asked.
    pub async fn asked(&self) {
        // The sender lives in `self`, so the wait cannot end for want of one.
        let _ = self.asked.subscribe().wait_for(|asked| *asked).await;
    }
}
