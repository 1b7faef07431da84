//! What needs a human: every reason for which a rollout does not go on by itself, most urgent first.

use jiff::Timestamp;

use super::facts::{LaneFacts, Node, Row, Standing, Tier};
use super::glyph::Glyph;
use super::snapshot::{Snapshot, TICK_LATE_AFTER};
use super::theme::Role;
use crate::domain::fleet::Pause;
use crate::domain::hold::{HoldKind, hold};
use crate::domain::observed::Telemetry;
use crate::domain::rollout::{Ending, Rollout};
use crate::domain::rows::RowState;
use crate::domain::span::Seconds;

/// Machines of one kind and one ring that are listed one by one; the others are counted.
const PER_LANE_MAX: usize = 5;

/// The kinds, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeedKind {
    /// Nobody ticks: no promotion, no stall detection (R53, R88).
    NoTick,
    /// Results cannot be read (R142-R147).
    Blind,
    /// The clock jumped: nothing stalls or promotes until a person accepts it (R168).
    Clock,
    /// A brake stopped a ring.
    RingHalted,
    /// The rollout was stopped.
    RolloutHalted,
    /// A run failed.
    Failed,
    /// A render failed (R148).
    Errored,
    /// A holder is not heard of.
    HolderOffline,
    /// A holder uses up the last fifth of its time.
    HolderLate,
    /// The head of a queue is not heard of and holds no slot, so no timer will fire (R55).
    HeadOffline,
    /// A person holds an environment or a ring.
    Paused,
    /// Paused before it applied, so the cursor stays (R79).
    Skipped,
    /// No machine that could be waited for (R80).
    Empty,
    /// A ladder ends below 100 (R73).
    Ladder,
    /// A lease in an environment that was promoted keeps the rollout open (R86).
    Straggler,
    /// Done, but its node takes no pods (R161).
    Cordoned,
}

impl NeedKind {
    /// Its shape, its word and its colour: three ways to tell it from the others.
    pub fn look(self) -> (Glyph, &'static str, Role) {
        match self {
            Self::NoTick => (Glyph::Warning, "NO TICK", Role::Halted),
            Self::Blind => (Glyph::Warning, "BLIND", Role::Halted),
            Self::Clock => (Glyph::Warning, "CLOCK", Role::Halted),
            Self::RingHalted | Self::RolloutHalted => (Glyph::Halted, "HALTED", Role::Halted),
            Self::Failed => (Glyph::Failed, "FAILED", Role::Failed),
            Self::Errored => (Glyph::Errored, "ERRORED", Role::Failed),
            Self::HolderOffline | Self::HeadOffline => (Glyph::Offline, "OFFLINE", Role::Warning),
            Self::HolderLate => (Glyph::Warning, "LATE", Role::Warning),
            Self::Paused => (Glyph::Paused, "PAUSED", Role::Paused),
            Self::Skipped => (Glyph::Paused, "SKIPPED", Role::Paused),
            Self::Empty => (Glyph::Warning, "EMPTY", Role::Warning),
            Self::Ladder => (Glyph::Warning, "LADDER", Role::Warning),
            Self::Straggler => (Glyph::Warning, "STRAGGLER", Role::Warning),
            Self::Cordoned => (Glyph::Warning, "CORDONED", Role::Warning),
        }
    }
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Its kind.
    pub kind: NeedKind,
    /// Whose row it is.
    pub node: Option<Node>,
    /// What it is about, in a word.
    pub name: String,
    /// What is wrong, without any time in it.
    pub text: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// When the ring halts over it.
    pub until: Option<Timestamp>,
}

/// How long before its ring halts a holder is called late: a fifth of its time.
pub(super) fn late_margin(stall: Seconds) -> Seconds {
    Seconds(stall.0 / 5)
}

/// Every reason there is.
pub(super) fn needs(picture: &Snapshot, tiers: &[Tier], moment: Timestamp) -> Vec<Need> {
    let mut needs = Vec::new();
    if let Some(rollout) = picture.world.current() {
        of_account(picture, rollout, moment, &mut needs);
        for tier in tiers {
            of_tier(picture, rollout, tier, moment, &mut needs);
        }
    }
    needs.sort_by_key(|need| (need.kind, need.since));
    needs
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
    if picture.observed.clock_suspect {
        let text = "it jumped: nothing stalls or promotes until somebody accepts the new time";
        needs.push(need(NeedKind::Clock, None, "clock", text, None));
    }
    let hold = hold(&picture.world, &picture.observed, rollout, moment);
    if let Some(hold) = hold.filter(|h| h.kind == HoldKind::HolderInPromotedEnv) {
        needs.push(need(NeedKind::Straggler, None, &hold.on, &hold.sentence, hold.since));
    }
    let late = |at: &Timestamp| Seconds::between(*at, moment) > TICK_LATE_AFTER;
    match (&picture.seat.holder, picture.seat.last_tick) {
        (None, at) => {
            let text = "nobody holds the seat: no promotion, no stall is noticed";
            needs.push(need(NeedKind::NoTick, None, "seat", text, at));
        }
        (Some(holder), Some(at)) if late(&at) => {
            let text = "holds the seat and does not tick: no promotion, no stall is noticed";
            needs.push(need(NeedKind::NoTick, None, holder, text, Some(at)));
        }
        _ => {}
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
    if !rollout.is_running() {
        return;
    }
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
