//! A newer picture, and time that passes: facts, lists, plans and lost answers are looked at again.

use std::sync::Arc;

use super::super::arming::Arming;
use super::super::deed::Deed;
use super::super::dialog::{Question, first_focus};
use super::super::facts::{Facts, LaneState};
use super::super::friction::Friction;
use super::super::layer::Layer;
use super::super::model::{LogRow, Model, NowRow, Screen};
use super::super::order::Tone;
use super::super::shelf;
use super::super::snapshot::Snapshot;
use super::super::target::is_listed;
use super::super::tree::lines;
use super::super::words::is_silent;
use super::verbs::{line_of, rehearsed};
use super::{answers, entry, rolls, seats, servers};
use crate::domain::glimpse::Glimpse;
use crate::domain::span::Seconds;

/// Above this many machines, polls alone make the rows anew at most once a second.
const ROWS_AT_ONCE: usize = 1_000;

/// Takes a newer picture.
pub(super) fn taken(model: &mut Model, mut newer: Box<Snapshot>) {
    let older = model.picture.take();
    let same_world = older.as_ref().is_some_and(|o| Arc::ptr_eq(&o.world, &newer.world));
    let same_tail = older.as_ref().is_some_and(|o| o.tail.ptr_eq(&newer.tail));
    let same_observed = older.as_ref().is_some_and(|o| Arc::ptr_eq(&o.observed, &newer.observed));
    let same_rest = older.as_ref().is_some_and(|o| o.seat == newer.seat && o.api == newer.api);
    let glimpse = newer.glimpse.clone();
    let news = lacking(older.as_ref().and_then(|o| o.glimpse.as_deref()), glimpse.as_deref());
    let same_fallback = older.as_ref().is_some_and(|o| o.fallback == newer.fallback);
    let same_glimpse = older.as_ref().is_some_and(|o| o.glimpse == glimpse);
    if let Some(older) = older {
        newer.past = older.past.slid(&older.tail, &newer.tail);
    }
    model.picture = Some(newer);
    tell_lacks(model, &news);
    if same_world && same_observed && same_rest && same_glimpse && same_fallback {
        return;
    }
    seats::look_again(model);
    let many = model.facts.progress().1 > ROWS_AT_ONCE;
    if same_world && many {
        let soon = Seconds(1).after(model.facts.moment);
        let due = model.facts.valid_until.map_or(soon, |due| due.min(soon));
        model.facts.valid_until = Some(due);
        time_passed(model);
    } else {
        look_again(model);
    }
    if !same_tail {
        relist_log(model);
    }
    if !same_world || relies_on_sight(model) {
        replan(model);
    }
    if !same_world {
        answers::check(model);
    }
}

/// An open dialog is about something that comes and goes with what is seen of the cluster, or of the seat.
fn relies_on_sight(model: &Model) -> bool {
    let Some(Layer::Dialog(dialog)) = model.layers.last() else { return false };
    let is_of_seat = |deed: &Deed| matches!(deed, Deed::TakeSeat | Deed::LeaveSeat);
    matches!(&dialog.question, Question::Verb(ask) if !ask.deed.relies_on().is_empty() || is_of_seat(&ask.deed))
}

/// What is not known any more, or was not said yet.
fn lacking(older: Option<&Glimpse>, newer: Option<&Glimpse>) -> Vec<String> {
    let known = older.map_or(&[][..], |glimpse| &glimpse.lacks);
    newer.iter().flat_map(|glimpse| &glimpse.lacks).filter(|lack| !known.contains(lack)).cloned().collect()
}

/// Says in the log what one has to do without, the most important last so that it stays in the status line.
fn tell_lacks(model: &mut Model, lacks: &[String]) {
    for lack in lacks.iter().rev() {
        entry::say(model, Tone::Note, format!("basic link: {lack}"));
    }
}

/// The clock moved on.
pub(super) fn time_passed(model: &mut Model) {
    let now = model.now;
    let moment = model.picture.as_ref().map(|p| p.seen_at(now));
    if moment.zip(model.facts.valid_until).is_some_and(|(moment, due)| due <= moment) {
        look_again(model);
    }
    if model.status.as_ref().and_then(|s| s.leaves_at()).is_some_and(|at| at <= now) {
        model.status = None;
    }
    if model.arming != Arming::default() && model.arming.until(now).is_none() {
        model.arming = Arming::default();
        entry::say(model, Tone::Note, "the time is over: read-only again");
    }
    answers::check(model);
}

/// Makes facts and lists anew.
pub(super) fn look_again(model: &mut Model) {
    let Some(picture) = &model.picture else { return };
    let older = std::mem::take(&mut model.facts);
    model.facts = Facts::of(picture, model.now, older);
    model.sayings.clear();
    if model.filter.is_timed() || model.kura.filter.is_timed() {
        let soon = Seconds(1).after(model.facts.moment);
        model.facts.valid_until = Some(model.facts.valid_until.map_or(soon, |due| due.min(soon)));
    }
    relist(model);
}

/// Makes the lists anew from the facts.
pub(super) fn relist(model: &mut Model) {
    model.lines = lines(&model.facts, &model.folds, &model.filter, model.sorting);
    model.now_rows = now_rows(model);
    model.kura.relist(&model.facts.kura, model.facts.moment);
    model.rolls.relist(&model.facts.fleet);
    model.hosts.relist(&model.facts.fleet);
    if let Some(picture) = &model.picture {
        let releases = shelf::releases(picture, &model.releases.filter);
        model.releases.rows = model.releases.sorting.items(picture, releases);
        let history = shelf::history(picture, &model.history.filter);
        model.history.rows = model.history.sorting.items(picture, history);
    }
    settle_lists(model);
}

/// Tells every selection that its list, or the room for it, changed.
pub(super) fn settle_lists(model: &mut Model) {
    let (now, rollout) = (model.list_height(Screen::Now), model.list_height(Screen::Rollout));
    let nodes: Vec<_> = model.lines.iter().map(|line| line.node).collect();
    model.tree_pick.settle(&nodes, rollout);
    model.now_pick.settle(&model.now_rows, now);
    let kura = model.list_height(Screen::Kura);
    match model.kura.pick.get().or(model.kura.pick.vanished()) {
        Some(_) => model.kura.pick.settle(&model.kura.rows, kura),
        None => servers::begin(model),
    }
    rolls::settle(model);
    for screen in [Screen::Releases, Screen::History] {
        let height = model.list_height(screen);
        if let Some(shelf) = model.shelf_mut(screen) {
            shelf.pick.settle(&shelf.rows, height);
        }
    }
    settle_log(model);
}

fn now_rows(model: &Model) -> Vec<NowRow> {
    let needs = model.facts.needs.iter().map(|need| NowRow::Need(need.kind, need.node));
    let rollout = model.picture.as_ref().and_then(|p| p.world.current()).map(|r| NowRow::Rollout(r.id));
    let lanes = model.facts.tiers.iter().flat_map(|tier| &tier.lanes);
    let at_work = lanes.filter(|lane| !matches!(lane.state, LaneState::Closed | LaneState::Done | LaneState::Idle));
    let servers = (!model.facts.kura.servers.is_empty()).then_some(NowRow::Servers);
    let rolls = model.facts.fleet.live().map(|row| NowRow::Roll(row.id));
    let rollout = rollout.into_iter().chain(at_work.map(|lane| NowRow::Lane(lane.key)));
    needs.chain(rollout).chain(servers).chain(rolls).collect()
}

/// Makes the log anew: changes and own notices by time, oldest first.
pub(super) fn relist_log(model: &mut Model) {
    let mut rows: Vec<_> = model.notices.iter().map(|(number, n)| (n.at, LogRow::Notice(*number))).collect();
    if let Some(picture) = &model.picture {
        rows.extend(
            picture
                .tail
                .iter()
                .filter(|entry| !is_silent(entry))
                .map(|entry| (entry.at, LogRow::Change(entry.revision))),
        );
    }
    rows.sort_by_key(|(at, _)| *at);
    model.log_rows = rows.into_iter().map(|(_, row)| row).collect();
    settle_log(model);
}

fn settle_log(model: &mut Model) {
    let height = model.list_height(Screen::Log);
    match model.log_follows {
        true => model.log_pick.select_at(&model.log_rows, usize::MAX, height),
        false => model.log_pick.settle(&model.log_rows, height),
    }
}

/// Rehearses the deed of an open dialog on the newer world. What changes has to be seen before it can be confirmed.
fn replan(model: &mut Model) {
    let Some(picture) = &model.picture else { return };
    let Some(Layer::Dialog(dialog)) = model.layers.last_mut() else { return };
    let Question::Verb(ask) = &mut dialog.question else { return };
    let listed = is_listed(&ask.deed, &picture.world, &model.facts);
    let line = if listed { line_of(&ask.deed, picture, model.now) } else { ask.line.clone() };
    let plan = match listed {
        true => rehearsed(&ask.deed, &line, picture, &model.setup.by, model.now),
        false => ask.plan.clone(),
    };
    if listed == ask.listed && plan == ask.plan {
        return;
    }
    let friction = Friction::of(&ask.deed, &plan, &picture.world);
    if ask.unread.is_none() && friction > ask.friction {
        ask.friction = friction;
        dialog.focus = first_focus(friction);
        dialog.drawn = false;
    }
    let grave = listed != ask.listed
        || plan.ends_lease() != ask.plan.ends_lease()
        || plan.refused != ask.plan.refused
        || line != ask.line;
    dialog.drawn &= !grave;
    ask.listed = listed && (!matches!(ask.deed, Deed::HoldLine(_)) || !line.is_empty());
    ask.plan = plan;
    ask.line = line;
}
