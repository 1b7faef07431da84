//! The World: every fact of one account at one revision, and the look-ups decisions are made of.

use std::borrow::Cow;

use imbl::{OrdMap, Vector};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::audit::AuditHead;
use super::fleet::{Account, Environment, Machine, Ring, SwitchedOff};
use super::ids::{EnvironmentId, Epoch, Generation, MachineId, ReleaseId, Revision, RingId, RolloutId, SecretVersion};
use super::keys::UsedKey;
use super::kura::estate::Estate;
use super::lane::{Lane, LaneKey, Lanes, Subject};
use super::release::Release;
use super::roll::rolls::Rolls;
use super::rollout::{Cursor, Rollout};

/// Rollouts the World keeps; older ones are read from the journal.
pub const ROLLOUTS_KEPT: usize = 20;

/// Machines an account may have.
pub const MACHINES_MAX: usize = 200_000;

/// Arrived tags the World keeps: the newest are the ones that may be started.
pub const TAGS_KEPT: usize = 100;

/// Environments, rings and releases an account may have, each.
pub const CATALOG_MAX: usize = 10_000;

/// Secrets an account may have.
pub const SECRETS_MAX: usize = 1_000;

/// That there is a secret: who gave it its value and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretMark {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// Where the Vault keeps the value.
    pub version: SecretVersion,
    /// Where it keeps the value before this one: runs under way may still show it.
    pub previous: Option<SecretVersion>,
}

/// The last commit of the followed branch (R169).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenCommit {
    /// Name of the branch.
    pub git_ref: String,
    /// In full.
    pub commit: String,
    /// When it was seen first.
    pub at: Timestamp,
}

/// Who holds the reconciler's seat.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatRecord {
    /// Counts the times it changed hands.
    pub epoch: Epoch,
    /// The process that took it last.
    pub holder: Option<String>,
    /// When it took it.
    pub since: Option<Timestamp>,
    /// Since when no agent reaches whoever holds it: no timer ages and nothing promotes meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deaf_since: Option<Timestamp>,
}

/// Facts of one account. Maps share structure, so a clone is a snapshot that costs next to nothing.
///
/// Changed by `World::apply` only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct World {
    /// Number of changes folded into it.
    pub revision: Revision,
    /// Time of the last change.
    pub at: Timestamp,
    /// The account's switches.
    pub account: Account,
    /// Tiers.
    pub environments: OrdMap<EnvironmentId, Environment>,
    /// Rings.
    pub rings: OrdMap<RingId, Ring>,
    /// Machines.
    pub machines: OrdMap<MachineId, Machine>,
    /// Releases.
    pub releases: OrdMap<ReleaseId, Release>,
    /// The last rollouts, oldest first; the last one is the current one.
    pub rollouts: Vector<Rollout>,
    /// Of the next start or reset.
    pub next_generation: Generation,
    /// The reconciler's seat.
    pub seat: SeatRecord,
    /// Tags that arrived, oldest first, at most `TAGS_KEPT` (R169).
    pub tags: Vector<ReleaseId>,
    /// What the switches of unattended starts were before they were turned off, until they are that again (R121).
    pub switched_off: Option<SwitchedOff>,
    /// Idempotency keys that were used, oldest first.
    pub keys: Vector<UsedKey>,
    /// When the newest tag that arrived was made, where that is known.
    pub newest_tag_at: Option<Timestamp>,
    /// Secrets by name; their values are in the Vault.
    pub secrets: OrdMap<String, SecretMark>,
    /// Revision at which a secret was set last; 0 = never.
    pub secrets_revision: Revision,
    /// The last commit of the followed branch; none while commits are not followed.
    pub seen_commit: Option<SeenCommit>,
    /// The end of the audit's chain.
    pub audit: AuditHead,
    /// Kura servers.
    pub kura: Estate,
    /// Fleet rolls.
    pub rolls: Rolls,
    /// Machines by host name; an index, never stored.
    pub(super) hostnames: OrdMap<String, MachineId>,
    pub(super) lanes: Lanes,
}

/// The shape on disk and on the wire: the World without its index.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    revision: Revision,
    at: Timestamp,
    #[serde(default)]
    account: Account,
    environments: Vec<Environment>,
    rings: Vec<Ring>,
    machines: Vec<Machine>,
    releases: Vec<Release>,
    rollouts: Vec<Rollout>,
    next_generation: Generation,
    #[serde(default)]
    seat: SeatRecord,
    #[serde(default)]
    tags: Vec<ReleaseId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keys: Vec<UsedKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    switched_off: Option<SwitchedOff>,
    #[serde(default)]
    audit: AuditHead,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest_tag_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "OrdMap::is_empty")]
    secrets: OrdMap<String, SecretMark>,
    #[serde(default, skip_serializing_if = "is_zero")]
    secrets_revision: Revision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen_commit: Option<SeenCommit>,
    #[serde(default, skip_serializing_if = "Estate::is_empty")]
    kura: Estate,
    #[serde(default, skip_serializing_if = "Rolls::is_empty")]
    rolls: Rolls,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(revision: &Revision) -> bool {
    *revision == 0
}

impl From<Stored> for World {
    fn from(stored: Stored) -> Self {
        let mut world = Self {
            revision: stored.revision,
            at: stored.at,
            account: stored.account,
            environments: stored.environments.into_iter().map(|e| (e.id, e)).collect(),
            rings: stored.rings.into_iter().map(|r| (r.id, r)).collect(),
            machines: stored.machines.into_iter().map(|m| (m.id, m)).collect(),
            releases: stored.releases.into_iter().map(|r| (r.id, r)).collect(),
            rollouts: stored.rollouts.into_iter().collect(),
            next_generation: stored.next_generation,
            seat: stored.seat,
            tags: stored.tags.into_iter().collect(),
            keys: stored.keys.into_iter().collect(),
            switched_off: stored.switched_off,
            newest_tag_at: stored.newest_tag_at,
            secrets: stored.secrets,
            secrets_revision: stored.secrets_revision,
            seen_commit: stored.seen_commit,
            audit: stored.audit,
            kura: stored.kura,
            rolls: stored.rolls,
            hostnames: OrdMap::new(),
            lanes: Lanes::default(),
        };
        world.hostnames = world.machines.values().map(|m| (m.hostname.clone(), m.id)).collect();
        world.reindex();
        world
    }
}

impl From<World> for Stored {
    fn from(world: World) -> Self {
        Self {
            revision: world.revision,
            at: world.at,
            account: world.account,
            environments: world.environments.values().cloned().collect(),
            rings: world.rings.values().cloned().collect(),
            machines: world.machines.values().cloned().collect(),
            releases: world.releases.values().cloned().collect(),
            rollouts: world.rollouts.into_iter().collect(),
            next_generation: world.next_generation,
            seat: world.seat,
            tags: world.tags.into_iter().collect(),
            keys: world.keys.into_iter().collect(),
            switched_off: world.switched_off,
            newest_tag_at: world.newest_tag_at,
            secrets: world.secrets,
            secrets_revision: world.secrets_revision,
            seen_commit: world.seen_commit,
            audit: world.audit,
            kura: world.kura,
            rolls: world.rolls,
        }
    }
}

impl World {
    /// The rollout that runs, if one does (R90).
    pub fn running(&self) -> Option<&Rollout> {
        self.rollouts.last().filter(|r| r.is_running())
    }

    /// The rollout that is shown: the running one, else the one started or reset last.
    pub fn current(&self) -> Option<&Rollout> {
        self.rollouts.last()
    }

    /// One of the rollouts that are kept.
    pub fn rollout(&self, id: RolloutId) -> Option<&Rollout> {
        self.rollouts.iter().rev().find(|r| r.id == id)
    }

    /// Lanes with a member, by (environment, ring).
    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// One lane, if it has a member.
    pub fn lane(&self, key: LaneKey) -> Option<&Lane> {
        self.lanes.get(key)
    }

    /// What a person calls an environment.
    pub fn environment_slug(&self, id: EnvironmentId) -> &str {
        self.environments.get(&id).map_or("(gone)", |e| e.slug.as_str())
    }

    /// What a person calls a ring.
    pub fn ring_slug(&self, id: RingId) -> &str {
        self.rings.get(&id).map_or("(gone)", |r| r.slug.as_str())
    }

    /// What a person calls a machine.
    pub fn hostname(&self, id: MachineId) -> &str {
        self.machines.get(&id).map_or("(gone)", |m| m.hostname.as_str())
    }

    /// What a person calls a release.
    pub fn release_name(&self, id: ReleaseId) -> &str {
        self.releases.get(&id).map_or("(gone)", |r| r.git_ref.as_str())
    }

    /// The promotion path, low to high; equal orders go by slug (R77).
    pub fn path(&self) -> Vec<&Environment> {
        let mut path: Vec<_> = self.environments.values().filter(|e| e.promotion_order.is_some()).collect();
        path.sort_by(|a, b| (a.promotion_order, &a.slug).cmp(&(b.promotion_order, &b.slug)));
        path
    }

    /// The environment the cursor stands on, or would stand on if it is out of the path by now (R77).
    pub fn cursor_environment(&self, rollout: &Rollout) -> Option<&Environment> {
        let cursor = rollout.cursor.as_ref()?;
        self.environments.values().find(|e| place(e).as_ref() == Some(cursor))
    }

    /// Open = at or before the cursor (R13).
    pub fn is_open(&self, rollout: &Rollout, environment: EnvironmentId) -> bool {
        let place = self.environments.get(&environment).and_then(place);
        place.is_some_and(|place| rollout.cursor.as_ref().is_some_and(|cursor| place <= *cursor))
    }

    /// The world as the rows of `rollout` show it: itself for the current one; for an earlier one buckets, queues and
    /// windows are those of its release, and nobody holds a slot of it (R179).
    pub fn as_of(&self, rollout: &Rollout) -> Cow<'_, Self> {
        if self.current().is_none_or(|current| current.id == rollout.id) {
            return Cow::Borrowed(self);
        }
        let holders: Vec<MachineId> = self.lanes.iter().flat_map(|(_, lane)| lane.holders.iter().copied()).collect();
        let mut past = self.clone();
        for machine in holders {
            past.edit_machine(machine, |m| m.lease = None);
        }
        let subject = Subject { release: rollout.release, generation: rollout.generation };
        past.lanes = Lanes::of(Some(subject), past.machines.values());
        Cow::Owned(past)
    }

    /// Whose progress the lanes describe.
    pub(super) fn subject(&self) -> Option<Subject> {
        self.current().map(|r| Subject { release: r.release, generation: r.generation })
    }

    /// Builds the lanes anew: after loading, and whenever another release or generation becomes current.
    pub(super) fn reindex(&mut self) {
        self.lanes = Lanes::of(self.subject(), self.machines.values());
    }

    /// Changes one machine and moves it to its place in the lanes.
    pub(super) fn edit_machine(&mut self, id: MachineId, edit: impl FnOnce(&mut Machine)) {
        let Some(machine) = self.machines.get_mut(&id) else { return };
        self.lanes.remove(machine);
        edit(machine);
        self.lanes.insert(machine);
    }
}

/// Place of an environment in the path, if it has one (R77).
pub fn place(environment: &Environment) -> Option<Cursor> {
    Some(Cursor { order: environment.promotion_order?, slug: environment.slug.clone() })
}
