//! Dialogs: the question, the thing it is about, what would follow, and the buttons.

use ratatui::layout::Rect;

use super::super::command::Command;
use super::super::dialog::{Ask, Dialog, Focus, Question};
use super::super::friction::Friction;
use super::super::glyph::Glyph;
use super::super::keys::Mode;
use super::super::layout::centred;
use super::super::line_edit::LineEdit;
use super::super::model::Model;
use super::super::text::{escape, wrap};
use super::super::theme::Role;
use super::detail::{self, Text};
use super::palette::input;
use super::pen::{Pen, piece};
use crate::domain::plan::PlanKind;

/// Columns a dialog takes where there is room.
const WIDTH: u16 = 74;

/// Draws a dialog in the middle of the frame.
pub(super) fn draw(model: &Model, dialog: &Dialog, area: Rect, pen: &mut Pen<'_>) {
    let width = WIDTH.min(area.width);
    let inner = usize::from(width.saturating_sub(4));
    let text = text(model, dialog, inner, pen);
    let shown = fields(model, dialog);
    let fields = u16::try_from(shown.len()).unwrap_or(0);
    let foot = 2 + fields + u16::from(dialog.complaint.is_some());
    let wanted = u16::try_from(text.len()).unwrap_or(u16::MAX).saturating_add(foot + 2);
    let area = centred(area, width, wanted);
    let inside = pen.frame(area, &[piece(Role::Strong, format!(" {} ", title(dialog)))]);
    let (body, mut rest) = split(inside, foot);
    plan(model, dialog, &text, body, pen);
    let mut next = || {
        let row = Rect { height: rest.height.min(1), ..rest };
        rest = Rect { y: rest.y + row.height, height: rest.height - row.height, ..rest };
        row
    };
    let _air = next();
    for (label, edit, focus) in shown {
        let row = next();
        let used = pen.line(row, &[piece(Role::Dim, format!("{label} "))]);
        let room = Rect { x: row.x + used, width: row.width.saturating_sub(used), ..row };
        input(edit, room, dialog.focus == focus, pen);
    }
    if let Some(complaint) = &dialog.complaint {
        pen.line(next(), &[piece(Role::Failed, complaint.clone())]);
    }
    buttons(model, dialog, next(), pen);
}

/// The text, as far as there is room; the rest is a key away.
fn plan(model: &Model, dialog: &Dialog, text: &[Text], area: Rect, pen: &mut Pen<'_>) {
    let height = usize::from(area.height);
    if text.len() <= height {
        detail::show(text, 0, area, pen);
        return;
    }
    let room = height.saturating_sub(1);
    let top = dialog.top.min(text.len() - room);
    detail::show(&text[top..], 0, Rect { height: area.height.saturating_sub(1), ..area }, pen);
    let left = text.len() - top - room;
    let key = model.setup.keymap.keys_of(model.mode(), Command::Down).into_iter().next().unwrap_or_default();
    let more = match left {
        0 => "that is all".to_owned(),
        n => format!("{} {n} more lines: {key}", pen.glyph(Glyph::Ellipsis)),
    };
    let last = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
    pen.line(last, &[piece(Role::Warning, more)]);
}

fn split(area: Rect, foot: u16) -> (Rect, Rect) {
    let foot = foot.min(area.height);
    let body = Rect { height: area.height - foot, ..area };
    (body, Rect { y: body.bottom(), height: foot, ..area })
}

fn title(dialog: &Dialog) -> String {
    match &dialog.question {
        Question::Arm => "Arm verbs".to_owned(),
        Question::Quit => "Leave".to_owned(),
        Question::Verb(ask) => format!("{} {}?", ask.deed.asks(), ask.target.name),
    }
}

/// A field with its label, and which part of the dialog it is.
type Shown<'a> = (String, &'a LineEdit, Focus);

/// The fields of a dialog, in the order they are filled in.
fn fields<'a>(model: &Model, dialog: &'a Dialog) -> Vec<Shown<'a>> {
    let reason = |label: &str| (label.to_owned(), &dialog.reason, Focus::Reason);
    let ask = match &dialog.question {
        Question::Arm => return vec![reason("reason:")],
        Question::Quit => return Vec::new(),
        Question::Verb(ask) => ask,
    };
    let value = model.picture.as_ref().and_then(|picture| ask.deed.field(&picture.world));
    let value = value.map(|label| (label, &dialog.value, Focus::Value));
    let name = ask.proof().map(|proof| (format!("type {proof}:"), &dialog.name, Focus::Name));
    let reason = match ask.friction {
        Friction::StopKey => Some(reason("reason, if you want one:")),
        Friction::NameAndReason => Some(reason("reason:")),
        Friction::Enter | Friction::TypeName | Friction::Uncap => None,
    };
    value.into_iter().chain(name).chain(reason).collect()
}

fn text(model: &Model, dialog: &Dialog, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    match &dialog.question {
        Question::Arm => paragraph(
            "Verbs that change something go through for 10 minutes, then the console is read-only again. Stopping needs no arming. The reason goes into the journal.",
            width,
        ),
        Question::Quit => {
            let doing = model.orders.iter().map(|o| o.doing.clone()).collect::<Vec<_>>().join("; ");
            paragraph(&format!("Not answered yet: {doing}. It may happen all the same."), width)
        }
        Question::Verb(ask) => verb(model, ask, width, pen),
    }
}

fn paragraph(text: &str, width: usize) -> Vec<Text> {
    wrap(&escape(text), width).into_iter().map(|line| vec![piece(Role::Layer, line)]).collect()
}

fn verb(model: &Model, ask: &Ask, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let about = format!("{}  account {}", ask.target.short, ask.target.account);
    let about = about.trim_start();
    let mut lines =
        vec![vec![piece(Role::Strong, ask.target.name.clone()), piece(Role::Dim, format!("  {about}"))], Text::new()];
    if !ask.listed {
        lines.push(vec![piece(
            Role::Failed,
            format!("{} {} is no longer listed", pen.glyph(Glyph::Failed), ask.target.name),
        )]);
        return lines;
    }
    if let Some(moved) = &ask.moved {
        let told = format!("it moved meanwhile, so nothing was done: {moved}. This is the plan now:");
        lines.extend(detail::item(Glyph::Warning, Role::Warning, &told, width, pen));
        lines.push(Text::new());
    }
    if let Some(why) = &ask.unread {
        lines.extend(detail::paragraph(Role::Dim, why, width));
        return lines;
    }
    if let Some(why) = &ask.plan.refused {
        lines.extend(wrap(&escape(&why.to_string()), width).into_iter().map(|line| vec![piece(Role::Failed, line)]));
        lines.extend(why.hints().iter().flat_map(|hint| paragraph(hint, width)));
        return lines;
    }
    for line in &ask.plan.lines {
        let (glyph, role) = match line.kind {
            PlanKind::Ends => (Glyph::Failed, Role::Failed),
            PlanKind::Starts => (Glyph::Moving, Role::Moving),
            PlanKind::Stays => (Glyph::Dot, Role::Dim),
            PlanKind::Warns => (Glyph::Warning, Role::Warning),
        };
        for (n, part) in wrap(&escape(&line.text), width.saturating_sub(2)).into_iter().enumerate() {
            let mark = if n == 0 { pen.glyph(glyph) } else { " " };
            lines.push(vec![piece(role, mark), piece(Role::Layer, format!(" {part}"))]);
        }
    }
    if ask.friction == Friction::Uncap {
        lines.extend(starters(model, ask, width));
    }
    lines
}

/// Every machine that starts at once when the cap is taken away.
fn starters(model: &Model, ask: &Ask, width: usize) -> Vec<Text> {
    let Some(picture) = &model.picture else { return Vec::new() };
    let names: Vec<&str> = ask.plan.starts.iter().map(|id| picture.world.hostname(*id)).collect();
    let heading = match names.len() {
        0 => return detail::paragraph(Role::Dim, "nobody starts at once now: nobody waits in it", width),
        1 => "1 machine starts now, at its next poll:".to_owned(),
        n => format!("{n} machines start now, all at once:"),
    };
    let mut lines = vec![Text::new()];
    lines.extend(detail::paragraph(Role::Warning, &heading, width));
    lines.extend(detail::paragraph(Role::Strong, &names.join(" "), width));
    lines
}

fn buttons(model: &Model, dialog: &Dialog, area: Rect, pen: &mut Pen<'_>) {
    let (cancel, confirm, harm, on) = match &dialog.question {
        Question::Arm => ("leave it", "arm", false, true),
        Question::Quit => ("stay", "leave", true, true),
        Question::Verb(ask) => {
            let on = ask.listed && ask.plan.refused.is_none() && ask.unread.is_none();
            ("leave it", ask.deed.button(), ask.friction != Friction::Enter, on)
        }
    };
    let button = |text: String, focused: bool, harm: bool| {
        let role = match (focused, harm) {
            (true, true) => Role::Danger,
            (true, false) => Role::Selection,
            (false, _) => Role::Layer,
        };
        piece(role, format!("[ {text} ]"))
    };
    let mut pieces = vec![
        button(cancel.to_owned(), dialog.focus == Focus::Cancel, false),
        piece(Role::Dim, " "),
        piece(
            Role::Key,
            model.setup.keymap.keys_of(model.mode(), Command::Back).into_iter().next().unwrap_or_default(),
        ),
        piece(Role::Dim, "     "),
    ];
    if matches!(&dialog.question, Question::Verb(ask) if ask.friction == Friction::Uncap && ask.listed) {
        pieces.push(button("hold the line".to_owned(), dialog.focus == Focus::Line, false));
        pieces.push(piece(Role::Dim, "   "));
    }
    if on {
        pieces.push(button(confirm.to_owned(), dialog.focus == Focus::Confirm, harm));
        if let Some(command) = towards(dialog) {
            let keys = model.setup.keymap.keys_of(Mode::Dialog, command);
            pieces.push(piece(Role::Dim, " "));
            pieces.push(piece(Role::Key, keys.into_iter().next().unwrap_or_default()));
        }
    } else if matches!(&dialog.question, Question::Verb(ask) if ask.listed && ask.unread.is_some()) {
        pieces.push(piece(Role::Dim, "a value comes first"));
    } else {
        pieces.push(piece(Role::Dim, "it cannot be confirmed"));
    }
    pen.line(area, &pieces);
}

/// What confirms from where the keys go now, or leads to the button that does; none from a field before a grave deed,
/// where the next key goes to what comes after the field.
fn towards(dialog: &Dialog) -> Option<Command> {
    let harmless = match &dialog.question {
        Question::Arm => true,
        Question::Quit => return Some(Command::ConfirmStop),
        Question::Verb(ask) if ask.friction == Friction::StopKey => {
            return (!dialog.is_typing()).then_some(Command::ConfirmStop);
        }
        Question::Verb(ask) => ask.friction == Friction::Enter,
    };
    match dialog.focus {
        Focus::Confirm => Some(Command::Confirm),
        Focus::Cancel | Focus::Line => Some(Command::NextPane),
        Focus::Value | Focus::Name | Focus::Reason => harmless.then_some(Command::Confirm),
    }
}
