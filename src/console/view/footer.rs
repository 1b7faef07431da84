//! The last lines: what happened last, what is on its way, and the keys that make sense here.

use ratatui::layout::Rect;

use super::super::command::{Command, Reach};
use super::super::facts::Node;
use super::super::glyph::Glyph;
use super::super::keys::{Mode, written};
use super::super::layer::Layer;
use super::super::layout::Frame;
use super::super::model::{Model, Screen, Subject};
use super::super::order::Tone;
use super::super::target::{Target, aim};
use super::super::text::{escape, fit, width};
use super::super::theme::Role;
use super::super::update::filter_typed;
use super::pen::{Pen, Piece, piece};

/// Rows a long answer may take from what lies above it.
const STATUS_ROWS_MAX: usize = 4;

/// Columns between two hints.
const GAP: usize = 2;

/// A key and what it does.
type Hint = [Piece<'static>; 2];

/// Draws the keys.
pub(super) fn hints(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let room = usize::from(frame.hints.width);
    let mut hints = as_many_as_fit(hinted(model, pen), room);
    hints.extend(one_more(model).filter(|more| wide(&hints) + GAP + wide(std::slice::from_ref(more)) <= room));
    let pieces: Vec<Piece<'_>> = [piece(Role::Dim, " ")].into_iter().chain(hints.into_iter().flatten()).collect();
    pen.line(frame.hints, &pieces);
}

/// Draws what is on its way or happened last. An answer that is longer than its line grows upwards.
pub(super) fn status(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let area = frame.status;
    let Some((role, glyph, text)) = news(model, pen) else {
        if let Some(filter) = filter_typed(model).filter(|text| !text.is_empty()) {
            pen.line(area, &[piece(Role::Input, format!("/{filter}"))]);
        }
        return;
    };
    let room = usize::from(area.width).saturating_sub(4);
    let rows = STATUS_ROWS_MAX.min(usize::from(frame.body.height) + 1);
    let lines = fit(&escape(&text), room, rows);
    let above = u16::try_from(lines.len()).unwrap_or(1).saturating_sub(1);
    let area = Rect { y: area.y - above, height: above + 1, ..area };
    pen.clear(area);
    for (n, (y, line)) in (area.top()..area.bottom()).zip(lines).enumerate() {
        let mark = if n == 0 { pen.glyph(glyph) } else { " " };
        pen.line(Rect { y, height: 1, ..area }, &[piece(role, format!(" {mark} {line}"))]);
    }
}

/// The order that is on its way, else the last news.
fn news(model: &Model, pen: &mut Pen<'_>) -> Option<(Role, Glyph, String)> {
    if let Some(order) = model.orders.last() {
        let others = model.orders.len() - 1;
        let more = if others > 0 { format!(" (and {others} more)") } else { String::new() };
        let text = match order.checking {
            Some(_) => format!("{}: unknown, checking the journal{more}", order.doing),
            None => format!("{}{more}", order.doing),
        };
        return Some((Role::Warning, Glyph::Ellipsis, text));
    }
    let status = model.status.as_ref()?;
    if let Some(at) = status.leaves_at() {
        pen.wake_at(at);
    }
    let (glyph, role) = match status.tone {
        Tone::Good => (Glyph::Done, Role::Done),
        Tone::Note => (Glyph::Dot, Role::Text),
        Tone::Bad => (Glyph::Failed, Role::Failed),
    };
    Some((role, glyph, status.text.clone()))
}

/// The commands that make sense where the selection is, with their keys.
fn hinted(model: &Model, pen: &Pen<'_>) -> Vec<Hint> {
    let mode = model.mode();
    let commands: Vec<Command> = match (mode, model.screen) {
        (Mode::Dialog, _) => vec![Command::NextPane, Command::Back],
        (Mode::Text, _) => vec![Command::Confirm, Command::Back],
        (Mode::Page, _) => vec![Command::Back, Command::Copy],
        (_, Screen::Now) => vec![Command::Open, Command::Why],
        (_, Screen::Rollout) => match model.subject() {
            Subject::Node(Node::Machine(_)) => vec![Command::Open, Command::Filter],
            _ => vec![Command::Fold, Command::Filter],
        },
        (_, Screen::Kura | Screen::Rolls | Screen::Nodes) => vec![Command::Open, Command::Filter],
        (_, Screen::Releases | Screen::History) => vec![Command::Open, Command::Filter],
        (_, Screen::Log) => vec![Command::Up, Command::Last],
    };
    let mut hints: Vec<Hint> = commands.into_iter().filter_map(|command| hint(model, mode, command)).collect();
    let fallback = model.picture.as_ref().and_then(|picture| picture.fallback.as_ref());
    if matches!(mode, Mode::List | Mode::Page) && fallback.is_some_and(|fallback| fallback.silence.is_some()) {
        // While the control plane is gone nothing else comes first.
        hints.splice(0..0, hint(model, mode, Command::Fallback));
    }
    if matches!(mode, Mode::List | Mode::Page) {
        for (keys, title) in verb_prefixes(model, mode) {
            hints.push([piece(Role::Key, keys), piece(Role::Dim, format!(" {title}{}  ", pen.glyph(Glyph::Ellipsis)))]);
        }
        let armed = model.arming.until(model.now).is_some();
        let last = [if armed { Command::Disarm } else { Command::Arm }, Command::Palette, Command::Help, Command::Quit];
        hints.extend(last.into_iter().filter_map(|command| hint(model, mode, command)));
    }
    hints
}

/// Whole hints only. What helps to look goes first, then the last ones: `?` tells them all.
fn as_many_as_fit(mut hints: Vec<Hint>, room: usize) -> Vec<Hint> {
    if hints.len() > 2 && wide(&hints) > room {
        hints.remove(1);
    }
    while hints.len() > 1 && wide(&hints) > room {
        hints.pop();
    }
    hints
}

/// What helps with a Kura server, a roll or a node, where there is room for one more.
fn one_more(model: &Model) -> Option<Hint> {
    let helps = matches!(model.subject(), Subject::Node(Node::Kura(_) | Node::Roll(_) | Node::Host(_)));
    (helps && model.mode() == Mode::List).then(|| hint(model, Mode::List, Command::CopyCommand)).flatten()
}

fn wide(hints: &[Hint]) -> usize {
    1 + hints.iter().flatten().map(|(_, text)| width(text)).sum::<usize>() - GAP
}

/// Prefixes that lead to verbs, with what they are for; one per title.
fn verb_prefixes(model: &Model, mode: Mode) -> Vec<(String, String)> {
    let keymap = &model.setup.keymap;
    let mut shown: Vec<(String, String)> = Vec::new();
    for (chords, title) in keymap.prefixes() {
        let verbs = keymap.after(mode, chords).into_iter().any(|(_, command)| command.spec().reach != Reach::View);
        if verbs && shown.iter().all(|(_, known)| known != title) {
            shown.push((written(chords), title.to_owned()));
        }
    }
    shown
}

fn hint(model: &Model, mode: Mode, command: Command) -> Option<Hint> {
    let key = model.setup.keymap.keys_of(mode, command).into_iter().next()?;
    Some([piece(Role::Key, key), piece(Role::Dim, format!(" {}  ", command.spec().hint))])
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
    let pressed = written(&model.pending);
    let title = keymap.prefix_title(&model.pending).unwrap_or("continues with");
    let inside =
        pen.frame(area, &[piece(Role::Key, format!(" {pressed}")), piece(Role::Heading, format!(" {title} "))]);
    for (n, (keys, command)) in (0..inside.height).zip(after) {
        let row = Rect { y: inside.y + n, height: 1, ..inside };
        let (role, what) = meant(model, command);
        let hint = piece(Role::Layer, format!("{:<17}", command.spec().hint));
        pen.line(row, &[piece(Role::Key, format!("{keys:<3}")), hint, piece(role, what)]);
    }
}

/// What a verb would be aimed at if it were given now.
fn meant(model: &Model, command: Command) -> (Role, String) {
    let Some(picture) = &model.picture else { return (Role::Dim, String::new()) };
    let deed = aim(command, model.subject(), &model.facts, &picture.world);
    let target = deed.map(|deed| Target::of(&deed, &picture.world, &model.facts, &picture.account));
    match target {
        Ok(target) => (Role::Strong, target.map_or_else(String::new, |target| target.name)),
        Err(why) => (Role::Dim, why),
    }
}
