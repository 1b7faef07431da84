//! The rollout: what it is and waits for, then environments, rings and machines, then the selected row explained.

use ratatui::layout::Rect;

use super::super::glyph::Glyph;
use super::super::layout::{Frame, Room};
use super::super::model::{Model, Screen, Subject};
use super::super::snapshot::Snapshot;
use super::super::theme::Role;
use super::pen::{Pen, Piece, piece};
use super::{detail, row};
use crate::domain::rollout::{Ending, Rollout};

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let Some(picture) = &model.picture else { return };
    let split = frame.split();
    summary(model, picture, split.summary, pen);
    if split.heading.height > 0 {
        row::heading(split.heading, model.sorting, pen);
    }
    list(model, split.list, pen);
    match frame.room {
        Room::Wide => beside(model, split.detail, pen),
        _ => detail::strip(model, split.detail, pen),
    }
}

fn summary(model: &Model, picture: &Snapshot, area: Rect, pen: &mut Pen<'_>) {
    let Some(rollout) = picture.world.current() else {
        resting(model, area, pen);
        return;
    };
    let first = Rect { height: area.height.min(1), ..area };
    let counts = [count(model), piece(Role::Text, " ")];
    let taken = pen.line_right(first, &counts);
    let left = identity(picture, rollout, area.width >= 64, pen);
    pen.line(Rect { width: area.width.saturating_sub(taken + 1), ..first }, &left);
    if area.height > 1 {
        let said = detail::explained(model, picture, Subject::Rollout, pen).sentence;
        pen.line(Rect { y: area.y + 1, height: 1, ..area }, &[piece(Role::Text, format!(" {said}"))]);
    }
}

/// Before the first rollout: what there is, and what comes next.
fn resting(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let rows = super::blank::empty(model).into_iter().zip([Role::Strong, Role::Text]);
    for (y, (line, role)) in (area.top()..area.bottom()).zip(rows) {
        pen.line(Rect { y, height: 1, ..area }, &[piece(role, format!(" {line}"))]);
    }
}

fn count(model: &Model) -> Piece<'static> {
    let (done, total) = model.facts.progress();
    piece(if total > 0 && done == total { Role::Done } else { Role::Text }, format!("{done}/{total} done"))
}

/// Release, state, protection, who and when.
pub(super) fn identity(picture: &Snapshot, rollout: &Rollout, long: bool, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    let release = picture.world.release_name(rollout.release);
    let (glyph, word, role) = match &rollout.ending {
        None => (Glyph::Moving, "running", Role::Moving),
        Some(Ending::Completed) => (Glyph::Done, "completed", Role::Done),
        Some(Ending::Halted { .. }) => (Glyph::Halted, "HALTED", Role::Halted),
        Some(Ending::Superseded { .. }) => (Glyph::Halted, "superseded", Role::Warning),
    };
    let mut pieces =
        vec![piece(Role::Strong, format!(" {release}")), piece(role, format!("  {} {word}", pen.glyph(glyph)))];
    if !long {
        return pieces;
    }
    let protected = if rollout.protected { ", protected" } else { ", not protected" };
    pieces.push(piece(Role::Dim, protected));
    let (what, at) = match (rollout.ended_at, rollout.reset_at) {
        (Some(at), _) => ("ended", at),
        (None, Some(at)) => ("reset", at),
        (None, None) => ("started", rollout.started_at),
    };
    let by = if what == "started" { format!(" by {}", rollout.started_by) } else { String::new() };
    pieces.push(piece(Role::Dim, format!(", {what} {} ago{by}", pen.age(at))));
    pieces
}

fn list(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    if model.lines.is_empty() && !model.filter.is_empty() {
        pen.line(area, &[piece(Role::Dim, "   no machine passes the filter")]);
        return;
    }
    let height = usize::from(area.height);
    let top = model.tree_pick.top(model.lines.len(), height);
    let selected = model.tree_pick.index();
    let focus = if model.layers.is_empty() { Role::Selection } else { Role::SelectionIdle };
    for (n, line) in model.lines.iter().enumerate().skip(top).take(height) {
        let Some(entry) = line.entry(&model.facts) else { continue };
        let offset = u16::try_from(n - top).unwrap_or(u16::MAX);
        let place = Rect { y: area.y + offset, height: 1, ..area };
        row::draw(line, entry, place, (selected == Some(n)).then_some(focus), pen);
    }
}

/// The selected row in full, beside the list.
pub(super) fn beside(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    for y in area.top()..area.bottom() {
        let bar = pen.glyph(Glyph::Bar);
        pen.line(Rect { y, height: 1, ..area }, &[piece(Role::Rule, bar)]);
    }
    let inside = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let subject = match (model.screen, model.shown()) {
        (Screen::Rollout, Subject::Nothing) => return,
        (_, subject) => subject,
    };
    let lines = detail::lines(model, subject, usize::from(inside.width), pen);
    detail::show(&lines, 0, inside, pen);
}
