//! The last lines: what happened last, what is on its way, and the keys that make sense here.

use ratatui::layout::Rect;

use super::super::command::Command;
use super::super::facts::Node;
use super::super::glyph::Glyph;
use super::super::keys::Mode;
use super::super::layer::Layer;
use super::super::layout::Frame;
use super::super::model::{Model, Screen, Subject};
use super::super::order::Tone;
use super::super::theme::Role;
use super::pen::{Pen, Piece, piece};

/// Draws both lines.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    status(model, frame.status, pen);
    let hints = hints(model);
    pen.line(frame.hints, &hints);
}

fn status(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let text = match (&model.status, model.orders.last()) {
        (_, Some(order)) => {
            let more =
                if model.orders.len() > 1 { format!(" (and {} more)", model.orders.len() - 1) } else { String::new() };
            let text = match order.checking {
                Some(_) => format!(" ? {}: unknown, checking the journal{more}", order.doing),
                None => format!(" {} {}{more}", pen.glyph(Glyph::Ellipsis), order.doing),
            };
            piece(Role::Warning, text)
        }
        (Some(status), None) => {
            if let Some(at) = status.leaves_at() {
                pen.wake_at(at);
            }
            let (glyph, role) = match status.tone {
                Tone::Good => (Glyph::Done, Role::Done),
                Tone::Note => (Glyph::Dot, Role::Text),
                Tone::Bad => (Glyph::Failed, Role::Failed),
            };
            piece(role, format!(" {} {}", pen.glyph(glyph), status.text))
        }
        (None, None) if !model.filter.is_empty() && model.screen == Screen::Rollout => {
            piece(Role::Input, format!("/{}", model.filter.text))
        }
        (None, None) => return,
    };
    pen.line(area, &[text]);
}

/// The commands that make sense where the selection is, with their keys.
fn hints(model: &Model) -> Vec<Piece<'static>> {
    let mode = model.mode();
    let commands: Vec<Command> = match (mode, model.screen) {
        (Mode::Dialog, _) => return Vec::new(),
        (Mode::Text, _) => vec![Command::Confirm, Command::Back],
        (Mode::Page, _) => vec![Command::Back, Command::Copy],
        (_, Screen::Now) => vec![Command::Open, Command::Why],
        (_, Screen::Rollout) => match model.subject() {
            Subject::Node(Node::Machine(_)) => vec![Command::Open, Command::Filter],
            _ => vec![Command::Fold, Command::Why, Command::Filter],
        },
        (_, Screen::Log) => vec![Command::Up, Command::Last],
    };
    let mut pieces = vec![piece(Role::Dim, " ")];
    for command in commands {
        hint(model, mode, command, &mut pieces);
    }
    if matches!(mode, Mode::List | Mode::Page) {
        for (keys, title) in model.setup.keymap.prefixes() {
            pieces.push(piece(Role::Key, keys));
            pieces.push(piece(Role::Dim, format!(" {title}…  ")));
        }
        let armed = model.arming.until(model.now).is_some();
        let last = [if armed { Command::Disarm } else { Command::Arm }, Command::Palette, Command::Help, Command::Quit];
        for command in last {
            hint(model, mode, command, &mut pieces);
        }
    }
    pieces
}

fn hint(model: &Model, mode: Mode, command: Command, pieces: &mut Vec<Piece<'static>>) {
    let Some(key) = model.setup.keymap.keys_of(mode, command).into_iter().next() else { return };
    pieces.push(piece(Role::Key, key));
    pieces.push(piece(Role::Dim, format!(" {}  ", command.spec().hint)));
}

/// The box of what can follow the chords that were pressed.
pub(super) fn pending(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    if model.pending.is_empty() || matches!(model.layers.last(), Some(Layer::Dialog(_))) {
        return;
    }
    let keymap = &model.setup.keymap;
    let after = keymap.after(model.mode(), &model.pending);
    let rows = u16::try_from(after.len()).unwrap_or(u16::MAX);
    let bottom = frame.status.y;
    let height = (rows + 2).min(frame.body.height);
    let width = 46.min(frame.body.width);
    let area = Rect { x: frame.body.right() - width, y: bottom - height, width, height };
    let pressed = super::super::keys::written(&model.pending);
    let title = keymap.prefix_title(&model.pending).unwrap_or("continues with");
    let inside =
        pen.frame(area, &[piece(Role::Key, format!(" {pressed}")), piece(Role::Heading, format!(" {title} "))]);
    for (n, (keys, command)) in (0..inside.height).zip(after) {
        let row = Rect { y: inside.y + n, height: 1, ..inside };
        let what = meant(model, command);
        pen.line(
            row,
            &[
                piece(Role::Key, format!("{keys:<3}")),
                piece(Role::Layer, command.spec().hint),
                piece(Role::Strong, what),
            ],
        );
    }
}

/// What a verb would be aimed at if it were given now.
fn meant(model: &Model, command: Command) -> String {
    let Some(picture) = &model.picture else { return String::new() };
    let deed = super::super::target::aim(command, model.subject(), &model.facts, &picture.world);
    let target = deed.ok().and_then(|deed| super::super::target::Target::of(deed, &picture.world, ""));
    target.map_or_else(String::new, |target| format!("  {}", target.name))
}
