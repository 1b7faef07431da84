//! A ring before the first rollout: its machines are there, and nothing is asked of them.

use jiff::Timestamp;

use super::facts::{LaneFacts, LaneState, Row};
use super::snapshot::Snapshot;
use crate::domain::fleet::{Environment, Machine};
use crate::domain::lane::LaneKey;
use crate::domain::rows::{MachineRow, RowState, Slots};

/// One ring in one environment; none where the ring is gone.
pub(super) fn lane(picture: &Snapshot, key: LaneKey, tier: &Environment, moment: Timestamp) -> Option<LaneFacts> {
    let world = &picture.world;
    let (ring, members) = (world.rings.get(&key.1)?, world.lane(key)?);
    let machines = members.members.iter().filter_map(|(_, id)| world.machines.get(id));
    let mut rows: Vec<Row> = machines.map(|machine| row(picture, key, machine, moment)).collect();
    rows.sort_by(|a, b| a.row.hostname.cmp(&b.row.hostname));
    let (settings, cap) = (&ring.settings, ring.settings.max_in_flight);
    let held = ring.paused.is_some() || tier.paused.is_some();
    let free = usize::try_from(cap).unwrap_or(usize::MAX);
    Some(LaneFacts {
        key,
        slug: ring.slug.clone(),
        state: if held { LaneState::Paused } else { LaneState::Idle },
        slots: Slots { lane: key, cap, holding: 0, settling: 0, free },
        queued: 0,
        done: 0,
        failures: 0,
        threshold: settings.failure_count_threshold,
        halted: None,
        paused: ring.paused.clone(),
        stall: settings.stall_timeout_seconds,
        settles_at: None,
        wave: None,
        rows,
    })
}

fn row(picture: &Snapshot, key: LaneKey, machine: &Machine, moment: Timestamp) -> Row {
    let row = MachineRow {
        machine: machine.id,
        hostname: machine.hostname.clone(),
        environment: key.0,
        ring: key.1,
        bucket: machine.bucket.unwrap_or(0),
        eligible: false,
        state: if machine.paused.is_some() { RowState::Paused } else { RowState::Waiting },
        holds_slot: false,
        queue_position: None,
        held_since: None,
        settles_at: None,
        render_error: None,
        failures: 0,
        is_online: picture.observed.is_online(machine.id, moment),
        last_seen_at: picture.observed.last_poll.get(&machine.id).copied(),
    };
    Row { row, halts_at: None, timer_held: None, cordoned: false, resting: true }
}
