//! Back-off between attempts: longer and longer, never in step with others, for ever.

use std::time::Duration;

/// The longest first pause.
pub const FIRST: Duration = Duration::from_millis(500);

/// The longest pause.
pub const LONGEST: Duration = Duration::from_secs(30);

/// The pause after a refusal: a token does not become valid within seconds.
pub const AFTER_REFUSAL: Duration = Duration::from_secs(60);

/// Counts attempts that failed in a row.
#[derive(Debug, Default)]
pub struct Pauses {
    failed: u32,
}

impl Pauses {
    /// It worked: the next pause is a short one again.
    pub fn reset(&mut self) {
        self.failed = 0;
    }

    /// The next pause: between half and all of a span that doubles up to `LONGEST`. `draw` is uniform in 0..1.
    pub fn next(&mut self, draw: f64) -> Duration {
        let span = FIRST.saturating_mul(1 << self.failed.min(10)).min(LONGEST);
        self.failed = self.failed.saturating_add(1);
        span.mul_f64(0.5 + draw.clamp(0.0, 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_begin_anew_after_a_success() {
        let mut pauses = Pauses::default();
        let longest: Vec<_> = (0..10).map(|_| pauses.next(1.0)).collect();
        assert_eq!(longest[0], FIRST);
        assert_eq!(longest[1], FIRST * 2);
        assert_eq!(longest[9], LONGEST);
        pauses.reset();
        assert_eq!(pauses.next(0.0), FIRST / 2);
    }
}
