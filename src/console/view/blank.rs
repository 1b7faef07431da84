//! When there is nothing to show: connecting, refused, lost and empty are four different texts.

use ratatui::layout::Rect;

use super::super::command::Command;
use super::super::keys::Mode;
use super::super::layer::Layer;
use super::super::layout::SMALLEST;
use super::super::model::{Model, Screen, Subject};
use super::super::snapshot::{Access, DEMO, Freshness, Snapshot};
use super::super::text::{escape, fit, wrap};
use super::super::theme::Role;
use super::detail;
use super::pen::{Pen, piece};

/// Says why there are no rows, if there are none. True where it did.
pub(super) fn draw(model: &Model, area: Rect, pen: &mut Pen<'_>) -> bool {
    let Some((role, title, lines)) = why(model) else { return false };
    let width = area.width.saturating_sub(4).min(72);
    let mut text: Vec<(Role, String)> = vec![(role, title)];
    for line in lines {
        text.extend(wrap(&escape(&line), usize::from(width)).into_iter().map(|line| (Role::Text, line)));
    }
    let height = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let top = area.y + area.height.saturating_sub(height) / 3;
    let x = area.x + 2;
    for (n, (role, line)) in (0..area.height).zip(text) {
        pen.line(Rect { x, y: top + n, width, height: u16::from(top + n < area.bottom()) }, &[piece(role, line)]);
    }
    true
}

fn why(model: &Model) -> Option<(Role, String, Vec<String>)> {
    let Some(picture) = &model.picture else { return Some(connecting(&model.setup.endpoint)) };
    let blank = picture.is_blank();
    match &picture.api {
        Freshness::Refused { why, hint } => {
            let lines = vec![why.clone(), hint.clone()];
            Some((Role::Halted, format!("{} refuses", picture.endpoint), lines))
        }
        Freshness::Connecting if blank => Some(connecting(&picture.endpoint)),
        Freshness::Lost { why, .. } if blank => {
            let title = format!("{} cannot be reached", picture.endpoint);
            let why = why.strip_prefix(&format!("{title}: ")).map_or_else(|| why.clone(), str::to_owned);
            Some((Role::Halted, title, vec![why, "It is tried again for as long as this is open.".to_owned()]))
        }
        _ if picture.glimpse.is_some() && picture.world.current().is_none() && is_empty(model) => {
            let lines = vec![
                "This control plane tells the status of a rollout, but not which rollout runs.".to_owned(),
                "Name the one to look at: kura-console --rollout UUID, or set KURA_CONSOLE_ROLLOUT.".to_owned(),
            ];
            Some((Role::Strong, "No rollout is on show".to_owned(), lines))
        }
        _ if picture.world.current().is_none() && is_empty(model) => {
            Some((Role::Strong, "No rollout yet".to_owned(), empty(model)))
        }
        _ => None,
    }
}

fn connecting(endpoint: &str) -> (Role, String, Vec<String>) {
    if endpoint == DEMO {
        let lines = vec!["The simulated fleet lives through its past first.".to_owned()];
        return (Role::Strong, "Starting the demo".to_owned(), lines);
    }
    (Role::Strong, format!("Connecting to {endpoint}"), vec!["Waiting for the first answer.".to_owned()])
}

/// Whether a screen has nothing to show before the first rollout.
fn is_empty(model: &Model) -> bool {
    match model.screen {
        Screen::Now => model.now_rows.is_empty() && model.facts.fleet.is_empty(),
        Screen::Rollout => model.lines.is_empty() && model.filter.is_empty(),
        _ => false,
    }
}

/// What an account has in which no release was ever started, and what it takes to start one.
pub(super) fn empty(model: &Model) -> Vec<String> {
    let Some(picture) = &model.picture else { return Vec::new() };
    let world = &picture.world;
    let counts = [
        (world.environments.len(), "environment"),
        (world.rings.len(), "ring"),
        (world.machines.len(), "machine"),
        (world.releases.len(), "release"),
    ];
    let counted = counts.map(|(n, what)| format!("{n} {what}{}", if n == 1 { "" } else { "s" })).join(", ");
    let next = match picture.api.is_fresh(model.now) {
        true => next(model, picture, counts.map(|(n, _)| n > 0)),
        false => "That is what was last seen; whether it is still so is not known.".to_owned(),
    };
    vec![format!("no release was ever started: {counted}"), next]
}

/// The first thing that is missing.
fn next(model: &Model, picture: &Snapshot, there: [bool; 4]) -> String {
    let key = |command: Command| {
        let keys = model.setup.keymap.keys_of(Mode::List, command);
        keys.into_iter().next().unwrap_or_else(|| format!(":{}", command.spec().name))
    };
    if picture.access == Access::Viewer && there.contains(&false) {
        return "Next: an operator adds what is missing; your token can look, not act.".to_owned();
    }
    match there {
        [false, ..] => "Next: an environment, with kura-console add-environment SLUG.".to_owned(),
        [_, false, ..] => "Next: a ring, with kura-console add-ring SLUG.".to_owned(),
        [_, _, false, _] => {
            format!("Next: machines, with {} here or kura-console add-machine HOST.", key(Command::AddMachine))
        }
        [.., false] => "Next: a release, with kura-console build GIT_REF.".to_owned(),
        _ => format!("Next: start a release, on screen {}.", key(Command::ScreenReleases)),
    }
}

/// The one sentence of a frame that has room for nothing else.
pub(super) fn too_small(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let asked = matches!(model.layers.last(), Some(Layer::Dialog(_)));
    let sentence = match asked {
        true => "a question is open that does not fit here: enlarge the terminal, or press esc".to_owned(),
        false => sentence(model, pen),
    };
    let mut lines: Vec<(Role, String)> = Vec::new();
    if area.height > 1 {
        lines.push((Role::Dim, format!("too small: {}x{} at least", SMALLEST.0, SMALLEST.1)));
    }
    let room = usize::from(area.height).saturating_sub(lines.len());
    let rows = fit(&escape(&sentence), usize::from(area.width), room);
    lines.extend(rows.into_iter().map(|row| (Role::Text, row)));
    for (y, (role, line)) in (area.top()..area.bottom()).zip(lines) {
        pen.line(Rect { y, height: 1, ..area }, &[piece(role, line)]);
    }
}

fn sentence(model: &Model, pen: &mut Pen<'_>) -> String {
    if let Some((_, title, lines)) = why(model) {
        return format!("{title}. {}", lines.join(" "));
    }
    if let Some(need) = model.facts.needs.first() {
        let (_, word, _) = need.kind.look();
        return format!("{word} {}: {}", need.name, need.text);
    }
    let Some(picture) = &model.picture else { return String::new() };
    detail::explained(model, picture, Subject::Rollout, pen).sentence
}
