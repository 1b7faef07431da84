//! Idempotency keys: which were used, by whom, for which request, and what was answered.

use std::collections::BTreeMap;

use imbl::Vector;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::audit::Fate;
use super::change::{Cause, Change, Entry};
use super::ids::{
    DeploymentId, EnvironmentId, MachineId, ReleaseId, RingId, RollId, RolloutId, SecretVersion, ServerId,
};
use super::input::{Order, Verb};
use super::kura::change::KuraChange;
use super::kura::verb::KuraVerb;
use super::release::{Contract, Digest as Content};
use super::roll::change::RollChange;
use super::roll::verb::RollVerb;
use super::span::Seconds;
use super::verdict::Reply;

/// How long a key is remembered.
pub const KEY_REMEMBERED: Seconds = Seconds(24 * 3_600);

/// Keys an account remembers. Beyond it the oldest key of whoever has the most is forgotten: a script that uses up
/// thousands takes nothing from the person beside it.
pub const KEYS_KEPT: usize = 10_000;

/// A key that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedKey {
    /// Whose; the same key of somebody else is another one.
    pub by: String,
    /// The key.
    pub key: String,
    /// When.
    pub at: Timestamp,
    /// What was asked for, as `request_of` tells requests apart; none = it is not known any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// What was answered.
    pub answer: KeptAnswer,
}

/// An answer as far as it has to be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptAnswer {
    /// It was done.
    Done,
    /// A new environment.
    Environment(EnvironmentId),
    /// A new ring.
    Ring(RingId),
    /// A new machine.
    Machine(MachineId),
    /// A new release.
    Release(ReleaseId),
    /// A new rollout.
    Started(RolloutId),
    /// The running rollout, reset.
    Reset(RolloutId),
    /// A new Kura server.
    Server(ServerId),
    /// A new deployment of a Kura server.
    Deployment(ServerId, DeploymentId),
    /// A new fleet roll.
    Roll(RollId),
}

impl KeptAnswer {
    /// What a verb is answered of whose changes this is one.
    fn of(change: &Change) -> Self {
        match change {
            Change::RolloutStarted { rollout, .. } => Self::Started(*rollout),
            Change::RolloutReset { rollout, .. } => Self::Reset(*rollout),
            Change::EnvironmentCreated { environment } => Self::Environment(environment.id),
            Change::RingCreated { ring } => Self::Ring(ring.id),
            Change::MachineAdded { machine } => Self::Machine(machine.id),
            Change::ReleasePublished { release } => Self::Release(release.id),
            Change::Kura(change) => match &**change {
                KuraChange::ServerAdded { server } => Self::Server(server.id),
                KuraChange::DeploymentOpened { server, deployment } => Self::Deployment(*server, deployment.id),
                _ => Self::Done,
            },
            Change::Roll(change) => match &**change {
                RollChange::Started { roll } => Self::Roll(roll.id),
                _ => Self::Done,
            },
            _ => Self::Done,
        }
    }

    /// The reply it was.
    pub fn reply(self) -> Reply {
        match self {
            Self::Done => Reply::Done,
            Self::Environment(id) => Reply::Environment(id),
            Self::Ring(id) => Reply::Ring(id),
            Self::Machine(id) => Reply::Machine(id),
            Self::Release(id) => Reply::Release(id),
            Self::Started(id) => Reply::Started(id),
            Self::Reset(id) => Reply::Reset(id),
            Self::Server(id) => Reply::Server(id),
            Self::Deployment(server, id) => Reply::Deployment(server, id),
            Self::Roll(id) => Reply::Roll(id),
        }
    }
}

/// The key of this person, if it was used within `KEY_REMEMBERED` before `now`.
pub fn used<'a>(keys: &'a Vector<UsedKey>, by: &str, key: &str, now: Timestamp) -> Option<&'a UsedKey> {
    let oldest = KEY_REMEMBERED.before(now);
    keys.iter().rev().take_while(|used| used.at >= oldest).find(|used| used.key == key && used.by == by)
}

/// Remembers the key of an entry, if it has one. All entries of one order stand under one key. An order that was refused
/// did nothing, and may be decided again under the same one.
pub(super) fn remember(keys: &mut Vector<UsedKey>, entry: &Entry) {
    if matches!(&entry.change, Change::Audited { link } if link.fate != Fate::Done) {
        return;
    }
    let Cause::Verb { key: Some(key), request, .. } = &entry.cause else { return };
    let answer = KeptAnswer::of(&entry.change);
    let oldest = KEY_REMEMBERED.before(entry.at);
    let known = keys.iter().rposition(|used| used.key == *key && used.by == entry.by && used.at >= oldest);
    if let Some(used) = known.and_then(|place| keys.get_mut(place)) {
        if answer != KeptAnswer::Done {
            used.answer = answer;
        }
        return;
    }
    while keys.front().is_some_and(|used| used.at < oldest) {
        keys.pop_front();
    }
    if keys.len() >= KEYS_KEPT {
        make_room(keys);
    }
    let (by, key, request) = (entry.by.clone(), key.clone(), request.clone());
    keys.push_back(UsedKey { by, key, at: entry.at, request, answer });
}

/// Forgets the oldest key of whoever has the most.
fn make_room(keys: &mut Vector<UsedKey>) {
    let mut shares: BTreeMap<&str, usize> = BTreeMap::new();
    for used in keys.iter() {
        *shares.entry(&used.by).or_default() += 1;
    }
    let most = shares.iter().max_by_key(|(_, count)| **count).map(|(by, _)| (*by).to_owned());
    if let Some(place) = most.and_then(|by| keys.iter().position(|used| used.by == by)) {
        keys.remove(place);
    }
}

/// Tells one request from another: a digest of the verb and its reason, without the identities that it would give to
/// new things and without what its reference was resolved to.
pub fn request_of(order: &Order) -> String {
    let text = format!("{:?} {:?}", bare(&order.verb), order.reason);
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn bare(verb: &Verb) -> Verb {
    let mut bare = verb.clone();
    match &mut bare {
        Verb::CreateEnvironment { id, .. } => *id = EnvironmentId(Uuid::nil()),
        Verb::CreateRing { id, .. } => *id = RingId(Uuid::nil()),
        Verb::AddMachine { id, .. } => *id = MachineId(Uuid::nil()),
        Verb::Start { id, .. } => *id = RolloutId(Uuid::nil()),
        Verb::SetSecret { version, .. } => *version = SecretVersion(Uuid::nil()),
        Verb::Kura(KuraVerb::AddServer { id, .. }) => *id = ServerId(Uuid::nil()),
        Verb::Roll(RollVerb::Start { id, .. }) => *id = RollId(Uuid::nil()),
        Verb::PublishRelease { id, commit, content, contract, .. } => {
            *id = ReleaseId(Uuid::nil());
            commit.clear();
            *content = Content(String::new());
            *contract = Contract::default();
        }
        _ => {}
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: i64, key: &str, change: Change) -> Entry {
        let (at, request) = (Timestamp::from_second(n).unwrap(), Some("r".to_owned()));
        let cause = Cause::Verb { name: "start".to_owned(), reason: None, key: Some(key.to_owned()), request };
        Entry { revision: 1, at, by: "ann".to_owned(), cause, change }
    }

    #[test]
    fn the_entries_of_one_order_stand_under_one_key_with_the_answer_that_says_most() {
        let (mut keys, rollout) = (Vector::new(), RolloutId::named("r1"));
        remember(&mut keys, &entry(1, "k", Change::ClockAccepted));
        let release = ReleaseId::named("v1");
        let started = Change::RolloutStarted { rollout, release, protected: false, generation: 0 };
        remember(&mut keys, &entry(1, "k", started));
        remember(&mut keys, &entry(1, "k", Change::ClockAccepted));
        assert_eq!(keys.iter().map(|used| used.answer).collect::<Vec<_>>(), [KeptAnswer::Started(rollout)]);
        let at = |second| Timestamp::from_second(second).unwrap();
        assert!(used(&keys, "ann", "k", at(86_401)).is_some() && used(&keys, "bob", "k", at(1)).is_none());
        assert!(used(&keys, "ann", "k", at(86_402)).is_none(), "a day later it is free");
        remember(&mut keys, &entry(90_000, "other", Change::ClockAccepted));
        assert_eq!(keys.len(), 1, "and forgotten");
    }

    #[test]
    fn no_more_keys_are_kept_than_the_limit_says() {
        let mut keys = Vector::new();
        for n in 0..KEYS_KEPT + 5 {
            remember(&mut keys, &entry(1, &n.to_string(), Change::ClockAccepted));
        }
        assert_eq!((keys.len(), keys.front().map(|used| used.key.as_str())), (KEYS_KEPT, Some("5")));
    }

    #[test]
    fn whoever_uses_up_keys_by_the_thousand_forgets_their_own() {
        let mut keys = Vector::new();
        remember(&mut keys, &Entry { by: "bob".to_owned(), ..entry(1, "start", Change::ClockAccepted) });
        for n in 0..2 * KEYS_KEPT {
            remember(&mut keys, &entry(2, &n.to_string(), Change::ClockAccepted));
        }
        assert_eq!(keys.len(), KEYS_KEPT);
        assert!(used(&keys, "bob", "start", Timestamp::from_second(3).unwrap()).is_some());
    }
}
