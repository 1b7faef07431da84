//! What verbs aim at: a deed and the identity it is done to, both fixed at the key press.

use super::command::Command;
use super::effect::Stop;
use super::facts::{Facts, Node};
use super::model::Subject;
use super::shelf::Item;
use crate::domain::change::Level;
use crate::domain::fleet::Pause;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Intent, Verb};
use crate::domain::world::World;

/// What a person can do from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Stop something.
    Stop(Stop),
    /// Skip a machine (R110).
    Skip(MachineId),
    /// End a hold, or let a skipped machine join again.
    Unpause(Level),
    /// Say that the clock is right (R168).
    AcceptClock,
    /// Start a release as a protected rollout (R103).
    Start(ReleaseId),
    /// Begin the running release again (R94).
    Reset {
        /// The rollout that runs.
        rollout: RolloutId,
        /// What it ships.
        release: ReleaseId,
    },
}

impl Deed {
    /// The verb to send.
    pub fn verb(self) -> Verb {
        match self {
            Self::Stop(stop) => stop.verb(),
            Self::Skip(machine) => Verb::Pause(Level::Machine(machine)),
            Self::Unpause(level) => Verb::Unpause(level),
            Self::AcceptClock => Verb::AcceptClock,
            Self::Start(release) => {
                let (id, protected) = (RolloutId(uuid::Uuid::nil()), Some(true));
                Verb::Start { id, release, protected, force: false, intent: Some(Intent::Start) }
            }
            Self::Reset { rollout, release } => {
                Verb::Start { id: rollout, release, protected: None, force: false, intent: Some(Intent::Reset) }
            }
        }
    }

    /// The question's headline, before the name.
    pub fn asks(self) -> &'static str {
        match self {
            Self::Stop(Stop::Rollout(_)) => "Halt the rollout of",
            Self::Stop(Stop::Ring(_)) => "Hold ring",
            Self::Stop(Stop::Environment(_)) => "Hold environment",
            Self::Skip(_) => "Skip machine",
            Self::Unpause(Level::Machine(_)) => "Let machine join again:",
            Self::Unpause(Level::Ring(_)) => "End the hold of ring",
            Self::Unpause(Level::Environment(_)) => "End the hold of environment",
            Self::AcceptClock => "Accept",
            Self::Start(_) => "Start, protected:",
            Self::Reset { .. } => "Reset the rollout of",
        }
    }

    /// What the button says.
    pub fn button(self) -> &'static str {
        match self {
            Self::Stop(Stop::Rollout(_)) => "halt it",
            Self::Stop(_) => "hold it",
            Self::Skip(_) => "skip it",
            Self::Unpause(_) => "let it go on",
            Self::AcceptClock => "accept it",
            Self::Start(_) => "start it",
            Self::Reset { .. } => "reset it",
        }
    }

    /// What is going on once it was sent, before the name.
    pub fn doing(self) -> &'static str {
        match self {
            Self::Stop(Stop::Rollout(_)) => "halting the rollout of",
            Self::Stop(Stop::Ring(_)) => "holding ring",
            Self::Stop(Stop::Environment(_)) => "holding environment",
            Self::Skip(_) => "skipping",
            Self::Unpause(_) => "ending the hold of",
            Self::AcceptClock => "accepting",
            Self::Start(_) => "starting",
            Self::Reset { .. } => "resetting the rollout of",
        }
    }

    /// What it is done to.
    fn what(self) -> What {
        match self {
            Self::Stop(Stop::Rollout(id)) | Self::Reset { rollout: id, .. } => What::Rollout(id),
            Self::Stop(Stop::Ring(id)) | Self::Unpause(Level::Ring(id)) => What::Ring(id),
            Self::Stop(Stop::Environment(id)) | Self::Unpause(Level::Environment(id)) => What::Environment(id),
            Self::Skip(id) | Self::Unpause(Level::Machine(id)) => What::Machine(id),
            Self::Start(id) => What::Release(id),
            Self::AcceptClock => What::Clock,
        }
    }
}

enum What {
    Rollout(RolloutId),
    Release(ReleaseId),
    Ring(RingId),
    Environment(EnvironmentId),
    Machine(MachineId),
    Clock,
}

/// The thing itself, as the person saw it when the key was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What people call it.
    pub name: String,
    /// Its first eight digits, to compare by eye.
    pub short: String,
    /// Its identity.
    pub id: uuid::Uuid,
    /// The account it is in.
    pub account: String,
}

impl Target {
    /// What a deed is done to; none where it is not there.
    pub fn of(deed: Deed, world: &World, account: &str) -> Option<Self> {
        let (name, id) = match deed.what() {
            What::Rollout(id) => (world.release_name(world.rollout(id)?.release).to_owned(), id.0),
            What::Release(id) => (world.releases.get(&id)?.git_ref.clone(), id.0),
            What::Ring(id) => (world.rings.get(&id)?.slug.clone(), id.0),
            What::Environment(id) => (world.environments.get(&id)?.slug.clone(), id.0),
            What::Machine(id) => (world.machines.get(&id)?.hostname.clone(), id.0),
            What::Clock => ("the clock".to_owned(), uuid::Uuid::nil()),
        };
        let short = id.simple().to_string().chars().take(8).collect();
        Some(Self { name, short, id, account: account.to_owned() })
    }
}

/// Does what the deed is done to still exist?
pub fn is_listed(deed: Deed, world: &World) -> bool {
    match deed.what() {
        What::Rollout(id) => world.running().is_some_and(|r| r.id == id),
        What::Release(id) => world.releases.contains_key(&id),
        What::Ring(id) => world.rings.contains_key(&id),
        What::Environment(id) => world.environments.contains_key(&id),
        What::Machine(id) => world.machines.contains_key(&id),
        What::Clock => true,
    }
}

/// What a command means for a row; the error says why it means nothing.
pub fn aim(command: Command, subject: Subject, facts: &Facts, world: &World) -> Result<Deed, String> {
    let row = Aim { subject, facts };
    match command {
        Command::HaltRollout => {
            let running = world.running().ok_or("no rollout is running, so there is nothing to halt")?;
            Ok(Deed::Stop(Stop::Rollout(running.id)))
        }
        Command::Reset => {
            let running = world.running().ok_or("no rollout is running, so there is nothing to reset")?;
            Ok(Deed::Reset { rollout: running.id, release: running.release })
        }
        Command::Start => row.release(world).map(Deed::Start),
        Command::AcceptClock => Ok(Deed::AcceptClock),
        Command::PauseEnvironment => Ok(Deed::Stop(Stop::Environment(row.environment()?))),
        Command::PauseRing => Ok(Deed::Stop(Stop::Ring(row.ring()?))),
        Command::PauseMachine => Ok(Deed::Skip(row.machine()?)),
        Command::UnpauseEnvironment => Ok(Deed::Unpause(Level::Environment(row.environment()?))),
        Command::UnpauseRing => Ok(Deed::Unpause(Level::Ring(row.ring()?))),
        Command::UnpauseMachine => Ok(Deed::Unpause(Level::Machine(row.machine()?))),
        _ => Err("this is no verb".to_owned()),
    }
}

struct Aim<'a> {
    subject: Subject,
    facts: &'a Facts,
}

impl Aim<'_> {
    fn node(&self) -> Result<Node, String> {
        match self.subject.row() {
            Subject::Node(node) => Ok(node),
            Subject::Rollout | Subject::Need(..) | Subject::Item(_) | Subject::Nothing => {
                Err("select the row it is meant for first".to_owned())
            }
        }
    }

    /// Of a rollout of the past it is the release it shipped.
    fn release(&self, world: &World) -> Result<ReleaseId, String> {
        match self.subject {
            Subject::Item(Item::Release(id)) => Ok(id),
            Subject::Item(Item::Rollout(id)) => {
                world.rollout(id).map(|rollout| rollout.release).ok_or_else(|| "it is no longer kept here".to_owned())
            }
            _ => Err("select a release first, on the screen of releases".to_owned()),
        }
    }

    fn machine(&self) -> Result<MachineId, String> {
        match self.node()? {
            Node::Machine(id) => Ok(id),
            Node::Lane(_) | Node::Environment(_) => Err("select a machine first".to_owned()),
        }
    }

    fn ring(&self) -> Result<RingId, String> {
        match self.node()? {
            Node::Lane((_, ring)) => Ok(ring),
            Node::Machine(id) => {
                self.facts.machine(id).map(|(_, lane, _)| lane.key.1).ok_or_else(|| "it is in no ring".to_owned())
            }
            Node::Environment(_) => Err("select a ring or a machine in it first".to_owned()),
        }
    }

    fn environment(&self) -> Result<EnvironmentId, String> {
        match self.node()? {
            Node::Environment(id) | Node::Lane((id, _)) => Ok(id),
            Node::Machine(id) => {
                self.facts.machine(id).map(|(tier, ..)| tier.id).ok_or_else(|| "it is in no environment".to_owned())
            }
        }
    }
}

/// Why the deed would change nothing, if it would not.
pub fn futile(deed: Deed, world: &World) -> Option<String> {
    let pause_of = |level: Level| -> Option<&Pause> {
        match level {
            Level::Machine(id) => world.machines.get(&id)?.paused.as_ref(),
            Level::Ring(id) => world.rings.get(&id)?.paused.as_ref(),
            Level::Environment(id) => world.environments.get(&id)?.paused.as_ref(),
        }
    };
    let already = |pause: &Pause| format!("it is paused already, by {}", pause.by);
    match deed {
        Deed::Stop(Stop::Ring(id)) => pause_of(Level::Ring(id)).map(already),
        Deed::Stop(Stop::Environment(id)) => pause_of(Level::Environment(id)).map(already),
        Deed::Skip(id) => pause_of(Level::Machine(id)).map(already),
        Deed::Unpause(level) => pause_of(level).is_none().then(|| "it is not paused".to_owned()),
        Deed::Stop(Stop::Rollout(_)) | Deed::Start(_) | Deed::Reset { .. } | Deed::AcceptClock => None,
    }
}
