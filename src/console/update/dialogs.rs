//! The keys of a dialog: parts, fields, buttons, and the moment an order is sealed and sent.

use super::super::arming::Arming;
use super::super::command::Command;
use super::super::deed::Deed;
use super::super::dialog::{Ask, Dialog, Focus, Question};
use super::super::effect::{Effect, Sealed, SealedSeat, Signature};
use super::super::friction::Friction;
use super::super::layer::Layer;
use super::super::line::Line;
use super::super::model::Model;
use super::super::order::{InFlight, Tone};
use super::{entry, lines, verbs};
use crate::domain::ids::{MachineId, Revision, RollId, RolloutId};
use crate::domain::input::{Intent, Verb};
use crate::domain::roll::verb::RollVerb;

/// A command in a dialog.
pub(super) fn run(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some(dialog) = top(model) else { return Vec::new() };
    match command {
        Command::Back => drop(model.layers.pop()),
        Command::NextPane | Command::Right => dialog.turn(true),
        Command::Left => dialog.turn(false),
        Command::Up => dialog.top = dialog.top.saturating_sub(1),
        Command::Down => dialog.top = dialog.top.saturating_add(1),
        Command::Confirm => return press(model),
        Command::ConfirmStop => return confirm_stop(model),
        _ => {}
    }
    Vec::new()
}

fn top(model: &mut Model) -> Option<&mut Dialog> {
    match model.layers.last_mut() {
        Some(Layer::Dialog(dialog)) => Some(dialog),
        _ => None,
    }
}

/// Enter: a field hands on to what comes after it, a button is pressed.
fn press(model: &mut Model) -> Vec<Effect> {
    let Some(dialog) = top(model) else { return Vec::new() };
    match (dialog.focus, &dialog.question) {
        (Focus::Cancel, _) => {
            model.layers.pop();
            Vec::new()
        }
        (Focus::Reason | Focus::Confirm, Question::Arm) => arm(model),
        (Focus::Value | Focus::Name | Focus::Reason, _) => filled_in(model),
        (Focus::Line, _) => hold_the_line(model),
        (Focus::Confirm, Question::Quit) => vec![Effect::Quit],
        (Focus::Confirm, Question::Verb(ask)) if ask.friction == Friction::StopKey => {
            let key = model.setup.keymap.keys_of(super::super::keys::Mode::Dialog, Command::ConfirmStop);
            let key = key.into_iter().next().unwrap_or_default();
            complain(model, format!("press {key} to confirm"))
        }
        (Focus::Confirm, Question::Verb(_)) => confirm(model),
    }
}

/// Enter in a field: on to the next part, unless what is in it is not right.
fn filled_in(model: &mut Model) -> Vec<Effect> {
    let Some(dialog) = top(model) else { return Vec::new() };
    let wrong = match (dialog.focus, &dialog.question) {
        (Focus::Value, Question::Verb(ask)) => ask.unread.clone(),
        (Focus::Name, Question::Verb(ask)) => unproved(dialog, ask),
        (Focus::Reason, Question::Verb(ask)) => unreasoned(dialog, ask),
        _ => None,
    };
    match wrong {
        Some(why) => dialog.complaint = Some(why),
        None => dialog.go_on(),
    }
    Vec::new()
}

/// Why the proof that the right thing is meant is none yet.
fn unproved(dialog: &Dialog, ask: &Ask) -> Option<String> {
    ask.proof().filter(|proof| *proof != dialog.name.text()).map(|proof| format!("type {proof} to go on"))
}

/// Grave deeds need a reason of their own.
fn unreasoned(dialog: &Dialog, ask: &Ask) -> Option<String> {
    let missing = ask.friction == Friction::NameAndReason && dialog.reason.text().trim().is_empty();
    missing.then(|| "a reason is needed: it goes into the audit".to_owned())
}

/// Instead of taking the cap away: the question whether to hold the line.
fn hold_the_line(model: &mut Model) -> Vec<Effect> {
    let Some(dialog) = top(model) else { return Vec::new() };
    if let Question::Verb(ask) = &dialog.question
        && let Deed::Tune(ring, _) = ask.deed
    {
        verbs::instead(model, Deed::HoldLine(ring));
    }
    Vec::new()
}

/// The key that confirms a stop and nothing else.
fn confirm_stop(model: &mut Model) -> Vec<Effect> {
    let Some(dialog) = top(model) else { return Vec::new() };
    match &dialog.question {
        Question::Quit => vec![Effect::Quit],
        Question::Verb(ask) if ask.friction == Friction::StopKey => confirm(model),
        Question::Arm | Question::Verb(_) => Vec::new(),
    }
}

fn complain(model: &mut Model, why: String) -> Vec<Effect> {
    if let Some(dialog) = top(model) {
        dialog.complaint = Some(why);
    }
    Vec::new()
}

fn arm(model: &mut Model) -> Vec<Effect> {
    let Some(dialog) = top(model) else { return Vec::new() };
    let reason = dialog.reason.text().trim().to_owned();
    if reason.is_empty() {
        dialog.complaint = Some("a reason is needed: it goes into the journal with every order".to_owned());
        return Vec::new();
    }
    model.layers.pop();
    model.arming = Arming::from(model.now, &reason);
    entry::say(model, Tone::Note, format!("armed for 10m: {reason}"));
    Vec::new()
}

/// Checks everything once more, seals the order and sends it; a line sends the first of its skips.
fn confirm(model: &mut Model) -> Vec<Effect> {
    let Some(Layer::Dialog(dialog)) = model.layers.last() else { return Vec::new() };
    let Question::Verb(ask) = &dialog.question else { return Vec::new() };
    let (typed, ask) = (dialog.reason.text().trim(), ask.clone());
    let reason = Some(typed).filter(|reason| !reason.is_empty()).or(model.arming.reason(model.now)).map(str::to_owned);
    if let Err(why) = confirmable(model, dialog, &ask) {
        return complain(model, why);
    }
    if let (Deed::HoldLine(ring), Some(picture)) = (&ask.deed, &model.picture) {
        let line = Line::of(&ask, *ring, reason, &picture.world);
        model.layers.pop();
        return line.map_or_else(Vec::new, |line| lines::send(model, line));
    }
    let key = format!("{}-{}", model.setup.session, model.orders_made + 1);
    let signature = Signature { by: model.setup.by.clone(), reason, key: key.clone() };
    let seat = match (&ask.deed, model.arming.proof(model.now)) {
        (Deed::LeaveSeat, _) => Some(SealedSeat::leave(signature.clone())),
        (Deed::TakeSeat, Some(armed)) => Some(SealedSeat::take(armed, signature.clone())),
        _ => None,
    };
    if let Some(seat) = seat {
        model.layers.pop();
        underway(model, *ask, key, None);
        return vec![Effect::Seat(Box::new(seat))];
    }
    let sealed = match (&ask.deed, ask.deed.verb(), model.arming.proof(model.now)) {
        (Deed::Stop(stop), ..) => Sealed::stop(*stop, signature),
        (_, Some(verb), Some(armed)) => Sealed::armed(named(verb, &key), ask.plan.revision, armed, signature),
        _ => return complain(model, "verbs are not armed any more".to_owned()),
    };
    model.layers.pop();
    vec![leave(model, *ask, sealed, key)]
}

/// Keeps note of an order that leaves.
fn leave(model: &mut Model, ask: Ask, sealed: Sealed, key: String) -> Effect {
    underway(model, ask, key, sealed.planned_at());
    Effect::SendOrder(Box::new(sealed))
}

fn underway(model: &mut Model, ask: Ask, key: String, planned_at: Option<Revision>) {
    model.orders_made += 1;
    let (doing, target) = (format!("{} {}", ask.deed.doing(), ask.target.name), ask.target.id);
    let asked = planned_at.map(|_| Box::new(ask));
    model.orders.push(InFlight { key, doing, target, checking: None, asked, line: None });
}

/// What a verb makes gets its identity here: one for each confirmation.
fn named(verb: Verb, key: &str) -> Verb {
    match verb {
        Verb::Start { release, protected, force, intent: Some(Intent::Start), .. } => {
            Verb::Start { id: RolloutId::named(key), release, protected, force, intent: Some(Intent::Start) }
        }
        Verb::AddMachine { hostname, node, environment, ring, bucket, .. } => {
            Verb::AddMachine { id: MachineId::named(key), hostname, node, environment, ring, bucket }
        }
        Verb::Roll(RollVerb::Start { project, target, image, revision, spec, displace, .. }) => {
            let id = RollId::named(key);
            Verb::Roll(RollVerb::Start { id, project, target, image, revision, spec, displace })
        }
        other => other,
    }
}

fn confirmable(model: &Model, dialog: &Dialog, ask: &Ask) -> Result<(), String> {
    let Some(picture) = &model.picture else { return Err("there is no picture any more".to_owned()) };
    if !ask.listed {
        return Err(format!("{} is no longer listed: nothing was sent", ask.target.name));
    }
    if let Some(why) = &ask.unread {
        return Err(why.clone());
    }
    if let Some(why) = &ask.plan.refused {
        return Err(format!("refused: {why}"));
    }
    if let Some(why) = unproved(dialog, ask).or_else(|| unreasoned(dialog, ask)) {
        return Err(why);
    }
    verbs::permitted(model, picture, &ask.deed, &ask.target)
}
