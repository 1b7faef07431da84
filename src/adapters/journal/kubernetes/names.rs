//! Names and labels of the objects of a journal.

use std::collections::BTreeMap;

use crate::adapters::kube::drawer::{ACCOUNT, JOURNAL, PART};
use crate::domain::ids::AccountId;

/// What an object of a journal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Where an account stands, and its newest entries.
    Head,
    /// Signs of life of the seat.
    Beat,
    /// Which snapshots there are.
    Snapshots,
    /// Entries that gave way to newer ones in the head.
    Entries,
    /// Links of the audit among archived entries.
    Links,
    /// A world: of a snapshot, or before the oldest entry.
    World,
}

impl Part {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Beat => "beat",
            Self::Snapshots => "snapshots",
            Self::Entries => "entries",
            Self::Links => "links",
            Self::World => "world",
        }
    }
}

/// The name of the one object of its part that an account has.
pub(super) fn single(journal: &str, account: AccountId, part: Part) -> String {
    format!("{journal}.{account}.{}", part.word())
}

/// The name of one piece among many: what stands at its end tells it from every other one.
pub(super) fn piece(journal: &str, account: AccountId, part: Part, end: &str) -> String {
    format!("{journal}.{account}.{}.{end}", part.word())
}

/// What stands on an object.
pub(super) fn labels(journal: &str, account: AccountId, part: Part) -> BTreeMap<String, String> {
    let pairs = [(JOURNAL, journal.to_owned()), (ACCOUNT, account.to_string()), (PART, part.word().to_owned())];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The account an object belongs to, as it is labelled.
pub(super) fn account_of(labels: &BTreeMap<String, String>) -> Option<AccountId> {
    labels.get(ACCOUNT)?.parse().ok().map(AccountId)
}

/// Everything of a part, of one account or of all.
pub(super) fn selector(journal: &str, account: Option<AccountId>, part: Part) -> String {
    let account = account.map_or_else(String::new, |account| format!(",{ACCOUNT}={account}"));
    format!("{JOURNAL}={journal},{PART}={}{account}", part.word())
}
