//! A table: the rows of a list that are in sight, one of them selected, and columns one beside the other.

use ratatui::layout::Rect;

use super::super::glyph::Glyph;
use super::super::model::Model;
use super::super::pick::Pick;
use super::super::theme::Role;
use super::pen::{Pen, piece};

/// Draws the rows that are in sight, each by `draw`.
pub(super) fn rows<I: Copy + Eq>(
    model: &Model,
    (rows, pick): (&[I], &Pick<I>),
    area: Rect,
    pen: &mut Pen<'_>,
    mut draw: impl FnMut(I, Rect, &mut Pen<'_>),
) {
    let top = pick.top(rows.len(), usize::from(area.height));
    for (y, (n, id)) in (area.top()..area.bottom()).zip(rows.iter().enumerate().skip(top)) {
        let place = Rect { y, height: 1, ..area };
        row(model, pick.index() == Some(n), place, pen, |pen| draw(*id, place, pen));
    }
}

/// Draws a row by `draw`; one that is selected stands out.
pub(super) fn row(model: &Model, is_selected: bool, area: Rect, pen: &mut Pen<'_>, draw: impl FnOnce(&mut Pen<'_>)) {
    if is_selected {
        let role = if model.layers.is_empty() { Role::Selection } else { Role::SelectionIdle };
        pen.fill(area, role);
        pen.lay_over(Some(role));
    }
    let marker = if is_selected { pen.glyph(Glyph::Selected) } else { " " };
    pen.line(area, &[piece(Role::Key, marker)]);
    draw(pen);
    pen.lay_over(None);
}

/// Columns of these widths behind the marker, a blank after each, and what is left of the line.
pub(super) fn columns<const N: usize>(area: Rect, widths: [u16; N]) -> ([Rect; N], Rect) {
    let mut x = area.x + 2;
    let columns = widths.map(|width| {
        let width = width.min(area.right().saturating_sub(x));
        let place = Rect { x, width: width.saturating_sub(1), ..area };
        x += width;
        place
    });
    (columns, Rect { x, width: area.right().saturating_sub(x), ..area })
}
