//! Nodes: whose cordon it is, what is known of the runtime, what they host; and one of them in full.

use ratatui::layout::Rect;

use super::super::glyph::Glyph;
use super::super::kura::Token;
use super::super::layout::{Frame, Room};
use super::super::model::Model;
use super::super::snapshot::Snapshot;
use super::super::sort::By;
use super::super::theme::Role;
use super::deed::section;
use super::detail::{self, Text, fact, folded, item};
use super::pen::{Pen, piece};
use super::row::{head, joined};
use super::{servers, steps, table};
use crate::domain::roll::host::{Cordoned, Host, Runtime};
use crate::domain::roll::sight::FleetPod;

/// From this many columns on pods and versions have columns of their own.
const ALL_COLUMNS: u16 = 110;

/// From this many columns on states are told in words.
const WORDS_FROM: u16 = 64;

/// Pods of a node that are listed one by one.
const PODS_SHOWN: usize = 20;

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let split = frame.table(model.facts.fleet.veiled.len());
    summary(model, split.summary, pen);
    heading(model, split.heading, pen);
    if model.hosts.rows.is_empty() {
        pen.line(split.list, &[piece(Role::Dim, format!("  {}", empty(model)))]);
        return pen.rule(split.detail);
    }
    let list = (&*model.hosts.rows, &model.hosts.pick);
    table::rows(model, list, split.list, pen, |id, place, pen| one(model, id, place, pen));
    match frame.room {
        Room::Wide => both(model, split.detail, pen),
        _ => detail::strip(model, split.detail, pen),
    }
}

/// The selected node below a wide table: what is said and what to do on the left, how it stands on the right.
fn both(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let left = Rect { width: area.width / 2, ..area };
    detail::strip(model, left, pen);
    let right = Rect { x: left.right(), width: area.width - left.width, ..area };
    pen.rule(right);
    let (Some(picture), Some(id)) = (&model.picture, model.hosts.pick.get()) else { return };
    let height = right.height.saturating_sub(1);
    let inside = Rect { x: right.x + 2, y: right.y + 1, width: right.width.saturating_sub(3), height };
    let lines = facts(model, picture, id, usize::from(inside.width), pen);
    for y in inside.top()..inside.bottom() {
        let bar = pen.glyph(Glyph::Bar);
        pen.line(Rect { x: right.x, y, width: 1, height: 1 }, &[piece(Role::Rule, bar)]);
    }
    // The first line is air.
    detail::show(lines.get(1..).unwrap_or_default(), 0, inside, pen);
}

fn empty(model: &Model) -> &'static str {
    let glimpsed = model.picture.as_ref().is_some_and(|picture| picture.glimpse.is_some());
    match (model.hosts.filter.is_empty(), glimpsed) {
        (false, _) => "nothing passes the filter",
        (true, true) => "basic link: this control plane does not list any",
        (true, false) => "no node is seen: connect a cluster, kura-console serve --help",
    }
}

/// What is not as it should be, counted; what cannot be relied on is said below.
fn summary(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let hosts = || model.facts.fleet.hosts.values();
    let count = |is: &dyn Fn(&&Host) -> bool| hosts().filter(is).count();
    let all = hosts().count();
    let counts = [
        (count(&|host| host.ready == Some(false)), "not Ready", Role::Failed),
        (count(&|host| host.runtime() == Runtime::Broken), "broken", Role::Failed),
        (count(&|host| host.cordoned() == Cordoned::Ours), "cordoned by a roll", Role::Paused),
        (count(&|host| host.cordoned() == Cordoned::Somebodys), "cordoned by somebody", Role::Paused),
        (count(&|host| host.runtime() == Runtime::Proven), "proven", Role::Done),
    ];
    let some = counts.into_iter().filter(|(n, ..)| *n > 0).map(|(n, word, role)| (role, format!("{n} {word}")));
    let noun = if all == 1 { "node" } else { "nodes" };
    let facts = [(Role::Text, format!("{all} {noun}"))].into_iter().chain(some).collect();
    let mut pieces = vec![piece(Role::Dim, " ")];
    pieces.extend(joined(facts, pen));
    pen.line(Rect { height: area.height.min(1), ..area }, &pieces);
    if area.height > 1 {
        servers::veiled(&model.facts.fleet.veiled, Rect { y: area.y + 1, height: 1, ..area }, pen);
    }
}

/// Where columns stand.
struct Columns {
    ready: Rect,
    name: Rect,
    cordon: Rect,
    runtime: Rect,
    marks: Rect,
    pods: Rect,
    version: Rect,
    turn: Rect,
}

impl Columns {
    fn of(area: Rect) -> Self {
        let widths = match area.width {
            ALL_COLUMNS.. => [12, 24, 16, 18, 14, 8, 12],
            WORDS_FROM.. => [12, 15, 12, 17, 14, 0, 0],
            _ => [2, 16, 8, 12, 0, 0, 0],
        };
        let ([ready, name, cordon, runtime, marks, pods, version], rest) = table::columns(area, widths);
        let turn = Rect { width: rest.width.saturating_sub(1), ..rest };
        Self { ready, name, cordon, runtime, marks, pods, version, turn }
    }
}

fn heading(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let columns = Columns::of(area);
    let titles: [(Rect, &str, &[By]); 8] = [
        (columns.ready, "READY", &[By::State]),
        (columns.name, "NODE", &[By::Usual]),
        (columns.cordon, "CORDON", &[By::Held]),
        (columns.runtime, "RUNTIME", &[By::What, By::Beat]),
        (columns.marks, "HOSTS", &[]),
        (columns.pods, "PODS", &[]),
        (columns.version, "VERSION", &[By::Tag]),
        (columns.turn, "ROLL", &[]),
    ];
    for (place, title, by) in titles.into_iter().filter(|(place, ..)| place.width > 0) {
        pen.line(place, &head(title, model.hosts.sorting, by, pen));
    }
}

fn one(model: &Model, id: Token, area: Rect, pen: &mut Pen<'_>) {
    let Some(host) = model.facts.fleet.hosts.get(&id) else { return };
    let columns = Columns::of(area);
    let (glyph, word, role) = ready(host);
    let word = if columns.ready.width > 2 { format!(" {word}") } else { String::new() };
    pen.line(columns.ready, &[piece(role, format!("{}{word}", pen.glyph(glyph)))]);
    pen.line(columns.name, &[piece(Role::Strong, host.name.clone())]);
    let (role, text) = cordon(host, pen);
    pen.line(columns.cordon, &[piece(role, text)]);
    let (role, text) = runtime(host, pen);
    pen.line(columns.runtime, &[piece(role, text)]);
    pen.line(columns.marks, &[piece(Role::Strong, host.marks().join(", "))]);
    let pods = model.facts.fleet.pods.get(&host.name);
    let counted = pods.map_or_else(
        || (Role::Dim, "?".to_owned()),
        |(ready, all)| (if ready == all { Role::Text } else { Role::Warning }, format!("{ready}/{all}")),
    );
    pen.line(columns.pods, &[piece(counted.0, counted.1)]);
    pen.line(columns.version, &[piece(Role::Dim, host.version.clone().unwrap_or_default())]);
    let rolls = model.picture.as_ref().map(|picture| &picture.world.rolls);
    let name = |id| rolls.map(|rolls| rolls.name(id)).unwrap_or_default();
    let wide = area.width >= ALL_COLUMNS;
    let turn = match (host.in_turn_of, host.watched_by) {
        (Some(id), _) if wide => (Role::Moving, format!("in turn, {}", name(id))),
        (Some(_), _) => (Role::Moving, "in turn".to_owned()),
        (None, Some(id)) if wide => (Role::Dim, name(id)),
        (None, Some(_)) => (Role::Dim, "watched".to_owned()),
        (None, None) => (Role::Dim, String::new()),
    };
    pen.line(columns.turn, &[piece(turn.0, turn.1)]);
}

fn ready(host: &Host) -> (Glyph, &'static str, Role) {
    match host.ready {
        Some(true) => (Glyph::Done, "Ready", Role::Text),
        Some(false) => (Glyph::Failed, "NOT Ready", Role::Failed),
        None => (Glyph::Offline, "not seen", Role::Warning),
    }
}

/// Whose it is, since when, and whether somebody asked to give it back.
fn cordon(host: &Host, pen: &mut Pen<'_>) -> (Role, String) {
    let role = if host.cordoned() == Cordoned::No { Role::Dim } else { Role::Paused };
    let since = host.cordon.as_ref().map(|cordon| format!(" {}", pen.short_age(cordon.at))).unwrap_or_default();
    (role, format!("{}{since}", host.cordoned().word()))
}

/// What is known of it and how old that is; looking is called looking (F12).
fn runtime(host: &Host, pen: &mut Pen<'_>) -> (Role, String) {
    let runtime = host.runtime();
    let (glyph, role) = steps::runtime_look(runtime);
    // What is to be seen right now has no age.
    let finding = host.finding.as_ref().filter(|_| host.fingerprints.is_none());
    let age = finding.map(|finding| format!(" {}", pen.short_age(finding.at))).unwrap_or_default();
    let asked = if host.is_asked { pen.glyph(Glyph::Ellipsis) } else { "" };
    (role, format!("{} {}{age}{asked}", pen.glyph(glyph), runtime.word()))
}

/// What it is, and how it is called.
pub(super) fn title(model: &Model, id: Token) -> Text {
    let name = model.facts.fleet.hosts.get(&id).map_or("no longer listed", |host| host.name.as_str()).to_owned();
    vec![piece(Role::Strong, name), piece(Role::Dim, "  node")]
}

/// Everything that is known of it.
pub(super) fn facts(model: &Model, picture: &Snapshot, id: Token, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let Some(host) = model.facts.fleet.hosts.get(&id) else { return Vec::new() };
    let rolls = &picture.world.rolls;
    let (glyph, word, role) = ready(host);
    let (runs, told) = runtime(host, pen);
    let mut lines = vec![
        Text::new(),
        fact("ready", role, format!("{} {word}, as its kubelet says", pen.glyph(glyph))),
        fact("runtime", runs, told),
    ];
    if let Some(reason) = host.reason() {
        lines.extend(item(Glyph::Dot, Role::Text, reason, width, pen));
    }
    if host.fingerprints.is_some() {
        lines.push(fact("judged", Role::Text, "by what is to be seen of its pods right now"));
    } else if let Some(finding) = &host.finding {
        let how = if finding.passive { "by looking at its pods" } else { "by a probe" };
        lines.push(fact("judged", Role::Text, format!("{} ago, {how}", pen.age(finding.at))));
    }
    let mut whose = host.cordoned().word().to_owned();
    if let Some(cordon) = &host.cordon {
        let asked = cordon.asked_by.as_ref().map(|by| format!(", {by} asked to give it back")).unwrap_or_default();
        whose = format!("ours for {}, of {}{asked}", pen.age(cordon.at), rolls.name(cordon.roll));
    }
    if let Some(by) = &host.cordoned_by {
        whose = format!("{}, set by {by}", Cordoned::Somebodys.word());
    }
    let role = if host.cordoned() == Cordoned::No { Role::Text } else { Role::Paused };
    lines.push(fact("cordon", role, whose));
    let marks = host.marks();
    lines.push(fact("hosts", Role::Text, if marks.is_empty() { "-".to_owned() } else { marks.join(", ") }));
    if let Some(version) = &host.version {
        lines.push(fact("version", Role::Text, version.clone()));
    }
    lines.extend(host.kernel.as_ref().map(|kernel| fact("kernel", Role::Text, kernel.clone())));
    let roll = host.in_turn_of.or(host.watched_by);
    lines.extend(roll.map(|id| fact("roll", Role::Text, rolls.name(id))));
    let mut lines: Vec<Text> = lines.into_iter().flat_map(|fact| folded(fact, width)).collect();
    lines.extend(section("PODS", pods(picture, host, width, pen)));
    lines
}

/// What runs on it, what is not Ready first.
fn pods(picture: &Snapshot, host: &Host, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let fleet = picture.observed.cluster.as_ref().map(|sight| &sight.fleet);
    let mut pods: Vec<&FleetPod> = fleet.into_iter().flat_map(|fleet| fleet.pods_on(&host.name)).collect();
    pods.sort_by_key(|pod| pod.ready);
    let told = |pod: &&FleetPod| {
        let (glyph, role, word) = match (pod.ready, pod.is_over()) {
            (true, _) => (Glyph::Done, Role::Text, "Ready"),
            (false, true) => (Glyph::Dot, Role::Dim, "ended"),
            (false, false) => (Glyph::Warning, Role::Warning, "not Ready"),
        };
        let why = pod.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        item(glyph, role, &format!("{}/{} {word}{why}", pod.namespace, pod.stamp.name), width, pen)
    };
    let mut lines: Vec<Text> = pods.iter().take(PODS_SHOWN).flat_map(told).collect();
    if pods.len() > PODS_SHOWN {
        lines.push(vec![piece(Role::Dim, format!("and {} more", pods.len() - PODS_SHOWN))]);
    }
    lines
}
