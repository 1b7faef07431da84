//! Servers that are at rest: while nothing they were judged by has changed, a pass need not look at them again.
//!
//! A pass leaves behind what it read and for whom it had nothing to do. Maps share structure, so the next one finds what
//! has changed since without looking through what has not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use imbl::OrdMap;
use jiff::Timestamp;

use super::super::ids::ServerId;
use super::beside::Beside;
use super::difference::{changed, owners, pods_changed};
use super::server::{Server, ServerStatus};
use super::sight::Sight;

/// What the last pass left behind, shared by the copies of a world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rested(Beside<Arc<Mutex<Option<Rest>>>>);

impl Rested {
    /// What was left, for one pass; nothing while another pass has it.
    pub fn take(&self) -> Option<Rest> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Leaves it for the next pass.
    pub fn leave(&self, rest: Rest) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
    }
}

/// What a pass judged by, and whom it has to look at again whatever changes.
pub struct Rest {
    servers: OrdMap<ServerId, Server>,
    sight: Sight,
    at: Timestamp,
    busy: BTreeSet<ServerId>,
    /// Who was judged by the row of this name, of whichever kind.
    readers: BTreeMap<String, BTreeSet<ServerId>>,
}

impl Rest {
    /// A pass over these servers, seen like this, and whom it has to look at: those that were not at rest after the last
    /// pass, and those that something has changed for since. Everybody where there was none, where time went backwards,
    /// and where a kind became readable or stopped to be.
    pub fn begin(
        last: Option<Self>,
        servers: &OrdMap<ServerId, Server>,
        sight: &Sight,
        now: Timestamp,
    ) -> (Self, BTreeSet<ServerId>) {
        let (servers, sight) = (servers.clone(), sight.clone());
        let comparable = |last: &Self| last.at <= now && readable(&last.sight, last.at) == readable(&sight, now);
        match last.filter(comparable) {
            Some(last) => {
                let due = last.due(&servers, &sight);
                (Self { servers, sight, at: now, ..last }, due)
            }
            None => {
                let due = servers.keys().copied().collect();
                (Self { servers, sight, at: now, busy: BTreeSet::new(), readers: BTreeMap::new() }, due)
            }
        }
    }

    fn due(&self, servers: &OrdMap<ServerId, Server>, sight: &Sight) -> BTreeSet<ServerId> {
        let mut due = self.busy.clone();
        due.extend(changed(&self.servers, servers));
        let names = changed(&self.sight.instances.rows, &sight.instances.rows)
            .chain(changed(&self.sight.sets.rows, &sight.sets.rows))
            .chain(changed(&self.sight.gateways.rows, &sight.gateways.rows))
            .chain(changed(&self.sight.endpoints, &sight.endpoints))
            .chain(pods_changed(&self.sight.pods.rows, &sight.pods.rows).flat_map(owners));
        due.extend(names.filter_map(|name| self.readers.get(&name)).flatten());
        due
    }

    /// The pass has nothing to do for a server, and neither will another one that reads the same rows: `rows` names those
    /// of its instance, which its set and its pods go by too, of its gateway and of its endpoint, whether they are there or
    /// not.
    pub fn rests<'n>(&mut self, server: ServerId, rows: impl IntoIterator<Item = &'n str>) {
        self.busy.remove(&server);
        for name in rows {
            match self.readers.get_mut(name) {
                Some(readers) => drop(readers.insert(server)),
                None => drop(self.readers.insert(name.to_owned(), BTreeSet::from([server]))),
            }
        }
    }

    /// The next pass looks at it in any case.
    pub fn is_busy(&mut self, server: ServerId) {
        self.busy.insert(server);
    }
}

/// What is decided of such a server follows from its own row, those of its instance, set, pods, gateway and endpoint, and
/// from which kinds can be read; not from the time, and not from what somebody else is given.
pub fn is_settled(server: &Server) -> bool {
    let rolls = server.roll.as_ref().is_some_and(|roll| roll.pods.iter().any(|pod| !pod.done));
    server.status == ServerStatus::Active && server.open().is_none() && server.troubles.is_empty() && !rolls
}

/// Which of the kinds that decide can be read.
fn readable(sight: &Sight, now: Timestamp) -> [bool; 4] {
    let contacts = [&sight.instances.contact, &sight.sets.contact, &sight.pods.contact, &sight.gateways.contact];
    contacts.map(|contact| contact.is_fresh(now))
}
