//! Deeds: what a person can do from here, each with its verb and its words.

use super::effect::Stop;
use crate::domain::change::Level;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Intent, RingPatch, Verb};
use crate::domain::span::Seconds;

/// A brake of a ring, and what it is to be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Machines that may hold a slot at once; 0 = no cap at all (R125).
    Cap(u32),
    /// How long a slot stays taken after a success (R44).
    Settle(Seconds),
    /// How long a slot may be held; 0 = for ever (R123).
    Stall(Seconds),
    /// Failures that halt the ring, at least 1 (R5).
    Threshold(u32),
}

/// A switch of the account (R119).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Unattended starts on new commits.
    AutoDeploy,
    /// Unattended starts on new tags.
    TrackTags,
}

/// What a person can do from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Stop something.
    Stop(Stop),
    /// Skip a machine (R110).
    Skip(MachineId),
    /// Skip everybody who waits in a ring; whoever holds a slot finishes.
    HoldLine(RingId),
    /// End a hold, or let a skipped machine join again.
    Unpause(Level),
    /// Say that the clock is right (R168).
    AcceptClock,
    /// Start a release as a protected rollout (R103).
    Start(ReleaseId),
    /// The same in the place of a protected rollout that runs (R91).
    Force(ReleaseId),
    /// Begin the running release again (R94).
    Reset {
        /// The rollout that runs.
        rollout: RolloutId,
        /// What it ships.
        release: ReleaseId,
    },
    /// Withdraw a release for good (R116).
    Yank(ReleaseId),
    /// Turn a brake of a ring (B15).
    Tune(RingId, Setting),
    /// Give a machine another place.
    Assign(MachineId, EnvironmentId, RingId),
    /// Take a machine out of scope.
    Unassign(MachineId),
    /// Take a machine away for good.
    Remove(MachineId),
    /// Give an environment another place in the path, or none (R77).
    Place(EnvironmentId, Option<i64>),
    /// Turn a switch of the account on or off.
    Flip(Switch, bool),
}

impl Deed {
    /// The verbs to send; one, but for a line that is held: that is one for each machine of it.
    pub fn verbs(self, line: &[MachineId]) -> Vec<Verb> {
        match self {
            Self::HoldLine(_) => line.iter().map(|machine| Verb::Pause(Level::Machine(*machine))).collect(),
            Self::Stop(stop) => vec![stop.verb()],
            Self::Skip(machine) => vec![Verb::Pause(Level::Machine(machine))],
            Self::Unpause(level) => vec![Verb::Unpause(level)],
            Self::AcceptClock => vec![Verb::AcceptClock],
            Self::Start(release) => vec![start(release, false)],
            Self::Force(release) => vec![start(release, true)],
            Self::Reset { rollout, release } => {
                vec![Verb::Start { id: rollout, release, protected: None, force: false, intent: Some(Intent::Reset) }]
            }
            Self::Yank(release) => vec![Verb::Yank { release }],
            Self::Tune(ring, setting) => vec![Verb::PatchRing { ring, patch: setting.patch() }],
            Self::Assign(machine, tier, ring) => vec![assign(machine, Some(tier), Some(ring))],
            Self::Unassign(machine) => vec![assign(machine, None, None)],
            Self::Remove(machine) => vec![Verb::RemoveMachine { machine }],
            Self::Place(environment, order) => {
                let promotion_order = Some(order);
                vec![Verb::PatchEnvironment { environment, name: None, promotion_order, config_values: None }]
            }
            Self::Flip(switch, on) => {
                let flipped = |this: Switch| (this == switch).then_some(on);
                let (auto_deploy, track_config_tags) = (flipped(Switch::AutoDeploy), flipped(Switch::TrackTags));
                vec![Verb::PatchAccount { auto_deploy, track_config_tags }]
            }
        }
    }

    /// The question's headline before the name, what the button says, and what is going on once it was sent.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Stop(Stop::Rollout(_)) => ["Halt the rollout of", "halt it", "halting the rollout of"],
            Self::Stop(Stop::Ring(_)) => ["Hold ring", "hold it", "holding ring"],
            Self::Stop(Stop::Environment(_)) => ["Hold environment", "hold it", "holding environment"],
            Self::Skip(_) => ["Skip machine", "skip it", "skipping"],
            Self::HoldLine(_) => ["Hold the line of ring", "hold the line", "holding the line of ring"],
            Self::Unpause(Level::Machine(_)) => ["Let machine join again:", "let it go on", "ending the hold of"],
            Self::Unpause(Level::Ring(_)) => ["End the hold of ring", "let it go on", "ending the hold of"],
            Self::Unpause(Level::Environment(_)) => {
                ["End the hold of environment", "let it go on", "ending the hold of"]
            }
            Self::AcceptClock => ["Accept", "accept it", "accepting"],
            Self::Start(_) => ["Start, protected:", "start it", "starting"],
            Self::Force(_) => ["Start by force, protected:", "start by force", "starting by force"],
            Self::Reset { .. } => ["Reset the rollout of", "reset it", "resetting the rollout of"],
            Self::Yank(_) => ["Yank for good:", "yank it", "yanking"],
            Self::Tune(_, Setting::Cap(_)) => ["Set the cap of ring", "set it", "setting the cap of"],
            Self::Tune(_, Setting::Settle(_)) => ["Set the settle window of ring", "set it", "setting the settle of"],
            Self::Tune(_, Setting::Stall(_)) => ["Set the stall timeout of ring", "set it", "setting the stall of"],
            Self::Tune(_, Setting::Threshold(_)) => {
                ["Set the failure threshold of ring", "set it", "setting the threshold of"]
            }
            Self::Assign(..) => ["Move machine", "move it", "moving"],
            Self::Unassign(_) => ["Take out of scope:", "take it out", "taking out of scope"],
            Self::Remove(_) => ["Remove for good:", "remove it", "removing"],
            Self::Place(..) => ["Set the place in the path of", "set it", "setting the place of"],
            Self::Flip(Switch::AutoDeploy, true) => ["Turn auto deploy on for", "turn it on", "auto deploy on for"],
            Self::Flip(Switch::AutoDeploy, false) => ["Turn auto deploy off for", "turn it off", "auto deploy off for"],
            Self::Flip(Switch::TrackTags, true) => ["Turn tag tracking on for", "turn it on", "tag tracking on for"],
            Self::Flip(Switch::TrackTags, false) => {
                ["Turn tag tracking off for", "turn it off", "tag tracking off for"]
            }
        }
    }

    /// The question's headline, before the name.
    pub fn asks(self) -> &'static str {
        self.words()[0]
    }

    /// What the button says.
    pub fn button(self) -> &'static str {
        self.words()[1]
    }

    /// What is going on once it was sent, before the name.
    pub fn doing(self) -> &'static str {
        self.words()[2]
    }
}

/// Its identity is given when it is confirmed.
fn start(release: ReleaseId, force: bool) -> Verb {
    let (id, protected) = (RolloutId(uuid::Uuid::nil()), Some(true));
    Verb::Start { id, release, protected, force, intent: Some(Intent::Start) }
}

fn assign(machine: MachineId, environment: Option<EnvironmentId>, ring: Option<RingId>) -> Verb {
    Verb::AssignMachine { machine, environment: Some(environment), ring: Some(ring), node: None }
}

impl Setting {
    fn patch(self) -> RingPatch {
        let patch = RingPatch::default();
        match self {
            Self::Cap(cap) => RingPatch { max_in_flight: Some(cap), ..patch },
            Self::Settle(span) => RingPatch { min_settle_seconds: Some(span), ..patch },
            Self::Stall(span) => RingPatch { stall_timeout_seconds: Some(span), ..patch },
            Self::Threshold(count) => RingPatch { failure_count_threshold: Some(count), ..patch },
        }
    }
}
