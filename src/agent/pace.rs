//! How long to wait after requests that came to nothing.

use jiff::Timestamp;

use crate::domain::span::Seconds;

use super::heard::Setback;

/// The longest a control plane that is away makes an agent wait, in milliseconds.
pub const AWAY_MAX_MS: u64 = 60_000;

/// Between attempts while a person has to do something, in milliseconds.
pub const DENIED_MS: u64 = 60_000;

/// The longest an agent believes a control plane that says how long to wait.
pub const WAIT_BELIEVED: Seconds = Seconds(300);

/// The first wait, in milliseconds; it doubles with every attempt.
const FIRST_MS: u64 = 1_000;

/// Counts attempts that failed in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Since the last one that worked.
    pub failed: u32,
}

impl Pace {
    /// The instant of the next attempt. Up to half of a wait is left to chance, so that a fleet does not come back as
    /// one; what the control plane asked for is never cut short.
    pub fn after(&mut self, setback: Setback, now: Timestamp, dice: &mut fastrand::Rng) -> Timestamp {
        self.failed = self.failed.saturating_add(1);
        let wait = match setback {
            Setback::Away => between(FIRST_MS << (self.failed - 1).min(16), AWAY_MAX_MS, dice),
            Setback::Denied => between(DENIED_MS, DENIED_MS, dice),
            Setback::Wait(seconds) => seconds.min(WAIT_BELIEVED).0 * 1_000 + dice.u64(0..=FIRST_MS / 2),
        };
        later(now, wait)
    }

    /// An attempt worked.
    pub fn reset(&mut self) {
        self.failed = 0;
    }
}

/// This many milliseconds after `now`.
pub fn later(now: Timestamp, milliseconds: u64) -> Timestamp {
    let span = jiff::SignedDuration::from_millis(i64::try_from(milliseconds).unwrap_or(i64::MAX));
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}

fn between(wanted: u64, most: u64, dice: &mut fastrand::Rng) -> u64 {
    let wait = wanted.min(most);
    wait / 2 + dice.u64(0..=wait / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(setback: Setback, count: usize) -> Vec<i128> {
        let (mut pace, mut dice) = (Pace::default(), fastrand::Rng::with_seed(7));
        let now = Timestamp::UNIX_EPOCH;
        (0..count).map(|_| pace.after(setback, now, &mut dice).duration_since(now).as_millis()).collect()
    }

    #[test]
    fn waits_double_up_to_a_minute_with_chance_in_them() {
        for (n, wait) in waits(Setback::Away, 40).into_iter().enumerate() {
            let full = i128::from(AWAY_MAX_MS.min(1_000 << n.min(20)));
            assert!(wait >= full / 2 && wait <= full, "attempt {n} waits {wait} of {full} ms");
        }
    }

    #[test]
    fn what_the_control_plane_asks_for_is_kept_within_a_limit() {
        assert!(waits(Setback::Wait(Seconds(7)), 5).into_iter().all(|w| (7_000..=7_500).contains(&w)));
        assert!(waits(Setback::Wait(Seconds(90_000)), 5).into_iter().all(|w| (300_000..=300_500).contains(&w)));
    }
}
