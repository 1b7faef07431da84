//! The keys of a dialog: parts, fields, buttons, and the moment an order is sealed and sent.

use super::super::arming::Arming;
use super::super::command::Command;
use super::super::dialog::{Ask, Dialog, Focus, Friction, Question};
use super::super::effect::{Effect, Sealed, Signature};
use super::super::layer::Layer;
use super::super::model::Model;
use super::super::order::{InFlight, Tone};
use super::super::target::Deed;
use super::{entry, verbs};
use crate::domain::ids::RolloutId;
use crate::domain::input::{Intent, Verb};

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
        (Focus::Reason, _) => {
            dialog.focus = Focus::Cancel;
            Vec::new()
        }
        (Focus::Name, Question::Verb(ask)) => {
            match dialog.name.text() == ask.target.name {
                true => dialog.focus = Focus::Cancel,
                false => dialog.complaint = Some(format!("type {} to go on", ask.target.name)),
            }
            Vec::new()
        }
        (Focus::Name, _) => Vec::new(),
        (Focus::Confirm, Question::Quit) => vec![Effect::Quit],
        (Focus::Confirm, Question::Verb(ask)) if ask.friction == Friction::StopKey => {
            let key = model.setup.keymap.keys_of(super::super::keys::Mode::Dialog, Command::ConfirmStop);
            let key = key.into_iter().next().unwrap_or_default();
            complain(model, format!("press {key} to confirm"))
        }
        (Focus::Confirm, Question::Verb(_)) => confirm(model),
    }
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

/// Checks everything once more, seals the order and sends it.
fn confirm(model: &mut Model) -> Vec<Effect> {
    let Some(Layer::Dialog(dialog)) = model.layers.last() else { return Vec::new() };
    let Question::Verb(ask) = &dialog.question else { return Vec::new() };
    if let Err(why) = confirmable(model, dialog, ask) {
        return complain(model, why);
    }
    let typed = Some(dialog.reason.text().trim()).filter(|reason| !reason.is_empty());
    let reason = typed.or(model.arming.reason(model.now)).map(str::to_owned);
    let (deed, target) = (ask.deed, ask.target.clone());
    let key = format!("{}-{}", model.setup.session, model.orders_made + 1);
    let signature = Signature { by: model.setup.by.clone(), reason, key: key.clone() };
    let sealed = match (deed, model.arming.proof(model.now)) {
        (Deed::Stop(stop), _) => Sealed::stop(stop, signature),
        (_, Some(armed)) => Sealed::armed(named(deed.verb(), &key), armed, signature),
        (_, None) => return complain(model, "verbs are not armed any more".to_owned()),
    };
    let doing = format!("{} {}", deed.doing(), target.name);
    model.layers.pop();
    model.orders_made += 1;
    model.orders.push(InFlight { key, doing, target: target.id, checking: None });
    vec![Effect::SendOrder(Box::new(sealed))]
}

/// A start makes a rollout, which gets its identity here: one for each confirmation.
fn named(verb: Verb, key: &str) -> Verb {
    match verb {
        Verb::Start { release, protected, force, intent: Some(Intent::Start), .. } => {
            Verb::Start { id: RolloutId::named(key), release, protected, force, intent: Some(Intent::Start) }
        }
        other => other,
    }
}

fn confirmable(model: &Model, dialog: &Dialog, ask: &Ask) -> Result<(), String> {
    let Some(picture) = &model.picture else { return Err("there is no picture any more".to_owned()) };
    if !ask.listed {
        return Err(format!("{} is no longer listed: nothing was sent", ask.target.name));
    }
    if let Some(why) = &ask.plan.refused {
        return Err(format!("refused: {why}"));
    }
    if ask.friction == Friction::TypeName && dialog.name.text() != ask.target.name {
        return Err(format!("type {} to go on", ask.target.name));
    }
    verbs::permitted(model, picture, ask.deed, &ask.target)
}
