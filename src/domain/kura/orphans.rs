//! Orphans in both directions; listed, and never deleted by themselves (K45).

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::estate::Estate;
use super::object::MANAGED_BY_LABEL;
use super::render::MANAGED_BY;
use super::server::ServerStatus;
use super::sight::Sight;
use super::workload::Instance;

/// Which half is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It runs, and no server claims it.
    InstanceWithoutRow,
    /// It is claimed, and does not run.
    RowWithoutInstance,
}

/// One half.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Orphan {
    /// Which half is missing.
    pub direction: Direction,
    /// The name of the instance.
    pub name: String,
}

/// Every orphan, as far as instances can be read: an empty or stale reading makes nobody an orphan.
pub fn orphans(estate: &Estate, sight: &Sight, now: Timestamp) -> Vec<Orphan> {
    if !sight.instances.is_fresh(now) {
        return Vec::new();
    }
    let orphan = |direction, name: &str| Orphan { direction, name: name.to_owned() };
    let staying = estate.servers.values().filter(|server| server.status != ServerStatus::Destroyed);
    let ours: BTreeSet<&str> = staying.map(|server| server.instance_name.as_str()).collect();
    let alone = sight.instances.rows.iter();
    let alone = alone.filter(|(name, live)| !ours.contains(name.as_str()) && managed_by_another(live).is_none());
    let alone = alone.map(|(name, _)| orphan(Direction::InstanceWithoutRow, name));
    let rows = estate.servers.values().filter(|server| {
        !server.status.is_leaving()
            && server.wanted_tag().is_some()
            && sight.instances.get(&server.instance_name).is_none()
    });
    let mut all: Vec<Orphan> =
        alone.chain(rows.map(|server| orphan(Direction::RowWithoutInstance, &server.instance_name))).collect();
    all.sort();
    all
}

/// Who claims an instance: a server of ours, or another control plane by its label.
pub fn claimed_by(estate: &Estate, live: &Instance) -> Option<String> {
    let ours = estate.server_of(&live.stamp.name).map(|server| format!("server {}", server.name()));
    ours.or_else(|| managed_by_another(live).map(str::to_owned))
}

fn managed_by_another(live: &Instance) -> Option<&str> {
    live.stamp.label(MANAGED_BY_LABEL).filter(|by| *by != MANAGED_BY)
}
