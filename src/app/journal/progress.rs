//! How far long work has come, on stderr, now and then.

use std::io::{self, Write};
use std::time::Duration;

use jiff::Timestamp;

use crate::adapters::clock::SystemClock;
use crate::control::ports::Clock;

/// Between two lines. What ends before the first says nothing.
const EVERY: Duration = Duration::from_secs(2);

/// Says how far it is.
#[derive(Debug)]
pub struct Progress {
    clock: SystemClock,
    said: Timestamp,
}

impl Progress {
    /// Work begins.
    pub fn start() -> Self {
        let clock = SystemClock::start();
        Self { clock, said: clock.now() }
    }

    /// It has come this far; most of these are not said. A stderr that is gone does not stop the work.
    pub fn at(&mut self, so_far: impl FnOnce() -> String) {
        let now = self.clock.now();
        if Duration::try_from(now.duration_since(self.said)).is_ok_and(|since| since >= EVERY) {
            self.said = now;
            let _ = io::stderr().lock().write_all(format!("{} ...\n", so_far()).as_bytes());
        }
    }
}
