//! What moved since a plan was made: changes of the things it names.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::change::{Change, Entry};
use super::super::ids::Revision;
use super::super::kura::change::KuraChange;
use super::super::roll::change::RollChange;
use super::super::world::World;
use super::outline::Plan;
use super::thing::{Thing, touched};

/// A thing that changed after the revision a person looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Which.
    pub thing: Thing,
    /// What people call it.
    pub name: String,
    /// Its last change.
    pub revision: Revision,
    /// When that was.
    pub at: Timestamp,
    /// Who stands behind it.
    pub by: String,
    /// What happened, in a few words.
    pub what: &'static str,
}

/// The things `plan` names that `entries` changed, each with its last change, in the order of those changes.
pub fn moved<'a>(plan: &Plan, world: &World, entries: impl Iterator<Item = &'a Entry>) -> Vec<Moved> {
    let mut last: BTreeMap<Thing, &Entry> = BTreeMap::new();
    for entry in entries {
        let named = touched(&entry.change).into_iter().filter(|thing| plan.names.contains(thing));
        last.extend(named.map(|thing| (thing, entry)));
    }
    let mut moved: Vec<Moved> = last.into_iter().map(|(thing, entry)| Moved::of(thing, entry, world)).collect();
    moved.sort_by_key(|moved| moved.revision);
    moved
}

impl Moved {
    fn of(thing: Thing, entry: &Entry, world: &World) -> Self {
        let (revision, at, by) = (entry.revision, entry.at, entry.by.clone());
        Self { thing, name: thing.name(world), revision, at, by, what: what(&entry.change) }
    }

    /// One sentence for people.
    pub fn sentence(&self) -> String {
        format!("{} {}, by {} at revision {}", self.name, self.what, self.by, self.revision)
    }
}

fn what(change: &Change) -> &'static str {
    match change {
        Change::AccountChanged { .. } | Change::EnvironmentChanged { .. } => "has other settings",
        Change::RingChanged { .. } => "has other settings",
        Change::EnvironmentCreated { .. } | Change::RingCreated { .. } => "was made",
        Change::Paused { .. } => "was paused",
        Change::Unpaused { .. } => "is no longer paused",
        Change::MachineAdded { .. } => "joined",
        Change::MachineAssigned { .. } => "changed its place",
        Change::MachineRemoved { .. } => "left for good",
        Change::MachineRebuilt { .. } => "was reimaged",
        Change::ReleasePublished { .. } => "was built",
        Change::ReleaseYanked { .. } => "was yanked",
        Change::RolloutStarted { .. } => "was started",
        Change::RolloutReset { .. } => "was reset",
        Change::RolloutEnded { .. } => "ended",
        Change::CursorMoved { .. } => "came to another environment",
        Change::RingHalted { .. } => "was halted",
        Change::ElectionKept { .. } => "has another ladder",
        Change::LeaseGranted { .. } => "got a slot",
        Change::LeaseEnded { .. } => "gave its slot back",
        Change::AssignmentServed { .. } => "was served",
        Change::ResultReported { .. } => "reported a result",
        Change::FailureCounted { .. } => "has another failure that counts",
        Change::RenderFailed { .. } => "cannot be rendered",
        Change::RenderRecovered { .. } => "can be rendered again",
        Change::TagArrived { .. } => "arrived as a tag",
        Change::Kura(change) => kura_word(change),
        Change::Roll(change) => roll_word(change),
        Change::ClockAccepted
        | Change::SeatTaken { .. }
        | Change::SecretSet { .. }
        | Change::CommitSeen { .. }
        | Change::Audited { .. } => "changed",
    }
}

fn roll_word(change: &RollChange) -> &'static str {
    match change {
        RollChange::Started { .. } => "was started",
        RollChange::GateReached { .. } => "waits at a gate",
        RollChange::GateApproved { .. } => "has a gate that was opened",
        RollChange::SoakBegan { .. } => "has only green nodes",
        RollChange::Ended { .. } => "ended",
        _ => "changed",
    }
}

fn kura_word(change: &KuraChange) -> &'static str {
    match change {
        KuraChange::ServerAdded { .. } => "was added",
        KuraChange::SpecChanged { .. } => "is configured otherwise",
        KuraChange::Moved { .. } => "began or ended a move",
        KuraChange::StatusChanged { .. } => "has another status",
        KuraChange::Pinned { .. } => "is held at another tag, or at none",
        KuraChange::DeploymentOpened { .. } => "has a new deployment",
        KuraChange::DeploymentStarted { .. } => "has a deployment that started",
        KuraChange::DeploymentClosed { .. } => "has a deployment that ended",
        KuraChange::ManifestApplied { .. } => "was applied",
        KuraChange::FieldWrittenBack { .. } => "has a field that was written back",
        _ => "changed",
    }
}
