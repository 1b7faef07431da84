//! What is said about something of Kura: one sentence, and what can be done.

use jiff::Timestamp;

use super::super::facts::Node;
use super::super::model::Subject;
use super::super::need::NeedKind;
use super::super::snapshot::Snapshot;
use super::cause::{Cause, Plight};
use super::facts::{GatewayRow, Group, GroupKind, KuraFacts};
use super::part::Part;
use super::remedy::{Matter, remedies};
use super::row::{Drift, ServerRow};
use super::words::{counted, open_ones, theirs, waited_for};
use crate::domain::explain::Explanation;
use crate::domain::ids::ServerId;
use crate::domain::kura::deployment::DeploymentStatus;
use crate::domain::kura::drift::{FieldDrift, drift};
use crate::domain::kura::orphans::Direction;
use crate::domain::kura::render::render;
use crate::domain::kura::server::{Server, ServerStatus};
use crate::domain::kura::words::{held, left_behind, moving, unwritten, written_back};
use crate::domain::kura::workload::PausedBy;
use crate::domain::span::Seconds;

/// A wait that began this soon after its deployment has lasted as long as it.
const SAME_TIME: Seconds = Seconds(600);

/// Servers that are named one by one; the others are counted.
const NAMED_MAX: usize = 4;

/// The matter of Kura that is shown; none where something else is.
pub(in super::super) fn matter(picture: &Snapshot, subject: Subject) -> Option<Matter> {
    match subject {
        Subject::Node(Node::Kura(part)) => Some((None, Some(part))),
        Subject::Need(kind, Some(Node::Kura(part))) => Some((Some(kind), Some(part))),
        Subject::Need(NeedKind::Unseen, None) => Some((Some(NeedKind::Unseen), None)),
        // While a rollout runs, it is the rollout that stands still.
        Subject::Need(NeedKind::NoTick, None) if picture.world.running().is_none() => {
            (!picture.world.kura.is_empty()).then_some((Some(NeedKind::NoTick), None))
        }
        _ => None,
    }
}

/// Says something about a matter of Kura at a moment.
pub(in super::super) fn explain(
    picture: &Snapshot,
    facts: &KuraFacts,
    matter: Matter,
    moment: Timestamp,
) -> Explanation {
    let teller = Teller { picture, facts, moment };
    let (sentence, since) = teller.tell(matter);
    let advice = remedies(picture, facts, matter);
    Explanation {
        sentence,
        since,
        on: None,
        next: advice.iter().map(|advice| advice.action.clone()).collect(),
        verify: advice.iter().take(1).map(|advice| advice.verify.clone()).collect(),
        failure_mode: None,
    }
}

type Said = (String, Option<Timestamp>);

struct Teller<'a> {
    picture: &'a Snapshot,
    facts: &'a KuraFacts,
    moment: Timestamp,
}

impl Teller<'_> {
    fn tell(&self, (kind, part): Matter) -> Said {
        let gone = || ("it is no longer listed".to_owned(), None);
        let facts = self.facts;
        match part {
            None if kind == Some(NeedKind::NoTick) => {
                ("nobody ticks: nothing is deployed and no drift heals".to_owned(), self.picture.seat.last_tick)
            }
            None => self.unseen(),
            Some(Part::Server(id)) => facts.servers.get(&id).map_or_else(gone, |row| self.server(row, kind)),
            Some(Part::Cause(id)) => facts.causes.get(&id).map_or_else(gone, |cause| self.cause(cause)),
            Some(Part::Group(id)) => match facts.group(id) {
                Some(group) => (self.group(group), None),
                None => ("the others stand on the screen of Kura servers".to_owned(), None),
            },
            Some(Part::Gateway(id)) => facts.gateways.get(&id).map_or_else(gone, |row| self.gateway(row)),
            Some(Part::Orphan(id)) => facts.orphans.get(&id).map_or_else(gone, |row| match row.direction {
                Direction::InstanceWithoutRow => {
                    (format!("{} runs and no server claims it; it is never deleted by itself", row.name), None)
                }
                Direction::RowWithoutInstance => {
                    (format!("{} is claimed by its server and does not run", row.name), None)
                }
            }),
            Some(Part::Estate) if kind == Some(NeedKind::Skew) => (self.skewed(), None),
            Some(Part::Estate) => (self.estate(), None),
            Some(Part::Mesh(id)) => facts.skewed.get(&id).map_or_else(gone, |mesh| {
                let what = mesh.warning.as_deref().unwrap_or_default();
                (format!("in the mesh of {} {what}; one version of skew is the safety budget", mesh.tenant), None)
            }),
        }
    }

    fn age(&self, since: Timestamp) -> Seconds {
        Seconds::between(since, self.moment)
    }

    fn unseen(&self) -> Said {
        let Some(first) = self.facts.veiled.first() else { return ("everything is seen again".to_owned(), None) };
        let kinds: Vec<&str> = self.facts.veiled.iter().map(|one| one.kind).filter(|kind| !kind.is_empty()).collect();
        let why = first.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let what = if kinds.is_empty() { String::new() } else { format!("{}: ", kinds.join(", ")) };
        let age = first.as_of.map_or_else(String::new, |at| format!(" for {}", self.age(at)));
        (format!("{what}{}{age}{why}; nothing is written on what is not seen", first.word), first.as_of)
    }

    fn skewed(&self) -> String {
        let named = self.facts.skewed.values().take(NAMED_MAX);
        let named: Vec<String> = named.map(|mesh| format!("{} ({})", mesh.tenant, mesh.tags.join(", "))).collect();
        let rest = self.facts.skewed.len().saturating_sub(NAMED_MAX);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        format!("one version of skew is the safety budget of a mesh, and these have more: {}{more}", named.join(", "))
    }

    fn estate(&self) -> String {
        let [all, serving, open] = self.facts.counts();
        let newest = match &self.facts.target {
            Some(tag) => format!("the newest tag is {tag}"),
            None => "no runtime tag was released yet".to_owned(),
        };
        format!("{serving} of {} serve, {}; {newest}", counted(all, "server"), open_ones(open))
    }

    fn group(&self, group: &Group) -> String {
        let count = group.members.len();
        match group.kind {
            GroupKind::DeadNode => {
                let has = counted(count, "server");
                format!("{} is not Ready and has every pod of {has}: one incident", group.name)
            }
            GroupKind::Region => {
                let rows = || {
                    group.members.iter().filter_map(|part| match part {
                        Part::Server(id) => self.facts.servers.get(id),
                        _ => None,
                    })
                };
                let serving = rows().filter(|row| row.status == ServerStatus::Active).count();
                let open = rows().filter(|row| row.open().is_some()).count();
                format!("{}: {serving}/{count} serve, {}", group.name, open_ones(open))
            }
            GroupKind::Gateways => format!("{}: nobody uses them, or they are stuck", counted(count, "gateway")),
            GroupKind::Orphans => format!("{}: none is ever deleted by itself", counted(count, "orphan")),
        }
    }

    fn cause(&self, cause: &Cause) -> Said {
        let names = named(self.facts, &cause.members);
        let count = cause.members.len();
        let longest =
            cause.since.map_or_else(String::new, |since| format!(", the first of them for {}", self.age(since)));
        (format!("{count} servers {}{longest}: {names}", plight_of(cause)), cause.since)
    }

    fn gateway(&self, row: &GatewayRow) -> Said {
        let beat = row
            .beat
            .map_or_else(|| "was never heard of".to_owned(), |at| format!("was last heard of {} ago", self.age(at)));
        match row.leaving_since {
            Some(since) => {
                let held = row.finalizers.join(", ");
                let text = format!(
                    "{} has been leaving for {}, held by {held}; its controller {beat}",
                    row.name,
                    self.age(since)
                );
                (text, Some(since))
            }
            None => {
                let text = format!(
                    "nobody names the class of {}; it goes by itself after the next apply of its tenant in its region",
                    row.name
                );
                (text, Some(row.created_at))
            }
        }
    }

    fn server(&self, row: &ServerRow, kind: Option<NeedKind>) -> Said {
        let Some(server) = self.picture.world.kura.servers.get(&row.id) else { return (String::new(), None) };
        let parts = match kind {
            Some(NeedKind::Held) => vec![self.held(row)],
            Some(NeedKind::Pinned) => vec![self.pinned(row)],
            Some(NeedKind::Unwritten) => vec![unwritten(server)],
            Some(NeedKind::LeftBehind) => vec![left_behind(server), self.open(row, server)],
            _ => self.everything(row, server),
        };
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let since = row.wait.as_ref().map(|wait| wait.since).or(row.open().map(|open| open.at));
        (format!("{}: {}", standing(row), parts.join("; ")).trim_end_matches(": ").to_owned(), since)
    }

    /// What is wrong, most pressing first.
    fn everything(&self, row: &ServerRow, server: &Server) -> Vec<Option<String>> {
        let progress =
            row.progressing().map(|text| format!("its bootstrap progresses ({text}): deleting a pod throws that away"));
        let dead = row.dead_node.as_ref().map(|node| format!("all its pods are on {node}, which is not Ready"));
        vec![
            dead,
            self.open(row, server),
            self.differs(row, server),
            written_back(server),
            unwritten(server),
            self.failed(row),
            left_behind(server),
            self.held(row),
            self.pinned(row),
            progress,
            moving(server),
            server.pin.as_ref().map(held),
        ]
    }

    fn open(&self, row: &ServerRow, server: &Server) -> Option<String> {
        let open = row.open()?;
        let forced = if server.open().is_some_and(|row| row.force) { "forced " } else { "" };
        let (age, tag) = (self.age(open.at), &open.tag);
        Some(match (&row.wait, open.status) {
            (Some(wait), _) => {
                let waits = self.age(wait.since);
                let longer = Seconds(age.0.saturating_sub(waits.0)) > SAME_TIME;
                let open = if longer { format!(", open for {age},") } else { String::new() };
                format!("{forced}{tag}{open} has waited {waits} for {} ({})", waited_for(wait.kind), wait.detail)
            }
            (None, DeploymentStatus::Pending) => {
                format!("{forced}{tag} has been pending for {age}: nothing was applied yet")
            }
            (None, _) => format!("{forced}{tag} has been on its way for {age}"),
        })
    }

    fn differs(&self, row: &ServerRow, server: &Server) -> Option<String> {
        match row.drift? {
            Drift::None => None,
            Drift::Missing => Some("its instance is missing, and the next tick makes it".to_owned()),
            Drift::Drifted if row.tug.is_some() => None,
            Drift::Drifted => {
                Some("its live object is behind what is rendered, and the next tick applies it".to_owned())
            }
            Drift::Edited => {
                let fields = self.fields(server);
                let first = fields.first()?;
                let more = match fields.len() {
                    1 => String::new(),
                    n => format!(" (and {} more)", n - 1),
                };
                let edited = format!("somebody edited {}{more}: {}", first.field, apart(first));
                Some(format!("{edited}; the revision agrees, so nothing is applied by itself"))
            }
        }
    }

    fn fields(&self, server: &Server) -> Vec<FieldDrift> {
        let live = self.picture.observed.cluster.as_ref().and_then(|sight| sight.instances.get(&server.instance_name));
        let both = live.zip(server.wanted_tag());
        both.map(|(live, tag)| drift(&render(server, tag), &live.spec)).unwrap_or_default()
    }

    fn failed(&self, row: &ServerRow) -> Option<String> {
        let failed = row.attempt.as_ref().filter(|attempt| attempt.status == DeploymentStatus::Failed)?;
        let why = failed.error.as_deref().unwrap_or("it is not said why");
        Some(format!("its deployment of {} failed {} ago: {why}", failed.tag, self.age(failed.at)))
    }

    fn held(&self, row: &ServerRow) -> Option<String> {
        let held = row.held()?;
        let by = if held.by == PausedBy::Operator { "an operator" } else { "its controller" };
        let age = held.since.map_or_else(String::new, |at| format!(" for {}", self.age(at)));
        let old = counted(row.on_old_image(), "pod");
        Some(format!("its update has been held by {by}{age}, with {old} on the old image, which nobody deletes"))
    }

    fn pinned(&self, row: &ServerRow) -> Option<String> {
        let first = row.pinned().first()?;
        let why = first.reason.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        let (pod, node, age) = (&first.pod, &first.node, self.age(first.since));
        Some(format!("{pod} has been pending for {age}{why}, and its volume is tied to {node}"))
    }
}

/// What all servers of a cause have in common, after their number.
pub(super) fn plight_of(cause: &Cause) -> String {
    let tag = &cause.tag;
    match (cause.plight, cause.wait) {
        (Plight::Failed, _) => format!("failed to take {tag}"),
        (Plight::Down, None) => format!("do not serve {tag}"),
        (Plight::Stuck, None) => format!("wait to be brought to {tag}"),
        (Plight::Down, Some(wait)) => format!("do not serve and wait for {} on {tag}", theirs(wait)),
        (Plight::Stuck, Some(wait)) => format!("wait for {} on {tag}", theirs(wait)),
    }
}

fn standing(row: &ServerRow) -> String {
    let name = &row.name;
    let on = |text: &str| row.current.as_ref().map_or_else(String::new, |tag| format!("{text}{tag}"));
    match row.status {
        ServerStatus::Active => format!("{name} serves{}", on(" ")),
        ServerStatus::Replicating => format!("{name} does not serve{}", on(", last on ")),
        ServerStatus::Failed => format!("{name} failed{}", on(", last on ")),
        ServerStatus::Provisioning => format!("{name} never served yet"),
        ServerStatus::Destroying => format!("{name} is being destroyed"),
        ServerStatus::Destroyed => format!("{name} is destroyed"),
    }
}

/// A field that differs: what is there, and what is rendered.
pub(in super::super) fn said(field: &FieldDrift) -> String {
    format!("{}: {}", field.field, apart(field))
}

fn apart(field: &FieldDrift) -> String {
    let told = |value: &Option<serde_json::Value>| match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "nothing".to_owned(),
    };
    format!("live {}, rendered {}", told(&field.live), told(&field.rendered))
}

fn named(facts: &KuraFacts, members: &[ServerId]) -> String {
    let names = members.iter().filter_map(|id| facts.servers.get(id)).map(|row| row.name.as_str());
    let few: Vec<&str> = names.take(NAMED_MAX).collect();
    match members.len().checked_sub(NAMED_MAX) {
        None | Some(0) => few.join(", "),
        Some(more) => format!("{} and {more} more", few.join(", ")),
    }
}
