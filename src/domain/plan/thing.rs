//! Things a plan can name, and which of them a change touches.

use serde::{Deserialize, Serialize};

use super::super::change::{Change, Level};
use super::super::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RollId, RolloutId, ServerId};
use super::super::input::Verb;
use super::super::kura::change::KuraChange;
use super::super::roll::change::RollChange;
use super::super::world::World;

/// One thing of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", content = "uuid", rename_all = "snake_case")]
pub enum Thing {
    /// The account's switches.
    Account,
    /// A tier.
    Environment(EnvironmentId),
    /// A ring.
    Ring(RingId),
    /// A machine.
    Machine(MachineId),
    /// A release.
    Release(ReleaseId),
    /// A rollout.
    Rollout(RolloutId),
    /// A Kura server.
    Server(ServerId),
    /// A fleet roll.
    Roll(RollId),
}

impl Thing {
    /// What people call it.
    pub fn name(self, world: &World) -> String {
        match self {
            Self::Account => "the account".to_owned(),
            Self::Environment(id) => format!("environment {}", world.environment_slug(id)),
            Self::Ring(id) => format!("ring {}", world.ring_slug(id)),
            Self::Machine(id) => format!("machine {}", world.hostname(id)),
            Self::Release(id) => format!("release {}", world.release_name(id)),
            Self::Rollout(id) => {
                let release = world.rollout(id).map_or("(gone)", |rollout| world.release_name(rollout.release));
                format!("the rollout of {release}")
            }
            Self::Server(id) => format!("server {}", world.kura.server_name(id)),
            Self::Roll(id) => format!("roll {}", world.rolls.name(id)),
        }
    }

    /// What a verb is given to. A verb that makes something new is given to nothing that could have changed.
    pub fn of(verb: &Verb, world: &World) -> Vec<Self> {
        match verb {
            Verb::PatchAccount { .. } | Verb::ConfigureAccount { .. } => vec![Self::Account],
            Verb::PatchEnvironment { environment, .. } => vec![Self::Environment(*environment)],
            Verb::PatchRing { ring, .. } => vec![Self::Ring(*ring)],
            Verb::Pause(level) | Verb::Unpause(level) => vec![Self::from(*level)],
            Verb::AssignMachine { machine, .. } | Verb::RemoveMachine { machine } => vec![Self::Machine(*machine)],
            Verb::Yank { release } => vec![Self::Release(*release)],
            Verb::Halt { rollout } => vec![Self::Rollout(*rollout)],
            Verb::Kura(verb) => verb.server().map(Self::Server).into_iter().collect(),
            Verb::Roll(verb) => verb.roll().map(Self::Roll).into_iter().collect(),
            Verb::Start { release, .. } => {
                let running = world.running().map(|rollout| Self::Rollout(rollout.id));
                running.into_iter().chain([Self::Release(*release)]).collect()
            }
            Verb::CreateEnvironment { .. }
            | Verb::CreateRing { .. }
            | Verb::AddMachine { .. }
            | Verb::PublishRelease { .. }
            | Verb::SetSecret { .. }
            | Verb::AcceptClock => Vec::new(),
        }
    }
}

impl From<Level> for Thing {
    fn from(level: Level) -> Self {
        match level {
            Level::Machine(id) => Self::Machine(id),
            Level::Ring(id) => Self::Ring(id),
            Level::Environment(id) => Self::Environment(id),
        }
    }
}

/// The things a change is about.
pub fn touched(change: &Change) -> Vec<Thing> {
    match change {
        Change::AccountChanged { .. } => vec![Thing::Account],
        Change::EnvironmentCreated { environment } => vec![Thing::Environment(environment.id)],
        Change::EnvironmentChanged { environment, .. } => vec![Thing::Environment(*environment)],
        Change::RingCreated { ring } => vec![Thing::Ring(ring.id)],
        Change::RingChanged { ring, .. } => vec![Thing::Ring(*ring)],
        Change::Paused { what, .. } | Change::Unpaused { what } => vec![Thing::from(*what)],
        Change::MachineAdded { machine } => vec![Thing::Machine(machine.id)],
        Change::ReleasePublished { release } => vec![Thing::Release(release.id)],
        Change::ReleaseYanked { release, .. } | Change::TagArrived { release, .. } => vec![Thing::Release(*release)],
        Change::RolloutStarted { rollout, .. }
        | Change::RolloutReset { rollout, .. }
        | Change::RolloutEnded { rollout, .. } => vec![Thing::Rollout(*rollout)],
        Change::CursorMoved { rollout, environment, .. } => {
            vec![Thing::Rollout(*rollout), Thing::Environment(*environment)]
        }
        Change::RingHalted { rollout, ring, .. } | Change::ElectionKept { rollout, ring, .. } => {
            vec![Thing::Rollout(*rollout), Thing::Ring(*ring)]
        }
        Change::FailureCounted { ring, machine, .. } => vec![Thing::Ring(*ring), Thing::Machine(*machine)],
        Change::MachineAssigned { machine, .. }
        | Change::MachineRemoved { machine }
        | Change::MachineRebuilt { machine, .. }
        | Change::LeaseGranted { machine, .. }
        | Change::LeaseEnded { machine, .. }
        | Change::AssignmentServed { machine, .. }
        | Change::ResultReported { machine, .. }
        | Change::RenderFailed { machine, .. }
        | Change::RenderRecovered { machine } => vec![Thing::Machine(*machine)],
        Change::Kura(change) => match is_a_look(change) {
            true => Vec::new(),
            false => change.server().map(Thing::Server).into_iter().collect(),
        },
        // What a roll does by itself, and what is found of its nodes, makes no plan of a person old.
        Change::Roll(change) => match &**change {
            RollChange::GateReached { .. }
            | RollChange::GateApproved { .. }
            | RollChange::Started { .. }
            | RollChange::SoakBegan { .. }
            | RollChange::Ended { .. } => change.roll().map(Thing::Roll).into_iter().collect(),
            _ => Vec::new(),
        },
        Change::ClockAccepted
        | Change::SeatTaken { .. }
        | Change::SecretSet { .. }
        | Change::CommitSeen { .. }
        | Change::Audited { .. } => Vec::new(),
    }
}

/// What was only seen of a server, or done by itself on its way: no plan of a person grows old by it.
fn is_a_look(change: &KuraChange) -> bool {
    matches!(
        change,
        KuraChange::ImageObserved { .. }
            | KuraChange::DeploymentWaits { .. }
            | KuraChange::RollFixed { .. }
            | KuraChange::PodDeleted { .. }
            | KuraChange::WriteTroubled { .. }
    )
}
