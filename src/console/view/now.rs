//! Now: everything that needs a human, most urgent first, then one line per running thing.

use ratatui::layout::Rect;

use super::super::facts::{LaneFacts, LaneState, Node};
use super::super::glyph::Glyph;
use super::super::kura::open_ones;
use super::super::layout::{Frame, Room};
use super::super::model::{Model, NowRow};
use super::super::need::{Need, NeedKind};
use super::super::theme::Role;
use super::pen::{Pen, piece};
use super::{detail, rollout, rolls, row, table};
use crate::domain::ids::RollId;
use crate::domain::roll::words;

/// What one line of the screen is.
enum Shown {
    Heading(&'static str),
    Quiet(&'static str),
    Blank,
    Row(usize),
}

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let (area, explained) = frame.listed();
    let height = usize::from(area.height);
    let shown = shown(model, frame.room > Room::Small, height);
    let selected = model.now_pick.index();
    let at = shown.iter().position(|line| matches!(line, Shown::Row(n) if Some(*n) == selected)).unwrap_or(0);
    let top = (at + 2).saturating_sub(height).min(shown.len().saturating_sub(height));
    for (y, line) in (area.top()..area.bottom()).zip(shown.iter().skip(top)) {
        let place = Rect { y, height: 1, ..area };
        match line {
            Shown::Heading(text) => drop(pen.line(place, &[piece(Role::Heading, format!("  {text}"))])),
            Shown::Quiet(text) => drop(pen.line(place, &[piece(Role::Dim, format!("  {text}"))])),
            Shown::Blank => {}
            Shown::Row(n) => {
                table::row(model, selected == Some(*n), place, pen, |pen| one(model, *n, place, pen));
            }
        }
    }
    match frame.room {
        Room::Wide => rollout::beside(model, explained, pen),
        _ => detail::strip(model, explained, pen),
    }
}

/// Headings where there is room for them, and air where there is even more.
fn shown(model: &Model, roomy: bool, height: usize) -> Vec<Shown> {
    let needs = model.facts.needs.len();
    let mut shown = Vec::new();
    if roomy {
        shown.push(Shown::Heading("NEEDS YOU"));
    }
    match needs {
        0 => shown.push(Shown::Quiet("Nothing. What runs goes on by itself.")),
        _ => shown.extend((0..needs).map(Shown::Row)),
    }
    if roomy {
        if model.now_rows.len() + 3 <= height {
            shown.push(Shown::Blank);
        }
        shown.push(Shown::Heading("RUNNING"));
    }
    match model.now_rows.len() {
        all if all == needs && roomy && !model.facts.fleet.is_empty() => shown.push(Shown::Quiet("Nothing.")),
        all if all == needs && roomy => shown.push(Shown::Quiet("Nothing: no release was ever started.")),
        all => shown.extend((needs..all).map(Shown::Row)),
    }
    shown
}

fn one(model: &Model, n: usize, area: Rect, pen: &mut Pen<'_>) {
    let area = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    match model.now_rows.get(n) {
        Some(NowRow::Need(..)) => {
            if let Some(need) = model.facts.needs.get(n) {
                self::need(model, need, area, pen);
            }
        }
        Some(NowRow::Roll(id)) => roll(model, *id, area, pen),
        Some(NowRow::Rollout(_)) => running(model, area, pen),
        Some(NowRow::Servers) => kura(model, area, pen),
        Some(NowRow::Lane(key)) => {
            if let Some((_, lane)) = model.facts.lane(*key) {
                self::lane(lane, area, pen);
            }
        }
        None => {}
    }
}

/// The columns of a row.
struct Columns {
    state: Rect,
    name: Rect,
    what: Rect,
    right: Rect,
}

impl Columns {
    fn of(area: Rect) -> Self {
        let state = 14.min(area.width);
        let name = (area.width / 5).clamp(8, 30).min(area.width - state);
        let right = 8.min(area.width - state - name);
        let what = area.width - state - name - right;
        let mut x = area.x;
        let mut column = |width: u16| {
            let column = Rect { x, width, ..area };
            x += width;
            column
        };
        let (state, name, what, right) = (column(state), column(name), column(what), column(right));
        Self { state, name: Rect { width: name.width.saturating_sub(1), ..name }, what, right }
    }

    fn draw(&self, look: (Glyph, &'static str, Role), name: &str, pen: &mut Pen<'_>) {
        let (glyph, word, role) = look;
        pen.line(self.state, &[piece(role, format!("{} {word}", pen.glyph(glyph)))]);
        pen.line(self.name, &[piece(Role::Strong, name.to_owned())]);
    }
}

/// A gate, by its chip.
fn gate(model: &Model, need: &Need, columns: &Columns, pen: &mut Pen<'_>) -> Option<()> {
    let Some(Node::Roll(id)) = need.node.filter(|_| need.kind == NeedKind::Gate) else { return None };
    let roll = model.picture.as_ref()?.world.rolls.roll(id)?;
    let chip = rolls::chip(roll, pen)?;
    let but = if roll.blocked.is_some() { ", and is blocked" } else { "" };
    let room = Rect { width: columns.what.width + columns.right.width, ..columns.what };
    pen.line(room, &[chip, piece(Role::Text, format!(": {}{but}", roll.revision))]);
    Some(())
}

fn need(model: &Model, need: &Need, area: Rect, pen: &mut Pen<'_>) {
    let columns = Columns::of(area);
    columns.draw(need.kind.look(), &need.name, pen);
    if gate(model, need, &columns, pen).is_some() {
        return;
    }
    let mut text = Vec::new();
    if let Some(until) = need.until {
        text.push(piece(Role::Warning, format!("halts in {}", pen.left(until))));
        text.push(piece(Role::Text, ": "));
    }
    text.push(piece(Role::Text, need.text.clone()));
    pen.line(columns.what, &text);
    if let Some(since) = need.since {
        let age = pen.age(since);
        pen.line_right(columns.right, &[piece(Role::Text, age)]);
    }
}

fn running(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let Some(picture) = &model.picture else { return };
    let Some(current) = picture.world.current() else { return };
    let (done, total) = model.facts.progress();
    let taken = pen.line_right(area, &[piece(Role::Text, format!("{done}/{total}"))]);
    let mut pieces = rollout::identity(picture, current, area.width >= 60, pen);
    if let Some((_, text)) = pieces.first_mut() {
        *text = text.trim_start().to_owned().into();
    }
    pen.line(Rect { width: area.width.saturating_sub(taken + 2), ..area }, &pieces);
}

/// A fleet roll in a line: where it stands, and what it waits for (F41, F59).
fn roll(model: &Model, id: RollId, area: Rect, pen: &mut Pen<'_>) {
    let (Some(row), Some(picture)) = (model.facts.fleet.roll(id), &model.picture) else { return };
    let columns = Columns::of(area);
    columns.draw(rolls::look(row), &row.name, pen);
    let room = Rect { width: columns.what.width + columns.right.width, ..columns.what };
    let mut facts = vec![(Role::Text, words::position(&row.progress, pen.glyph(Glyph::Dot)))];
    facts.extend(picture.world.rolls.roll(id).map(|roll| rolls::note(roll, row, pen)));
    let pieces = row::joined(facts, pen);
    pen.line(room, &pieces);
}

/// The Kura servers in a line.
fn kura(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let [all, serving, open] = model.facts.kura.counts();
    let columns = Columns::of(area);
    let look = match (open, serving == all) {
        (0, true) => (Glyph::Done, "serve", Role::Done),
        (0, false) => (Glyph::Warning, "servers", Role::Warning),
        _ => (Glyph::Moving, "deploying", Role::Moving),
    };
    columns.draw(look, "kura", pen);
    let newest = model.facts.kura.target.as_ref().map_or_else(String::new, |tag| format!(", newest tag {tag}"));
    pen.line(columns.what, &[piece(Role::Text, format!("{}{newest}", open_ones(open)))]);
    pen.line_right(columns.right, &[piece(Role::Text, format!("{serving}/{all}"))]);
}

fn lane(lane: &LaneFacts, area: Rect, pen: &mut Pen<'_>) {
    let columns = Columns::of(area);
    columns.draw(row::lane_look(lane.state), &lane.slug, pen);
    let mut facts: Vec<(Role, String)> = Vec::new();
    if let Some(holder) = lane.rows.iter().find(|row| row.row.holds_slot) {
        let held = holder.row.held_since.map(|since| format!(" {}", pen.age(since))).unwrap_or_default();
        facts.push((Role::Text, format!("{}{held}", holder.row.hostname)));
        if let Some(at) = holder.halts_at.filter(|_| lane.state != LaneState::Halted) {
            facts.push((Role::Dim, format!("halts in {}", pen.left(at))));
        }
    } else if let Some(end) = lane.settles_at {
        facts.push((Role::Settling, format!("settles {}", pen.left(end))));
    }
    if lane.slots.cap == 0 {
        facts.push((Role::Dim, "no cap".to_owned()));
    }
    if lane.queued > 0 {
        facts.push((Role::Dim, format!("{} queued", lane.queued)));
    }
    let mut pieces = row::cells(lane, pen);
    pieces.extend(row::joined(facts, pen));
    pen.line(columns.what, &pieces);
    pen.line_right(columns.right, &[piece(Role::Text, format!("{}/{}", lane.done, lane.rows.len()))]);
}
