//! What can be done about whatever is shown, each with its key or its exact command.

use jiff::Timestamp;

use super::facts::Facts;
use super::model::Subject;
use super::snapshot::Snapshot;
use super::{fleet, kura};
use crate::domain::kura::advice::Advice;

/// What can be done about a Kura server, a roll or a node, most useful first; none where something else is shown, whose
/// explanation has its own.
pub(super) fn advice(picture: &Snapshot, facts: &Facts, subject: Subject, moment: Timestamp) -> Option<Vec<Advice>> {
    match kura::matter(picture, subject) {
        Some(matter) => Some(kura::remedies(picture, &facts.kura, matter)),
        None => fleet::advice(picture, &facts.fleet, subject, moment),
    }
}
