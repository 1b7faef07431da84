//! The page of the fallback: where this console stands, over what it would carry on, and what it would do first.

use super::super::carry;
use super::super::command::Command;
use super::super::glyph::Glyph;
use super::super::keys::Mode;
use super::super::model::Model;
use super::super::snapshot::Freshness;
use super::super::theme::Role;
use super::detail::{Text, fact, folded, item, paragraph};
use super::pen::{Pen, piece};
use crate::domain::fallback::{AgentRoutes, Fallback, Rung};
use crate::domain::plan::PlanKind;

/// Everything about it.
pub(super) fn lines(model: &Model, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let mut lines = vec![vec![piece(Role::Heading, "FALLBACK")], Text::new()];
    let known = model.picture.as_ref().and_then(|picture| Some((picture, picture.fallback.as_ref()?)));
    let Some((picture, fallback)) = known else {
        let text =
            "This console is not attached to a control plane that could be lost, so there is nothing to carry on for.";
        lines.extend(paragraph(Role::Text, text, width));
        return lines;
    };
    lines.extend(paragraph(Role::Strong, &carry::standing(fallback), width));
    lines.push(Text::new());
    lines.extend(facts(model, fallback, pen).into_iter().flat_map(|fact| folded(fact, width)));
    lines.extend(rehearsal(model, width, pen));
    lines.push(Text::new());
    lines.extend(paragraph(Role::Dim, &next(model, fallback), width));
    if picture.divided().is_some() {
        lines.extend(paragraph(
            Role::Halted,
            "The two ends are different clusters: nothing is ordered from here.",
            width,
        ));
    }
    lines
}

fn facts(model: &Model, fallback: &Fallback, pen: &mut Pen<'_>) -> Vec<Text> {
    let mut lines = Vec::new();
    let over = fallback.over.clone().unwrap_or_else(|| "none was named: --journal URL".to_owned());
    lines.push(fact("journal", Role::Text, over));
    if let Some(silence) = &fallback.silence {
        let again = match silence.retry_at {
            Some(at) if at > pen.now() => format!("; next try in {}", pen.left(at)),
            _ => String::new(),
        };
        let text = format!("silent for {}: {}{again}", pen.age(silence.since), silence.why);
        lines.push(fact("plane", Role::Warning, text));
    }
    if let Some(seen) = fallback.rung.seat() {
        if let Some(since) = seen.quiet_since {
            // An age that is told here ticks.
            pen.age(since);
        }
        lines.push(fact("seat", if seen.is_free { Role::Done } else { Role::Warning }, carry::seat(seen, pen.now())));
    }
    if let Some(why) = fallback.rung.seat().and_then(|seen| seen.untaken.as_ref()) {
        lines.push(fact("last try", Role::Failed, format!("the seat could not be taken: {why}")));
    }
    match &fallback.agents {
        AgentRoutes::At(address) => {
            lines.push(fact("agents", Role::Text, format!("served at {address} while the control plane is gone")))
        }
        AgentRoutes::Refused(why) => lines.push(fact("agents", Role::Warning, format!("no agent endpoint: {why}"))),
        // Where a first tick is rehearsed it begins with this.
        AgentRoutes::Nowhere if !model.first_tick.is_empty() => {}
        AgentRoutes::Nowhere => {
            lines.push(fact("agents", Role::Warning, "no agent endpoint here (--agent-listen HOST:PORT)"))
        }
    }
    if let Some(at) = fallback.auto_at.filter(|at| *at > pen.now()) {
        lines.push(fact("by itself", Role::Armed, format!("it stands for the seat in {}", pen.left(at))));
    }
    lines
}

/// What the first tick would do, where it is not done already.
fn rehearsal(model: &Model, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    if model.first_tick.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Text::new(), vec![piece(Role::Heading, "IF IT TOOK THE SEAT NOW")]];
    let lost = model.picture.as_ref().and_then(|picture| match picture.api {
        Freshness::Lost { since, .. } => Some(since),
        _ => None,
    });
    if let Some(since) = lost {
        let text = format!("rehearsed on a picture that is {} old", pen.age(since));
        lines.extend(item(Glyph::Warning, Role::Warning, &text, width, pen));
    }
    for told in &model.first_tick {
        let (glyph, role) = match told.kind {
            PlanKind::Ends => (Glyph::Failed, Role::Failed),
            PlanKind::Starts => (Glyph::Arrow, Role::Text),
            PlanKind::Stays => (Glyph::Dot, Role::Dim),
            PlanKind::Warns => (Glyph::Warning, Role::Warning),
        };
        lines.extend(item(glyph, role, &told.text, width, pen));
    }
    lines
}

/// The key that does what can be done.
fn next(model: &Model, fallback: &Fallback) -> String {
    let key = |command| model.setup.keymap.keys_of(Mode::List, command).into_iter().next().unwrap_or_default();
    let again = key(Command::Fallback);
    match &fallback.rung {
        Rung::StandingBy(_) if model.arming.until(model.now).is_none() => {
            format!("{} arms verbs; then {again} asks whether to take the seat.", key(Command::Arm))
        }
        Rung::StandingBy(_) => format!("{again} asks whether to take the seat."),
        Rung::Waiting(_) | Rung::Seated(_) => format!("{again} asks whether to leave the seat."),
        Rung::Attached | Rung::Lost | Rung::HandingBack(_) => "There is nothing to decide now.".to_owned(),
    }
}
