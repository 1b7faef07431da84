//! What can be done about something: the key that does it, or the command that only a person may run, and what to
//! look at afterwards.

use super::super::command::Command;
use super::super::glyph::Glyph;
use super::super::keys::Mode;
use super::super::kura::as_run;
use super::super::model::Model;
use super::super::snapshot::Snapshot;
use super::super::text::{escape, wrap};
use super::super::theme::Role;
use super::detail::{Text, item, paragraph};
use super::pen::{Pen, piece};
use crate::domain::explain::Explanation;
use crate::domain::kura::advice::Advice;

/// The sentence, what to do, and what to verify: as much of the advice as fits, and always the check.
pub(super) fn brief(
    model: &Model,
    said: &Explanation,
    advice: &[Advice],
    (width, rows): (usize, usize),
    pen: &Pen<'_>,
) -> Vec<Text> {
    let mut lines = paragraph(Role::Strong, &said.sentence, width);
    let check = advice.first().map(|first| verify(&first.verify, width, pen)).unwrap_or_default();
    let room = rows.saturating_sub(lines.len() + check.len());
    let keys: Vec<Text> = advice.iter().flat_map(|advice| action(model, advice, width, pen)).collect();
    let cut = keys.len() > room;
    lines.extend(keys.into_iter().take(room));
    if let (true, Some(last)) = (cut && room > 0, lines.last_mut()) {
        last.push(piece(Role::Dim, format!(" {}", pen.glyph(Glyph::Ellipsis))));
    }
    lines.extend(check);
    lines
}

/// Everything that can be done, each with its command and its check.
pub(super) fn whole(model: &Model, picture: &Snapshot, advice: &[Advice], width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let mut lines = Vec::new();
    for (n, advice) in advice.iter().enumerate() {
        lines.extend(action(model, advice, width, pen));
        if let Some(command) = &advice.command {
            let command = as_run(command, picture, model.setup.context.as_deref());
            let wrapped = wrap(&escape(&command), width.saturating_sub(4));
            let marked = wrapped.into_iter().enumerate();
            lines.extend(marked.map(|(n, line)| {
                vec![piece(Role::Dim, if n == 0 { "  $ " } else { "    " }), piece(Role::Input, line)]
            }));
        }
        match n {
            0 => lines.extend(verify(&advice.verify, width, pen)),
            _ => lines.extend(
                item(Glyph::SlotFree, Role::Dim, &advice.verify, width.saturating_sub(2), pen)
                    .into_iter()
                    .map(indented),
            ),
        }
    }
    lines
}

fn indented(line: Text) -> Text {
    [piece(Role::Dim, "  ")].into_iter().chain(line).collect()
}

fn verify(check: &str, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let label = "THEN VERIFY ";
    let wrapped = wrap(&escape(check), width.saturating_sub(label.len() + 2));
    let marked = wrapped.into_iter().enumerate().map(|(n, line)| match n {
        0 => vec![
            piece(Role::Heading, label),
            piece(Role::Key, pen.glyph(Glyph::SlotFree)),
            piece(Role::Text, format!(" {line}")),
        ],
        _ => vec![piece(Role::Text, format!("{}{line}", " ".repeat(label.len() + 2)))],
    });
    marked.collect()
}

/// The key of its verb, or the one that copies its command, before what it does.
fn action(model: &Model, advice: &Advice, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let command = advice.verb.as_deref().and_then(Command::named);
    let copy = advice.command.as_ref().map(|_| Command::CopyCommand);
    let key = command.or(copy).map(|command| key(model, command)).unwrap_or_default();
    let columns = 5;
    let wrapped = wrap(&escape(&advice.action), width.saturating_sub(columns + 2));
    let marked = |(n, line): (usize, String)| {
        let (mark, key) = if n == 0 { (pen.glyph(Glyph::Arrow), key.as_str()) } else { (" ", "") };
        vec![piece(Role::Key, format!("{mark} {key:<columns$}")), piece(Role::Text, line)]
    };
    wrapped.into_iter().enumerate().map(marked).collect()
}

fn key(model: &Model, command: Command) -> String {
    let keys = model.setup.keymap.keys_of(Mode::List, command);
    keys.into_iter().next().unwrap_or_else(|| format!(":{}", command.spec().name))
}
