//! A Kura server in full: every fact of §8, its chain, what differs field by field, its history, pods and gateways.

use super::super::glyph::Glyph;
use super::super::kura::row::{BEAT_LATE_AFTER, Drift, ServerRow};
use super::super::kura::{Matter, Part, field_said};
use super::super::model::Model;
use super::super::snapshot::Snapshot;
use super::super::theme::Role;
use super::chain;
use super::deed::section;
use super::detail::{Text, fact, item, moment};
use super::pen::{Pen, piece};
use crate::domain::kura::deployment::{Deployment, DeploymentStatus};
use crate::domain::kura::drift::drift;
use crate::domain::kura::object::{ACCOUNT_LABEL, REGION_LABEL, tag_of};
use crate::domain::kura::render::render;
use crate::domain::kura::server::{MovePhase, Server};
use crate::domain::kura::sight::{PodDeleter, Sight};
use crate::domain::kura::traffic::Gateway;
use crate::domain::kura::workload::{PausedBy, Pod};
use crate::domain::span::Seconds;

/// Deployments that are shown; older ones are counted.
const ROWS_SHOWN: usize = 12;

/// What it is, and how it is called.
pub(super) fn title(model: &Model, part: Part) -> Text {
    let kura = &model.facts.kura;
    let name = kura.name(part).unwrap_or("no longer listed").to_owned();
    let kind = match part {
        Part::Server(id) => format!("server {}", id.short()),
        Part::Gateway(_) => "gateway".to_owned(),
        Part::Orphan(_) => "orphan".to_owned(),
        Part::Group(_) => "group".to_owned(),
        Part::Cause(_) => "servers stuck on this tag".to_owned(),
        Part::Mesh(_) => "mesh".to_owned(),
        Part::Estate => "all of them".to_owned(),
    };
    vec![piece(Role::Strong, name), piece(Role::Dim, format!("  {kind}"))]
}

/// Everything that is known of the matter.
pub(super) fn facts(model: &Model, picture: &Snapshot, matter: Matter, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let kura = &model.facts.kura;
    match matter.1 {
        Some(Part::Server(id)) => match (picture.world.kura.servers.get(&id), kura.servers.get(&id)) {
            (Some(server), Some(row)) => whole(model, picture, server, row, width, pen),
            _ => Vec::new(),
        },
        Some(Part::Gateway(id)) => kura.gateways.get(&id).map_or_else(Vec::new, |row| {
            let beat = row.beat.map_or_else(|| "never".to_owned(), |at| format!("{} ago", pen.age(at)));
            let mut lines = vec![
                Text::new(),
                fact("used by", Role::Text, row.used_by.clone().unwrap_or_else(|| "nobody".to_owned())),
                fact("created", Role::Text, format!("{} ago", pen.age(row.created_at))),
                fact("heartbeat", Role::Text, format!("its controller, {beat}")),
            ];
            if let Some(since) = row.leaving_since {
                lines.push(fact("leaving", Role::Warning, format!("for {}", pen.age(since))));
            }
            lines.extend(row.finalizers.iter().map(|finalizer| fact("held by", Role::Warning, finalizer.clone())));
            lines
        }),
        Some(Part::Cause(id)) => kura.causes.get(&id).map_or_else(Vec::new, |cause| {
            let rows = cause.members.iter().filter_map(|id| kura.servers.get(id));
            section("SERVERS", rows.map(|row| fact(row.status.word(), Role::Text, row.name.clone())).collect())
        }),
        Some(Part::Group(id)) => kura.group(id).map_or_else(Vec::new, |group| {
            let row = |part: &Part| match part {
                Part::Server(id) => kura.servers.get(id),
                _ => None,
            };
            let rows = group.members.iter().filter_map(row);
            section("SERVERS", rows.map(|row| fact(row.status.word(), Role::Text, row.name.clone())).collect())
        }),
        Some(Part::Mesh(id)) => kura.skewed.get(&id).map_or_else(Vec::new, |mesh| {
            section("TAGS THAT RUN", mesh.tags.iter().map(|tag| vec![piece(Role::Text, tag.clone())]).collect())
        }),
        _ => Vec::new(),
    }
}

fn whole(
    model: &Model,
    picture: &Snapshot,
    server: &Server,
    row: &ServerRow,
    width: usize,
    pen: &mut Pen<'_>,
) -> Vec<Text> {
    let sight = picture.observed.cluster.as_ref();
    let mut lines = section("ENDPOINT CHAIN", endpoint(server, sight, width, pen));
    lines.push(Text::new());
    lines.extend(plain(server, row, pen));
    lines.extend(workload(row, sight, pen));
    if let Some(mesh) = model.facts.kura.meshes.get(&row.tenant).filter(|_| server.spec.mesh) {
        let (role, why) = match &mesh.warning {
            Some(why) => (Role::Warning, format!(": {why}")),
            None => (Role::Text, String::new()),
        };
        lines.push(fact("mesh", role, format!("runs {}{why}", mesh.tags.join(" and "))));
    }
    for veiled in &model.facts.kura.veiled {
        let why = veiled.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let age = veiled.as_of.map_or_else(String::new, |at| format!(", as of {} ago", pen.age(at)));
        lines.extend(item(
            Glyph::Warning,
            Role::Warning,
            &format!("{} {}{age}{why}", veiled.kind, veiled.word),
            width,
            pen,
        ));
    }
    if let Some(sight) = sight {
        lines.extend(section("RENDERED, APPLIED, LIVE", manifest(server, row, sight, width, pen)));
        let pods = sight.pods_of(&server.instance_name).flat_map(|pod| of_pod(pod, server, width, pen)).collect();
        lines.extend(section("PODS", pods));
        lines.extend(section("GATEWAYS", gateways(server, sight, width, pen)));
    }
    lines.extend(section("HISTORY", pen.as_told(|pen| faded(history(server, width, pen), pen))));
    lines
}

/// Lines that are drawn later, faded where they are of an older moment than what is around them.
fn faded(mut lines: Vec<Text>, pen: &Pen<'_>) -> Vec<Text> {
    if pen.stands_still() {
        lines.iter_mut().flatten().for_each(|(role, _)| *role = Role::Stale);
    }
    lines
}

/// The chain as far as it can be seen; without a cluster that is said, and nothing is guessed.
pub(super) fn endpoint(server: &Server, sight: Option<&Sight>, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    match sight {
        Some(sight) => chain::drawn(server, sight, width, pen),
        None => item(Glyph::Offline, Role::Warning, "not seen from here: no cluster is connected", width, pen),
    }
}

fn plain(server: &Server, row: &ServerRow, pen: &mut Pen<'_>) -> Vec<Text> {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let mut lines = vec![
        fact("status", Role::Text, row.status.word()),
        fact("serves", Role::Text, format!("{}, target {}", or_none(&row.current), or_none(&row.target))),
        fact("instance", Role::Text, server.instance_name.clone()),
        fact("url", Role::Text, or_none(&server.url)),
    ];
    if let Some(attempt) = &row.attempt {
        let ago = if attempt.status.is_open() { "open for" } else { "ended" };
        let text = format!("{} {}, {ago} {}", attempt.tag, attempt.status.word(), pen.age(attempt.at));
        lines.push(fact("deployment", Role::Text, text));
    }
    if let Some(wait) = &row.wait {
        let text = format!("{} for {}", wait.kind.word(), pen.age(wait.since));
        lines.push(fact("waits", Role::Warning, text));
    }
    if row.superseded > 0 {
        let role = if row.left_behind { Role::Warning } else { Role::Text };
        lines.push(fact("superseded", role, format!("{} in a row since the last success", row.superseded)));
    }
    if row.moving != MovePhase::None {
        lines.push(fact("move", Role::Warning, format!("{}: deployments wait until it is over", row.moving.word())));
    }
    if let Some(pin) = &server.pin {
        let text = format!("to {} by {}, until newer than {}", pin.tag, pin.by, pin.newest);
        lines.push(fact("pinned", Role::Paused, text));
    }
    lines
}

fn workload(row: &ServerRow, sight: Option<&Sight>, pen: &mut Pen<'_>) -> Vec<Text> {
    let mut lines = Vec::new();
    let ready = row.ready().map_or_else(|| "?".to_owned(), |ready| ready.to_string());
    let role = if row.ready().is_some_and(|ready| ready >= row.replicas) { Role::Text } else { Role::Warning };
    let old = row.on_old_image();
    lines.push(fact("ready", role, format!("{ready} of {}, {old} on an old image", row.replicas)));
    if let Some(held) = row.held() {
        let by = if held.by == PausedBy::Operator { "an operator" } else { "its controller" };
        let age = held.since.map_or_else(|| "since nobody knows when".to_owned(), |at| format!("for {}", pen.age(at)));
        lines.push(fact("update", Role::Paused, format!("held by {by} {age}")));
    }
    for pinned in row.pinned() {
        let text =
            format!("{} pending for {}, its volume is tied to {}", pinned.pod, pen.age(pinned.since), pinned.node);
        lines.push(fact("pinned", Role::Warning, text));
    }
    if let Some(text) = row.progressing() {
        lines.push(fact("progress", Role::Moving, text.to_owned()));
        lines.push(fact("", Role::Warning, "deleting a pod now throws that away"));
    }
    let beat = row.beat.map_or_else(
        || (Role::Warning, "never".to_owned()),
        |at| {
            let late = Seconds::between(at, pen.now()) > BEAT_LATE_AFTER;
            if late {
                (Role::Warning, format!("{} ago", pen.age(at)))
            } else {
                (Role::Text, "in the last 5m".to_owned())
            }
        },
    );
    lines.push(fact("heartbeat", beat.0, format!("its controller, {}", beat.1)));
    let deleter = match sight.map(|sight| sight.deleter) {
        Some(PodDeleter::Ours) => "by this control plane",
        Some(PodDeleter::Controller) => "by the instance controller",
        Some(PodDeleter::Nobody) => "by nobody: it is turned off",
        None => "not known: no cluster is connected",
    };
    lines.push(fact("not Ready", Role::Text, format!("pods are deleted together {deleter}")));
    lines
}

/// The three revisions, and the fields in which what is live differs from what is rendered.
fn manifest(server: &Server, row: &ServerRow, sight: &Sight, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let Some(tag) = server.wanted_tag() else { return Vec::new() };
    let (manifest, live) = (render(server, tag), sight.instances.get(&server.instance_name));
    let none = || "none".to_owned();
    let of_live = live.and_then(|live| live.revision.clone());
    let role = if of_live.as_ref() == Some(&manifest.imprint.revision) { Role::Text } else { Role::Warning };
    let mut lines = vec![
        fact("rendered", Role::Text, manifest.imprint.revision.clone()),
        fact("applied", Role::Text, server.applied.as_ref().map_or_else(none, |applied| applied.revision.clone())),
        fact("live", role, of_live.unwrap_or_else(none)),
    ];
    let fields = live.map(|live| drift(&manifest, &live.spec)).unwrap_or_default();
    let by = |field: &str| {
        let manager = live.and_then(|live| live.foreign.get(field))?;
        let times = server.foreign.get(field).map_or(1, |edit| edit.times);
        Some(format!(", written by {manager} {times} times"))
    };
    for field in &fields {
        let text = format!("{}{}", field_said(field), by(&field.field).unwrap_or_default());
        lines.extend(item(Glyph::Warning, Role::Warning, &text, width, pen));
    }
    let verdict = match row.drift {
        None => "it cannot be told whether they agree",
        Some(Drift::None) => "they agree",
        Some(Drift::Edited) => "the revision agrees and fields do not: only a forced re-apply heals it",
        Some(Drift::Drifted | Drift::Missing) if row.tug.is_some() => "nothing is applied by itself any more",
        Some(Drift::Drifted | Drift::Missing) => "the next tick applies what is rendered",
    };
    lines.push(vec![piece(Role::Dim, verdict)]);
    lines.extend(row.troubles.iter().flat_map(|(object, why)| {
        item(Glyph::Errored, Role::Failed, &format!("{object} cannot be written: {why}"), width, pen)
    }));
    lines
}

/// Newest first; what displaced what stands in each row (K7).
fn history(server: &Server, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let shown = server.deployments.iter().rev().take(ROWS_SHOWN);
    let mut lines: Vec<Text> = shown.flat_map(|row| attempt(row, width, pen)).collect();
    let older = server.attempts.saturating_sub(u64::try_from(ROWS_SHOWN).unwrap_or(u64::MAX));
    if older > 0 {
        lines.push(vec![piece(Role::Dim, format!("{older} older ones: kura-console deployments {}", server.name()))]);
    }
    lines
}

fn attempt(row: &Deployment, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let (glyph, role) = match row.status {
        DeploymentStatus::Pending => (Glyph::Queued, Role::Queued),
        DeploymentStatus::Running => (Glyph::Moving, Role::Moving),
        DeploymentStatus::Succeeded => (Glyph::Done, Role::Done),
        DeploymentStatus::Failed => (Glyph::Failed, Role::Failed),
        DeploymentStatus::Cancelled => (Glyph::Dot, Role::Dim),
        DeploymentStatus::Superseded => (Glyph::Warning, Role::Warning),
    };
    let forced = if row.force { ", forced" } else { "" };
    let by = row.displaced_by.as_ref().map(|tag| format!(" by {tag}")).unwrap_or_default();
    let lasted = match row.finished_at {
        Some(at) => format!("lasted {}", Seconds::between(row.inserted_at, at)),
        None => format!("open for {}", pen.age(row.inserted_at)),
    };
    let why = row.error.as_ref().or(row.detail.as_ref()).or(row.reason.as_ref());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let text = format!(
        "{} {}  {}{by}{forced}, {lasted}, by {}{why}",
        moment(row.inserted_at),
        row.image_tag,
        row.status.word(),
        row.requested_by
    );
    item(glyph, role, &text, width, pen)
}

pub(super) fn of_pod(pod: &Pod, server: &Server, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let image = pod.image.as_deref().map_or("no image", tag_of);
    let old = server.wanted_tag().is_some_and(|tag| tag != image);
    let (glyph, role, word) = match (pod.ready, old) {
        (true, false) => (Glyph::Done, Role::Done, "Ready"),
        (true, true) => (Glyph::Settling, Role::Warning, "Ready, old image"),
        (false, false) => (Glyph::Warning, Role::Warning, "not Ready"),
        (false, true) => (Glyph::Failed, Role::Failed, "not Ready, old image"),
    };
    let node = pod.node.as_ref().map_or_else(|| "on no node yet".to_owned(), |node| format!("on {node}"));
    let why = pod.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    item(glyph, role, &format!("{} {word}, {image}, {node}{why}", pod.stamp.name), width, pen)
}

/// Those of its tenant in its region, by their labels (K43).
fn gateways(server: &Server, sight: &Sight, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let label = |gateway: &Gateway, name: &str| gateway.stamp.label(name).map(str::to_owned);
    let ours = sight.gateways.rows.values().filter(|gateway| {
        label(gateway, ACCOUNT_LABEL).as_deref() == Some(&server.tenant)
            && label(gateway, REGION_LABEL).as_deref() == Some(&server.region)
    });
    let mut lines = Vec::new();
    for gateway in ours {
        let class = gateway.class.as_deref().unwrap_or("no class");
        let (glyph, role, rest) = match gateway.stamp.deleting_since {
            Some(since) => {
                let held = gateway.stamp.finalizers.join(", ");
                (Glyph::Warning, Role::Warning, format!(", leaving for {}, held by {held}", pen.age(since)))
            }
            None => (Glyph::Dot, Role::Text, String::new()),
        };
        lines.extend(item(glyph, role, &format!("{}, class {class}{rest}", gateway.stamp.name), width, pen));
    }
    lines
}
