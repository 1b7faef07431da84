//! The fleet of a roll as a table: one node a row, its steps as a bar, what it is about, how long it took, and what is known
//! of its runtime.

use super::super::fleet::roll_row::RollRow;
use super::super::glyph::Glyph;
use super::super::model::Model;
use super::super::snapshot::Snapshot;
use super::super::text::{cut, escape, width as columns};
use super::super::theme::Role;
use super::detail::{Text, item};
use super::pen::{Pen, Piece, piece};
use crate::domain::ids::RollId;
use crate::domain::roll::fleet_roll::Roll;
use crate::domain::roll::host::Runtime;
use crate::domain::roll::node::{NodeRoll, Standing, StepName, StepRow, StepState};
use crate::domain::span::Seconds;

/// Columns of what a node is, of its bar, of what it is about, of each of its two times.
const MARK: usize = 10;
const BAR: usize = 8;
const STEP: usize = 14;
const TIME: usize = 8;

/// Columns of what is known of its runtime.
const VERDICT: usize = 16;

/// The longest column of names.
const NAME_MAX: usize = 24;

/// Below this many columns there is room for names, bars and what a node is about only.
const NARROW: usize = 62;

/// Rows before the node in turn that are shown where not all of them are.
const BEFORE: usize = 1;

/// The letters over a bar, one for each step.
const LETTERS: &str = "SCDBVUG";

/// The table, in at most so many rows and columns; what does not fit is counted.
pub(super) fn fleet(
    model: &Model,
    picture: &Snapshot,
    id: RollId,
    (width, rows): (usize, usize),
    pen: &mut Pen<'_>,
) -> Vec<Text> {
    let (Some(roll), Some(row)) = (picture.world.rolls.roll(id), model.facts.fleet.roll(id)) else {
        return Vec::new();
    };
    if rows < 2 {
        return Vec::new();
    }
    let narrow = width < NARROW;
    let taken = if narrow { BAR + STEP } else { MARK + BAR + STEP + 2 * TIME + VERDICT };
    let name = NAME_MAX.min(width.saturating_sub(taken + 1)).max(8);
    let mut lines = vec![heading(name, narrow)];
    let (from, to) = window(roll, row, rows - 1);
    for node in &row.order[from..to] {
        lines.push(one((model, roll, row), node, (name, narrow), pen));
    }
    let left = row.order.len() - (to - from);
    if left > 0 {
        let text = format!("{} {left} more nodes: open the roll", pen.glyph(Glyph::Ellipsis));
        lines.push(vec![piece(Role::Dim, text)]);
    }
    lines
}

/// Which nodes are shown: all of them, or those around the one in turn.
fn window(roll: &Roll, row: &RollRow, rows: usize) -> (usize, usize) {
    let all = row.order.len();
    if all <= rows {
        return (0, all);
    }
    let shown = rows.saturating_sub(1);
    let turn = roll.in_turn().or(roll.turns.last().map(|turn| turn.node.as_str()));
    let at = turn.and_then(|turn| row.order.iter().position(|node| node == turn)).unwrap_or(0);
    let from = at.saturating_sub(BEFORE).min(all - shown);
    (from, from + shown)
}

fn heading(name: usize, narrow: bool) -> Text {
    if narrow {
        return vec![piece(Role::Heading, format!("{:<name$} {LETTERS:<BAR$}NOW", "NODE"))];
    }
    let text = format!(
        "{:<name$} {:<MARK$}{LETTERS:<BAR$}{:<STEP$}{:<TIME$}{:<TIME$}RUNTIME",
        "NODE", "", "NOW", "ROLLED", "GREEN"
    );
    vec![piece(Role::Heading, text)]
}

fn one(
    (model, roll, row): (&Model, &Roll, &RollRow),
    name: &str,
    (room, narrow): (usize, bool),
    pen: &mut Pen<'_>,
) -> Text {
    let nothing = NodeRoll::default();
    let node = roll.nodes.get(name).unwrap_or(&nothing);
    let shown = cut(&escape(name), room, pen.glyph(Glyph::Ellipsis)).into_owned();
    let role = if roll.in_turn() == Some(name) { Role::Strong } else { Role::Text };
    let mut line = vec![piece(role, padded(shown, room + 1))];
    if !narrow {
        line.push(piece(Role::Dim, padded(mark(roll, row, name).to_owned(), MARK)));
    }
    line.extend(bar(node, pen));
    line.push(now(roll, name, node, pen));
    if narrow {
        return line;
    }
    let began = roll.turns.iter().rev().find(|turn| turn.node == name).map(|turn| turn.at);
    let spans = began.map_or([None, None], |at| node.spans(at).map(|(_, span)| span));
    let told = |span: Option<Seconds>| padded(span.map_or_else(String::new, |span| span.to_string()), TIME);
    line.extend(spans.map(|span| piece(Role::Text, told(span))));
    line.push(verdict(model, roll, name, node, pen));
    line
}

fn padded(text: String, room: usize) -> String {
    let short = room.saturating_sub(columns(&text));
    text + &" ".repeat(short)
}

fn mark(roll: &Roll, row: &RollRow, name: &str) -> &'static str {
    match (roll.spec.canary.as_deref() == Some(name), row.registry.as_deref() == Some(name)) {
        (true, _) => "canary",
        (false, true) if row.registry_trouble.is_some() => "registry?",
        (false, true) => "registry",
        (false, false) => "",
    }
}

/// A cell for each step: done, running, failed, skipped, not begun.
pub(super) fn bar(node: &NodeRoll, pen: &Pen<'_>) -> Vec<Piece<'static>> {
    let cell = |step: StepName| match node.step(step).map(|row| row.state) {
        Some(StepState::Done) => piece(Role::Done, pen.glyph(Glyph::SlotHeld)),
        Some(StepState::Running) => piece(Role::Moving, pen.glyph(Glyph::Moving)),
        Some(StepState::Failed) => piece(Role::Failed, pen.glyph(Glyph::Failed)),
        Some(StepState::Skipped) => piece(Role::Dim, pen.glyph(Glyph::Waiting)),
        None => piece(Role::Dim, pen.glyph(Glyph::SlotFree)),
    };
    StepName::ALL.into_iter().map(cell).chain([piece(Role::Dim, " ")]).collect()
}

/// The step it is in with how long it has been, or how it stands.
fn now(roll: &Roll, name: &str, node: &NodeRoll, pen: &mut Pen<'_>) -> Piece<'static> {
    let failed = node.steps.iter().find(|(_, row)| row.state == StepState::Failed);
    let (role, text) = match (node.standing(), failed) {
        (Standing::Over, _) => (Role::Done, "green".to_owned()),
        (_, Some((step, _))) => (Role::Failed, format!("{} failed", step.word())),
        (Standing::Running(step), _) if roll.is_live() => {
            let since = node.step(step).map(|row| row.started_at);
            let age = since.map(|since| format!(" {}", pen.age(since))).unwrap_or_default();
            (Role::Moving, format!("{}{age}", step.word()))
        }
        (Standing::Running(step), _) => (Role::Warning, format!("left in {}", step.word())),
        (Standing::Next(_), _) if roll.in_turn() == Some(name) => (Role::Text, "in turn".to_owned()),
        (Standing::Next(_), _) if node.staged.is_some() => (Role::Dim, "staged".to_owned()),
        (Standing::Next(_), _) => (Role::Dim, "waits".to_owned()),
    };
    let text = cut(&text, STEP - 1, pen.glyph(Glyph::Ellipsis)).into_owned();
    piece(role, padded(text, STEP))
}

/// What is known of its runtime, labelled as what it is (F12), and how old that is.
fn verdict(model: &Model, roll: &Roll, name: &str, node: &NodeRoll, pen: &mut Pen<'_>) -> Piece<'static> {
    if node.back_since().is_none() {
        return piece(Role::Dim, "");
    }
    let host = model.facts.fleet.host(name).filter(|host| host.watched_by == Some(roll.id));
    let runtime = match host {
        Some(host) => host.runtime(),
        None => Runtime::of(node.last_finding(), None, Some(true)),
    };
    let (glyph, role) = runtime_look(runtime);
    let seen = host.is_some_and(|host| host.fingerprints.is_some());
    let since = node.last_finding().map(|finding| finding.at).filter(|_| runtime != Runtime::Passive && !seen);
    let age = since.map(|since| format!(" {}", pen.short_age(since))).unwrap_or_default();
    piece(role, format!("{} {}{age}", pen.glyph(glyph), runtime.word()))
}

/// Shape and colour of what is known of a runtime.
pub(super) fn runtime_look(runtime: Runtime) -> (Glyph, Role) {
    match runtime {
        Runtime::Broken => (Glyph::Failed, Role::Failed),
        Runtime::NotProven => (Glyph::Warning, Role::Warning),
        Runtime::Passive => (Glyph::Waiting, Role::Dim),
        Runtime::Proven => (Glyph::Done, Role::Done),
        Runtime::Unknown => (Glyph::Offline, Role::Warning),
    }
}

/// Each step of a node with its time, and below it what is said of those that did not simply end.
pub(super) fn times(name: &str, node: &NodeRoll, live: bool, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    if node.steps.is_empty() {
        return Vec::new();
    }
    let spans: Vec<String> = node.steps.iter().map(|(step, row)| spent(*step, row, live, pen)).collect();
    let mut lines = item(Glyph::Dot, Role::Text, &format!("{name}: {}", spans.join(", ")), width, pen);
    for (step, row) in &node.steps {
        let role = if row.state == StepState::Failed { Role::Failed } else { Role::Dim };
        let why = row.detail.as_ref().map(|why| format!("{}: {why}", step.word()));
        lines.extend(why.into_iter().flat_map(|why| item(Glyph::Arrow, role, &why, width, pen)));
    }
    lines
}

fn spent(step: StepName, row: &StepRow, live: bool, pen: &mut Pen<'_>) -> String {
    let span = match (row.state, row.ended_at) {
        (StepState::Skipped, _) => "skipped".to_owned(),
        (StepState::Failed, _) => "failed".to_owned(),
        (_, Some(at)) => Seconds::between(row.started_at, at).to_string(),
        (_, None) if live => pen.age(row.started_at),
        (_, None) => "not over at the end".to_owned(),
    };
    let again = if row.attempt > 1 { format!(" (attempt {})", row.attempt) } else { String::new() };
    format!("{} {span}{again}", step.word())
}
