//! Observed: what the world outside looks like at this moment, put together for one turn or one reader.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use imbl::OrdMap;
use jiff::Timestamp;

use super::host::Host;
use super::ports::{Clock, Cluster, Presence, Results};
use crate::domain::ids::AccountId;
use crate::domain::kura::object::ObjectRef;
use crate::domain::kura::sight::Sight;
use crate::domain::observed::{Observed, RefusedStart};
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Puts Observed together. Cheap to clone.
pub struct Observer<H> {
    host: Arc<H>,
    account: AccountId,
    listening_since: Timestamp,
    memory: Arc<Mutex<Memory>>,
}

/// What the loop noticed in passing and no journal keeps.
#[derive(Debug, Default)]
struct Memory {
    last_tick: Option<Timestamp>,
    refused_start: Option<RefusedStart>,
    ahead: Option<Seconds>,
    tried: BTreeSet<ObjectRef>,
}

impl<H> Clone for Observer<H> {
    fn clone(&self) -> Self {
        let (host, memory) = (Arc::clone(&self.host), Arc::clone(&self.memory));
        Self { host, account: self.account, listening_since: self.listening_since, memory }
    }
}

impl<H: Host> Observer<H> {
    /// An observer that listens from now on: before that nobody can be called offline (R138).
    pub fn new(host: Arc<H>, account: AccountId) -> Self {
        let listening_since = host.clock().now();
        Self { host, account, listening_since, memory: Arc::default() }
    }

    /// What can be seen now, by an account that stands as `world` says: of a cluster that is not its own nothing is.
    pub fn observe(&self, world: &World) -> Observed {
        let home = world.kura.home.as_ref();
        let cluster = self.sight().map(|sight| sight.at_home(home));
        let is_strange = cluster
            .as_ref()
            .is_some_and(|sight| home.is_some_and(|home| home.told_apart(sight.identity.as_ref()).is_some()));
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        Observed {
            last_poll: self.host.presence().seen(self.account),
            telemetry: self.host.results().telemetry(),
            last_tick: memory.last_tick,
            refused_start: memory.refused_start.clone(),
            clock_suspect: self.host.clock().is_suspect(),
            nodes: if is_strange { OrdMap::new() } else { self.host.nodes() },
            cluster,
            ..Observed::starting_at(self.listening_since)
        }
    }

    /// The cluster, for the one account whose it is.
    fn sight(&self) -> Option<Sight> {
        self.host.looks_after(self.account).then(|| self.host.cluster().sight()).flatten()
    }

    /// Objects of the cluster that writes were decided for since the last tick, or since a person last wanted something
    /// of one.
    pub(super) fn tried(&self) -> BTreeSet<ObjectRef> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).tried.clone()
    }

    /// These are they now.
    pub(super) fn try_these(&self, tried: BTreeSet<ObjectRef>) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).tried = tried;
    }

    /// A tick was decided here, or the seat's holder elsewhere gave a sign of life.
    pub(super) fn ticked(&self, now: Timestamp) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).last_tick = Some(now);
    }

    /// How far the clock of this process is ahead of whoever ticks; none = not further than it may be, as far as is
    /// known (R168).
    pub(super) fn ahead(&self) -> Option<Seconds> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).ahead
    }

    /// The clock of this process was compared with that of whoever ticks, or a person accepted it.
    pub(super) fn compared(&self, ahead: Option<Seconds>) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).ahead = ahead;
    }

    /// A protected rollout turned a start away.
    pub(super) fn refused(&self, start: RefusedStart) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).refused_start = Some(start);
    }
}
