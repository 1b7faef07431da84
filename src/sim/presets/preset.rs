//! The table of presets, and how one becomes a stage.

use jiff::Timestamp;

use super::super::stage::{Stage, Ties};
use super::{fleet, fresh, halted, superseded, window};
use crate::control::service::Settings;
use crate::domain::span::Seconds;

/// The one process of a preset's control plane.
const PROCESS: &str = "demo";

/// A world worth looking at.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// What it is called on the command line.
    pub name: &'static str,
    /// One sentence for a list.
    pub summary: &'static str,
    /// How much of its time has passed when it is first looked at.
    pub past: Seconds,
    /// Writes its script and its roster; the stage stands at its beginning.
    pub(super) write: fn(&mut Stage),
}

/// Every preset; the first one is the default.
pub const PRESETS: &[Preset] = &[window::PRESET, fresh::PRESET, halted::PRESET, superseded::PRESET, fleet::PRESET];

/// The preset of this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl Preset {
    /// The world at its beginning, which lies so far back that its past is over at `opening`. Nothing has happened
    /// yet: `advance_to(opening)` lives through the past.
    pub fn stage(&self, opening: Timestamp, seed: u64) -> Stage {
        let mut stage = Stage::new(self.past.before(opening), seed, Ties::Shuffled);
        stage.start_process(PROCESS, Settings::default());
        (self.write)(&mut stage);
        stage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_past_of_each_leaves_every_order_carried_out() {
        let opening = Timestamp::from_second(1_780_000_000).unwrap();
        for wanted in PRESETS {
            assert_eq!(preset(wanted.name).map(|found| found.summary), Some(wanted.summary));
            let mut stage = wanted.stage(opening, 1);
            stage.advance_to(opening).unwrap();
            assert_eq!(stage.refusals(), Vec::<String>::new(), "{}", wanted.name);
            assert!(stage.world().current().is_some(), "{}", wanted.name);
        }
        assert!(preset("nonsense").is_none());
    }
}
