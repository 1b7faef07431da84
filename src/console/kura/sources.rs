//! What cannot be relied on of the cluster, kind by kind: never read, stale, lost, forbidden and absent are five texts.

use jiff::Timestamp;

use crate::domain::kura::sight::{NO_CLUSTER, Sight};
use crate::domain::kura::source::{Contact, STALE_AFTER};

/// A kind that nothing may be decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Veiled {
    /// Its plural; empty for the cluster as a whole.
    pub kind: &'static str,
    /// How it stands, in a word or two without any time in it.
    pub word: &'static str,
    /// What the cluster said, where it said something.
    pub why: Option<String>,
    /// When it was heard of last.
    pub as_of: Option<Timestamp>,
}

/// Every kind that nothing may be decided on at a moment; without a cluster that is all there is to say.
pub(super) fn veiled(sight: Option<&Sight>, moment: Timestamp) -> Vec<Veiled> {
    let Some(sight) = sight else {
        return vec![Veiled { kind: "", word: NO_CLUSTER, why: None, as_of: None }];
    };
    unread(contacts(sight), moment)
}

/// Those of some kinds that nothing may be decided on at a moment.
pub(in super::super) fn unread<'a>(
    kinds: impl IntoIterator<Item = (&'static str, &'a Contact)>,
    moment: Timestamp,
) -> Vec<Veiled> {
    kinds.into_iter().filter_map(|(kind, contact)| of(kind, contact, moment)).collect()
}

fn contacts(sight: &Sight) -> [(&'static str, &Contact); 9] {
    [
        ("instances", &sight.instances.contact),
        ("pods", &sight.pods.contact),
        ("statefulsets", &sight.sets.contact),
        ("gateways", &sight.gateways.contact),
        ("ingresses", &sight.ingresses.contact),
        ("ingressclasses", &sight.classes.contact),
        ("claims", &sight.claims.contact),
        ("volumes", &sight.volumes.contact),
        ("nodes", &sight.nodes),
    ]
}

fn of(kind: &'static str, contact: &Contact, moment: Timestamp) -> Option<Veiled> {
    if contact.is_fresh(moment) {
        return None;
    }
    let (word, why) = match contact {
        Contact::Never => ("not read yet", None),
        Contact::Live { .. } => ("stale", None),
        Contact::Lost { why, .. } => ("lost", Some(why.clone())),
        Contact::Forbidden { why, .. } => ("forbidden", Some(why.clone())),
        Contact::Absent { .. } => ("not served by this cluster", None),
    };
    Some(Veiled { kind, word, why, as_of: contact.as_of() })
}

/// When the next kind that is fresh at a moment goes stale, unless it is heard of again.
pub(super) fn stale_at(sight: &Sight, moment: Timestamp) -> Option<Timestamp> {
    let live = contacts(sight).into_iter().filter(|(_, contact)| contact.is_fresh(moment));
    live.filter_map(|(_, contact)| Some(STALE_AFTER.after(contact.as_of()?))).min()
}
