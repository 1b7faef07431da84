//! What of Kura needs a human: one row for each incident, however many servers it has.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::super::facts::Node;
use super::super::need::{Need, NeedKind};
use super::super::snapshot::{Snapshot, TICK_LATE_AFTER};
use super::cause::{PER_CAUSE_MAX, Plight, plight};
use super::facts::{GroupKind, KuraFacts};
use super::part::{Part, Token};
use super::row::{Drift, ServerRow};
use super::told::plight_of;
use super::words::{counted, waited_for};
use crate::domain::ids::ServerId;
use crate::domain::kura::orphans::Direction;
use crate::domain::kura::workload::PausedBy;
use crate::domain::span::Seconds;

/// A gateway that is on its way out longer than this does not get out by itself.
const GATEWAY_STUCK_AFTER: Seconds = Seconds(600);

/// A gateway that nobody uses for this long was not collected.
const GATEWAY_UNUSED_AFTER: Seconds = Seconds(3_600);

/// Things of one kind that are listed one by one; the others are counted.
const PER_KIND_MAX: usize = 5;

/// Every reason there is.
pub(in super::super) fn wants(picture: &Snapshot, facts: &KuraFacts, moment: Timestamp) -> Vec<Need> {
    let mut wants = Wants { facts, moment, needs: Vec::new() };
    if facts.servers.is_empty() && facts.gateways.is_empty() && facts.orphans.is_empty() {
        return wants.needs;
    }
    wants.unattended(picture);
    wants.unseen();
    wants.groups();
    wants.servers();
    wants.meshes();
    wants.gateways();
    wants.orphans();
    wants.needs
}

struct Wants<'a> {
    facts: &'a KuraFacts,
    moment: Timestamp,
    needs: Vec<Need>,
}

impl Wants<'_> {
    fn push(
        &mut self,
        kind: NeedKind,
        part: Option<Part>,
        name: &str,
        text: impl Into<String>,
        since: Option<Timestamp>,
    ) {
        let (node, name, text) = (part.map(Node::Kura), name.to_owned(), text.into());
        self.needs.push(Need { kind, node, name, text, since, until: None });
    }

    /// Nobody ticks; while a rollout runs that is said already.
    fn unattended(&mut self, picture: &Snapshot) {
        if picture.world.running().is_some() || picture.glimpse.is_some() {
            return;
        }
        let text = "nothing is deployed and no drift heals";
        match (picture.holder(), picture.seat.last_tick) {
            (None, at) => self.push(NeedKind::NoTick, None, "seat", format!("nobody holds the seat: {text}"), at),
            (Some(holder), Some(at)) if Seconds::between(at, self.moment) > TICK_LATE_AFTER => {
                let text = format!("holds the seat and does not tick: {text}");
                self.push(NeedKind::NoTick, None, holder, text, Some(at));
            }
            _ => {}
        }
    }

    fn unseen(&mut self) {
        // What was not read yet is read in a moment.
        let veiled: Vec<_> = self
            .facts
            .veiled
            .iter()
            .filter(|one| one.as_of.is_some() || one.kind.is_empty() || one.why.is_some())
            .collect();
        let Some(first) = veiled.first() else { return };
        let kinds: Vec<&str> = veiled.iter().map(|one| one.kind).filter(|kind| !kind.is_empty()).collect();
        let why = first.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let what = if kinds.is_empty() { String::new() } else { format!("{} ", kinds.join(", ")) };
        let text = format!("{what}{}{why}; nothing is written on it", first.word);
        let since = first.as_of;
        self.push(NeedKind::Unseen, None, "cluster", text, since);
    }

    fn groups(&mut self) {
        for group in self.facts.groups.iter().filter(|group| group.kind == GroupKind::DeadNode) {
            let count = group.members.len();
            let text = format!("not Ready, and {} stand on it alone: one incident", counted(count, "server"));
            self.push(NeedKind::NodeDead, Some(Part::Group(group.id)), &group.name, text, None);
        }
    }

    fn servers(&mut self) {
        let facts = self.facts;
        for (id, cause) in &facts.causes {
            let text = plight_of(cause);
            let name = format!("{} servers", cause.members.len());
            self.push(kind_of(cause.plight), Some(Part::Cause(*id)), &name, text, cause.since);
        }
        let shared: BTreeSet<ServerId> =
            facts.causes.values().flat_map(|cause| cause.members.iter().copied()).collect();
        let mut told = Told::default();
        for row in facts.servers.values() {
            if let Some((plight, since)) = plight(row, self.moment, &mut None).filter(|_| !shared.contains(&row.id)) {
                self.push(kind_of(plight), Some(Part::Server(row.id)), &row.name, stuck(row, plight), since);
            }
            self.beyond(row, &mut told);
        }
        for (kind, count) in told.rest() {
            self.rest(kind, "servers", count);
        }
    }

    /// What is wrong beside a deployment.
    fn beyond(&mut self, row: &ServerRow, told: &mut Told) {
        let mut found: Vec<(NeedKind, String, Option<Timestamp>)> = Vec::new();
        if let Some((manager, field)) = &row.tug {
            found.push((
                NeedKind::WrittenBack,
                format!("{manager} writes {field} back: nothing is applied any more"),
                None,
            ));
        }
        if let Some((object, why)) = row.troubles.first() {
            found.push((NeedKind::Unwritten, format!("{object}: {why}"), None));
        }
        if row.drift == Some(Drift::Edited) && plight(row, self.moment, &mut None).is_none() {
            let text = "its live object was edited by hand, and the revision agrees: nothing heals it".to_owned();
            found.push((NeedKind::Edited, text, None));
        }
        if row.left_behind {
            let text = format!("{} deployments superseded, none succeeded", row.superseded);
            found.push((NeedKind::LeftBehind, text, row.open().map(|open| open.at)));
        }
        let held = row.held().filter(|held| held.by == PausedBy::Operator && row.on_old_image() > 0);
        if let Some(held) = held {
            let text = format!("by an operator, {} on the old image", counted(row.on_old_image(), "pod"));
            found.push((NeedKind::Held, text, held.since));
        }
        if let Some(pinned) = row.pinned().first().filter(|_| row.dead_node.is_none()) {
            found.push((
                NeedKind::Pinned,
                format!("{} is pending, tied to {}", pinned.pod, pinned.node),
                Some(pinned.since),
            ));
        }
        for (kind, text, since) in found {
            if told.takes(kind) {
                self.push(kind, Some(Part::Server(row.id)), &row.name, text, since);
            }
        }
    }

    fn meshes(&mut self) {
        let facts = self.facts;
        let count = facts.skewed.len();
        if count > PER_CAUSE_MAX {
            let text = "more than one version of skew in each";
            return self.push(NeedKind::Skew, Some(Part::Estate), &format!("{count} meshes"), text, None);
        }
        for (id, mesh) in &facts.skewed {
            let text = mesh.warning.clone().unwrap_or_default();
            self.push(NeedKind::Skew, Some(Part::Mesh(*id)), &mesh.tenant, format!("mesh: {text}"), None);
        }
    }

    fn gateways(&mut self) {
        let (facts, moment) = (self.facts, self.moment);
        let over = |since: Timestamp, after: Seconds| Seconds::between(since, moment) >= after;
        let mut told = Told::default();
        for (id, row) in &facts.gateways {
            let (kind, text, since) = match row.leaving_since {
                Some(since) if row.is_stuck() && over(since, GATEWAY_STUCK_AFTER) => {
                    let count = row.finalizers.len();
                    let held = if count == 1 { "a finalizer".to_owned() } else { format!("{count} finalizers") };
                    (NeedKind::GatewayStuck, format!("stuck on its way out, held by {held}"), since)
                }
                None if over(row.created_at, GATEWAY_UNUSED_AFTER) => {
                    (NeedKind::GatewayUnused, "nobody uses it".to_owned(), row.created_at)
                }
                _ => continue,
            };
            if told.takes(kind) {
                self.push(kind, Some(Part::Gateway(*id)), &row.name, text, Some(since));
            }
        }
        for (kind, count) in told.rest() {
            self.rest(kind, "gateways", count);
        }
    }

    /// A row without an instance is made again by the next tick; only where that cannot be written somebody is needed.
    fn orphans(&mut self) {
        let facts = self.facts;
        let alone: Vec<_> =
            facts.orphans.iter().filter(|(_, one)| one.direction == Direction::InstanceWithoutRow).collect();
        for (id, orphan) in alone.iter().take(PER_KIND_MAX) {
            self.push(
                NeedKind::Orphan,
                Some(Part::Orphan(**id)),
                &orphan.name,
                "an instance that no server claims",
                None,
            );
        }
        if alone.len() > PER_KIND_MAX {
            self.rest(NeedKind::Orphan, "orphans", alone.len() - PER_KIND_MAX);
        }
    }

    fn rest(&mut self, kind: NeedKind, what: &str, count: usize) {
        let part = Part::Group(Token::of("rest", what));
        self.push(kind, Some(part), what, format!("and {count} more of them"), None);
    }
}

/// How many of each kind were told.
#[derive(Default)]
struct Told(std::collections::BTreeMap<NeedKind, usize>);

impl Told {
    fn takes(&mut self, kind: NeedKind) -> bool {
        let count = self.0.entry(kind).or_default();
        *count += 1;
        *count <= PER_KIND_MAX
    }

    fn rest(self) -> Vec<(NeedKind, usize)> {
        let over = self.0.into_iter().filter(|(_, count)| *count > PER_KIND_MAX);
        over.map(|(kind, count)| (kind, count - PER_KIND_MAX)).collect()
    }
}

fn kind_of(plight: Plight) -> NeedKind {
    match plight {
        Plight::Down => NeedKind::Down,
        Plight::Failed => NeedKind::Undeployed,
        Plight::Stuck => NeedKind::Stuck,
    }
}

fn stuck(row: &ServerRow, plight: Plight) -> String {
    let tag = row.attempt.as_ref().map_or("nothing", |attempt| attempt.tag.as_str());
    let error = row.attempt.as_ref().and_then(|attempt| attempt.error.as_deref());
    match (plight, &row.wait, row.progressing()) {
        (Plight::Failed, ..) => format!("{tag} failed: {}", error.unwrap_or("it is not said why")),
        (Plight::Down, _, Some(progress)) => format!("does not serve, but its bootstrap progresses: {progress}"),
        (Plight::Down, Some(wait), _) => format!("does not serve; {tag} waits for {}", waited_for(wait.kind)),
        (Plight::Down, None, _) => "does not serve, and nothing is being deployed".to_owned(),
        (_, Some(wait), _) => format!("{tag} waits for {}", waited_for(wait.kind)),
        (_, None, _) => format!("{tag} is not applied"),
    }
}
