//! The status of a rollout: one row per machine, and the sums that make the arithmetic add up.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rollout::current_environment;
use crate::domain::hold::{HoldKind, hold};
use crate::domain::ids::{MachineId, ReleaseId, Revision, RolloutId};
use crate::domain::observed::{Observed, Telemetry};
use crate::domain::rollout::Rollout;
use crate::domain::rows::{LaneView, MachineRow, RowState, Slots, lane_rows, lanes_in_order};
use crate::domain::world::World;

/// The whole body. Counts cover the whole rollout; `machines` is a page of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusBody {
    /// The rollout.
    pub uuid: RolloutId,
    /// What it ships.
    pub config_release_uuid: ReleaseId,
    /// `running`, `completed`, `halted`, `superseded`.
    pub status: String,
    /// Superseded by force only.
    pub protected: bool,
    /// Slug of the environment the cursor stands on.
    pub current_environment: Option<String>,
    /// Ring -> reason; empty = the line is moving (R64).
    pub halted_rings: BTreeMap<String, String>,
    /// One sentence: why the cursor does not move. Null while it simply works, and at the end.
    pub stall_reason: Option<String>,
    /// The same for programs.
    pub stall_kind: Option<HoldKind>,
    /// Telemetry is out, the counts are those of the main database (R144).
    pub counts_approximate: bool,
    /// Machines with a slot.
    pub holding_slots: usize,
    /// Open settle windows of the rollout (R172).
    pub settling: usize,
    /// What blocks promotion on purpose.
    pub blocking: Blocking,
    /// Per ring and environment: cap = holding + settling + free.
    pub slots: Vec<SlotsBody>,
    /// By promotion order, environment, ring, then queue order; at most `limit`.
    pub machines: Vec<RowBody>,
    /// Machines in scope.
    pub total: usize,
    /// Rows this page may have.
    pub limit: usize,
    /// The journal's revision this was made from.
    pub revision: Revision,
}

/// What blocks promotion on purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blocking {
    /// Machines in the cursor's environment that were paused before they applied (R79).
    pub paused: usize,
}

/// The arithmetic of one (ring, environment) (R20).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotsBody {
    /// Slug.
    pub ring: String,
    /// Slug.
    pub environment: String,
    /// 0 = no cap.
    pub cap: u32,
    /// Machines with a slot.
    pub holding: usize,
    /// Machines without a slot whose settle window is open.
    pub settling: usize,
    /// What may be granted now.
    pub free: usize,
}

/// One machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowBody {
    /// For people.
    pub hostname: String,
    /// Identity.
    pub uuid: MachineId,
    /// Slug.
    pub environment: String,
    /// Slug.
    pub ring: String,
    /// Place in the hash, 0..=99.
    pub bucket: u8,
    /// Environment open and elected (R137).
    pub eligible: bool,
    /// R129-R135.
    pub state: RowState,
    /// Has a slot.
    pub holds_slot: bool,
    /// 1-based.
    pub queue_position: Option<usize>,
    /// When the slot was granted.
    pub held_since: Option<Timestamp>,
    /// When its open settle window closes.
    pub settles_at: Option<Timestamp>,
    /// What is missing for its rendering.
    pub render_error: Option<String>,
    /// Counted failures in this generation.
    pub failures: u32,
    /// Null = not known yet.
    pub is_online: Option<bool>,
    /// Its last poll.
    pub last_seen_at: Option<Timestamp>,
}

/// The status of `rollout` at `now`, with at most `limit` rows.
pub fn status(world: &World, observed: &Observed, rollout: &Rollout, now: Timestamp, limit: usize) -> StatusBody {
    let past = world.as_of(rollout);
    let world = past.as_ref();
    let keys = lanes_in_order(world);
    let views: Vec<LaneView<'_>> = keys.into_iter().filter_map(|key| LaneView::of(world, rollout, key, now)).collect();
    let slots: Vec<Slots> = views.iter().map(|view| view.slots(now)).collect();
    let held = hold(world, observed, rollout, now);
    StatusBody {
        uuid: rollout.id,
        config_release_uuid: rollout.release,
        status: rollout.status().to_owned(),
        protected: rollout.protected,
        current_environment: current_environment(world, rollout),
        halted_rings: halted_rings(world, rollout),
        stall_kind: held.as_ref().map(|held| held.kind),
        stall_reason: held.map(|held| held.sentence),
        counts_approximate: observed.telemetry == Telemetry::Unreadable,
        holding_slots: slots.iter().map(|slots| slots.holding).sum(),
        settling: open_windows(world, rollout, &views, now),
        blocking: Blocking { paused: skipped(world, rollout, &views) },
        slots: slots.iter().map(|slots| slots_body(world, slots)).collect(),
        machines: page(world, observed, rollout, &views, now, limit),
        total: views.iter().map(|view| view.lane.members.len()).sum(),
        limit,
        revision: world.revision,
    }
}

fn halted_rings(world: &World, rollout: &Rollout) -> BTreeMap<String, String> {
    rollout.halted_rings.iter().map(|(ring, halt)| (world.ring_slug(*ring).to_owned(), halt.reason.clone())).collect()
}

/// Every open window, those of machines that hold a slot again included (R172).
fn open_windows(world: &World, rollout: &Rollout, views: &[LaneView<'_>], now: Timestamp) -> usize {
    let of_lane = |view: &LaneView<'_>| {
        let settle = view.ring.settings.min_settle_seconds;
        let is_open = |machine: &&MachineId| {
            let first = world.machines.get(*machine).and_then(|m| m.first_success.get(&rollout.release));
            first.is_some_and(|at| now < settle.after(*at))
        };
        view.lane.settling(settle, now).count() + view.lane.holders.iter().filter(is_open).count()
    };
    views.iter().map(of_lane).sum()
}

fn skipped(world: &World, rollout: &Rollout, views: &[LaneView<'_>]) -> usize {
    let Some(environment) = world.cursor_environment(rollout).filter(|_| rollout.is_running()) else { return 0 };
    views.iter().filter(|view| view.key.0 == environment.id).map(|view| view.lane.skipped.len()).sum()
}

fn page(
    world: &World,
    observed: &Observed,
    rollout: &Rollout,
    views: &[LaneView<'_>],
    now: Timestamp,
    limit: usize,
) -> Vec<RowBody> {
    let mut rows = Vec::new();
    for view in views {
        if rows.len() >= limit {
            break;
        }
        rows.extend(lane_rows(world, observed, rollout, view, now).iter().map(|row| row_body(world, row)));
    }
    rows.truncate(limit);
    rows
}

fn slots_body(world: &World, slots: &Slots) -> SlotsBody {
    let (environment, ring) = slots.lane;
    SlotsBody {
        ring: world.ring_slug(ring).to_owned(),
        environment: world.environment_slug(environment).to_owned(),
        cap: slots.cap,
        holding: slots.holding,
        settling: slots.settling,
        free: slots.free,
    }
}

fn row_body(world: &World, row: &MachineRow) -> RowBody {
    RowBody {
        hostname: row.hostname.clone(),
        uuid: row.machine,
        environment: world.environment_slug(row.environment).to_owned(),
        ring: world.ring_slug(row.ring).to_owned(),
        bucket: row.bucket,
        eligible: row.eligible,
        state: row.state,
        holds_slot: row.holds_slot,
        queue_position: row.queue_position,
        held_since: row.held_since,
        settles_at: row.settles_at,
        render_error: row.render_error.as_ref().map(|missing| format!("missing: {}", missing.join(", "))),
        failures: row.failures,
        is_online: row.is_online,
        last_seen_at: row.last_seen_at,
    }
}
