//! What people and fate do in a simulation, and when.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::agents::behaviour::Behaviour;
use crate::domain::ids::MachineId;
use crate::domain::input::Order;

/// Something that happens from outside.
#[derive(Debug, Clone)]
pub enum Cue {
    /// People give orders, one after the other; the next one does not wait for the answer to the last.
    Orders(Vec<Order>),
    /// An agent goes silent.
    Silence(MachineId),
    /// It is back.
    BringBack(MachineId),
    /// A machine gets a new system, with this version baked in (R152).
    Rebuild(MachineId, Option<String>),
    /// A machine gets an agent, or its agent another character.
    Behave(MachineId, Box<Behaviour>),
    /// The results store comes up or goes down (R142).
    Telemetry {
        /// It answers.
        up: bool,
    },
}

/// Cues in the order in which they fall: by time, then as they were written.
#[derive(Debug, Default)]
pub struct Script {
    cues: BTreeMap<(Timestamp, u64), Cue>,
    written: u64,
}

impl Script {
    /// Writes one more cue.
    pub fn add(&mut self, at: Timestamp, cue: Cue) {
        self.written += 1;
        self.cues.insert((at, self.written), cue);
    }

    /// When the next cue falls.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.cues.keys().next().map(|(at, _)| *at)
    }

    /// The next cue that has fallen by `now`.
    pub fn take(&mut self, now: Timestamp) -> Option<Cue> {
        let next = self.cues.first_entry()?;
        (next.key().0 <= now).then(|| next.remove())
    }
}
