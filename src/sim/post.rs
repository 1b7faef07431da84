//! The post between agents and the control plane: reports that come late or twice, answers that never arrive.

use super::shared::Shared;
use crate::domain::span::Seconds;

/// Longest delay of a report that comes late, or of its second copy.
pub const LATE_AT_MOST: Seconds = Seconds(900);

/// What becomes of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrives at once.
    Arrives,
    /// It is sent so much later.
    Late(Seconds),
    /// It arrives, and once more so much later.
    Twice(Seconds),
}

/// How reliable the post is, each in per cent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Reports that come late.
    pub late: u8,
    /// Reports that come twice.
    pub twice: u8,
    /// Answers to polls that get lost.
    pub lost: u8,
}

/// The post. Clones throw the same dice.
#[derive(Debug, Clone)]
pub struct Post {
    faults: Faults,
    dice: Shared<fastrand::Rng>,
}

impl Post {
    /// Everything arrives, once and at once.
    pub fn reliable() -> Self {
        Self::seeded(0, Faults::default())
    }

    /// Fails as often as `faults` say; `seed` decides when.
    pub fn seeded(seed: u64, faults: Faults) -> Self {
        Self { faults, dice: Shared::new(fastrand::Rng::with_seed(seed)) }
    }

    /// What becomes of the next report.
    pub fn fate(&self) -> Fate {
        let Faults { late, twice, .. } = self.faults;
        if self.happens(late) {
            Fate::Late(self.delay())
        } else if self.happens(twice) {
            Fate::Twice(self.delay())
        } else {
            Fate::Arrives
        }
    }

    /// Whether the next answer to a poll never arrives.
    pub fn answer_gets_lost(&self) -> bool {
        self.happens(self.faults.lost)
    }

    fn happens(&self, pct: u8) -> bool {
        pct > 0 && self.dice.with(|dice| dice.u8(..100) < pct)
    }

    fn delay(&self) -> Seconds {
        Seconds(self.dice.with(|dice| dice.u64(1..=LATE_AT_MOST.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reliable_post_delivers_and_a_bad_one_does_what_its_seed_says() {
        let reliable = Post::reliable();
        assert!((0..100).all(|_| reliable.fate() == Fate::Arrives && !reliable.answer_gets_lost()));
        let bad = |seed| Post::seeded(seed, Faults { late: 30, twice: 30, lost: 30 });
        let fates = |seed| {
            let post = bad(seed);
            (0..200).map(|_| post.fate()).collect::<Vec<_>>()
        };
        assert_eq!(fates(1), fates(1));
        assert_ne!(fates(1), fates(2));
        let late = |fate: &&Fate| matches!(fate, Fate::Late(span) if span.0 > 0 && *span <= LATE_AT_MOST);
        let twice = |fate: &&Fate| matches!(fate, Fate::Twice(_));
        assert!(fates(1).iter().filter(late).count() > 30 && fates(1).iter().filter(twice).count() > 20);
    }
}
