//! The far end's clock, as far as it is known here: our own, set by what the far end says. Ages and countdowns are
//! counted on the clock that made their beginnings; two hosts rarely agree on the time.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::control::ports::Clock;

/// A difference that is not corrected, in milliseconds: the way here takes its time, and time should not jump about.
pub const TOLERATED_MS: i64 = 500;

/// Our clock, moved to where the far end's is. Clones share what was heard.
#[derive(Debug, Clone)]
pub struct FarClock<C> {
    own: C,
    ahead_ms: Arc<AtomicI64>,
}

impl<C: Clock> FarClock<C> {
    /// Shows our own time until the far end says what its is.
    pub fn of(own: C) -> Self {
        Self { own, ahead_ms: Arc::default() }
    }

    /// The far end says that it is `there` now.
    pub fn hear(&self, there: Timestamp) {
        let ahead = i64::try_from(there.duration_since(self.own.now()).as_millis()).unwrap_or(0);
        if ahead.abs_diff(self.ahead_ms.load(Ordering::Relaxed)) > TOLERATED_MS.unsigned_abs() {
            self.ahead_ms.store(ahead, Ordering::Relaxed);
        }
    }

    /// How far the far end's clock is ahead of ours.
    pub fn ahead(&self) -> SignedDuration {
        SignedDuration::from_millis(self.ahead_ms.load(Ordering::Relaxed))
    }
}

impl<C: Clock> Clock for FarClock<C> {
    fn now(&self) -> Timestamp {
        let own = self.own.now();
        own.checked_add(self.ahead()).unwrap_or(own)
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send {
        self.own.sleep(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::clock::SystemClock;

    #[test]
    fn it_goes_by_the_far_end_and_does_not_jump_about() {
        let own = SystemClock::start();
        let far = FarClock::of(own);
        assert!(far.now() >= own.now() - SignedDuration::from_millis(1));
        far.hear(own.now() + SignedDuration::from_mins(5));
        let once = far.ahead();
        assert!((once - SignedDuration::from_mins(5)).abs() < SignedDuration::from_secs(1), "{once:?}");
        far.hear(own.now() + SignedDuration::from_mins(5) + SignedDuration::from_millis(300));
        assert_eq!(far.ahead(), once, "small differences are the way here");
        far.hear(own.now() - SignedDuration::from_mins(2));
        assert!(far.clone().now() < own.now());
    }
}
