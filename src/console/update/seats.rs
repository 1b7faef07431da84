//! The fallback: its page, and the question about the seat that a second press asks.

use super::super::carry;
use super::super::command::Command;
use super::super::layer::{Layer, Page, PageKind};
use super::super::model::Model;
use super::verbs;
use crate::domain::fallback::Rung;

/// Opens the page; on the page, the question that fits the rung.
pub(super) fn fallback(model: &mut Model) {
    if !is_looked_at(model) {
        return show(model);
    }
    let rung = model.picture.as_ref().and_then(|picture| picture.fallback.as_ref()).map(|fallback| &fallback.rung);
    match rung {
        Some(Rung::Waiting(_) | Rung::Seated(_)) => verbs::open(model, Command::LeaveSeat),
        _ => verbs::open(model, Command::TakeSeat),
    }
}

/// Opens the page.
pub(super) fn show(model: &mut Model) {
    model.layers.push(Layer::Page(Page { kind: PageKind::Fallback, top: 0 }));
    look_again(model);
}

/// Rehearses the first tick anew, while somebody looks at it and there is a choice.
pub(super) fn look_again(model: &mut Model) {
    let picture = model.picture.as_ref().filter(|picture| !picture.is_blank());
    let fallback = picture.and_then(|picture| Some((picture, picture.fallback.as_ref()?)));
    let offered = |rung: &Rung| matches!(rung, Rung::Lost | Rung::StandingBy(_) | Rung::Waiting(_));
    model.first_tick = match fallback.filter(|(_, fallback)| offered(&fallback.rung)) {
        Some((picture, fallback)) if is_looked_at(model) => carry::first(picture, fallback, model.now),
        _ => Vec::new(),
    };
}

fn is_looked_at(model: &Model) -> bool {
    model.layers.iter().any(|layer| matches!(layer, Layer::Page(page) if page.kind == PageKind::Fallback))
}
