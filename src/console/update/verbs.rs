//! Verbs: what may be asked for now, and the dialogs that ask back.

use jiff::Timestamp;

use super::super::arming::Arming;
use super::super::carry;
use super::super::command::Command;
use super::super::deed::Deed;
use super::super::dialog::{Ask, Dialog, Question, first_focus};
use super::super::friction::{Friction, newer};
use super::super::glimpsed;
use super::super::keys::Mode;
use super::super::layer::Layer;
use super::super::line;
use super::super::line_edit::LineEdit;
use super::super::model::{Model, Subject};
use super::super::order::{InFlight, ORDERS_MAX, Tone};
use super::super::shelf;
use super::super::snapshot::{Access, Freshness, Snapshot};
use super::super::target::{Target, aim, futile, is_listed};
use super::entry;
use crate::domain::ids::MachineId;
use crate::domain::kura::refusal::KuraRefusal;
use crate::domain::observed::Telemetry;
use crate::domain::plan::{Plan, PlanKind, PlanLine, plan};
use crate::domain::refusal::Refusal;
use crate::domain::roll::refusal::RollRefusal;
use crate::domain::span::Seconds;

/// Asks for the reason that arms verbs.
pub(super) fn arm(model: &mut Model) {
    match unarmable(model) {
        Some(why) => entry::hint(model, why),
        None => ask(model, Question::Arm),
    }
}

/// Back to read-only.
pub(super) fn disarm(model: &mut Model) {
    if model.arming.until(model.now).is_some() {
        model.arming = Arming::default();
        entry::say(model, Tone::Note, "read-only again");
    }
}

fn unarmable(model: &Model) -> Option<String> {
    if model.setup.read_only {
        return Some("started with --read-only: start without it to give orders".to_owned());
    }
    let picture = model.picture.as_ref().filter(|p| !p.is_blank());
    let Some(picture) = picture else { return Some("there is nothing to give orders to yet".to_owned()) };
    let viewer = picture.access == Access::Viewer;
    viewer.then(|| "your token is a viewer's: it can look, not act".to_owned())
}

fn ask(model: &mut Model, question: Question) {
    model.pending.clear();
    model.layers.push(Layer::Dialog(Box::new(Dialog::new(question))));
}

/// Opens the dialog of a verb for the row it is meant for, or says why not.
pub(super) fn open(model: &mut Model, command: Command) {
    match prepare(model, command) {
        Ok(prepared) => ask(model, Question::Verb(Box::new(prepared))),
        Err(why) => entry::hint(model, why),
    }
}

/// Asks for another deed in the place of the question on top.
pub(super) fn instead(model: &mut Model, deed: Deed) {
    model.layers.pop();
    match made(model, deed) {
        Ok(made) => ask(model, Question::Verb(Box::new(made))),
        Err(why) => entry::hint(model, why),
    }
}

/// Asks again what was confirmed and not done, because something moved meanwhile: with what moved, and the new plan.
pub(super) fn ask_again(model: &mut Model, before: Ask, moved: String) {
    let Some(picture) = &model.picture else { return };
    if matches!(model.layers.last(), Some(Layer::Dialog(_))) {
        return;
    }
    let listed = is_listed(&before.deed, &picture.world, &model.facts);
    let plan = if listed { rehearsed(&before.deed, &[], picture, &model.setup.by, model.now) } else { before.plan };
    let friction = Friction::of(&before.deed, &plan, &picture.world);
    let value = LineEdit::with(&before.deed.value(&picture.world));
    let again = Ask { plan, friction, listed, moved: Some(moved), ..before };
    let focus = first_focus(friction);
    model.pending.clear();
    let dialog = Dialog { value, focus, ..Dialog::new(Question::Verb(Box::new(again))) };
    model.layers.push(Layer::Dialog(Box::new(dialog)));
}

/// What is typed as a value changed: another deed, another plan, another friction.
pub(super) fn revalue(model: &mut Model) {
    let Some(picture) = &model.picture else { return };
    let Some(Layer::Dialog(dialog)) = model.layers.last_mut() else { return };
    let Question::Verb(ask) = &mut dialog.question else { return };
    match ask.deed.with(dialog.value.text(), &picture.world) {
        Ok(deed) => {
            ask.unread = None;
            ask.plan = rehearsed(&deed, &[], picture, &model.setup.by, model.now);
            ask.friction = Friction::of(&deed, &ask.plan, &picture.world);
            ask.deed = deed;
        }
        Err(why) => ask.unread = Some(why),
    }
}

fn prepare(model: &Model, command: Command) -> Result<Ask, String> {
    let picture = model.picture.as_ref().filter(|p| !p.is_blank());
    let Some(picture) = picture else { return Err("there is nothing to give orders to yet".to_owned()) };
    made(model, aim(command, subject(model)?, &model.facts, &picture.world)?)
}

/// The question about a deed, or why it is not asked.
fn made(model: &Model, deed: Deed) -> Result<Ask, String> {
    let Some(picture) = &model.picture else { return Err("there is nothing to give orders to yet".to_owned()) };
    let target = Target::of(&deed, &picture.world, &model.facts, &picture.account).ok_or("it is no longer listed")?;
    let line = line_of(&deed, picture, model.now);
    let unholdable = || matches!(deed, Deed::HoldLine(_)).then(|| line::unholdable(&line)).flatten();
    let unseated = || match deed {
        Deed::TakeSeat => carry::untakeable(picture),
        Deed::LeaveSeat => carry::unleavable(picture),
        _ => None,
    };
    if let Some(why) = futile(&deed, &picture.world).or_else(unholdable).or_else(unseated) {
        return Err(format!("{}: {why}", target.name));
    }
    permitted(model, picture, &deed, &target)?;
    let plan = rehearsed(&deed, &line, picture, &model.setup.by, model.now);
    if let Some(why) = plan.refused.as_ref().filter(|why| !deed.has_field() || is_for_good(why)) {
        return Err(refused(model, why));
    }
    let friction = if deed.has_field() { Friction::Enter } else { Friction::of(&deed, &plan, &picture.world) };
    let unread = deed.has_field().then(|| deed.with("", &picture.world).err()).flatten();
    Ok(Ask { deed, target, friction, plan, listed: true, line, unread, moved: None })
}

/// No value that is typed would change the answer.
fn is_for_good(why: &Refusal) -> bool {
    matches!(
        why,
        Refusal::Kura(KuraRefusal::Moving { .. } | KuraRefusal::Leaving { .. })
            | Refusal::Roll(RollRefusal::Live { .. } | RollRefusal::Full { .. })
    )
}

/// Why the core would refuse, and which key does what may be meant.
fn refused(model: &Model, why: &Refusal) -> String {
    let hint = match why {
        Refusal::WouldReset { .. } => {
            format!("{} resets it: every lease ends and runs in flight are cancelled", key(model, Command::Reset))
        }
        Refusal::Protected { .. } => format!("{} takes its place by force", key(model, Command::StartForce)),
        _ => why.hints().into_iter().next().unwrap_or_default(),
    };
    if hint.is_empty() { format!("refused: {why}") } else { format!("refused: {why} ({hint})") }
}

/// How a command of the list is given.
fn key(model: &Model, command: Command) -> String {
    let keys = model.setup.keymap.keys_of(Mode::List, command);
    keys.into_iter().next().unwrap_or_else(|| format!(":{}", command.spec().name))
}

/// Who waits, where a line is held.
pub(super) fn line_of(deed: &Deed, picture: &Snapshot, now: Timestamp) -> Vec<MachineId> {
    match *deed {
        Deed::HoldLine(ring) => line::waiting(picture, ring, now),
        _ => Vec::new(),
    }
}

/// What would follow from a deed; a start is looked at with the eyes of the runbook as well (R167).
pub(super) fn rehearsed(deed: &Deed, line: &[MachineId], picture: &Snapshot, by: &str, now: Timestamp) -> Plan {
    let plan = on_replica(deed, line, picture, by, now);
    match (deed, &picture.glimpse) {
        // Who is skipped is what the person sees, whatever the control plane tells of the rest.
        (Deed::HoldLine(_), Some(_)) => {
            let whom = plan.lines.clone();
            let mut plan = glimpsed::plan(picture, plan);
            plan.lines.splice(0..0, whom);
            plan
        }
        _ => glimpsed::plan(picture, plan),
    }
}

fn on_replica(deed: &Deed, line: &[MachineId], picture: &Snapshot, by: &str, now: Timestamp) -> Plan {
    match *deed {
        Deed::HoldLine(ring) => return line::rehearsed(picture, ring, line, by, now),
        Deed::TakeSeat => return carry::taking(picture, now),
        Deed::LeaveSeat => return carry::leaving(picture),
        _ => {}
    }
    let Some(verb) = deed.verb() else { return Plan::default() };
    let mut plan = plan(&verb, &picture.world, &picture.observed, by, now);
    if let Deed::Start(release) | Deed::Force(release) = *deed
        && plan.refused.is_none()
    {
        let warns = |text: String| PlanLine { kind: PlanKind::Warns, text };
        if let Some(last) = newer(release, &picture.world) {
            plan.lines.insert(0, warns(format!("it is older than {last}, which ran last")));
        }
        let checks = shelf::rehearsal(picture, release, now);
        // That something runs, and what becomes of it, is what the plan begins with.
        let found = shelf::findings(&checks).into_iter().filter(|check| check.id != "idle");
        plan.lines.extend(found.map(shelf::warning).map(warns));
    }
    plan
}

/// The row a verb is meant for. A row that is gone takes no verb with it to the one in its place.
fn subject(model: &Model) -> Result<Subject, String> {
    let gone = match (model.layers.last(), model.screen) {
        (None, super::super::model::Screen::Rollout) => model.tree_pick.vanished().is_some(),
        (None, super::super::model::Screen::Kura) => model.kura.pick.vanished().is_some(),
        (None, super::super::model::Screen::Rolls) => model.rolls.pick.vanished().is_some(),
        (None, super::super::model::Screen::Nodes) => model.hosts.pick.vanished().is_some(),
        (None, super::super::model::Screen::Now) => model.now_pick.vanished().is_some(),
        (None, screen) => model.shelf(screen).is_some_and(|shelf| shelf.pick.vanished().is_some()),
        _ => false,
    };
    match (gone, model.subject()) {
        (true, _) => Err("the selected row is no longer listed: select one first".to_owned()),
        (false, subject) => Ok(subject),
    }
}

/// May this be ordered now? Asked when the dialog opens, and again when it is confirmed.
pub(super) fn permitted(model: &Model, picture: &Snapshot, deed: &Deed, target: &Target) -> Result<(), String> {
    if let Some(why) = unarmable(model) {
        return Err(why);
    }
    if let Some(why) = picture.divided() {
        return Err(why);
    }
    if let Some(why) = glimpsed::not_offered(picture, deed, target) {
        return Err(why);
    }
    let lined = |order: &InFlight| order.line.as_ref().is_some_and(|line| line.target.id == target.id);
    if model.orders.iter().any(|order| order.target == target.id || lined(order)) {
        return Err(format!("an order for {} is on its way: wait for its answer", target.name));
    }
    if model.orders.len() >= ORDERS_MAX {
        return Err(format!("{ORDERS_MAX} orders are on their way: wait for an answer"));
    }
    if deed.is_stop() {
        return Ok(());
    }
    if model.arming.until(model.now).is_none() {
        return Err(format!("verbs are not armed: press {} first", key(model, Command::Arm)));
    }
    if matches!(deed, Deed::FollowTags(_)) && picture.access != Access::Owner {
        return Err("only an owner sets which tags are followed: your token is an operator's".to_owned());
    }
    if !picture.api.is_fresh(model.now) {
        return Err(stale(picture, model.now));
    }
    if let Some(why) = unseen(model, deed) {
        return Err(why);
    }
    if *deed == Deed::AcceptClock && !picture.observed.clock_suspect {
        return Err("the clock is not in doubt".to_owned());
    }
    if matches!(deed, Deed::Reset { .. }) && picture.observed.telemetry == Telemetry::Unreadable {
        let why = "results cannot be read: a reset would cancel runs that may be fine; it resumes by itself";
        return Err(why.to_owned());
    }
    Ok(())
}

/// What the deed relies on and cannot be seen as it is now. Where no cluster is connected the plan says so.
fn unseen(model: &Model, deed: &Deed) -> Option<String> {
    let veiled = if deed.is_of_fleet() { &model.facts.fleet.veiled } else { &model.facts.kura.veiled };
    let veiled = veiled.iter().find(|one| deed.relies_on().contains(&one.kind))?;
    let age = veiled.as_of.map_or_else(String::new, |at| format!(" for {}", Seconds::between(at, model.now)));
    Some(format!("{} {}{age}: nothing is ordered on what is not seen", veiled.kind, veiled.word))
}

fn stale(picture: &Snapshot, now: jiff::Timestamp) -> String {
    match (&picture.api, picture.api.age(now)) {
        (Freshness::Refused { why, .. }, _) => format!("the control plane refuses: {why}"),
        (_, Some(age)) => format!("what you see is {age} old: only stopping verbs work now"),
        (_, None) => "there is no picture yet: only stopping verbs work now".to_owned(),
    }
}
