//! A fleet roll in full: its facts, every node with its steps and times, what probes said, who opened which gate.

use super::super::fleet::roll_row::RollRow;
use super::super::glyph::Glyph;
use super::super::model::Model;
use super::super::snapshot::Snapshot;
use super::super::theme::Role;
use super::deed::section;
use super::detail::{Text, fact, folded, item, moment};
use super::pen::{Pen, piece};
use super::{rolls, steps};
use crate::domain::ids::RollId;
use crate::domain::roll::fleet_roll::Roll;
use crate::domain::roll::green::reported;
use crate::domain::roll::host::Runtime;
use crate::domain::roll::node::{Finding, NodeRoll};
use crate::domain::roll::quorum::margin_of;
use crate::domain::roll::words;
use crate::domain::span::Seconds;

/// Findings that are shown, the newest first; older ones are counted.
const FINDINGS_SHOWN: usize = 12;

/// What it is, and how it is called.
pub(super) fn title(model: &Model, id: RollId) -> Text {
    let row = model.facts.fleet.roll(id);
    let name = row.map_or("no longer kept", |row| row.name.as_str()).to_owned();
    vec![piece(Role::Strong, name), piece(Role::Dim, format!("  roll {}", id.short()))]
}

/// Everything that is known of it.
pub(super) fn facts(model: &Model, picture: &Snapshot, id: RollId, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let (Some(roll), Some(row)) = (picture.world.rolls.roll(id), model.facts.fleet.roll(id)) else {
        return Vec::new();
    };
    let mut lines = vec![Text::new()];
    lines.extend(plain(roll, row, pen).into_iter().flat_map(|fact| folded(fact, width)));
    lines.extend(written(roll, row, width, pen));
    lines.push(Text::new());
    lines.extend(steps::fleet(model, picture, id, (width, row.order.len() + 1), pen));
    lines.extend(beneath(roll, row, width, pen));
    lines.extend(section("REPORTED, NOT WAITED FOR", not_waited_for(roll, picture, width, pen)));
    lines
}

/// Times of every step, and what probes said.
pub(super) fn beneath(roll: &Roll, row: &RollRow, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let mut lines = section("STEPS", times(roll, row, width, pen));
    lines.extend(section("PROBES", probes(roll, width, pen)));
    lines
}

fn plain(roll: &Roll, row: &RollRow, pen: &mut Pen<'_>) -> Vec<Text> {
    let (glyph, word, role) = rolls::look(row);
    let mut lines = vec![fact("state", role, format!("{} {word}", pen.glyph(glyph)))];
    lines.extend(rolls::chip(roll, pen).map(|(role, chip)| fact("", role, chip.into_owned())));
    lines.extend([
        fact("position", Role::Text, words::position(&row.progress, pen.glyph(Glyph::Dot))),
        fact("revision", Role::Text, roll.revision.clone()),
        fact("image", Role::Text, roll.image.clone()),
    ]);
    if let Some(digest) = &roll.digest {
        lines.push(fact("digest", Role::Text, digest.clone()));
    }
    if let Some(eta) = row.eta {
        let by = match eta {
            crate::domain::roll::eta::Eta::Green { by, .. } => format!(", by {by} that went through"),
            _ => String::new(),
        };
        lines.push(fact("ETA", Role::Text, format!("{}{by}", rolls::told(eta, pen))));
    }
    lines.push(fact("staged", Role::Text, format!("{} of {} nodes have the image", row.staged, row.order.len())));
    if let Some(node) = &row.registry {
        lines.push(match &row.registry_trouble {
            Some(trouble) if trouble.ends_with(node.as_str()) => fact("registry", Role::Halted, trouble.clone()),
            Some(trouble) => fact("registry", Role::Halted, format!("{trouble}, last on {node}")),
            None => fact("registry", Role::Text, format!("on {node}, which goes last")),
        });
    }
    let margin = margin_of(&roll.spec);
    let role = if margin.is_bare() { Role::Warning } else { Role::Text };
    let told = margin.warning().unwrap_or_else(|| format!("{} may be down at once", margin.tolerated));
    lines.push(fact("quorum", role, told));
    lines.push(fact("soak", Role::Text, format!("{} after the last node is green", roll.spec.soak_seconds)));
    let started = format!("{} ago by {}", pen.age(roll.started_at), roll.by);
    lines.push(fact("started", Role::Text, started));
    if let Some(ended) = &roll.ended {
        lines.push(fact("ended", Role::Text, format!("{} ({} ago)", moment(ended.at), pen.age(ended.at))));
    }
    for done in &roll.approvals {
        let waited = words::waited(done.since, done.at);
        lines.push(fact("gate", Role::Text, format!("{} opened by {} after {waited}", done.gate, done.by)));
    }
    lines
}

/// Writes that do not succeed.
fn written(roll: &Roll, row: &RollRow, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let troubles = roll.troubles.iter().filter(|_| row.eta.is_some());
    let told = troubles.map(|(object, why)| format!("{object} cannot be written: {why}"));
    told.flat_map(|text| item(Glyph::Errored, Role::Failed, &text, width, pen)).collect()
}

/// Every step that was begun, node by node in the order they go.
fn times(roll: &Roll, row: &RollRow, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let mut lines = Vec::new();
    for name in &row.order {
        let Some(node) = roll.nodes.get(name) else { continue };
        lines.extend(steps::times(name, node, roll.is_live(), width, pen));
    }
    lines
}

/// Newest first; what comes from looking alone is called that (F12).
fn probes(roll: &Roll, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let of = |(name, node): (&String, &NodeRoll)| {
        node.findings.iter().map(|finding| (finding.clone(), name.clone())).collect::<Vec<_>>()
    };
    let mut all: Vec<(Finding, String)> = roll.nodes.iter().flat_map(of).collect();
    all.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.at));
    let told = |(finding, name): &(Finding, String)| {
        let runtime = Runtime::of(Some(finding), None, None);
        let (glyph, role) = steps::runtime_look(runtime);
        let how = if finding.passive { "looked at" } else { "probed" };
        let took = Seconds::between(finding.started_at, finding.at);
        let took = if finding.passive { String::new() } else { format!(" in {took}") };
        let text = format!("{} {name} {}, {how}{took}: {}", moment(finding.at), runtime.word(), finding.reason);
        item(glyph, role, &text, width, pen)
    };
    let mut lines: Vec<Text> = all.iter().take(FINDINGS_SHOWN).flat_map(told).collect();
    if all.len() > FINDINGS_SHOWN {
        let text = format!("{} older ones: kura-console rolls {}", all.len() - FINDINGS_SHOWN, roll.name());
        lines.push(vec![piece(Role::Dim, text)]);
    }
    lines
}

/// Workloads of the node in turn that do not run and that its gate never waits for (F31).
fn not_waited_for(roll: &Roll, picture: &Snapshot, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let fleet = picture.observed.cluster.as_ref().map(|sight| &sight.fleet);
    let names = roll.in_turn().zip(fleet).map(|(node, fleet)| reported(roll, node, fleet)).unwrap_or_default();
    names.iter().flat_map(|name| item(Glyph::Dot, Role::Dim, &format!("{name} is not Ready"), width, pen)).collect()
}
