//! The keys of a dialog: parts, fields, buttons, and the moment an order is sealed and sent.

use super::super::arming::Arming;
use super::super::command::Command;
use super::super::deed::Deed;
use super::super::dialog::{Ask, Dialog, Focus, Question};
use super::super::effect::{Effect, Sealed, Signature};
use super::super::friction::Friction;
use super::super::layer::Layer;
use super::super::model::Model;
use super::super::order::{InFlight, Tone};
use super::{entry, verbs};
use crate::domain::change::Level;
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

/// Checks everything once more, seals the orders and sends them: one, or one for each machine of a line.
fn confirm(model: &mut Model) -> Vec<Effect> {
    let Some(Layer::Dialog(dialog)) = model.layers.last() else { return Vec::new() };
    let Question::Verb(ask) = &dialog.question else { return Vec::new() };
    if let Err(why) = confirmable(model, dialog, ask) {
        return complain(model, why);
    }
    let typed = Some(dialog.reason.text().trim()).filter(|reason| !reason.is_empty());
    let reason = typed.or(model.arming.reason(model.now)).map(str::to_owned);
    let (ask, armed) = (ask.clone(), model.arming.proof(model.now));
    let mut sealed = Vec::new();
    for (verb, made) in ask.verbs().into_iter().zip(model.orders_made + 1..) {
        let key = format!("{}-{made}", model.setup.session);
        let signature = Signature { by: model.setup.by.clone(), reason: reason.clone(), key: key.clone() };
        sealed.push(match (ask.deed, armed) {
            (Deed::Stop(stop), _) => Sealed::stop(stop, signature),
            (_, Some(armed)) => Sealed::armed(named(verb, &key), ask.plan.revision, armed, signature),
            (_, None) => return complain(model, "verbs are not armed any more".to_owned()),
        });
    }
    model.layers.pop();
    sealed.into_iter().map(|sealed| leave(model, &ask, sealed)).collect()
}

/// Keeps note of an order that leaves. One of several is not asked again by itself.
fn leave(model: &mut Model, ask: &Ask, sealed: Sealed) -> Effect {
    model.orders_made += 1;
    let again = ask.line.is_empty() && sealed.planned_at().is_some();
    let (target, name) = match (&sealed.order().verb, &model.picture) {
        (Verb::Pause(Level::Machine(id)), Some(picture)) => (id.0, picture.world.hostname(*id).to_owned()),
        _ => (ask.target.id, ask.target.name.clone()),
    };
    let doing = match ask.line.is_empty() {
        true => format!("{} {name}", ask.deed.doing()),
        false => format!("{} {}: skipping {name}", ask.deed.doing(), ask.target.name),
    };
    model.orders.push(InFlight {
        key: sealed.order().key.clone().unwrap_or_default(),
        doing,
        target,
        checking: None,
        asked: again.then(|| Box::new(ask.clone())),
    });
    Effect::SendOrder(Box::new(sealed))
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
    if let Some(why) = &ask.unread {
        return Err(why.clone());
    }
    if let Some(why) = &ask.plan.refused {
        return Err(format!("refused: {why}"));
    }
    if let Some(why) = unproved(dialog, ask).or_else(|| unreasoned(dialog, ask)) {
        return Err(why);
    }
    verbs::permitted(model, picture, ask.deed, &ask.target)
}
