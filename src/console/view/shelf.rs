//! Releases and history: a list, and the selected item explained; of a release, what a start would trip over.

use ratatui::layout::Rect;

use super::super::layout::{Frame, Room};
use super::super::model::{Model, Screen};
use super::super::shelf::{Face, Item, face};
use super::super::sort::By;
use super::super::theme::Role;
use super::pen::{Pen, piece};
use super::row::head;
use super::{detail, rollout, table};

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
    table::rows(model, (&*shelf.rows, &shelf.pick), list, pen, |item, place, pen| {
        face(picture, item).into_iter().for_each(|face| row(item, &face, place, pen));
    });
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

fn row(item: Item, face: &Face, area: Rect, pen: &mut Pen<'_>) {
    let columns = Columns::of(area);
    let (glyph, word, role) = &face.look;
    pen.line(columns.state, &[piece(*role, format!("{} {word}", pen.glyph(*glyph)))]);
    let strong = if matches!(item, Item::Deed(_)) { Role::Text } else { Role::Strong };
    pen.line(columns.name, &[piece(strong, face.name.clone())]);
    pen.line(columns.text, &[piece(Role::Text, face.text.clone())]);
    let age = pen.age(face.at);
    pen.line_right(columns.age, &[piece(Role::Dim, age)]);
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
