//! The rows people look at: one per machine in scope, with its state, its place and its clocks (R129-R138).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fleet::{Machine, Ring, RingSettings};
use super::ids::{EnvironmentId, MachineId, RingId};
use super::lane::{Lane, LaneKey};
use super::observed::Observed;
use super::rollout::Rollout;
use super::world::World;

/// State of a row, in order of precedence: the first that holds (R129-R135).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RowState {
    /// Paused on the machine itself; ring and environment pauses leave the queue visible.
    Paused,
    /// Done, soaking included.
    Applied,
    /// Its latest result of this generation is a failure.
    Failed,
    /// No assignment could be rendered.
    Errored,
    /// Inside the arc: holds the slot, or simply elected where the ring is not capped.
    Pending,
    /// Elected and open, waiting for a slot.
    Queued,
    /// A later environment, or not elected yet.
    Waiting,
}

impl RowState {
    /// The word of the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Applied => "applied",
            Self::Failed => "failed",
            Self::Errored => "errored",
            Self::Pending => "pending",
            Self::Queued => "queued",
            Self::Waiting => "waiting",
        }
    }
}

/// One machine of a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineRow {
    /// Identity.
    pub machine: MachineId,
    /// For people.
    pub hostname: String,
    /// Its tier.
    pub environment: EnvironmentId,
    /// Its ring.
    pub ring: RingId,
    /// Its place in the hash (R33).
    pub bucket: u8,
    /// Environment open and elected; says nothing about pauses (R137).
    pub eligible: bool,
    /// The first state that holds.
    pub state: RowState,
    /// Has the lease (R18).
    pub holds_slot: bool,
    /// 1-based place in its lane's queue (R35).
    pub queue_position: Option<usize>,
    /// When the lease was granted.
    pub held_since: Option<Timestamp>,
    /// When its open settle window closes (R40).
    pub settles_at: Option<Timestamp>,
    /// What is missing for its rendering.
    pub render_error: Option<Vec<String>>,
    /// Counted failures in this generation.
    pub failures: u32,
    /// None = not known yet (R138).
    pub is_online: Option<bool>,
    /// Its last poll.
    pub last_seen_at: Option<Timestamp>,
}

/// The arithmetic of one lane (R19, R20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    /// Which lane.
    pub lane: LaneKey,
    /// `max_in_flight`; 0 = no cap.
    pub cap: u32,
    /// Machines with a lease.
    pub holding: usize,
    /// Machines without a lease inside their settle window.
    pub settling: usize,
    /// What may be granted now; 0 where there is no cap.
    pub free: usize,
}

/// Where a lane stands in the ladder: buckets below this are elected (R70, R71).
pub fn elected_pct(settings: &RingSettings, opened: Timestamp, now: Timestamp) -> u8 {
    let age = super::span::Seconds::between(opened, now).0;
    settings.wave_ladder.iter().filter(|rung| rung.after_seconds <= age).map(|rung| rung.pct).max().unwrap_or(0)
}

/// Everything about one lane that a decision or a row needs, looked up once.
#[derive(Clone, Copy)]
pub struct LaneView<'a> {
    /// Which.
    pub key: LaneKey,
    /// Its members.
    pub lane: &'a Lane,
    /// Its ring.
    pub ring: &'a Ring,
    /// At or before the cursor (R13).
    pub open: bool,
    /// Buckets below this are elected; 0 where the environment is closed.
    pub elected: u8,
}

impl<'a> LaneView<'a> {
    /// Looks a lane up; none where the lane is empty or its ring is gone.
    pub fn of(world: &'a World, rollout: &Rollout, key: LaneKey, now: Timestamp) -> Option<Self> {
        let lane = world.lane(key)?;
        let ring = world.rings.get(&key.1)?;
        let open = world.is_open(rollout, key.0);
        let opened = rollout.opened.get(&key.0).copied();
        let anchor = opened.unwrap_or(rollout.reset_at.unwrap_or(rollout.started_at));
        let kept = rollout.elected.get(&key).copied().unwrap_or(0);
        let elected = if open { elected_pct(&ring.settings, anchor, now).max(kept) } else { 0 };
        Some(Self { key, lane, ring, open, elected })
    }

    /// The elected part of the queue, in order (R31, R72).
    pub fn queue(&self) -> impl Iterator<Item = MachineId> + use<'a> {
        let end = (self.elected, MachineId(uuid::Uuid::nil()));
        self.lane.queue.range(..end).map(|(_, machine)| *machine)
    }

    /// Cap, holders, settling, free (R20).
    pub fn slots(&self, now: Timestamp) -> Slots {
        let settings = &self.ring.settings;
        let holding = self.lane.holders.len();
        let settling = self.lane.settling(settings.min_settle_seconds, now).count();
        let cap = usize::try_from(settings.max_in_flight).unwrap_or(usize::MAX);
        let free = cap.saturating_sub(holding + settling);
        Slots { lane: self.key, cap: settings.max_in_flight, holding, settling, free }
    }
}

/// State of one machine in a rollout (R129-R135).
pub fn row_state(rollout: &Rollout, view: &LaneView<'_>, machine: &Machine, elected: bool) -> RowState {
    let failed = machine
        .last_result
        .as_ref()
        .is_some_and(|r| r.release == rollout.release && r.generation == rollout.generation && r.outcome.is_failure());
    let errored = machine.render_error.as_ref().is_some_and(|e| e.generation == rollout.generation);
    if machine.paused.is_some() {
        RowState::Paused
    } else if machine.is_done(rollout.release) {
        RowState::Applied
    } else if failed {
        RowState::Failed
    } else if errored {
        RowState::Errored
    } else if machine.lease.is_some() || (elected && !view.ring.is_capped()) {
        RowState::Pending
    } else if elected {
        RowState::Queued
    } else {
        RowState::Waiting
    }
}

/// Lanes in the order people read them: promotion order, environment slug, ring slug; tiers out of the path last.
pub fn lanes_in_order(world: &World) -> Vec<LaneKey> {
    let mut keys: Vec<LaneKey> = world.lanes().iter().map(|(key, _)| *key).collect();
    keys.sort_by_cached_key(|(environment, ring)| {
        let order = world.environments.get(environment).and_then(|e| e.promotion_order);
        let slugs = (world.environment_slug(*environment).to_owned(), world.ring_slug(*ring).to_owned());
        (order.is_none(), order, slugs, *environment, *ring)
    });
    keys
}

/// Rows of one lane, in queue order (R31).
pub fn lane_rows(
    world: &World,
    observed: &Observed,
    rollout: &Rollout,
    view: &LaneView<'_>,
    now: Timestamp,
) -> Vec<MachineRow> {
    let mut position = 0;
    let mut rows = Vec::with_capacity(view.lane.members.len());
    for (bucket, id) in &view.lane.members {
        let Some(machine) = world.machines.get(id) else { continue };
        let elected = view.open && *bucket < view.elected;
        let queued = view.ring.is_capped() && elected && view.lane.queue.contains(&(*bucket, *id));
        position += usize::from(queued);
        let first = machine.first_success.get(&rollout.release);
        let settles_at = first.map(|at| view.ring.settings.min_settle_seconds.after(*at)).filter(|end| now < *end);
        let errored = machine.render_error.as_ref().filter(|e| e.generation == rollout.generation);
        rows.push(MachineRow {
            machine: *id,
            hostname: machine.hostname.clone(),
            environment: view.key.0,
            ring: view.key.1,
            bucket: *bucket,
            eligible: elected,
            state: row_state(rollout, view, machine, elected),
            holds_slot: machine.lease.is_some(),
            queue_position: queued.then_some(position),
            held_since: machine.lease.as_ref().map(|l| l.granted_at),
            settles_at,
            render_error: errored.map(|e| e.missing.clone()),
            failures: machine.failures.filter(|f| f.generation == rollout.generation).map_or(0, |f| f.count),
            is_online: world.is_online(observed, *id, now),
            last_seen_at: observed.last_seen(*id),
        });
    }
    rows
}

/// Every row of a rollout, in the order of `lanes_in_order`, then queue order.
pub fn machine_rows(world: &World, observed: &Observed, rollout: &Rollout, now: Timestamp) -> Vec<MachineRow> {
    let views = lanes_in_order(world).into_iter().filter_map(|key| LaneView::of(world, rollout, key, now));
    views.flat_map(|view| lane_rows(world, observed, rollout, &view, now)).collect()
}
