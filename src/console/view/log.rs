//! The log: what changed, in plain words, and the console's own notices between.

use ratatui::layout::Rect;

use super::super::glyph::Glyph;
use super::super::layout::Frame;
use super::super::model::{LogRow, Model};
use super::super::msg::Level;
use super::super::theme::Role;
use super::super::words;
use super::pen::{Pen, Piece, piece};
use crate::domain::change::Entry;

/// Columns of the time and of who did it.
const TIME: u16 = 16;
const AUTHOR: u16 = 12;

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let (heading, area) = frame.log();
    if model.log_rows.is_empty() {
        pen.line(Rect { height: area.height.min(1), ..area }, &[piece(Role::Dim, "  nothing has happened yet")]);
        return;
    }
    pen.line(heading, &[piece(Role::Heading, format!("  {:<16}{:<12}{}", "TIME, UTC", "WHO", "WHAT"))]);
    let height = usize::from(area.height);
    let top = model.log_pick.top(model.log_rows.len(), height);
    let selected = model.log_pick.index();
    for (n, row) in model.log_rows.iter().enumerate().skip(top).take(height) {
        let offset = u16::try_from(n - top).unwrap_or(u16::MAX);
        let place = Rect { y: area.y + offset, height: 1, ..area };
        let chosen = selected == Some(n) && !model.log_follows;
        one(model, *row, place, chosen, pen);
    }
}

fn one(model: &Model, row: LogRow, area: Rect, chosen: bool, pen: &mut Pen<'_>) {
    if chosen {
        pen.fill(area, Role::Selection);
        pen.lay_over(Some(Role::Selection));
    }
    let narrow = area.width < 60;
    let (mut time, who, said) = match row {
        LogRow::Change(revision) => match find(model, revision) {
            Some(entry) => change(model, entry, pen),
            None => return,
        },
        LogRow::Notice(number) => match notice(model, number, pen) {
            Some(shown) => shown,
            None => return,
        },
    };
    let marker = if chosen { pen.glyph(Glyph::Selected) } else { " " };
    let column = |x: u16, width: u16| Rect { x: area.x + x, width: width.min(area.width.saturating_sub(x)), ..area };
    if narrow {
        time = time.split_off(6);
    }
    let at = if narrow { 11 } else { TIME + 2 };
    let text = if narrow { at } else { at + AUTHOR };
    pen.line(column(0, at), &[piece(Role::Key, marker), piece(Role::Dim, format!(" {time}"))]);
    if !narrow {
        pen.line(column(at, AUTHOR - 1), &[piece(Role::Dim, who)]);
    }
    pen.line(column(text, area.width), &said);
    pen.lay_over(None);
}

type Shown = (String, String, Vec<Piece<'static>>);

fn find(model: &Model, revision: u64) -> Option<&Entry> {
    let tail = &model.picture.as_ref()?.tail;
    let first = tail.front()?.revision;
    let at = usize::try_from(revision.checked_sub(first)?).ok()?;
    let found = tail.get(at).filter(|e| e.revision == revision);
    found.or_else(|| tail.iter().find(|e| e.revision == revision)).map(AsRef::as_ref)
}

fn change(model: &Model, entry: &Entry, pen: &Pen<'_>) -> Shown {
    let said = match &model.picture {
        Some(picture) => words::say(entry, &picture.world),
        None => return (String::new(), String::new(), Vec::new()),
    };
    let text = vec![piece(said.role, format!("{} {}", pen.glyph(said.glyph), said.text))];
    (super::detail::moment(entry.at), words::author(entry), text)
}

fn notice(model: &Model, number: u64, pen: &Pen<'_>) -> Option<Shown> {
    let first = model.notices.front()?.0;
    let (_, notice) = model.notices.get(usize::try_from(number.checked_sub(first)?).ok()?)?;
    let (glyph, role) = match notice.level {
        Level::Note => (Glyph::Dot, Role::Dim),
        Level::Warning => (Glyph::Warning, Role::Warning),
        Level::Error => (Glyph::Failed, Role::Failed),
    };
    let text = vec![piece(role, format!("{} {}", pen.glyph(glyph), notice.text))];
    Some((super::detail::moment(notice.at), "console".to_owned(), text))
}
