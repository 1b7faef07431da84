//! What goes wrong with calls to the simulated cluster.

use jiff::Timestamp;

use super::objects::Objects;
use crate::domain::kura::object::ObjectKind;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::source::{Contact, Source};
use crate::domain::kura::step::Outcome;

/// How a call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// With a server error.
    Error,
    /// Not in time.
    Timeout,
    /// That this identity may not do it.
    Forbidden,
    /// That the object has changed.
    Conflict,
    /// Not at all, while the connection seems to stand.
    Silent,
    /// 410: everything is read anew, and nothing is lost by it.
    Gone,
}

/// Every matching call goes wrong from one moment to another.
#[derive(Debug, Clone)]
pub struct ClusterFault {
    /// Of this kind; none = of every kind.
    pub kind: Option<ObjectKind>,
    /// Of this verb; none = of every verb.
    pub verb: Option<String>,
    /// How.
    pub wrong: Wrong,
    /// Since when.
    pub since: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// What had been seen by then.
    pub kept: Box<Sight>,
}

/// Verbs that read.
const READS: [&str; 4] = ["get", "list", "watch", "read"];

impl ClusterFault {
    fn is_on(&self, now: Timestamp) -> bool {
        self.since <= now && now < self.until
    }

    fn concerns(&self, kind: ObjectKind) -> bool {
        self.kind.is_none_or(|known| known == kind)
    }

    fn hits_reads(&self) -> bool {
        self.verb.as_deref().is_none_or(|verb| READS.contains(&verb))
    }

    fn hits(&self, verb: &str) -> bool {
        self.verb.as_deref().is_none_or(|known| known == verb)
    }

    fn why(&self) -> String {
        match self.wrong {
            Wrong::Timeout => "the API server did not answer in time".to_owned(),
            Wrong::Forbidden => "this identity may not do that".to_owned(),
            _ => "the API server answered 500".to_owned(),
        }
    }
}

impl Objects {
    /// What a write is answered, where something is wrong with it.
    pub(super) fn write_fault(&self, kind: ObjectKind, verb: &str, now: Timestamp) -> Option<Outcome> {
        let fault = self.faults.iter().find(|fault| fault.is_on(now) && fault.concerns(kind) && fault.hits(verb))?;
        Some(match fault.wrong {
            Wrong::Conflict => Outcome::Stale,
            Wrong::Forbidden => Outcome::Forbidden { why: fault.why() },
            Wrong::Gone => return None,
            Wrong::Error | Wrong::Timeout | Wrong::Silent => Outcome::Failed { why: fault.why() },
        })
    }

    /// What is seen of a kind whose reads go wrong: what was seen before, as old as it is.
    pub(super) fn veil<T: Clone>(
        &self,
        kind: ObjectKind,
        fresh: Source<T>,
        now: Timestamp,
        pick: fn(&Sight) -> &Source<T>,
    ) -> Source<T> {
        let hit = |fault: &&ClusterFault| fault.is_on(now) && fault.concerns(kind) && fault.hits_reads();
        let Some(fault) = self.faults.iter().find(hit) else { return fresh };
        let kept = pick(&fault.kept).clone();
        let as_of = kept.contact.as_of();
        let contact = match fault.wrong {
            Wrong::Gone | Wrong::Conflict => return fresh,
            Wrong::Silent => kept.contact.clone(),
            Wrong::Forbidden => Contact::Forbidden { as_of: now, why: fault.why() },
            Wrong::Error | Wrong::Timeout => Contact::Lost { as_of, why: fault.why() },
        };
        Source { rows: kept.rows, contact }
    }
}
