//! What can be done about something of Kura, each with its verb or its exact command, and what to look at afterwards
//! (§10).

use super::super::need::NeedKind;
use super::super::snapshot::Snapshot;
use super::facts::{GroupKind, KuraFacts};
use super::part::Part;
use super::row::{Drift, ServerRow};
use crate::domain::ids::ServerId;
use crate::domain::kura::advice::{Advice, Incident, of_server, on_incident, on_wait};
use crate::domain::kura::deployment::WaitKind;
use crate::domain::kura::ends::aimed;
use crate::domain::kura::incidents::Workload;
use crate::domain::kura::orphans::Direction;
use crate::domain::kura::server::Server;
use crate::domain::kura::sight::ClusterIdentity;

/// What stands for the context of `kubectl` where this console knows none: no cluster is ever meant by default.
const UNKNOWN_CONTEXT: &str = "CONTEXT";

/// A need or a row: what something is said and done about.
pub(in super::super) type Matter = (Option<NeedKind>, Option<Part>);

/// What can be done about it, most useful first.
pub(in super::super) fn remedies(picture: &Snapshot, facts: &KuraFacts, matter: Matter) -> Vec<Advice> {
    let Some(part) = matter.1 else {
        let incident = if matter.0 == Some(NeedKind::NoTick) { Incident::Unattended } else { Incident::Unseen };
        return vec![on_incident(None, incident)];
    };
    match part {
        Part::Server(id) => of_one(picture, facts, matter.0, id),
        Part::Cause(id) => {
            facts.causes.get(&id).map_or(Vec::new(), |cause| of_cause(picture, cause.wait, &cause.members))
        }
        Part::Estate if matter.0.is_none() => Vec::new(),
        _ => incident(picture, facts, part).into_iter().collect(),
    }
}

fn incident(picture: &Snapshot, facts: &KuraFacts, part: Part) -> Option<Advice> {
    match part {
        Part::Group(id) => {
            let node = facts.group(id).filter(|group| group.kind == GroupKind::DeadNode)?.name.as_str();
            Some(on_incident(None, Incident::DeadNode { node }))
        }
        Part::Mesh(id) => {
            let tenant = facts.skewed.get(&id)?.tenant.as_str();
            Some(on_incident(None, Incident::Skewed { tenant }))
        }
        Part::Gateway(id) => {
            let row = facts.gateways.get(&id)?;
            let gateway = row.name.as_str();
            let incident = match row.is_stuck() {
                true => Incident::StuckGateway { gateway },
                false => Incident::UnusedGateway { gateway },
            };
            Some(on_incident(None, incident))
        }
        Part::Orphan(id) => {
            let row = facts.orphans.get(&id)?;
            let incident = match row.direction {
                Direction::InstanceWithoutRow => Incident::Orphan { instance: &row.name },
                Direction::RowWithoutInstance => Incident::Missing,
            };
            Some(on_incident(picture.world.kura.server_of(&row.name), incident))
        }
        Part::Estate => {
            let tenant = facts.skewed.values().next()?.tenant.as_str();
            Some(Advice { command: None, ..on_incident(None, Incident::Skewed { tenant }) })
        }
        Part::Server(_) | Part::Cause(_) => None,
    }
}

fn of_one(picture: &Snapshot, facts: &KuraFacts, kind: Option<NeedKind>, id: ServerId) -> Vec<Advice> {
    let (Some(server), Some(row)) = (picture.world.kura.servers.get(&id), facts.servers.get(&id)) else {
        return Vec::new();
    };
    let one = |incident| vec![on_incident(Some(server), incident)];
    match kind {
        Some(NeedKind::Held) => one(Incident::HeldByOperator),
        Some(NeedKind::Pinned) => {
            row.pinned().iter().map(|pinned| on_incident(Some(server), Incident::Pinned { pod: &pinned.pod })).collect()
        }
        Some(NeedKind::Unwritten) => one(Incident::Unwritten),
        _ => ordered(whatever_is_wrong(server, row), row, facts.target.as_deref()),
    }
}

fn whatever_is_wrong(server: &Server, row: &ServerRow) -> Vec<Advice> {
    let mut all = Vec::new();
    if let Some(node) = &row.dead_node {
        all.push(on_incident(None, Incident::DeadNode { node }));
    }
    if !row.troubles.is_empty() {
        all.push(on_incident(Some(server), Incident::Unwritten));
    }
    if row.drift == Some(Drift::Missing) {
        all.push(on_incident(Some(server), Incident::Missing));
    }
    let nothing = || Workload {
        ready: 0,
        replicas: row.replicas,
        on_old_image: Vec::new(),
        held: None,
        pinned: Vec::new(),
        progressing: None,
    };
    let edited = row.drift == Some(Drift::Edited);
    all.extend(of_server(server, &row.work.clone().unwrap_or_else(nothing), edited));
    all
}

/// Of a server that is on the newest tag there is none newer to deploy: it has to be released first. Who has waited and
/// waited is not told to wait.
fn ordered(advice: Vec<Advice>, row: &ServerRow, newest: Option<&str>) -> Vec<Advice> {
    let at_newest = row.open().is_some_and(|open| Some(open.tag.as_str()) == newest);
    let newer = |advice: Advice| match advice.verb.as_deref() {
        Some("deploy") if at_newest => {
            let action = "release a newer runtime tag; what is not Ready rolls to it together".to_owned();
            Advice { action, verb: Some("release-tag".to_owned()), ..advice }
        }
        _ => advice,
    };
    let mut advice: Vec<Advice> = advice.into_iter().map(newer).collect();
    if row.progressing().is_none() {
        advice.sort_by_key(|advice| (advice.verb.is_none(), advice.command.is_none()));
    }
    advice
}

/// A verb on one server is none of all of them; a look at the first one tells of the others.
fn of_cause(picture: &Snapshot, wait: Option<WaitKind>, members: &[ServerId]) -> Vec<Advice> {
    let mut all = Vec::new();
    if wait == Some(WaitKind::WorkloadNotReady) {
        all.push(on_incident(None, Incident::Wedged));
    }
    let first = members.first().and_then(|id| picture.world.kura.servers.get(id));
    let of_first = first.zip(wait).map(|(server, wait)| on_wait(server, wait)).unwrap_or_default();
    let name = first.map(Server::name).unwrap_or_default();
    let looks = of_first.into_iter().filter(|advice| advice.verb.is_none() && advice.command.is_some());
    all.extend(looks.map(|advice| Advice { action: format!("{}, as of {name}", advice.action), ..advice }));
    all
}

/// A command as it is run: it means the cluster that is seen, by the name of the console's own context where it has one,
/// else by that of whoever told of it.
pub(in super::super) fn as_run(command: &str, picture: &Snapshot, context: Option<&str>) -> String {
    let seen = picture.observed.cluster.as_ref().and_then(|sight| sight.identity.as_ref());
    let own = picture.own.as_ref().map(|own| own.context.as_str());
    let context = own.or(seen.and_then(|seen| seen.context.as_deref())).or(context).unwrap_or(UNKNOWN_CONTEXT);
    let at = ClusterIdentity { context: Some(context.to_owned()), ..seen.cloned().unwrap_or_else(nowhere) };
    aimed(command, &at)
}

/// Where the cluster does not say which one it is.
fn nowhere() -> ClusterIdentity {
    ClusterIdentity { uid: None, version: String::new(), context: None, namespace: "kura".to_owned() }
}
