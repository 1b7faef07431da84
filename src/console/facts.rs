//! What the screens show of one account, looked up once per picture and not once per frame.
//!
//! Rows are computed while messages are taken in, so that drawing a ring of ten thousand machines costs what its
//! visible rows cost.

use jiff::Timestamp;

use super::fleet::FleetFacts;
use super::kura::{KuraFacts, Part, Token};
use super::need::Need;
use super::snapshot::Snapshot;
use super::spare::Spare;
use super::{needs, resting};
use crate::domain::fleet::{Environment, Lease, Pause};
use crate::domain::ids::{EnvironmentId, MachineId, RingId, RollId};
use crate::domain::lane::LaneKey;
use crate::domain::observed::OFFLINE_AFTER;
use crate::domain::rollout::{RingHalt, Rollout};
use crate::domain::rows::{LaneView, MachineRow, RowState, Slots, lane_rows};
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Something with a row of its own; selection, folds and dialogs know it by this, never by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// A tier.
    Environment(EnvironmentId),
    /// A ring in a tier.
    Lane(LaneKey),
    /// A machine.
    Machine(MachineId),
    /// Everything that no rollout reaches.
    Spare,
    /// A ring without a machine.
    Ring(RingId),
    /// Something of Kura.
    Kura(Part),
    /// A fleet roll.
    Roll(RollId),
    /// A node of the cluster.
    Host(Token),
}

/// Where a tier stands to the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The cursor is past it.
    Passed,
    /// The cursor stands on it.
    Current,
    /// The cursor has not come to it yet.
    Ahead,
    /// It has no place in the path.
    OutOfPath,
    /// No release was ever started.
    Resting,
}

/// How much of a ring is elected where not all of it is (R70).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    /// Buckets below this are elected.
    pub pct: u8,
    /// When the next step of the ladder elects more; none = never.
    pub next_at: Option<Timestamp>,
}

/// One environment.
#[derive(Debug, Clone)]
pub struct Tier {
    /// Identity.
    pub id: EnvironmentId,
    /// For people.
    pub slug: String,
    /// Where it stands.
    pub standing: Standing,
    /// Set while it is held.
    pub paused: Option<Pause>,
    /// Machines that are done.
    pub done: usize,
    /// Machines in scope.
    pub total: usize,
    /// Its rings.
    pub lanes: Vec<LaneFacts>,
}

/// What a ring does in a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneState {
    /// A brake stopped it.
    Halted,
    /// A person holds it, or its tier.
    Paused,
    /// Its tier is not open.
    Closed,
    /// Everybody who is not paused is done.
    Done,
    /// Somebody converges.
    Moving,
    /// A holder is not heard of, or uses up the last of its time.
    Stalled,
    /// Its slots are kept by settle windows.
    Settling,
    /// A slot is free and somebody is next.
    Ready,
    /// Nothing runs.
    Idle,
}

/// One ring in one environment.
#[derive(Debug, Clone)]
pub struct LaneFacts {
    /// Which.
    pub key: LaneKey,
    /// The ring, for people.
    pub slug: String,
    /// What it does.
    pub state: LaneState,
    /// Its arithmetic.
    pub slots: Slots,
    /// Elected machines without a slot.
    pub queued: usize,
    /// Machines that are done.
    pub done: usize,
    /// Counted failures of the ring in this generation.
    pub failures: u32,
    /// How many of them halt it.
    pub threshold: u32,
    /// Why it is halted.
    pub halted: Option<RingHalt>,
    /// Who holds it: the ring's own pause.
    pub paused: Option<Pause>,
    /// How long a lease may be held.
    pub stall: Seconds,
    /// When its next settle window closes.
    pub settles_at: Option<Timestamp>,
    /// Where its ladder stands; none where it is closed or everybody is elected.
    pub wave: Option<Wave>,
    /// Its machines: who holds or failed first, then the queue, then the others.
    pub rows: Vec<Row>,
}

/// One machine.
#[derive(Debug, Clone)]
pub struct Row {
    /// The row of the API.
    pub row: MachineRow,
    /// When its ring halts over it; none where no stall timer runs.
    pub halts_at: Option<Timestamp>,
    /// Its stall timer stands still, and why: its ring or tier is paused, or no agent is heard (R54).
    pub timer_held: Option<&'static str>,
    /// It is done, but its node takes no pods (R161).
    pub cordoned: bool,
    /// No release was ever started, so nothing is asked of it.
    pub resting: bool,
}

impl Row {
    /// It holds a slot and is not heard of, or has come close to the end of its time.
    pub fn is_stalled(&self, stall: Seconds, moment: Timestamp) -> bool {
        let late = self.halts_at.is_some_and(|at| moment >= needs::late_margin(stall).before(at));
        self.row.holds_slot && (late || self.row.is_online == Some(false))
    }
}

/// Everything the screens show of a picture.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The moment they describe.
    pub moment: Timestamp,
    /// When they would read differently by time alone.
    pub valid_until: Option<Timestamp>,
    /// Environments, in the order of the path, those out of it last.
    pub tiers: Vec<Tier>,
    /// What no rollout reaches.
    pub spare: Spare,
    /// Kura servers and what belongs to them.
    pub kura: KuraFacts,
    /// Fleet rolls and nodes.
    pub fleet: FleetFacts,
    /// What needs a human, most urgent first.
    pub needs: Vec<Need>,
}

impl Facts {
    /// Looks everything up; what `older` facts have that is still so is not made again.
    pub fn of(picture: &Snapshot, now: Timestamp, older: Self) -> Self {
        let world = &*picture.world;
        let moment = picture.moment(now);
        let maker = Maker { picture, world, rollout: world.current(), moment };
        let tiers: Vec<Tier> = tiers_in_order(world).into_iter().map(|e| maker.tier(e)).collect();
        let seen_at = picture.seen_at(now);
        let kura = KuraFacts::of(picture, seen_at, older.kura);
        let fleet = FleetFacts::of(picture, seen_at, older.fleet);
        let needs = needs::needs(picture, &tiers, (&kura, &fleet), moment);
        // What the control plane told does not age while it stands still; what is seen from here does.
        let told = maker.valid_until(&tiers).filter(|_| moment == seen_at);
        let valid_until = told.into_iter().chain(kura.due).chain(fleet.due).min();
        Self { moment, valid_until, tiers, spare: Spare::of(picture, moment), kura, fleet, needs }
    }

    /// A ring in a tier.
    pub fn lane(&self, key: LaneKey) -> Option<(&Tier, &LaneFacts)> {
        let tier = self.tiers.iter().find(|t| t.id == key.0)?;
        Some((tier, tier.lanes.iter().find(|l| l.key == key)?))
    }

    /// A machine with its ring and its tier.
    pub fn machine(&self, id: MachineId) -> Option<(&Tier, &LaneFacts, &Row)> {
        let lanes = self.tiers.iter().flat_map(|tier| tier.lanes.iter().map(move |lane| (tier, lane)));
        lanes.flat_map(|(t, l)| l.rows.iter().map(move |r| (t, l, r))).find(|(_, _, r)| r.row.machine == id)
    }

    /// Done and total over all tiers.
    pub fn progress(&self) -> (usize, usize) {
        self.tiers.iter().fold((0, 0), |(done, total), tier| (done + tier.done, total + tier.total))
    }
}

/// Tiers of the path low to high, then those out of it that have machines.
fn tiers_in_order(world: &World) -> Vec<&Environment> {
    let mut tiers = world.path();
    let mut others: Vec<&Environment> = world.environments.values().filter(|e| e.promotion_order.is_none()).collect();
    others.retain(|e| world.lanes().of_environment(e.id).next().is_some());
    others.sort_by(|a, b| a.slug.cmp(&b.slug));
    tiers.extend(others);
    tiers
}

struct Maker<'a> {
    picture: &'a Snapshot,
    world: &'a World,
    rollout: Option<&'a Rollout>,
    moment: Timestamp,
}

impl Maker<'_> {
    fn tier(&self, environment: &Environment) -> Tier {
        let mut lanes: Vec<LaneFacts> = self
            .world
            .lanes()
            .of_environment(environment.id)
            .filter_map(|(key, _)| self.lane(*key, environment))
            .collect();
        lanes.sort_by(|a, b| a.slug.cmp(&b.slug));
        Tier {
            id: environment.id,
            slug: environment.slug.clone(),
            standing: self.standing(environment),
            paused: environment.paused.clone(),
            done: lanes.iter().map(|l| l.done).sum(),
            total: lanes.iter().map(|l| l.rows.len()).sum(),
            lanes,
        }
    }

    fn standing(&self, environment: &Environment) -> Standing {
        let Some(place) = crate::domain::world::place(environment) else { return Standing::OutOfPath };
        if self.rollout.is_none() {
            return Standing::Resting;
        }
        match self.rollout.and_then(|r| r.cursor.as_ref()) {
            Some(cursor) if place < *cursor => Standing::Passed,
            Some(cursor) if place == *cursor => Standing::Current,
            _ => Standing::Ahead,
        }
    }

    fn lane(&self, key: LaneKey, environment: &Environment) -> Option<LaneFacts> {
        let Some(rollout) = self.rollout else { return resting::lane(self.picture, key, environment, self.moment) };
        let view = LaneView::of(self.world, rollout, key, self.moment)?;
        let slots = view.slots(self.moment);
        let halted = rollout.halted_rings.get(&key.1).cloned();
        let held = view.ring.paused.is_some() || environment.paused.is_some();
        let mut rows: Vec<Row> = lane_rows(self.world, &self.picture.observed, rollout, &view, self.moment)
            .into_iter()
            .map(|row| self.row(row, &view, environment))
            .collect();
        rows.sort_by_key(|row| rank(&row.row));
        let done = rows.iter().filter(|r| r.row.state == RowState::Applied).count();
        let stall = view.ring.settings.stall_timeout_seconds;
        let state = match state(rollout, &view, slots, halted.is_some(), held) {
            LaneState::Moving if rows.iter().any(|row| row.is_stalled(stall, self.moment)) => LaneState::Stalled,
            state => state,
        };
        Some(LaneFacts {
            key,
            slug: view.ring.slug.clone(),
            state,
            slots,
            queued: rows.iter().filter(|r| r.row.queue_position.is_some()).count(),
            done,
            failures: rollout.failures.get(&key.1).copied().unwrap_or(0),
            threshold: view.ring.settings.failure_count_threshold,
            halted,
            paused: view.ring.paused.clone(),
            stall,
            settles_at: rows.iter().filter_map(|r| r.row.settles_at).min(),
            wave: self.wave(rollout, &view),
            rows,
        })
    }

    fn wave(&self, rollout: &Rollout, view: &LaneView<'_>) -> Option<Wave> {
        let opened = rollout.opened.get(&view.key.0).filter(|_| view.open && view.elected < 100)?;
        let higher = view.ring.settings.wave_ladder.iter().filter(|rung| rung.pct > view.elected);
        let next_at = higher.map(|rung| Seconds(rung.after_seconds).after(*opened)).find(|at| *at > self.moment);
        Some(Wave { pct: view.elected, next_at })
    }

    fn row(&self, row: MachineRow, view: &LaneView<'_>, environment: &Environment) -> Row {
        let machine = self.world.machines.get(&row.machine);
        let lease = machine.and_then(|m| m.lease.as_ref());
        let stall = view.ring.settings.stall_timeout_seconds;
        // A countdown from a moment that is not told would be too long.
        let told = self.picture.glimpse.as_ref().is_none_or(|glimpse| glimpse.tells_times);
        let timed = lease.filter(|_| told && !stall.is_off() && view.ring.is_capped());
        let held = if self.world.seat.deaf_since.is_some() {
            Some("no agent endpoint")
        } else {
            (view.ring.paused.is_some() || environment.paused.is_some()).then_some("timer held")
        };
        let node = machine.and_then(|m| self.picture.observed.nodes.get(&m.node));
        let cordoned = row.state == RowState::Applied && node.is_some_and(|n| n.unschedulable);
        Row {
            halts_at: timed.filter(|_| held.is_none()).map(|lease| halts_at(lease, stall)),
            timer_held: held.filter(|_| timed.is_some()),
            cordoned,
            resting: false,
            row,
        }
    }

    /// The next moment at which a settle window closes, a rung elects, a machine turns offline, or a holder turns late.
    fn valid_until(&self, tiers: &[Tier]) -> Option<Timestamp> {
        let rows = tiers.iter().flat_map(|t| &t.lanes).flat_map(|l| l.rows.iter().map(move |row| (l, row)));
        let moments = rows.flat_map(|(lane, row)| {
            let offline = row.row.last_seen_at.map(|at| OFFLINE_AFTER.after(at));
            let late = row.halts_at.map(|at| needs::late_margin(lane.stall).before(at));
            [row.row.settles_at, offline, late, row.halts_at]
        });
        let listening = OFFLINE_AFTER.after(self.picture.observed.listening_since);
        let began =
            || self.rollout.map(|r| r.reset_at.unwrap_or(r.started_at).max(self.picture.observed.listening_since));
        let tick = self
            .picture
            .seat
            .last_tick
            .or_else(began)
            .map(|at| Seconds(super::snapshot::TICK_LATE_AFTER.0 + 1).after(at));
        let all = moments.chain([Some(listening), tick]).flatten().chain(self.rungs());
        all.filter(|at| *at > self.moment).min()
    }

    fn rungs(&self) -> impl Iterator<Item = Timestamp> {
        let opened = self.rollout.into_iter().flat_map(|r| r.opened.iter());
        opened.flat_map(|(environment, at)| {
            let rings = self.world.lanes().of_environment(*environment).map(|((_, ring), _)| *ring);
            let ladders = rings.filter_map(|id| self.world.rings.get(&id)).flat_map(|r| &r.settings.wave_ladder);
            ladders.map(|rung| Seconds(rung.after_seconds).after(*at))
        })
    }
}

fn halts_at(lease: &Lease, stall: Seconds) -> Timestamp {
    Seconds(stall.0.saturating_add(lease.frozen.0)).after(lease.granted_at)
}

/// What moves or hurts comes first, what is done last; inside a rank the order of the queue stays.
fn rank(row: &MachineRow) -> u8 {
    match row.state {
        _ if row.holds_slot => 0,
        RowState::Failed => 1,
        RowState::Errored => 2,
        RowState::Applied if row.settles_at.is_some() => 3,
        RowState::Pending => 4,
        RowState::Queued => 5,
        RowState::Waiting => 6,
        RowState::Paused => 7,
        RowState::Applied => 8,
    }
}

fn state(rollout: &Rollout, view: &LaneView<'_>, slots: Slots, halted: bool, held: bool) -> LaneState {
    if halted && rollout.is_running() {
        LaneState::Halted
    } else if held {
        LaneState::Paused
    } else if view.lane.unfinished.is_empty() {
        LaneState::Done
    } else if !rollout.is_running() {
        LaneState::Idle
    } else if !view.open {
        LaneState::Closed
    } else if slots.holding > 0 || !view.ring.is_capped() {
        LaneState::Moving
    } else if slots.settling > 0 && slots.free == 0 {
        LaneState::Settling
    } else if view.queue().next().is_some() {
        LaneState::Ready
    } else {
        LaneState::Idle
    }
}
