//! What a run remembers of the outside: who was served what, who is silent, what was answered last.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::file::moment::Moment;
use super::requests::Asked;
use crate::domain::ids::{Generation, MachineId, ReleaseId};
use crate::domain::input::Edition;

/// An assignment that was new to its machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handed {
    pub(super) at: Moment,
    pub(super) machine: MachineId,
    pub(super) edition: Edition,
}

/// A verb that was refused; the journal keeps those that were carried out.
#[derive(Debug, Clone)]
pub(super) struct Turned {
    pub(super) at: Timestamp,
    pub(super) by: String,
    pub(super) verb: String,
    pub(super) reason: Option<String>,
    pub(super) key: Option<String>,
    pub(super) detail: String,
}

/// How an entry of `when` ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// It was carried out.
    Done,
    /// It was not, and that is certain: a refusal, or nobody there to connect to.
    Refused,
    /// It was sent and nobody answered, or it was never sent.
    Unanswered,
}

/// The answer to an entry of `when`, as it would be over the API.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) ended: Ended,
    pub(super) status: Option<u16>,
    pub(super) headers: Map<String, Value>,
    pub(super) body: Value,
}

impl Answer {
    /// Nobody answered, or there was nobody to ask.
    pub(super) fn none(ended: Ended) -> Self {
        Self { ended, status: None, headers: Map::new(), body: Value::Null }
    }

    /// As the view shows it.
    pub(super) fn shown(&self) -> Value {
        json!({ "status": self.status, "headers": self.headers, "body": self.body })
    }
}

/// Everything that is remembered.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) served: Vec<Handed>,
    pub(super) turned: Vec<Turned>,
    pub(super) reply: Answer,
    /// How often each kind of request was answered.
    pub(super) requests: BTreeMap<Asked, u64>,
    pub(super) silent: BTreeSet<MachineId>,
    have: BTreeMap<MachineId, Edition>,
    seen: BTreeSet<(MachineId, ReleaseId, Generation)>,
    last: BTreeMap<(MachineId, ReleaseId), Generation>,
    told: i64,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            served: Vec::new(),
            turned: Vec::new(),
            reply: Answer::none(Ended::Done),
            requests: BTreeMap::new(),
            silent: BTreeSet::new(),
            have: BTreeMap::new(),
            seen: BTreeSet::new(),
            last: BTreeMap::new(),
            told: 0,
        }
    }
}

impl Records {
    /// A request was answered.
    pub(super) fn count(&mut self, asked: Asked) {
        *self.requests.entry(asked).or_default() += 1;
    }

    /// It was served before the start; `holds` = and works on it.
    pub(super) fn was_served(&mut self, machine: MachineId, edition: Edition, holds: bool) {
        self.seen.insert((machine, edition.release, edition.generation));
        self.last.insert((machine, edition.release), edition.generation);
        if holds {
            self.have.insert(machine, edition);
        }
    }

    /// What its agent has or runs, where no agent answers by itself.
    pub(super) fn have(&self, machine: MachineId) -> Option<Edition> {
        self.have.get(&machine).copied()
    }

    /// A poll was answered.
    pub(super) fn answered(&mut self, at: Moment, machine: MachineId, served: Option<Edition>) {
        let Some(edition) = served else {
            self.have.remove(&machine);
            return;
        };
        self.have.insert(machine, edition);
        if self.seen.insert((machine, edition.release, edition.generation)) {
            self.served.push(Handed { at, machine, edition });
            self.last.insert((machine, edition.release), edition.generation);
        }
    }

    /// The machine has a new system: everything is new to it.
    pub(super) fn rebuilt(&mut self, machine: MachineId) {
        self.have.remove(&machine);
        self.seen.retain(|(known, _, _)| *known != machine);
    }

    /// The generation last served to a machine for a release; 0 = never.
    pub(super) fn generation(&self, machine: MachineId, release: ReleaseId) -> Generation {
        self.last.get(&(machine, release)).copied().unwrap_or(0)
    }

    /// When a run began that `when` reports now: a little before, and no two at the same moment, nor at the moment at
    /// which a run of an automatic agent began.
    pub(super) fn run_began(&mut self, now: Timestamp) -> Timestamp {
        self.told += 1;
        now.saturating_sub(jiff::SignedDuration::from_micros(self.told)).unwrap_or(now)
    }
}
