//! The one clock of the program. Everywhere else time is an argument.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::control::ports::Clock;

/// Wall clock at process start plus own monotonic time: a wall clock that is set while the process lives changes
/// nothing here, so time never goes back (R168). Clones share the start.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    wall: Timestamp,
    monotonic: Instant,
}

impl SystemClock {
    /// Reads both clocks, once. A program makes one of these when it starts and clones it.
    #[allow(clippy::disallowed_methods)]
    pub fn start() -> Self {
        Self { wall: Timestamp::now(), monotonic: Instant::now() }
    }

    /// How far the wall clock has drifted from this one since the start: positive = the wall clock is ahead.
    /// The loop complains beyond 30 s (R168).
    #[allow(clippy::disallowed_methods)]
    pub fn drift(&self) -> SignedDuration {
        Timestamp::now().duration_since(self.now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.monotonic.elapsed()).unwrap_or(SignedDuration::MAX);
        self.wall.checked_add(passed).unwrap_or(Timestamp::MAX)
    }

    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_goes_back_and_clones_agree() {
        // R168
        let clock = SystemClock::start();
        let twin = clock;
        let mut last = clock.now();
        assert!(last >= clock.wall);
        for _ in 0..1_000 {
            let (one, other) = (clock.now(), twin.now());
            assert!(last <= one && one <= other);
            last = other;
        }
    }

    #[test]
    fn now_follows_monotonic_time_and_not_the_wall() {
        // R168: as if the wall clock had been set back by an hour right after the start
        let clock = SystemClock::start();
        let ahead = SystemClock { wall: clock.wall + SignedDuration::from_hours(1), ..clock };
        assert!(ahead.now() >= ahead.wall);
        assert!(ahead.drift() <= -SignedDuration::from_mins(59));
    }

    #[tokio::test]
    async fn a_sleep_lasts_at_least_as_long_as_it_says() {
        let clock = SystemClock::start();
        let begun = clock.now();
        clock.sleep(Duration::from_millis(5)).await;
        assert!(clock.now().duration_since(begun) >= SignedDuration::from_millis(5));
    }
}
