//! The one clock of the program. Everywhere else time is an argument.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::control::ports::{Clock, DRIFT_MAX};

/// Wall clock at process start plus own monotonic time: a wall clock that is set while the process lives changes
/// nothing here until a person accepts it, so time never goes back (R168). Copies share the start, which lives as
/// long as the program.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    first: Start,
    start: &'static Mutex<Start>,
}

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy)]
struct Start {
    wall: Timestamp,
    monotonic: Instant,
}

impl Start {
    #[allow(clippy::disallowed_methods)]
    fn read() -> Self {
        Self { wall: Timestamp::now(), monotonic: Instant::now() }
    }

    /// What the wall clock would say now, had nobody touched it.
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.monotonic.elapsed()).unwrap_or(SignedDuration::MAX);
        self.wall.checked_add(passed).unwrap_or(Timestamp::MAX)
    }
}

impl SystemClock {
    /// Reads both clocks, once. A program makes one of these when it starts and clones it.
    pub fn start() -> Self {
        let first = Start::read();
        Self { first, start: Box::leak(Box::new(Mutex::new(first))) }
    }

    /// How far the wall clock has drifted from this one: positive = the wall clock is ahead (R168).
    pub fn drift(&self) -> SignedDuration {
        Start::read().wall.duration_since(self.now())
    }

    fn lock(&self) -> MutexGuard<'_, Start> {
        self.start.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        self.lock().now()
    }

    fn steady(&self) -> Timestamp {
        self.first.now()
    }

    fn is_suspect(&self) -> bool {
        self.drift().unsigned_abs() > DRIFT_MAX
    }

    fn accept(&self) {
        *self.lock() = Start::read();
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
        assert!(last >= clock.lock().wall);
        for _ in 0..1_000 {
            let (one, other) = (clock.now(), twin.now());
            assert!(last <= one && one <= other);
            last = other;
        }
    }

    #[test]
    fn now_follows_monotonic_time_and_not_the_wall() {
        // R168: as if the wall clock had been set back by an hour right after the start
        let ahead = SystemClock::start();
        ahead.lock().wall += SignedDuration::from_hours(1);
        let before = ahead.now();
        assert!(ahead.drift() <= -SignedDuration::from_mins(59) && ahead.is_suspect());
        ahead.accept();
        assert!(!ahead.is_suspect() && ahead.now() < before, "a person said that the wall clock is right");
        let steady = ahead.steady();
        ahead.lock().wall += SignedDuration::from_hours(5);
        assert!(ahead.steady().duration_since(steady) < SignedDuration::from_hours(1), "spans are not moved by it");
    }

    #[tokio::test]
    async fn a_sleep_lasts_at_least_as_long_as_it_says() {
        let clock = SystemClock::start();
        let begun = clock.now();
        clock.sleep(Duration::from_millis(5)).await;
        assert!(clock.now().duration_since(begun) >= SignedDuration::from_millis(5));
    }
}
