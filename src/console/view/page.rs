//! Pages: a row in full, or the keys.

use ratatui::layout::Rect;

use super::super::command::{COMMANDS, Group};
use super::super::keys::Mode;
use super::super::layer::{Page, PageKind};
use super::super::model::Model;
use super::super::theme::Role;
use super::carry;
use super::detail::{self, Text};
use super::pen::{Pen, piece};

/// Draws a page over the body.
pub(super) fn draw(model: &Model, page: Page, area: Rect, pen: &mut Pen<'_>) {
    let inside = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
    let lines = match page.kind {
        PageKind::Detail(subject) => detail::lines(model, subject, usize::from(inside.width), pen),
        PageKind::Help => help(model),
        PageKind::Fallback => {
            // A picture that is lost stands still; how long it is lost does not.
            pen.show_moment(model.now);
            carry::lines(model, usize::from(inside.width), pen)
        }
    };
    detail::show(&lines, page.top, inside, pen);
    let height = usize::from(area.height);
    if lines.len() > height {
        let top = page.top.min(lines.len() - height);
        let text = format!(" {}-{} of {} ", top + 1, top + height, lines.len());
        let last = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        pen.line_right(last, &[piece(Role::Dim, text)]);
    }
}

/// The keys, from the keymap as it is now.
fn help(model: &Model) -> Vec<Text> {
    let mut lines: Vec<Text> = Vec::new();
    let keymap = &model.setup.keymap;
    for group in Group::ALL {
        if !lines.is_empty() {
            lines.push(Text::new());
        }
        lines.push(vec![piece(Role::Heading, group.title())]);
        for spec in COMMANDS.iter().filter(|spec| spec.group == group) {
            let mut keys = keymap.keys_of(Mode::List, spec.command);
            if keys.is_empty() {
                keys = [Mode::Dialog, Mode::Text, Mode::Page]
                    .into_iter()
                    .flat_map(|m| keymap.keys_of(m, spec.command))
                    .collect();
                keys.dedup();
            }
            let keys = if keys.is_empty() { format!(":{}", spec.name) } else { keys.join("  ") };
            lines.push(vec![piece(Role::Key, format!("  {keys:<18} ")), piece(Role::Text, spec.about)]);
        }
    }
    lines.push(Text::new());
    lines
        .push(vec![piece(Role::Dim, "ctrl-c always quits, ctrl-z always suspends; the keys are those of your keymap")]);
    lines
}
