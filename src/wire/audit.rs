//! The audit as it is read: who did what, when, why, and what came of it, with all it takes to check the chain.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::audit::Link;
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::ids::Revision;

/// Where it is read; `?after=REVISION` goes on behind a row, `?before=REVISION` ends in front of one, `?limit=` bounds
/// the rows.
pub const PATH: &str = "/api/audit";

/// One verb.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditRow {
    /// Place of the link in the journal.
    pub revision: Revision,
    /// When it was decided.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// The verb's name, the reason and the idempotency key.
    #[schemars(with = "serde_json::Value")]
    pub cause: Cause,
    /// What it was given to, the plan, what came of it, and its place in the chain.
    #[serde(flatten)]
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub link: Box<Link>,
}

impl AuditRow {
    /// The row of an entry, if it is a link.
    pub fn of(entry: Entry) -> Option<Self> {
        let Entry { revision, at, by, cause, change: Change::Audited { link } } = entry else { return None };
        Some(Self { revision, at, by, cause, link })
    }

    /// The entry as it stands in the journal.
    pub fn entry(&self) -> Entry {
        let Self { revision, at, by, cause, link } = self.clone();
        Entry { revision, at, by, cause, change: Change::Audited { link } }
    }
}
