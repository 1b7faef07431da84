//! Answers: to orders, to lost orders, and to questions for a machine's results and for what people did long ago.

use super::super::effect::Effect;
use super::super::facts::Node;
use super::super::layer::{Layer, PageKind};
use super::super::layout::Room;
use super::super::model::{Model, RESULTS_KEPT, RESULTS_WAIT, Results, Screen, Subject};
use super::super::msg::Answer;
use super::super::need::NeedKind;
use super::super::order::{CHECK_FOR, Tone, trace};
use super::super::snapshot::RunResult;
use super::{entry, lines, picture, verbs};
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};

/// An order was answered; of a line, the next one may leave.
pub(super) fn answered(model: &mut Model, key: &str, answer: Answer) -> Vec<Effect> {
    let Some(at) = model.orders.iter().position(|order| order.key == key) else { return Vec::new() };
    let (doing, line) = (model.orders[at].doing.clone(), model.orders[at].line.clone());
    match &answer {
        Answer::Unknown { .. } => model.orders[at].checking = Some(model.now),
        _ if line.is_some() => drop(model.orders.remove(at)),
        _ => {}
    }
    if let Some(line) = line {
        let next = lines::answered(model, *line, &answer);
        check(model);
        return next;
    }
    match answer {
        Answer::Unknown { why } => {
            entry::say(model, Tone::Note, format!("{doing}: no answer ({why}); the journal will tell"));
            check(model);
            return Vec::new();
        }
        Answer::Done { sentence } => entry::say(model, Tone::Good, sentence),
        Answer::Refused { sentence, hints } => {
            let hint = hints.first().map(|hint| format!(" ({hint})")).unwrap_or_default();
            entry::say(model, Tone::Bad, format!("{doing}: refused, {sentence}{hint}"));
        }
        Answer::Moved { sentence } => {
            let order = model.orders.remove(at);
            entry::say(model, Tone::Bad, format!("{doing}: not done, {sentence}"));
            order.asked.into_iter().for_each(|ask| verbs::ask_again(model, *ask, sentence.clone()));
            return Vec::new();
        }
        Answer::Unseen { why } => {
            let text = format!("{doing}: unknown whether it was done, {why}; look at it before you give it again");
            entry::say(model, Tone::Bad, text);
        }
        Answer::Unsent { why } => entry::say(model, Tone::Bad, format!("{doing}: not sent, {why}")),
    }
    model.orders.remove(at);
    Vec::new()
}

/// Forgets results that could not be read, so that looking again asks again.
pub(super) fn ask_again(model: &mut Model, machine: MachineId) {
    let failed = model.results.get(&machine).is_some_and(|kept| matches!(kept.answer, Some(Err(_))));
    if failed {
        model.results.remove(&machine);
    }
}

/// Looks for orders whose answer was lost in the journal of a live picture.
pub(super) fn check(model: &mut Model) {
    let Some(picture) = &model.picture else { return };
    let mut settled = Vec::new();
    for order in &model.orders {
        let Some(since) = order.checking else { continue };
        if let Some(entry) = trace(picture, &order.key) {
            let text = format!("{}: done, the journal has it at revision {}", order.doing, entry.revision);
            settled.push((order.key.clone(), Tone::Good, text));
        } else if picture.api.is_fresh(model.now) && CHECK_FOR.after(since) <= model.now {
            let text = format!("{}: the journal has no trace of it; look before you try again", order.doing);
            settled.push((order.key.clone(), Tone::Bad, text));
        }
    }
    for (key, tone, text) in settled {
        model.orders.retain(|order| order.key != key);
        entry::say(model, tone, text);
    }
}

/// Results arrived, or will not.
pub(super) fn results(
    model: &mut Model,
    rollout: RolloutId,
    machine: MachineId,
    results: Result<Vec<RunResult>, String>,
) {
    if let Some(kept) = model.results.get_mut(&machine).filter(|kept| kept.rollout == rollout) {
        kept.answer = Some(results);
    }
}

/// The results that are shown and not there, or older than what the world knows of; one question at a time.
pub(super) fn wanted(model: &mut Model) -> Option<Effect> {
    let machine = shown_machine(model)?;
    let world = &model.picture.as_ref()?.world;
    let rollout = world.current()?.id;
    let known = world.machines.get(&machine)?.last_result.as_ref().map(|r| r.at);
    let overdue = RESULTS_WAIT.before(model.now);
    for kept in model.results.values_mut().filter(|kept| kept.answer.is_none() && kept.asked_at <= overdue) {
        kept.answer = Some(Err(format!("no answer came within {RESULTS_WAIT}")));
    }
    let asking = model.results.values().any(|kept| kept.answer.is_none());
    let current = model.results.get(&machine).is_some_and(|kept| kept.rollout == rollout && kept.known == known);
    if asking || current {
        return None;
    }
    if model.results.len() >= RESULTS_KEPT {
        model.results.pop_first();
    }
    model.results.insert(machine, Results { rollout, known, asked_at: model.now, answer: None });
    Some(Effect::LoadResults { rollout, machine })
}

/// What people did long ago arrived, or will not.
pub(super) fn past(model: &mut Model, before: Revision, links: Result<Vec<Entry>, String>) {
    let now = model.now;
    let Some(past) = model.picture.as_mut().map(|picture| &mut picture.past) else { return };
    match links {
        Ok(links) => {
            if past.answered(before, links) {
                picture::relist(model);
            }
        }
        Err(why) => {
            if past.failed(before, now) {
                entry::hint(model, format!("what people did before that cannot be read: {why}"));
            }
        }
    }
}

/// Older deeds, as soon as the end of those that are known comes into sight.
pub(super) fn wanted_past(model: &mut Model) -> Option<Effect> {
    let height = model.list_height(Screen::History);
    let shelf = model.shelf(model.screen).filter(|_| model.screen == Screen::History)?;
    let in_sight = shelf.pick.top(shelf.rows.len(), height) + 2 * height >= shelf.rows.len();
    let (now, picture) = (model.now, model.picture.as_mut()?);
    if !in_sight || !picture.api.is_fresh(now) {
        return None;
    }
    let before = picture.past.wanted(&picture.tail, now)?;
    Some(Effect::LoadPast { before })
}

/// The machine whose detail is on the screen.
fn shown_machine(model: &Model) -> Option<MachineId> {
    let subject = match model.layers.last() {
        Some(Layer::Page(page)) => match page.kind {
            PageKind::Detail(subject) => subject,
            PageKind::Help | PageKind::Fallback => return None,
        },
        None if matches!(model.screen, Screen::Now | Screen::Rollout) && model.frame().room == Room::Wide => {
            model.shown()
        }
        _ => return None,
    };
    machine_of(model, subject)
}

/// The machine something is about; a halted ring is about the one that halted it.
pub(in super::super) fn machine_of(model: &Model, subject: Subject) -> Option<MachineId> {
    match (subject, subject.row()) {
        (Subject::Need(NeedKind::RingHalted, _), Subject::Node(Node::Lane(key))) => {
            model.facts.lane(key).and_then(|(_, lane)| lane.halted.as_ref()).map(|halt| halt.machine)
        }
        (_, Subject::Node(Node::Machine(id))) => Some(id),
        _ => None,
    }
}
