//! One kind of object as it was read last, and how far that reading can be relied on.

use imbl::OrdMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::span::Seconds;

/// After this long without contact a reading is stale: it is shown with its age, and nothing is written on it (A20).
/// Contact is anything the cluster said on the stream, a bookmark included; an object that does not change stays fresh.
pub const STALE_AFTER: Seconds = Seconds(90);

/// How things stand with one stream of objects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Contact {
    /// Not a single complete list was read yet.
    #[default]
    Never,
    /// A complete list was read, and what changed since arrives.
    Live {
        /// When the cluster was last heard on this stream.
        as_of: Timestamp,
    },
    /// The stream broke and is being taken up again; rows are those of `as_of`.
    Lost {
        /// When the cluster was last heard on it; none where no list was ever complete.
        as_of: Option<Timestamp>,
        /// What went wrong, in one sentence that names what to do where a person can (such as logging in again).
        why: String,
    },
    /// This identity may not read the kind; the rest goes on without it.
    Forbidden {
        /// When it was refused last.
        as_of: Timestamp,
        /// What the cluster said.
        why: String,
    },
    /// The cluster does not serve the kind at all, such as a CRD that is not installed.
    Absent {
        /// When that was seen.
        as_of: Timestamp,
    },
}

impl Contact {
    /// When the cluster was last heard of this kind.
    pub fn as_of(&self) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::Lost { as_of, .. } => *as_of,
            Self::Live { as_of } | Self::Forbidden { as_of, .. } | Self::Absent { as_of } => Some(*as_of),
        }
    }

    /// When the rows there are were last known to be so; none where there are none to speak of: what may not be read is
    /// not empty.
    pub fn read_at(&self) -> Option<Timestamp> {
        match self {
            Self::Live { as_of } => Some(*as_of),
            Self::Lost { as_of, .. } => *as_of,
            Self::Never | Self::Forbidden { .. } | Self::Absent { .. } => None,
        }
    }

    /// A write may be decided on it: read completely, unbroken, and heard of within `STALE_AFTER`.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        matches!(self, Self::Live { as_of } if now < STALE_AFTER.after(*as_of))
    }

    /// Why nothing is read, whatever its age; none while it is read.
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Live { .. } => None,
            Self::Never => Some("not read yet".to_owned()),
            Self::Lost { why, .. } | Self::Forbidden { why, .. } => Some(why.clone()),
            Self::Absent { .. } => Some("the cluster does not have this kind".to_owned()),
        }
    }

    /// What a person is told about a reading that nothing may be decided on; none = it is fresh.
    pub fn trouble(&self, now: Timestamp) -> Option<String> {
        let age = |as_of: Timestamp| Seconds::between(as_of, now);
        match self {
            _ if self.is_fresh(now) => None,
            Self::Never => Some("not read yet".to_owned()),
            Self::Live { as_of } => Some(format!("stale, no contact for {}", age(*as_of))),
            Self::Lost { as_of: Some(as_of), why } => Some(format!("no contact for {}: {why}", age(*as_of))),
            Self::Lost { as_of: None, why } => Some(format!("never read: {why}")),
            Self::Forbidden { why, .. } => Some(format!("forbidden: {why}")),
            Self::Absent { .. } => Some("the cluster does not have this kind".to_owned()),
        }
    }
}

/// Rows by name, as they were read last. A reader never sees half a list: rows are replaced as a whole on a relist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source<T: Clone> {
    /// By the name of the object.
    pub rows: OrdMap<String, T>,
    /// How far they can be relied on.
    pub contact: Contact,
}

impl<T: Clone> Default for Source<T> {
    fn default() -> Self {
        Self { rows: OrdMap::new(), contact: Contact::Never }
    }
}

impl<T: Clone> Source<T> {
    /// Rows that were read completely at `as_of`.
    pub fn live(rows: impl IntoIterator<Item = (String, T)>, as_of: Timestamp) -> Self {
        Self { rows: rows.into_iter().collect(), contact: Contact::Live { as_of } }
    }

    /// A write may be decided on it.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.contact.is_fresh(now)
    }

    /// One row.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.rows.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_heard_of_lately_and_without_a_break_is_fresh() {
        // K27, K43
        let now = Timestamp::from_second(1_000).unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        let why = || "connection refused".to_owned();
        let cases = [
            (Contact::Never, Some("not read yet")),
            (Contact::Live { as_of: at(911) }, None),
            (Contact::Live { as_of: at(910) }, Some("stale, no contact for 1m 30s")),
            (Contact::Lost { as_of: Some(at(990)), why: why() }, Some("no contact for 10s: connection refused")),
            (Contact::Lost { as_of: None, why: why() }, Some("never read: connection refused")),
            (Contact::Forbidden { as_of: now, why: why() }, Some("forbidden: connection refused")),
            (Contact::Absent { as_of: now }, Some("the cluster does not have this kind")),
        ];
        for (contact, trouble) in cases {
            assert_eq!(contact.trouble(now).as_deref(), trouble);
            assert_eq!(contact.is_fresh(now), trouble.is_none());
        }
    }
}
