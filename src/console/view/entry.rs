//! The entry: draws a frame and says when it would look different by time alone.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::layer::{Layer, Page, PageKind};
use super::super::layout::{Frame, Room};
use super::super::model::{Model, Screen};
use super::super::saying::shown_at;
use super::super::snapshot::Snapshot;
use super::super::theme::Theme;
use super::pen::Pen;
use super::{blank, dialog, footer, header, log, nodes, now, page, palette, rollout, rolls, servers, shelf};

/// Draws `model` at `now` into `area` of `buffer`.
///
/// Returns the moment at which the same model would look different: the next whole second while a timer is visible,
/// else the threshold at which an age appears, a hold ends or the console disarms. The loop sends `Msg::Clock` then
/// and draws again. None = nothing ticks, an idle terminal gets no byte.
pub fn view(model: &Model, theme: &Theme, at: Timestamp, area: Rect, buffer: &mut Buffer) -> Option<Timestamp> {
    let area = area.intersection(buffer.area);
    let frame = Frame::of(area);
    buffer.set_style(area, theme.ground());
    let mut pen = Pen::new(buffer, theme, model.setup.ascii, at);
    if frame.room == Room::Tiny {
        blank::too_small(model, area, &mut pen);
        return pen.wake();
    }
    header::draw(model, &frame, &mut pen);
    footer::hints(model, &frame, &mut pen);
    if let Some(due) = model.facts.valid_until {
        pen.wake_at(due);
    }
    if let Some(picture) = &model.picture {
        pen.show_moment(picture.moment(at));
    }
    header::headline(model, &frame, &mut pen);
    if let Some(picture) = &model.picture {
        pen.show_moments(body_at(model, picture, at), picture.moment(at));
    }
    body(model, &frame, &mut pen);
    pen.show_moment(at);
    footer::status(model, &frame, &mut pen);
    match model.layers.last() {
        Some(Layer::Field(field)) => palette::draw(model, field, &frame, &mut pen),
        Some(Layer::Dialog(asked)) => dialog::draw(model, asked, area, &mut pen),
        Some(Layer::Page(_)) | None => footer::pending(model, &frame, &mut pen),
    }
    pen.wake()
}

/// The moment of the page on top, or of the screen: what is of the cluster goes on being seen where it is seen from here.
fn body_at(model: &Model, picture: &Snapshot, now: Timestamp) -> Timestamp {
    match (top_page(model).map(|page| page.kind), model.screen) {
        (Some(PageKind::Detail(subject)), _) => shown_at(picture, subject, now),
        (None, Screen::Kura | Screen::Nodes) => picture.seen_at(now),
        _ => picture.moment(now),
    }
}

fn top_page(model: &Model) -> Option<&Page> {
    model.layers.iter().rev().find_map(|layer| match layer {
        Layer::Page(page) => Some(page),
        _ => None,
    })
}

fn body(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    if let Some(shown) = top_page(model) {
        page::draw(model, *shown, frame.body, pen);
        return;
    }
    if model.screen == Screen::Log {
        log::draw(model, frame, pen);
        return;
    }
    if blank::draw(model, frame.body, pen) {
        return;
    }
    match model.screen {
        Screen::Now => now::draw(model, frame, pen),
        Screen::Rollout => rollout::draw(model, frame, pen),
        Screen::Kura => servers::draw(model, frame, pen),
        Screen::Rolls => rolls::draw(model, frame, pen),
        Screen::Nodes => nodes::draw(model, frame, pen),
        Screen::Releases | Screen::History => shelf::draw(model, frame, pen),
        Screen::Log => {}
    }
}
