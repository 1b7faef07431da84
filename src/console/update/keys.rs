//! A key: to the text field that has the focus, or through the keymap to a command.

use super::super::advice::advice;
use super::super::chord::{Chord, Key};
use super::super::command::{Command, Reach};
use super::super::dialog::{Dialog, Question};
use super::super::effect::Effect;
use super::super::facts::Node;
use super::super::keys::{Found, Mode, written};
use super::super::kura::{self, Part};
use super::super::layer::{Layer, Page, PageKind};
use super::super::layout::Room;
use super::super::model::{Model, Screen, Subject};
use super::super::need::NeedKind;
use super::super::saying::shown_at;
use super::super::shelf::Item;
use super::{answers, dialogs, entry, fields, navigate, seats, verbs};

/// Chords one may press before they come to something.
const PENDING_MAX: usize = 3;

/// Takes a key.
pub(super) fn press(model: &mut Model, chord: Chord) -> Vec<Effect> {
    if chord == Chord::ctrl('c') {
        return quit(model);
    }
    if chord == Chord::ctrl('z') {
        return vec![Effect::Suspend];
    }
    let mode = model.mode();
    if let Some(Layer::Dialog(dialog)) = model.layers.last_mut()
        && !dialog.drawn
    {
        // Leaving does nothing to the world, so it needs no look.
        if model.setup.keymap.find(mode, &[chord]) == Found::Command(Command::Back) && chord.typed().is_none() {
            model.layers.pop();
        } else {
            dialog.complaint = Some("a key was dropped: it was pressed before this was on the screen".to_owned());
        }
        return Vec::new();
    }
    let unseen = model.frame().room == Room::Tiny && matches!(model.layers.last(), Some(Layer::Dialog(_)));
    if unseen && model.setup.keymap.find(mode, &[chord]) != Found::Command(Command::Back) {
        return Vec::new();
    }
    if mode == Mode::Text {
        return typed(model, chord);
    }
    model.pending.push(chord);
    match model.setup.keymap.find(mode, &model.pending) {
        Found::Prefix if model.pending.len() < PENDING_MAX => Vec::new(),
        Found::Command(command) => {
            model.pending.clear();
            run(model, command)
        }
        Found::Prefix | Found::Nothing => {
            let (pressed, began) = (written(&model.pending), model.pending.len() > 1);
            model.pending.clear();
            if began && chord.key != Key::Esc {
                entry::hint(model, format!("{pressed} means nothing here"));
            }
            Vec::new()
        }
    }
}

/// In a text field: characters are typed, other chords may be bound, the rest edits.
fn typed(model: &mut Model, chord: Chord) -> Vec<Effect> {
    let found = match chord.typed() {
        Some(_) => Found::Nothing,
        None => model.setup.keymap.find(Mode::Text, &[chord]),
    };
    match found {
        Found::Command(command) => run(model, command),
        Found::Prefix | Found::Nothing => {
            fields::edit(model, chord);
            Vec::new()
        }
    }
}

/// Does what a command says.
pub(super) fn run(model: &mut Model, command: Command) -> Vec<Effect> {
    match model.layers.last() {
        Some(Layer::Dialog(_)) => return dialogs::run(model, command),
        Some(Layer::Field(_)) => return fields::run(model, command),
        Some(Layer::Page(_)) | None => {}
    }
    if navigate::page(model, command) {
        return Vec::new();
    }
    match command {
        Command::Quit => return quit(model),
        Command::Suspend => return vec![Effect::Suspend],
        Command::Redraw => return vec![Effect::Redraw],
        Command::Copy => return copy(model),
        Command::CopyCommand => return copy_command(model),
        Command::ScreenNow => navigate::screen(model, Screen::Now),
        Command::ScreenRollout => navigate::screen(model, Screen::Rollout),
        Command::ScreenKura => navigate::screen(model, Screen::Kura),
        Command::ScreenRolls => navigate::screen(model, Screen::Rolls),
        Command::ScreenNodes => navigate::screen(model, Screen::Nodes),
        Command::ScreenReleases => navigate::screen(model, Screen::Releases),
        Command::ScreenHistory => navigate::screen(model, Screen::History),
        Command::ScreenLog => navigate::screen(model, Screen::Log),
        Command::Help => model.layers.push(Layer::Page(Page { kind: PageKind::Help, top: 0 })),
        Command::Palette => fields::open_palette(model),
        Command::Filter => fields::open_filter(model),
        Command::Sort | Command::SortTurned => navigate::sort(model, command == Command::SortTurned),
        Command::Why => open_detail(model),
        Command::Fallback => seats::fallback(model),
        Command::Arm => verbs::arm(model),
        Command::Disarm => verbs::disarm(model),
        verb if matches!(verb.spec().reach, Reach::Stop | Reach::Act) => verbs::open(model, verb),
        movement => navigate::list(model, movement),
    }
    Vec::new()
}

/// Opens the selected row in full.
pub(super) fn open_detail(model: &mut Model) {
    let subject = match model.shown() {
        Subject::Nothing => Subject::Rollout,
        subject => subject,
    };
    if matches!(subject, Subject::Need(NeedKind::Silent, _)) {
        return seats::show(model);
    }
    if let Some(machine) = answers::machine_of(model, subject) {
        answers::ask_again(model, machine);
    }
    if !matches!(model.layers.last(), Some(Layer::Page(page)) if page.kind == PageKind::Detail(subject)) {
        model.layers.push(Layer::Page(Page { kind: PageKind::Detail(subject), top: 0 }));
    }
}

fn copy(model: &mut Model) -> Vec<Effect> {
    let id = match model.subject() {
        Subject::Node(Node::Machine(id)) => Some(id.0),
        Subject::Node(Node::Lane((_, ring))) => Some(ring.0),
        Subject::Node(Node::Environment(id)) => Some(id.0),
        Subject::Node(Node::Ring(id)) => Some(id.0),
        Subject::Node(Node::Kura(part)) => return copy_part(model, part),
        Subject::Node(Node::Roll(id)) => Some(id.0),
        Subject::Node(Node::Host(id)) => {
            let name = model.facts.fleet.hosts.get(&id).map(|host| host.name.clone());
            return name.map_or_else(Vec::new, |name| copied(model, name));
        }
        Subject::Rollout => model.picture.as_ref().and_then(|p| p.world.current()).map(|r| r.id.0),
        Subject::Item(Item::Release(id)) => Some(id.0),
        Subject::Item(Item::Rollout(id)) => Some(id.0),
        Subject::Node(Node::Spare) | Subject::Item(Item::Deed(_)) | Subject::Need(..) | Subject::Nothing => None,
    };
    match id {
        Some(id) => copied(model, id.to_string()),
        None => {
            entry::hint(model, "select a row to copy its identity");
            Vec::new()
        }
    }
}

fn copied(model: &mut Model, text: String) -> Vec<Effect> {
    entry::hint(model, format!("copied {text}"));
    vec![Effect::Copy(text)]
}

/// Of a server its identity, of what only the cluster knows its name.
fn copy_part(model: &mut Model, part: Part) -> Vec<Effect> {
    let text = match part {
        Part::Server(id) => Some(id.0.to_string()),
        other => model.facts.kura.name(other).map(str::to_owned),
    };
    text.map_or_else(Vec::new, |text| copied(model, text))
}

/// The command of the first advice that has one; pressed again for the same row, that of the next.
fn copy_command(model: &mut Model) -> Vec<Effect> {
    let Some(picture) = &model.picture else { return Vec::new() };
    let subject = model.shown();
    let advice = advice(picture, &model.facts, subject, shown_at(picture, subject, model.now));
    let context = model.setup.context.as_deref();
    let lines = advice.unwrap_or_default().into_iter().filter_map(|advice| advice.command);
    let lines: Vec<String> = lines.map(|line| kura::as_run(&line, picture, context)).collect();
    let next = model.copied.filter(|(of, _)| *of == subject).map_or(0, |(_, n)| n + 1);
    let Some(line) = lines.get(next % lines.len().max(1)).cloned() else {
        entry::hint(model, "there is no command for this row");
        return Vec::new();
    };
    model.copied = Some((subject, next));
    let which = if lines.len() > 1 { format!(" {} of {}", next % lines.len() + 1, lines.len()) } else { String::new() };
    entry::hint(model, format!("copied{which}: {line}"));
    vec![Effect::Copy(line)]
}

/// Leaves; while an order is on its way it asks once.
pub(super) fn quit(model: &mut Model) -> Vec<Effect> {
    let asking = matches!(model.layers.last(), Some(Layer::Dialog(d)) if matches!(d.question, Question::Quit));
    if asking || !model.has_orders_in_flight() {
        return vec![Effect::Quit];
    }
    model.pending.clear();
    model.layers.push(Layer::Dialog(Box::new(Dialog::new(Question::Quit))));
    Vec::new()
}
