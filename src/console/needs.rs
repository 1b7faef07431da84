//! What needs a human: every reason for which a rollout does not go on by itself, most urgent first.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::carry;
use super::facts::{LaneFacts, Node, Row, Standing, Tier};
use super::fleet::{self, FleetFacts};
use super::kura::{self, KuraFacts};
use super::need::{Need, NeedKind};
use super::snapshot::{Snapshot, TICK_LATE_AFTER};
use crate::domain::change::LeaseEnd;
use crate::domain::failure_mode::{FailureMode, Finding, findings};
use crate::domain::fleet::{Interruption, Machine, Pause};
use crate::domain::hold::{HoldKind, hold};
use crate::domain::ids::MachineId;
use crate::domain::observed::Telemetry;
use crate::domain::rollout::{Ending, Rollout};
use crate::domain::rows::RowState;
use crate::domain::span::Seconds;

/// Machines of one kind and one ring that are listed one by one; the others are counted.
const PER_LANE_MAX: usize = 5;

/// How long before its ring halts a holder is called late: a fifth of its time.
pub(super) fn late_margin(stall: Seconds) -> Seconds {
    Seconds(stall.0 / 5)
}

/// Every reason there is.
pub(super) fn needs(
    picture: &Snapshot,
    tiers: &[Tier],
    (servers, rolls): (&KuraFacts, &FleetFacts),
    moment: Timestamp,
) -> Vec<Need> {
    let mut needs = kura::wants(picture, servers, moment);
    needs.extend(fleet::wants(picture, rolls, moment));
    needs.extend(silent(picture));
    if picture.observed.clock_suspect {
        let text = "it jumped: nothing stalls or promotes until somebody accepts the new time";
        needs.push(need(NeedKind::Clock, None, "clock", text, None));
    }
    if let Some(rollout) = picture.world.current() {
        let found = findings(&picture.world, &picture.observed, moment);
        of_account(picture, rollout, moment, &mut needs);
        // Who ticks is not told by a status.
        if rollout.is_running() && picture.glimpse.is_none() {
            unattended(picture, &found, moment, &mut needs);
        }
        for tier in tiers {
            of_tier(picture, rollout, tier, moment, &mut needs);
        }
        turned_away(picture, &found, &mut needs);
    }
    needs.sort_by_key(|need| (need.kind, need.since));
    needs
}

/// The control plane is gone: who carries on, or what can be done about it.
fn silent(picture: &Snapshot) -> Option<Need> {
    let fallback = picture.fallback.as_ref()?;
    let silence = fallback.silence.as_ref()?;
    let text = carry::standing(fallback);
    // On a picture that stands still nothing ages; the header tells for how long it is lost.
    let since = fallback.rung.is_embedded().then_some(silence.since);
    Some(need(NeedKind::Silent, None, "control plane", &text, since))
}

fn of_account(picture: &Snapshot, rollout: &Rollout, moment: Timestamp, needs: &mut Vec<Need>) {
    let release = picture.world.release_name(rollout.release);
    if let Some(Ending::Halted { reason }) = &rollout.ending {
        needs.push(need(NeedKind::RolloutHalted, None, release, reason, rollout.ended_at));
    }
    if !rollout.is_running() {
        return;
    }
    if picture.observed.telemetry == Telemetry::Unreadable {
        let text = "results cannot be read: nothing is granted or promoted, holders go on";
        needs.push(need(NeedKind::Blind, None, "telemetry", text, None));
    }
    if let Some(since) = picture.world.seat.deaf_since {
        let holder = picture.world.seat.holder.as_deref().unwrap_or("the seat");
        let text = "ticks without an agent endpoint: no stall timer ages, nothing promotes";
        needs.push(need(NeedKind::NoAgents, None, holder, text, Some(since)));
    }
    let hold = hold(&picture.world, &picture.observed, rollout, moment);
    if let Some(hold) = hold.filter(|h| h.kind == HoldKind::HolderInPromotedEnv) {
        needs.push(need(NeedKind::Straggler, None, &hold.on, &hold.sentence, hold.since));
    }
}

/// Nobody ticks.
fn unattended(picture: &Snapshot, found: &[Finding], moment: Timestamp, needs: &mut Vec<Need>) {
    let late = |at: &Timestamp| Seconds::between(*at, moment) > TICK_LATE_AFTER;
    let (name, text, since) = match (picture.holder(), picture.seat.last_tick) {
        (None, at) => ("seat", "nobody holds the seat: no promotion, no stall is noticed", at),
        (Some(holder), Some(at)) if late(&at) => {
            (holder, "holds the seat and does not tick: no promotion, no stall is noticed", Some(at))
        }
        (Some(holder), None) => match found.iter().find(|finding| finding.mode == FailureMode::NoTicks) {
            Some(found) => (holder, "holds the seat and never ticked: no promotion, no stall is noticed", found.since),
            None => return,
        },
        _ => return,
    };
    needs.push(need(NeedKind::NoTick, None, name, text, since));
}

/// A start that somebody wanted and did not get.
fn turned_away(picture: &Snapshot, found: &[Finding], needs: &mut Vec<Need>) {
    let refused = picture.observed.refused_start.as_ref();
    if let Some(refused) = refused.filter(|_| found.iter().any(|f| f.mode == FailureMode::StartRefused)) {
        let text =
            format!("was refused to start {}: what runs is protected", picture.world.release_name(refused.release));
        needs.push(need(NeedKind::Refused, None, &refused.by, &text, Some(refused.at)));
    }
}

fn need(kind: NeedKind, node: Option<Node>, name: &str, text: &str, since: Option<Timestamp>) -> Need {
    Need { kind, node, name: name.to_owned(), text: text.to_owned(), since, until: None }
}

fn by_whom(pause: &Pause) -> String {
    match &pause.reason {
        Some(reason) => format!("by {}: {reason}", pause.by),
        None => format!("by {}", pause.by),
    }
}

fn of_tier(picture: &Snapshot, rollout: &Rollout, tier: &Tier, moment: Timestamp, needs: &mut Vec<Need>) {
    if let Some(pause) = tier.paused.as_ref().filter(|_| tier.done < tier.total) {
        let node = Some(Node::Environment(tier.id));
        needs.push(need(NeedKind::Paused, node, &tier.slug, &by_whom(pause), Some(pause.at)));
    }
    if rollout.is_running() && tier.standing == Standing::Current {
        of_current(picture, tier, needs);
    }
    for lane in &tier.lanes {
        of_lane(picture, rollout, tier, lane, moment, needs);
    }
}

/// What holds the cursor in its own environment.
fn of_current(picture: &Snapshot, tier: &Tier, needs: &mut Vec<Need>) {
    let unpaused = tier.lanes.iter().flat_map(|l| &l.rows).any(|r| r.row.state != RowState::Paused);
    if !unpaused {
        let text = match tier.total {
            0 => "has no machines, so the cursor never leaves it",
            _ => "every machine in it is paused, so the cursor never leaves it",
        };
        needs.push(need(NeedKind::Empty, Some(Node::Environment(tier.id)), &tier.slug, text, None));
    }
    for lane in &tier.lanes {
        let skipped = picture.world.lane(lane.key).map(|l| &l.skipped);
        let skipped = lane.rows.iter().filter(|r| skipped.is_some_and(|s| s.contains(&r.row.machine)));
        let text = format!("paused before it applied: it keeps the cursor in {}", tier.slug);
        some(NeedKind::Skipped, lane, skipped, needs, |row| {
            let pause = picture.world.machines.get(&row.row.machine).and_then(|m| m.paused.as_ref());
            (text.clone(), pause.map(|p| p.at))
        });
        let top = picture.world.rings.get(&lane.key.1).and_then(|r| r.settings.wave_ladder.last()).map(|r| r.pct);
        if let Some(top) = top.filter(|top| *top < 100 && lane.rows.iter().any(|r| r.row.bucket >= *top)) {
            let text = format!("its ladder ends at {top} %: not every machine is elected");
            needs.push(need(NeedKind::Ladder, Some(Node::Lane(lane.key)), &lane.slug, &text, None));
        }
    }
}

fn of_lane(
    picture: &Snapshot,
    rollout: &Rollout,
    tier: &Tier,
    lane: &LaneFacts,
    moment: Timestamp,
    needs: &mut Vec<Need>,
) {
    let node = Some(Node::Lane(lane.key));
    let machine = |row: &Row| picture.world.machines.get(&row.row.machine);
    if let Some(pause) = lane.paused.as_ref().filter(|_| lane.done < lane.rows.len()) {
        needs.push(need(NeedKind::Paused, node, &lane.slug, &by_whom(pause), Some(pause.at)));
    }
    let cordoned = lane.rows.iter().filter(|r| r.cordoned && !r.row.holds_slot);
    some(NeedKind::Cordoned, lane, cordoned, needs, |_| {
        ("done, but its node is cordoned: see why, then uncordon it".to_owned(), None)
    });
    left_behind(picture, rollout, lane, needs);
    if !rollout.is_running() {
        return;
    }
    uncapped(picture, tier, lane, needs);
    if let Some(halt) = &lane.halted {
        needs.push(need(NeedKind::RingHalted, node, &lane.slug, &halt.reason, Some(halt.at)));
    }
    let blamed = lane.halted.as_ref().map(|h| h.machine);
    let failed = lane.rows.iter().filter(|r| r.row.state == RowState::Failed && Some(r.row.machine) != blamed);
    some(NeedKind::Failed, lane, failed, needs, |row| {
        let result = machine(row).and_then(|m| m.last_result.as_ref());
        let state = result.and_then(|r| r.failed_state.as_deref());
        let place = if row.row.holds_slot { "keeps its slot" } else { "keeps its place in the queue" };
        let text = state.map_or_else(|| format!("its run failed; it {place}"), |s| format!("in {s}; it {place}"));
        (text, result.map(|r| r.at))
    });
    let errored = lane.rows.iter().filter(|r| r.row.state == RowState::Errored);
    some(NeedKind::Errored, lane, errored, needs, |row| {
        let missing = row.row.render_error.as_deref().unwrap_or_default().join(", ");
        (format!("cannot be rendered: {missing} missing"), machine(row).and_then(|m| Some(m.render_error.as_ref()?.at)))
    });
    holders(tier, lane, moment, needs);
}

/// Machines that were taken out of their arc and do not go on in it, and those that were reimaged with nothing to
/// converge on.
fn left_behind(picture: &Snapshot, rollout: &Rollout, lane: &LaneFacts, needs: &mut Vec<Need>) {
    let Some(known) = picture.world.lane(lane.key) else { return };
    let rows = |ids: &BTreeSet<MachineId>| -> Vec<&Row> {
        lane.rows.iter().filter(|row| ids.contains(&row.row.machine)).collect()
    };
    let machine = |row: &Row| picture.world.machines.get(&row.row.machine);
    let cut =
        |row: &Row| machine(row).and_then(|m| Some((m, m.interrupted.filter(|i| leaves_a_cordon(i, m, rollout))?)));
    let cordon = |machine: &Machine| picture.observed.nodes.get(&machine.node).map(|node| node.unschedulable);
    let interrupted: BTreeSet<MachineId> = known.interrupted.iter().copied().collect();
    let interrupted =
        rows(&interrupted).into_iter().filter(|row| cut(row).is_some_and(|(m, _)| cordon(m) != Some(false)));
    some(NeedKind::Interrupted, lane, interrupted, needs, |row| {
        let Some((machine, interruption)) = cut(row) else { return (String::new(), None) };
        let cordoned = if cordon(machine) == Some(true) { "its node is cordoned" } else { "its node may be cordoned" };
        (format!("{}: {cordoned}", cause(interruption.cause)), Some(interruption.at))
    });
    if rollout.is_running() {
        return;
    }
    let rebuilt: BTreeSet<MachineId> = known.rebuilt.iter().copied().collect();
    some(NeedKind::Reimaged, lane, rows(&rebuilt).into_iter(), needs, |row| {
        let known = machine(row);
        let at = known.and_then(|m| m.version.as_ref()).map_or_else(String::new, |version| format!(" at {version}"));
        (format!("is behind{at}, and no rollout is running"), known.and_then(|m| m.rebuilt_at))
    });
}

/// A skip is a need of its own, and a holder of the same release goes on where it was.
fn leaves_a_cordon(interruption: &Interruption, machine: &Machine, rollout: &Rollout) -> bool {
    let goes_on = machine.lease.is_some() && interruption.release == rollout.release && rollout.is_running();
    machine.paused.is_none() && !goes_on
}

fn cause(end: LeaseEnd) -> &'static str {
    match end {
        LeaseEnd::Superseded => "its rollout was displaced",
        LeaseEnd::Halted => "its rollout was halted",
        LeaseEnd::Reset => "its rollout was reset",
        LeaseEnd::Uncapped => "its ring lost its cap",
        LeaseEnd::Moved => "it was moved",
        LeaseEnd::Paused => "it was skipped for a while",
        LeaseEnd::Success | LeaseEnd::Removed | LeaseEnd::Rebuilt => "its arc ended",
    }
}

/// Several at once where nobody asked for it: no cap, and no ladder that elects in steps.
fn uncapped(picture: &Snapshot, tier: &Tier, lane: &LaneFacts, needs: &mut Vec<Need>) {
    let Some(ring) = picture.world.rings.get(&lane.key.1).filter(|ring| !ring.is_capped()) else { return };
    let at_once = lane.rows.iter().filter(|row| row.row.state == RowState::Pending).count();
    let open = matches!(tier.standing, Standing::Current | Standing::Passed);
    if open && at_once > 1 && ring.settings.wave_ladder.len() < 2 {
        let text = format!("{at_once} machines converge at once");
        needs.push(need(NeedKind::NotCapped, Some(Node::Lane(lane.key)), &lane.slug, &text, None));
    }
}

fn holders(tier: &Tier, lane: &LaneFacts, moment: Timestamp, needs: &mut Vec<Need>) {
    let holding = lane.rows.iter().filter(|r| r.row.holds_slot && lane.halted.is_none());
    for row in holding.take(PER_LANE_MAX) {
        let margin = late_margin(lane.stall);
        let kind = match row.halts_at {
            _ if row.row.is_online == Some(false) => NeedKind::HolderOffline,
            Some(at) if moment >= margin.before(at) => NeedKind::HolderLate,
            _ => continue,
        };
        let mut need = of_row(kind, row, format!("holds a slot of {}", lane.slug), row.row.held_since);
        if kind == NeedKind::HolderOffline {
            need.since = row.row.last_seen_at.or(need.since);
        }
        need.until = row.halts_at;
        needs.push(need);
    }
    if lane.slots.holding == 0 && lane.slots.free > 0 && tier.paused.is_none() && lane.paused.is_none() {
        let head = lane.rows.iter().find(|r| r.row.queue_position == Some(1));
        if let Some(row) = head.filter(|r| r.row.is_online == Some(false) && lane.halted.is_none()) {
            let text = format!("is next in {} and holds no slot: no timer will fire", lane.slug);
            needs.push(of_row(NeedKind::HeadOffline, row, text, row.row.last_seen_at));
        }
    }
}

fn of_row(kind: NeedKind, row: &Row, text: String, since: Option<Timestamp>) -> Need {
    Need { kind, node: Some(Node::Machine(row.row.machine)), name: row.row.hostname.clone(), text, since, until: None }
}

/// The first few of some rows one by one, then how many more there are.
fn some<'a>(
    kind: NeedKind,
    lane: &LaneFacts,
    rows: impl Iterator<Item = &'a Row>,
    needs: &mut Vec<Need>,
    say: impl Fn(&Row) -> (String, Option<Timestamp>),
) {
    let mut rest = 0;
    for (n, row) in rows.enumerate() {
        if n < PER_LANE_MAX {
            let (text, since) = say(row);
            needs.push(of_row(kind, row, text, since));
        } else {
            rest += 1;
        }
    }
    if rest > 0 {
        let text = format!("and {rest} more machines of {}", lane.slug);
        needs.push(need(kind, Some(Node::Lane(lane.key)), &lane.slug, &text, None));
    }
}
