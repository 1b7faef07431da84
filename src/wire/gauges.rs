//! Gauges: how an account stands, in numbers. What is gone has no gauge any more.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::kura::deployment::Deployment;
use crate::domain::rows::{LaneView, lanes_in_order};
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// What the name of every series begins with.
pub const PREFIX: &str = "kura";

/// Every gauge of an account with what it means.
pub const GAUGES: [(&str, &str); 13] = [
    ("rollouts_running", "1 while a rollout runs"),
    ("rings_halted", "Halted rings of the running rollout"),
    ("slot_holders", "Machines with a slot"),
    ("slots_settling", "Machines without a slot whose settle window is open"),
    ("queue_length", "Machines that wait for a slot"),
    ("journal_revision", "Revision of the last change"),
    ("seat_held", "1 where this process ticks"),
    ("journal_reachable", "1 while the journal answers"),
    ("tick_age_seconds", "Since the last tick of this process, where it ticks"),
    ("servers", "Kura servers by status"),
    ("servers_left_behind", "Kura servers that releases pass by: three superseded deployments in a row"),
    ("deployments_open", "Deployments of Kura servers that are pending or running"),
    ("oldest_wait_seconds", "Since when the deployment waits that has waited longest for the same thing"),
];

/// Names and values that tell one series from another.
pub type Labels = Vec<(&'static str, String)>;

/// One number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gauge {
    /// One of `GAUGES`.
    pub name: &'static str,
    /// Whose.
    pub labels: Labels,
    /// How much.
    pub value: i64,
}

/// How an account stands in one process.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// Its name.
    pub account: &'a str,
    /// Facts.
    pub world: &'a World,
    /// By the clock of the process.
    pub now: Timestamp,
    /// This process ticks.
    pub holds_seat: bool,
    /// Since its last tick, where it ticks.
    pub tick_age: Option<u64>,
    /// The journal answers.
    pub journal_is_live: bool,
}

impl Standing<'_> {
    /// In numbers.
    pub fn gauges(&self) -> Vec<Gauge> {
        let running = self.world.running();
        let halted = running.map_or(0, |rollout| rollout.halted_rings.len());
        let mut gauges = vec![
            self.of_account("rollouts_running", i64::from(running.is_some())),
            self.of_account("rings_halted", whole(halted)),
            self.of_account("journal_revision", i64::try_from(self.world.revision).unwrap_or(i64::MAX)),
            self.of_account("seat_held", i64::from(self.holds_seat)),
            self.of_account("journal_reachable", i64::from(self.journal_is_live)),
        ];
        let age = self.tick_age.map(|age| i64::try_from(age).unwrap_or(i64::MAX));
        gauges.extend(age.map(|age| self.of_account("tick_age_seconds", age)));
        gauges.extend(self.of_lanes());
        gauges.extend(self.of_servers());
        gauges
    }

    /// Nothing where there never was a Kura server.
    fn of_servers(&self) -> Vec<Gauge> {
        let servers = &self.world.kura.servers;
        if servers.is_empty() {
            return Vec::new();
        }
        let mut statuses: BTreeMap<&str, usize> = BTreeMap::new();
        servers.values().for_each(|server| *statuses.entry(server.status.word()).or_default() += 1);
        let open: Vec<&Deployment> = servers.values().filter_map(|server| server.open()).collect();
        let oldest = open.iter().filter_map(|row| row.wait.as_ref()).map(|wait| wait.since).min();
        let waited = oldest.map_or(0, |since| Seconds::between(since, self.now).0);
        let of_status = |(status, count): (&str, usize)| Gauge {
            labels: vec![("account", self.account.to_owned()), ("status", status.to_owned())],
            ..self.of_account("servers", whole(count))
        };
        let mut gauges: Vec<Gauge> = statuses.into_iter().map(of_status).collect();
        let behind = servers.values().filter(|server| server.is_left_behind()).count();
        gauges.push(self.of_account("servers_left_behind", whole(behind)));
        gauges.push(self.of_account("deployments_open", whole(open.len())));
        gauges.push(self.of_account("oldest_wait_seconds", i64::try_from(waited).unwrap_or(i64::MAX)));
        gauges
    }

    fn of_account(&self, name: &'static str, value: i64) -> Gauge {
        Gauge { name, labels: vec![("account", self.account.to_owned())], value }
    }

    fn of_lanes(&self) -> Vec<Gauge> {
        let Some(rollout) = self.world.running() else { return Vec::new() };
        let views = lanes_in_order(self.world).into_iter();
        let views = views.filter_map(|key| LaneView::of(self.world, rollout, key, self.now));
        views.flat_map(|view| self.of_lane(&view)).collect()
    }

    fn of_lane(&self, view: &LaneView<'_>) -> [Gauge; 3] {
        let labels = vec![
            ("account", self.account.to_owned()),
            ("environment", self.world.environment_slug(view.key.0).to_owned()),
            ("ring", self.world.ring_slug(view.key.1).to_owned()),
        ];
        let slots = view.slots(self.now);
        let queued = if view.ring.is_capped() { view.queue().count() } else { 0 };
        let gauge = |name, count| Gauge { name, labels: labels.clone(), value: whole(count) };
        [gauge("slot_holders", slots.holding), gauge("slots_settling", slots.settling), gauge("queue_length", queued)]
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
