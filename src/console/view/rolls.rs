//! Fleet rolls: one row for each, and of the selected one the sentence, what to do, and its fleet node by node.

use ratatui::layout::Rect;

use super::super::facts::Node;
use super::super::fleet::roll_row::RollRow;
use super::super::glyph::Glyph;
use super::super::layout::{Frame, Room, Split};
use super::super::model::{Model, Subject};
use super::super::snapshot::{Access, Snapshot};
use super::super::sort::By;
use super::super::theme::Role;
use super::detail::{self, Text};
use super::pen::{Pen, Piece, piece};
use super::row::head;
use super::{remedy, roll, servers, steps, table};
use crate::domain::ids::RollId;
use crate::domain::roll::eta::Eta;
use crate::domain::roll::fleet_roll::{Roll, RollState};
use crate::domain::roll::words;

/// From this many columns on the revision and what is staged have columns of their own.
const ALL_COLUMNS: u16 = 110;

/// From this many columns on states are told in words.
const WORDS_FROM: u16 = 64;

/// Lines of sentence and advice that the fleet below them leaves.
const SAID_MAX: usize = 7;

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let split = frame.rolls(model.rolls.rows.len(), model.facts.fleet.veiled.len());
    summary(model, split.summary, pen);
    heading(model, split.heading, pen);
    if model.rolls.rows.is_empty() {
        pen.line(split.list, &[piece(Role::Dim, format!("  {}", empty(model)))]);
        // Nothing is selected: whatever could be said is about something else.
        return pen.rule(split.detail);
    }
    let list = (&*model.rolls.rows, &model.rolls.pick);
    table::rows(model, list, split.list, pen, |id, place, pen| one(model, id, place, pen));
    if split.detail.height > 0 {
        selected(model, frame.room, split, pen);
    }
}

fn empty(model: &Model) -> String {
    let picture = model.picture.as_ref();
    let glimpsed = picture.is_some_and(|picture| picture.glimpse.is_some());
    let looks = picture.is_some_and(|picture| picture.access == Access::Viewer);
    let text = match (model.rolls.filter.is_empty(), glimpsed, looks) {
        (false, ..) => "nothing passes the filter",
        (true, true, _) => "basic link: this control plane does not list any",
        (true, false, true) => "no roll was ever started; an operator starts them, your token can look",
        (true, false, false) => "no roll was ever started: kura-console start-roll PROJECT/TARGET --help",
    };
    text.to_owned()
}

/// How many go on, and what waits for a person; what cannot be relied on is said below.
fn summary(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let facts = &model.facts.fleet;
    let first = Rect { height: area.height.min(1), ..area };
    let count = |is: fn(&RollRow) -> bool| facts.rolls.iter().filter(|row| is(row)).count();
    let counts = [
        (count(|row| row.state == RollState::Awaiting), "at a gate", Role::Warning),
        (count(|row| row.is_blocked), "blocked", Role::Halted),
        (count(|row| row.state == RollState::Rolling), "rolling", Role::Moving),
        (count(|row| row.state == RollState::Soaking), "soaking", Role::Settling),
    ];
    let said: Vec<(Role, String)> =
        counts.into_iter().filter(|(n, ..)| *n > 0).map(|(n, word, role)| (role, format!("{n} {word}"))).collect();
    let mut pieces = vec![piece(Role::Dim, " ")];
    match said.is_empty() {
        true => pieces.push(piece(Role::Dim, "no roll goes on")),
        false => pieces.extend(super::row::joined(said, pen)),
    }
    pen.line(first, &pieces);
    if area.height > 1 {
        servers::veiled(&facts.veiled, Rect { y: area.y + 1, height: 1, ..area }, pen);
    }
}

/// Where columns stand.
struct Columns {
    state: Rect,
    name: Rect,
    revision: Rect,
    position: Rect,
    staged: Rect,
    note: Rect,
}

impl Columns {
    fn of(area: Rect) -> Self {
        let all = area.width >= ALL_COLUMNS;
        let widths = match area.width {
            ALL_COLUMNS.. => [13, 22, 16, 26, 8],
            WORDS_FROM.. => [12, 16, 0, 21, 0],
            _ => [2, 16, 0, 0, 0],
        };
        let ([state, name, revision, position, staged], rest) = table::columns(area, widths);
        let note = Rect { width: rest.width.saturating_sub(u16::from(all)), ..rest };
        Self { state, name, revision, position, staged, note }
    }
}

fn heading(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let Columns { state, name, revision, position, staged, note } = Columns::of(area);
    let titles: [(Rect, &str, &[By]); 6] = [
        (state, "STATE", &[By::State]),
        (name, "FLEET", &[By::Name]),
        (revision, "REVISION", &[By::Tag]),
        (position, "POSITION", &[]),
        (staged, "STAGED", &[]),
        (note, "WHAT IT WAITS FOR", &[By::Waits, By::Age]),
    ];
    for (place, title, by) in titles.into_iter().filter(|(place, ..)| place.width > 0) {
        pen.line(place, &head(title, model.rolls.sorting, by, pen));
    }
}

fn one(model: &Model, id: RollId, area: Rect, pen: &mut Pen<'_>) {
    let (Some(row), Some(picture)) = (model.facts.fleet.roll(id), &model.picture) else { return };
    let columns = Columns::of(area);
    let (glyph, word, role) = look(row);
    let word = if columns.state.width > 2 { format!(" {word}") } else { String::new() };
    pen.line(columns.state, &[piece(role, format!("{}{word}", pen.glyph(glyph)))]);
    pen.line(columns.name, &[piece(Role::Strong, row.name.clone())]);
    pen.line(columns.revision, &[piece(Role::Text, row.revision.clone())]);
    let position = words::position(&row.progress, pen.glyph(Glyph::Dot));
    pen.line(columns.position, &[piece(Role::Text, position)]);
    pen.line(columns.staged, &[piece(Role::Dim, format!("{}/{}", row.staged, row.order.len()))]);
    if let Some(roll) = picture.world.rolls.roll(id) {
        let (role, text) = note(roll, row, pen);
        pen.line(columns.note, &[piece(role, text)]);
    }
}

/// Shape, word and colour of how it stands; that it is blocked weighs more than that it waits for a person.
pub(super) fn look(row: &RollRow) -> (Glyph, &'static str, Role) {
    let state = if row.is_blocked { RollState::Blocked } else { row.state };
    match state {
        RollState::Rolling => (Glyph::Moving, "rolling", Role::Moving),
        RollState::Awaiting => (Glyph::Warning, "awaiting", Role::Warning),
        RollState::Blocked => (Glyph::Halted, "blocked", Role::Halted),
        RollState::Soaking => (Glyph::Settling, "soaking", Role::Settling),
        RollState::Succeeded => (Glyph::Done, "succeeded", Role::Done),
        RollState::Failed => (Glyph::Failed, "failed", Role::Failed),
        RollState::Aborted => (Glyph::Dot, "aborted", Role::Dim),
        RollState::Denied => (Glyph::Dot, "denied", Role::Dim),
        RollState::Displaced => (Glyph::Dot, "displaced", Role::Dim),
    }
}

/// The amber chip of a gate that waits for a person (F41).
pub(super) fn chip(roll: &Roll, pen: &mut Pen<'_>) -> Option<Piece<'static>> {
    let gate = roll.gate.as_ref()?;
    Some(piece(Role::Warning, words::chip(&gate.gate, &pen.waited(gate.since))))
}

/// What it waits for: a person, what is in its way, or time, as far as that is known.
pub(super) fn note(roll: &Roll, row: &RollRow, pen: &mut Pen<'_>) -> (Role, String) {
    if let Some((role, text)) = chip(roll, pen) {
        return (role, text.into_owned());
    }
    if let (Some(blocked), true) = (&roll.blocked, roll.is_live()) {
        return (Role::Halted, format!("{} {}", pen.short_age(blocked.since), blocked.reason));
    }
    match row.eta {
        Some(Eta::Unknown(_)) | None if !roll.is_live() => (Role::Dim, ended(roll, row, pen)),
        Some(eta @ Eta::Soaked(_)) => (Role::Dim, told(eta, pen)),
        Some(eta) => (Role::Dim, format!("ETA {}", told(eta, pen))),
        None => (Role::Dim, String::new()),
    }
}

/// When it will be through, in whole minutes where it is known about only.
pub(super) fn told(eta: Eta, pen: &mut Pen<'_>) -> String {
    match eta {
        Eta::Soaked(_) => eta.told(|at| pen.left(at)),
        _ => eta.told(|at| pen.about(at)),
    }
}

fn ended(roll: &Roll, row: &RollRow, pen: &mut Pen<'_>) -> String {
    let age = pen.short_age(row.at);
    match roll.reason() {
        Some(reason) => format!("{age} ago: {reason}"),
        None => format!("{age} ago"),
    }
}

/// The sentence, what to do, and the fleet as far as there is room for it.
fn selected(model: &Model, room: Room, split: Split, pen: &mut Pen<'_>) {
    let area = split.detail;
    pen.rule(area);
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 };
    let (Some(picture), Subject::Node(Node::Roll(id))) = (&model.picture, model.shown()) else {
        pen.line(inside, &[piece(Role::Dim, "the selected row is no longer listed")]);
        return;
    };
    let width = usize::from(inside.width);
    let said = said(model, picture, width, room, pen);
    let height = usize::from(inside.height);
    let (top, rest) = (said.len().min(height), height.saturating_sub(said.len()));
    detail::show(&said, 0, Rect { height: u16::try_from(top).unwrap_or(0), ..inside }, pen);
    let mut table = steps::fleet(model, picture, id, (width, rest), pen);
    if let (Some(roll), Some(row)) = (picture.world.rolls.roll(id), model.facts.fleet.roll(id)) {
        table.extend(roll::beneath(roll, row, width, pen));
        table.truncate(rest);
    }
    let below = Rect {
        y: inside.y + u16::try_from(top).unwrap_or(0),
        height: u16::try_from(rest).unwrap_or(0).min(inside.height),
        ..inside
    };
    detail::show(&table, 0, below, pen);
}

fn said(model: &Model, picture: &Snapshot, width: usize, room: Room, pen: &mut Pen<'_>) -> Vec<Text> {
    let subject = model.shown();
    let (said, advice) = detail::told(model, picture, subject, pen);
    let advice = advice.unwrap_or_default();
    let most = if room == Room::Wide { SAID_MAX + 4 } else { SAID_MAX };
    let mut lines = remedy::brief(model, &said, &advice, (width, most), pen);
    lines.truncate(most);
    lines
}
