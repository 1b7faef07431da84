//! Brakes: what stops the stall timers of a lane while it lasts (R54).

use jiff::Timestamp;

use super::fleet::Lease;
use super::ids::MachineId;
use super::lane::LaneKey;
use super::observed::Observed;
use super::span::Seconds;
use super::world::World;

/// What keeps a lane's holders from being served, so that their time must not count against them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Brake {
    /// The ring is paused.
    Ring,
    /// The environment is paused.
    Environment,
    /// No agent reaches whoever holds the seat.
    NoAgents,
}

impl World {
    /// Every brake with the time since which it is on in a lane.
    pub(super) fn brakes(&self, key: LaneKey) -> [(Brake, Option<Timestamp>); 3] {
        let (environment, ring) = key;
        let ring = self.rings.get(&ring).and_then(|ring| ring.paused.as_ref()).map(|pause| pause.at);
        let environment = self.environments.get(&environment).and_then(|e| e.paused.as_ref()).map(|pause| pause.at);
        [(Brake::Ring, ring), (Brake::Environment, environment), (Brake::NoAgents, self.seat.deaf_since)]
    }

    /// Whether a machine is online; not known where nobody could hear it (R138).
    pub fn is_online(&self, observed: &Observed, machine: MachineId, now: Timestamp) -> Option<bool> {
        observed.is_online(machine, now).filter(|_| self.seat.deaf_since.is_none())
    }

    /// How long a lease of a lane has aged its stall timer: time under a brake does not count, over or not (R54).
    pub fn stall_age(&self, key: LaneKey, lease: &Lease, now: Timestamp) -> Seconds {
        let braked = self.brakes(key).into_iter().filter_map(|(_, since)| since).min();
        let standing = braked.map_or(0, |since| Seconds::between(since.max(lease.granted_at), now).0);
        Seconds(Seconds::between(lease.granted_at, now).0.saturating_sub(lease.frozen.0 + standing))
    }
}
