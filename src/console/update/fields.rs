//! Text fields: the filter, which works while it is typed, and the palette.

use super::super::chord::Chord;
use super::super::command::{COMMANDS, Command, Group, Spec};
use super::super::dialog::Focus;
use super::super::effect::Effect;
use super::super::layer::{Field, FieldKind, Layer};
use super::super::model::{Model, Screen};
use super::{entry, filters, keys, verbs};

/// Opens the filter of the list that is shown, else that of the rollout's.
pub(super) fn open_filter(model: &mut Model) {
    if filters::typed(model).is_none() {
        super::navigate::screen(model, Screen::Rollout);
    }
    let text = filters::typed(model).unwrap_or_default().to_owned();
    model.layers.push(Layer::Field(Box::new(Field::new(FieldKind::Filter, &text))));
}

/// Opens the palette.
pub(super) fn open_palette(model: &mut Model) {
    model.layers.push(Layer::Field(Box::new(Field::new(FieldKind::Palette, ""))));
}

/// Commands whose name has the typed characters in order, the best first: at the start, in a row, anywhere.
pub(in super::super) fn matching(typed: &str) -> Vec<&'static Spec> {
    let offered = COMMANDS.iter().filter(|spec| !matches!(spec.group, Group::Move | Group::Dialog));
    let mut found: Vec<(u8, &Spec)> = offered.filter_map(|spec| Some((rank(spec.name, typed)?, spec))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, spec)| spec).collect()
}

fn rank(name: &str, typed: &str) -> Option<u8> {
    let typed = typed.trim().to_lowercase().replace(' ', "-");
    if name == typed {
        return Some(0);
    }
    if name.starts_with(&typed) {
        return Some(1);
    }
    if name.contains(&typed) {
        return Some(2);
    }
    let mut rest = name.chars();
    typed.chars().all(|c| rest.any(|n| n == c)).then_some(3)
}

/// A key that edits.
pub(super) fn edit(model: &mut Model, chord: Chord) {
    match model.layers.last_mut() {
        Some(Layer::Field(field)) => {
            field.input.press(chord);
            changed(model);
        }
        Some(Layer::Dialog(dialog)) => {
            dialog.complaint = None;
            if let Some(field) = dialog.field() {
                field.press(chord);
            }
            if dialog.focus == Focus::Value {
                verbs::revalue(model);
            }
        }
        _ => {}
    }
}

/// Pasted text goes into a field or nowhere. A name that proves something is typed, never pasted.
pub(super) fn paste(model: &mut Model, text: &str) {
    match model.layers.last_mut() {
        Some(Layer::Field(field)) => {
            field.input.paste(text);
            changed(model);
        }
        Some(Layer::Dialog(dialog)) if !dialog.drawn => {}
        Some(Layer::Dialog(dialog)) => match dialog.focus {
            Focus::Reason => dialog.reason.paste(text),
            Focus::Name => dialog.complaint = Some("the name has to be typed, not pasted".to_owned()),
            Focus::Value => dialog.complaint = Some("the value has to be typed, not pasted".to_owned()),
            Focus::Cancel | Focus::Confirm | Focus::Line => {}
        },
        _ => entry::hint(model, "pasted text is ignored here"),
    }
}

/// What is typed changed: the filter takes effect at once.
fn changed(model: &mut Model) {
    let Some(Layer::Field(field)) = model.layers.last_mut() else { return };
    field.choice = 0;
    if field.kind != FieldKind::Filter {
        return;
    }
    let typed = field.input.text().to_owned();
    let complaint = filters::narrow(model, &typed).err();
    if let Some(Layer::Field(field)) = model.layers.last_mut() {
        field.complaint = complaint;
    }
}

/// A command in a text field.
pub(super) fn run(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some(Layer::Field(field)) = model.layers.last_mut() else { return Vec::new() };
    let choices = matching(field.input.text());
    match (field.kind, command) {
        (FieldKind::Palette, Command::Up) => field.choice = field.choice.saturating_sub(1),
        (FieldKind::Palette, Command::Down | Command::NextPane) => {
            field.choice = (field.choice + 1).min(choices.len().saturating_sub(1));
        }
        (FieldKind::Palette, Command::Confirm) => match choices.get(field.choice) {
            Some(spec) => {
                model.layers.pop();
                return keys::run(model, spec.command);
            }
            None => field.complaint = Some("there is no such command".to_owned()),
        },
        (FieldKind::Filter, Command::Confirm) if field.complaint.is_none() => drop(model.layers.pop()),
        (FieldKind::Filter, Command::Back) => {
            model.layers.pop();
            filters::clear(model);
        }
        (FieldKind::Palette, Command::Back) => drop(model.layers.pop()),
        _ => {}
    }
    Vec::new()
}
