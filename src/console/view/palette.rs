//! Text fields at the bottom: the filter, and the palette with the commands that match.

use ratatui::layout::Rect;

use super::super::layer::{Field, FieldKind};
use super::super::layout::Frame;
use super::super::line_edit::LineEdit;
use super::super::model::Model;
use super::super::text::{escape, width};
use super::super::theme::Role;
use super::super::update::matching;
use super::pen::{Pen, piece};

/// Commands listed above the palette.
const LISTED_MAX: u16 = 8;

/// Draws a field over the status line.
pub(super) fn draw(model: &Model, field: &Field, frame: &Frame, pen: &mut Pen<'_>) {
    pen.clear(frame.status);
    let (mark, taken) = match field.kind {
        FieldKind::Filter => ("/", 1),
        FieldKind::Palette => (":", 1),
    };
    pen.line(frame.status, &[piece(Role::Key, mark)]);
    let room = Rect { x: frame.status.x + taken, width: frame.status.width.saturating_sub(taken), ..frame.status };
    let complaint = field.complaint.as_ref().map(|why| format!("  {why} "));
    let right = complaint.as_ref().map_or(0, |why| pen.line_right(room, &[piece(Role::Warning, why.clone())]));
    input(&field.input, Rect { width: room.width.saturating_sub(right), ..room }, true, pen);
    if field.kind == FieldKind::Palette {
        choices(model, field, frame, pen);
    }
}

/// A text field: its text, scrolled so that the cursor is in sight.
pub(super) fn input(edit: &LineEdit, area: Rect, focused: bool, pen: &mut Pen<'_>) {
    let text = edit.text();
    let at = text.char_indices().nth(edit.cursor()).map_or(text.len(), |(at, _)| at);
    let (before, after) = text.split_at(at);
    let before = escape(before).into_owned();
    let mut cursor = after.chars();
    let under = cursor.next().map_or_else(|| " ".to_owned(), String::from);
    let room = usize::from(area.width).saturating_sub(width(&escape(&under)) + 1);
    let mut start = 0;
    while width(&before[start..]) > room {
        start += before[start..].chars().next().map_or(1, char::len_utf8);
    }
    let used = pen.line(area, &[piece(Role::Input, before[start..].to_owned())]);
    let rest = Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area };
    let role = if focused { Role::Armed } else { Role::Input };
    let one = pen.line(rest, &[piece(role, under)]);
    let rest = Rect { x: rest.x + one, width: rest.width.saturating_sub(one), ..rest };
    pen.line(rest, &[piece(Role::Input, cursor.as_str().to_owned())]);
}

fn choices(model: &Model, field: &Field, frame: &Frame, pen: &mut Pen<'_>) {
    let found = matching(field.input.text());
    let height =
        u16::try_from(found.len()).unwrap_or(u16::MAX).min(LISTED_MAX).min(frame.body.height.saturating_sub(2));
    if height == 0 {
        return;
    }
    let width = 72.min(frame.body.width);
    let area = Rect { x: frame.body.x, y: frame.status.y - height - 2, width, height: height + 2 };
    let inside = pen.frame(area, &[piece(Role::Heading, " commands ")]);
    let first = field.choice.saturating_sub(usize::from(height).saturating_sub(1));
    for (n, spec) in found.iter().enumerate().skip(first).take(usize::from(height)) {
        let offset = u16::try_from(n - first).unwrap_or(0);
        let row = Rect { y: inside.y + offset, height: 1, ..inside };
        if n == field.choice {
            pen.fill(row, Role::Selection);
            pen.lay_over(Some(Role::Selection));
        }
        let keys = model.setup.keymap.keys_of(super::super::keys::Mode::List, spec.command);
        let key = keys.into_iter().next().unwrap_or_default();
        let line = [
            piece(Role::Strong, format!("{:<20} ", spec.name)),
            piece(Role::Key, format!("{key:<7} ")),
            piece(Role::Layer, spec.about),
        ];
        pen.line(row, &line);
        pen.lay_over(None);
    }
}
