//! What every object has, as it comes over the wire, and as far as somebody here looks at it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::domain::kura::object::{INSTANCE_LABEL, Stamp};

/// Labels outside these families are not kept for what is there in great numbers.
const KEPT_LABELS: &[&str] = &["app.kubernetes.io/", "tuist.dev/", "kura.tuist.dev/"];

/// An object's metadata. Who manages which field is skipped unless `M` reads it: it is most of an object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound = "M: DeserializeOwned + Default")]
pub struct Meta<M = IgnoredAny> {
    /// Its name.
    pub name: String,
    /// Where it lives; empty for what has no such place.
    pub namespace: String,
    /// Which object of that name.
    pub uid: String,
    /// Which version of it.
    pub resource_version: String,
    /// When it was made.
    pub creation_timestamp: Option<Timestamp>,
    /// When it may be gone, once somebody wants that.
    pub deletion_timestamp: Option<Timestamp>,
    /// What lies between that wish and that time, in seconds.
    pub deletion_grace_period_seconds: Option<i64>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// What has to let go of it first.
    pub finalizers: Vec<String>,
    /// What it goes away with.
    pub owner_references: Vec<Owner>,
    /// Who set which field.
    pub managed_fields: M,
}

/// An owner of an object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Owner {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// It is the one that looks after it.
    pub controller: bool,
}

impl<M> Meta<M> {
    /// As the domain keeps it, with every label.
    pub(super) fn stamp(self) -> Stamp {
        let grace = SignedDuration::from_secs(self.deletion_grace_period_seconds.unwrap_or(0));
        Stamp {
            name: self.name,
            uid: self.uid,
            resource_version: self.resource_version,
            created_at: self.creation_timestamp.unwrap_or(Timestamp::UNIX_EPOCH),
            deleting_since: self.deletion_timestamp.map(|end| end.checked_sub(grace).unwrap_or(end)),
            finalizers: self.finalizers,
            labels: self.labels.into(),
        }
    }

    /// As the domain keeps it, with the labels that mean something here.
    pub(super) fn slim_stamp(mut self) -> Stamp {
        self.labels.retain(|name, _| KEPT_LABELS.iter().any(|family| name.starts_with(family)));
        self.stamp()
    }

    /// The instance it belongs to, by its label, or by its owner (K46, K50).
    pub(super) fn instance(&self) -> Option<String> {
        let owner = || self.owner_references.iter().find(|owner| owner.kind == "KuraInstance");
        self.labels.get(INSTANCE_LABEL).cloned().or_else(|| owner().map(|owner| owner.name.clone()))
    }
}

/// An object as it is read, and what is kept of it.
pub trait Watched: DeserializeOwned + Clone + Send + 'static {
    /// What is kept.
    type Row: Clone + PartialEq + Send + Sync + 'static;

    /// Its name, and the version of it.
    fn name_and_version(&self) -> (&str, &str);

    /// What is kept of it; none where it is no business of this namespace.
    fn row(self, namespace: &str) -> Option<Self::Row>;

    /// A reader is to be woken: what is kept says something else than before.
    fn is_news(before: &Self::Row, now: &Self::Row) -> bool {
        before != now
    }
}

/// A condition in a status.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Which.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// One word.
    pub reason: Option<String>,
    /// A sentence.
    pub message: Option<String>,
    /// When `status` last changed.
    pub last_transition_time: Option<Timestamp>,
}

impl Condition {
    /// The one of this type.
    pub(super) fn of<'a>(all: &'a [Self], kind: &str) -> Option<&'a Self> {
        all.iter().find(|condition| condition.kind == kind)
    }

    /// Its status is `True`.
    pub(super) fn holds(&self) -> bool {
        self.status == "True"
    }
}

/// Makes the first half of `Watched` out of a field `metadata`.
macro_rules! named_by_metadata {
    () => {
        fn name_and_version(&self) -> (&str, &str) {
            (&self.metadata.name, &self.metadata.resource_version)
        }
    };
}
pub(super) use named_by_metadata;
