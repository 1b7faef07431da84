//! What no rollout reaches: machines without an environment or a ring (R12), and rings without a machine.

use jiff::Timestamp;

use super::snapshot::Snapshot;
use crate::domain::fleet::{Machine, Pause};
use crate::domain::ids::{MachineId, RingId};

/// A machine that is out of scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// Identity.
    pub id: MachineId,
    /// For people.
    pub hostname: String,
    /// The slug of its environment, if it has one.
    pub environment: Option<String>,
    /// The slug of its ring, if it has one.
    pub ring: Option<String>,
    /// Set while it is paused.
    pub paused: Option<Pause>,
    /// None = not known yet (R138).
    pub is_online: Option<bool>,
    /// Its last poll.
    pub last_seen_at: Option<Timestamp>,
}

/// A ring that no machine is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bare {
    /// Identity.
    pub id: RingId,
    /// For people.
    pub slug: String,
    /// Machines that may hold a slot at once; 0 = no cap.
    pub cap: u32,
    /// Set while it is held.
    pub paused: Option<Pause>,
}

/// Everything of an account that no rollout reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spare {
    /// By slug.
    pub rings: Vec<Bare>,
    /// By host name.
    pub machines: Vec<Loose>,
}

impl Spare {
    /// Looks it up.
    pub(super) fn of(picture: &Snapshot, moment: Timestamp) -> Self {
        let world = &picture.world;
        let used = |id: &RingId| world.lanes().iter().any(|((_, ring), _)| ring == id);
        let bare = world.rings.values().filter(|ring| !used(&ring.id));
        let mut rings: Vec<Bare> = bare
            .map(|ring| Bare {
                id: ring.id,
                slug: ring.slug.clone(),
                cap: ring.settings.max_in_flight,
                paused: ring.paused.clone(),
            })
            .collect();
        rings.sort_by(|a, b| a.slug.cmp(&b.slug));
        let out = world.machines.values().filter(|machine| machine.place().is_none());
        let mut machines: Vec<Loose> = out.map(|machine| loose(picture, machine, moment)).collect();
        machines.sort_by(|a, b| a.hostname.cmp(&b.hostname));
        Self { rings, machines }
    }

    /// Nothing of the kind is there.
    pub fn is_empty(&self) -> bool {
        self.rings.is_empty() && self.machines.is_empty()
    }

    /// What is to be said about it as a whole, without a full stop.
    pub fn sentence(&self) -> String {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let (machines, rings) = (self.machines.len(), self.rings.len());
        let (out, bare) = (count(machines, "machine"), count(rings, "ring"));
        let has = if rings == 1 { "has" } else { "have" };
        let (is, it) = if machines == 1 { ("is", "it") } else { ("are", "them") };
        match (machines, rings) {
            (0, _) => format!("{bare} {has} no machine"),
            (_, 0) => format!("{out} {is} out of scope: nothing is served to {it}"),
            _ => format!("{out} {is} out of scope: nothing is served to {it}; {bare} {has} no machine"),
        }
    }
}

fn loose(picture: &Snapshot, machine: &Machine, moment: Timestamp) -> Loose {
    let (world, observed) = (&picture.world, &picture.observed);
    Loose {
        id: machine.id,
        hostname: machine.hostname.clone(),
        environment: machine.environment.map(|id| world.environment_slug(id).to_owned()),
        ring: machine.ring.map(|id| world.ring_slug(id).to_owned()),
        paused: machine.paused.clone(),
        is_online: observed.is_online(machine.id, moment),
        last_seen_at: observed.last_poll.get(&machine.id).copied(),
    }
}
