//! What was promised to people: an acknowledged order is in the journal once, a refused one not at all.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::super::record::Answer;
use crate::control::door::DoorError;
use crate::domain::audit::Fate;
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::decide::decide;
use crate::domain::ids::Revision;
use crate::domain::input::{Input, Verb};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::observed::Observed;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// Where the entries of an order stand.
#[derive(Debug, Clone, Copy)]
struct Trace {
    last: Revision,
    at: Timestamp,
}

/// Orders are known by their reason, which is unlike any other's.
#[derive(Debug, Default)]
pub(super) struct Promises {
    traces: BTreeMap<String, Trace>,
    denied: BTreeSet<String>,
}

impl Promises {
    /// An order's entries come in one piece, once, and not after it was denied.
    pub(super) fn entry(&mut self, entry: &Entry) -> Option<String> {
        let Cause::Verb { name, reason: Some(tag), .. } = &entry.cause else { return None };
        if matches!(&entry.change, Change::Audited { link } if link.fate != Fate::Done) {
            return None;
        }
        if self.denied.contains(tag) {
            return Some(format!("{name} {tag} was carried out after it had been said that nothing was done"));
        }
        let known = self.traces.insert(tag.clone(), Trace { last: entry.revision, at: entry.at })?;
        let goes_on = known.last + 1 == entry.revision && known.at == entry.at;
        (!goes_on).then(|| format!("{name} {tag} was carried out twice"))
    }

    /// An answer must agree with the journal; `history` has the world at every revision.
    pub(super) fn answer(&mut self, answer: &Answer, history: &[World]) -> Option<String> {
        let tag = answer.order.reason.clone().unwrap_or_default();
        let (name, done) = (answer.order.verb.name(), self.traces.contains_key(&tag));
        match &answer.reply {
            Ok(Reply::Refused(_)) => {
                self.denied.insert(tag.clone());
                done.then(|| format!("{name} {tag} was refused, and carried out"))
            }
            Ok(_) if done || changes_nothing(answer, history) => None,
            Ok(_) => Some(format!("{name} {tag} was acknowledged, and is lost")),
            Err(error) if is_unsure(error) => None,
            Err(error) => {
                self.denied.insert(tag.clone());
                done.then(|| format!("{name} {tag} was answered with \"{error}\", and carried out"))
            }
        }
    }
}

/// The caller cannot know whether it was done: the process died over it, or the journal gave no answer.
pub(super) fn is_unsure(error: &DoorError) -> bool {
    matches!(error, DoorError::Unknown(_) | DoorError::Stopped)
}

/// Doing what is the case already leaves nothing behind: in some world between question and answer it was.
fn changes_nothing(answer: &Answer, history: &[World]) -> bool {
    use KuraVerb as Deed;
    if let Verb::Kura(Deed::DeleteGateway { .. } | Deed::StripFinalizer { .. } | Deed::DeleteOrphan { .. }) =
        answer.order.verb
    {
        return true; // what is leaving already is no fact of the world, but of the cluster
    }
    let (since, until) = (index(answer.span.since), index(answer.span.until));
    let worlds = history.iter().take(until + 1).skip(since);
    let input = Input::Verb(answer.order.clone());
    worlds.into_iter().any(|world| decide(world, &Observed::starting_at(world.at), &input, world.at).changes.is_empty())
}

/// Place of a revision in a history.
pub(super) fn index(revision: Revision) -> usize {
    usize::try_from(revision).unwrap_or(usize::MAX)
}
