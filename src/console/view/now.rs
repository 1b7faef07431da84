//! Now: everything that needs a human, most urgent first, then one line per running thing.

use ratatui::layout::Rect;

use super::super::facts::LaneFacts;
use super::super::glyph::Glyph;
use super::super::layout::{Frame, Room};
use super::super::model::{Model, NowRow};
use super::super::need::Need;
use super::super::theme::Role;
use super::pen::{Pen, Piece, piece};
use super::{rollout, row};

/// What one line of the screen is.
enum Shown {
    Heading(&'static str),
    Quiet(&'static str),
    Blank,
    Row(usize),
}

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let area = frame.body;
    let shown = shown(model, frame.room > Room::Small);
    let height = usize::from(area.height);
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
                let focus = if model.layers.is_empty() { Role::Selection } else { Role::SelectionIdle };
                one(model, *n, place, (selected == Some(*n)).then_some(focus), pen);
            }
        }
    }
}

fn shown(model: &Model, roomy: bool) -> Vec<Shown> {
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
        shown.extend([Shown::Blank, Shown::Heading("RUNNING")]);
    }
    shown.extend((needs..model.now_rows.len()).map(Shown::Row));
    shown
}

fn one(model: &Model, n: usize, area: Rect, selected: Option<Role>, pen: &mut Pen<'_>) {
    if let Some(role) = selected {
        pen.fill(area, role);
        pen.lay_over(Some(role));
    }
    let marker = if selected.is_some() { pen.glyph(Glyph::Selected) } else { " " };
    pen.line(area, &[piece(Role::Key, marker)]);
    let area = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    match model.now_rows.get(n) {
        Some(NowRow::Need(..)) => {
            if let Some(need) = model.facts.needs.get(n) {
                self::need(need, area, pen);
            }
        }
        Some(NowRow::Rollout(_)) => running(model, area, pen),
        Some(NowRow::Lane(key)) => {
            if let Some((_, lane)) = model.facts.lane(*key) {
                self::lane(lane, area, pen);
            }
        }
        None => {}
    }
    pen.lay_over(None);
}

/// Columns: state, name, what, and on the right how long.
fn columns(area: Rect) -> (Rect, Rect, Rect) {
    let state = 12.min(area.width);
    let name = (area.width / 5).clamp(8, 30).min(area.width - state);
    let rest = area.width - state - name;
    (
        Rect { width: state, ..area },
        Rect { x: area.x + state, width: name, ..area },
        Rect { x: area.x + state + name, width: rest, ..area },
    )
}

fn need(need: &Need, area: Rect, pen: &mut Pen<'_>) {
    let (glyph, word, role) = need.kind.look();
    let mut clock: Vec<Piece<'static>> = Vec::new();
    if let Some(since) = need.since {
        clock.push(piece(Role::Text, pen.age(since)));
    }
    let taken = pen.line_right(area, &clock);
    let (state, name, what) = columns(Rect { width: area.width.saturating_sub(taken + 2), ..area });
    pen.line(state, &[piece(role, format!("{} {word}", pen.glyph(glyph)))]);
    pen.line(Rect { width: name.width.saturating_sub(1), ..name }, &[piece(Role::Strong, need.name.clone())]);
    let mut text = vec![piece(Role::Text, need.text.clone())];
    if let Some(until) = need.until {
        text.push(piece(Role::Warning, format!(", halts in {}", pen.left(until))));
    }
    pen.line(what, &text);
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

fn lane(lane: &LaneFacts, area: Rect, pen: &mut Pen<'_>) {
    let count = format!("{}/{}", lane.done, lane.rows.len());
    let taken = pen.line_right(area, &[piece(Role::Text, count)]);
    let (state, name, what) = columns(Rect { width: area.width.saturating_sub(taken + 2), ..area });
    let (glyph, word, role) = row::lane_look(lane.state);
    pen.line(state, &[piece(role, format!("{} {word}", pen.glyph(glyph)))]);
    pen.line(Rect { width: name.width.saturating_sub(1), ..name }, &[piece(Role::Strong, lane.slug.clone())]);
    let mut pieces = row::cells(lane, pen);
    if let Some(holder) = lane.rows.iter().find(|row| row.row.holds_slot) {
        pieces.push(piece(Role::Text, format!("{} ", holder.row.hostname)));
        pieces.extend(row::machine_words(lane, holder, pen));
    } else if let Some(end) = lane.settles_at {
        pieces.push(piece(Role::Settling, format!("settles {}", pen.left(end))));
    }
    if lane.queued > 0 {
        pieces.push(piece(Role::Dim, format!(" {} {} queued", pen.glyph(Glyph::Dot), lane.queued)));
    }
    pen.line(what, &pieces);
}
