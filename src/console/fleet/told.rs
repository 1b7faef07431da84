//! What can be done about a roll or a node, and what the core is asked about it.

use jiff::Timestamp;

use super::super::facts::Node;
use super::super::model::Subject;
use super::super::need::NeedKind;
use super::super::snapshot::Snapshot;
use super::facts::FleetFacts;
use crate::domain::explain;
use crate::domain::kura::advice::{Advice, Incident, on_incident};
use crate::domain::roll::advice::{of_host, of_roll};

/// What the core is asked about a row of a roll or a node; none where it is another row.
pub(in super::super) fn subject_of(facts: &FleetFacts, subject: Subject) -> Option<explain::Subject> {
    match subject.row() {
        Subject::Node(Node::Roll(id)) => Some(explain::Subject::Roll(id)),
        Subject::Node(Node::Host(id)) => {
            let name = facts.hosts.get(&id).map(|host| host.name.clone());
            Some(explain::Subject::Node(name.unwrap_or_else(|| "of that name any more".to_owned())))
        }
        _ => None,
    }
}

/// What can be done about it, most useful first; none where it is another row.
pub(in super::super) fn advice(
    picture: &Snapshot,
    facts: &FleetFacts,
    subject: Subject,
    moment: Timestamp,
) -> Option<Vec<Advice>> {
    let rolls = &picture.world.rolls;
    match (subject, subject.row()) {
        (Subject::Need(NeedKind::NoTick, _), Subject::Node(Node::Roll(_))) => {
            Some(vec![on_incident(None, Incident::Unattended)])
        }
        (_, Subject::Node(Node::Roll(id))) => {
            let fleet = picture.observed.cluster.as_ref().map(|sight| &sight.fleet);
            Some(rolls.roll(id).map_or_else(Vec::new, |roll| of_roll(roll, rolls, fleet, moment)))
        }
        (_, Subject::Node(Node::Host(id))) => {
            Some(facts.hosts.get(&id).map_or_else(Vec::new, |host| of_host(host, rolls)))
        }
        _ => None,
    }
}
