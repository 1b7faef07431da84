//! Releases and history: a list, and the selected item explained; of a release, what a start would trip over.

use ratatui::layout::Rect;

use super::super::glyph::Glyph;
use super::super::layout::{Frame, Room};
use super::super::model::{Model, Screen};
use super::super::shelf::{Face, Item, Shelf, face};
use super::super::snapshot::Snapshot;
use super::super::sort::By;
use super::super::theme::Role;
use super::pen::{Pen, piece};
use super::row::head;
use super::{detail, rollout};

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let (Some(picture), Some(shelf)) = (&model.picture, model.shelf(model.screen)) else { return };
    let (area, explained) = frame.listed();
    let heading = Rect { height: area.height.min(1), ..area };
    let list = Rect { y: area.y + heading.height, height: area.height - heading.height, ..area };
    let columns = Columns::of(heading);
    let (name, text) = match model.screen {
        Screen::Releases => ("RELEASE", "WHO IS ON IT"),
        _ => ("WHAT OR WHO", "WHAT WAS ASKED, HOW IT ENDED"),
    };
    for (place, title, by) in
        [(columns.state, "STATE", By::State), (columns.name, name, By::Name), (columns.text, text, By::What)]
    {
        pen.line(place, &head(title, shelf.sorting, &[by], pen));
    }
    pen.line_right(columns.age, &head("AGE", shelf.sorting, &[By::Age, By::Usual], pen));
    if shelf.rows.is_empty() {
        let text = empty(model.screen, &shelf.filter, picture.glimpse.is_some());
        pen.line(Rect { height: list.height.min(1), ..list }, &[piece(Role::Dim, text)]);
        return;
    }
    rows(model, picture, shelf, list, pen);
    match frame.room {
        Room::Wide => rollout::beside(model, explained, pen),
        _ => detail::strip(model, explained, pen),
    }
}

fn empty(screen: Screen, filter: &str, glimpsed: bool) -> &'static str {
    match (screen, filter.is_empty()) {
        (_, false) => "  nothing passes the filter",
        (_, true) if glimpsed => "  basic link: this control plane does not list any",
        (Screen::Releases, true) => "  no release was built yet",
        (_, true) => "  nothing was started or done yet",
    }
}

fn rows(model: &Model, picture: &Snapshot, shelf: &Shelf, area: Rect, pen: &mut Pen<'_>) {
    let height = usize::from(area.height);
    let top = shelf.pick.top(shelf.rows.len(), height);
    let focus = if model.layers.is_empty() { Role::Selection } else { Role::SelectionIdle };
    for (y, (n, item)) in (area.top()..area.bottom()).zip(shelf.rows.iter().enumerate().skip(top)) {
        let Some(face) = face(picture, *item) else { continue };
        let selected = (shelf.pick.index() == Some(n)).then_some(focus);
        row(*item, &face, Rect { y, height: 1, ..area }, selected, pen);
    }
}

fn row(item: Item, face: &Face, area: Rect, selected: Option<Role>, pen: &mut Pen<'_>) {
    if let Some(role) = selected {
        pen.fill(area, role);
        pen.lay_over(Some(role));
    }
    let marker = if selected.is_some() { pen.glyph(Glyph::Selected) } else { " " };
    pen.line(area, &[piece(Role::Key, marker)]);
    let columns = Columns::of(area);
    let (glyph, word, role) = &face.look;
    pen.line(columns.state, &[piece(*role, format!("{} {word}", pen.glyph(*glyph)))]);
    let strong = if matches!(item, Item::Deed(_)) { Role::Text } else { Role::Strong };
    pen.line(columns.name, &[piece(strong, face.name.clone())]);
    pen.line(columns.text, &[piece(Role::Text, face.text.clone())]);
    let age = pen.age(face.at);
    pen.line_right(columns.age, &[piece(Role::Dim, age)]);
    pen.lay_over(None);
}

/// The columns of a row.
struct Columns {
    state: Rect,
    name: Rect,
    text: Rect,
    age: Rect,
}

impl Columns {
    fn of(area: Rect) -> Self {
        let area = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(3), ..area };
        let state = 14.min(area.width);
        let name = (area.width / 4).clamp(8, 26).min(area.width - state);
        let age = 8.min(area.width - state - name);
        let text = area.width - state - name - age;
        let mut x = area.x;
        let mut column = |width: u16| {
            let column = Rect { x, width, ..area };
            x += width;
            column
        };
        let (state, name, text, age) = (column(state), column(name), column(text), column(age));
        let apart = |column: Rect| Rect { width: column.width.saturating_sub(1), ..column };
        Self { state: apart(state), name: apart(name), text: apart(text), age }
    }
}
