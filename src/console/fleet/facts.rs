//! Everything the screens of rolls and nodes show of a picture, looked up once per picture and not once per frame.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::kura::{Token, Veiled, unread};
use super::super::snapshot::Snapshot;
use super::roll_row::RollRow;
use crate::domain::ids::RollId;
use crate::domain::kura::sight::NO_CLUSTER;
use crate::domain::kura::source::STALE_AFTER;
use crate::domain::roll::host::{Host, hosts};
use crate::domain::roll::partition::is_workload;
use crate::domain::roll::rolls::Rolls;
use crate::domain::roll::sight::FleetSight;

/// Pods of a node: those that are Ready, and all of them.
pub type Pods = (usize, usize);

/// Everything about rolls and nodes of an account.
#[derive(Debug, Clone, Default)]
pub struct FleetFacts {
    /// Rolls that are kept: those that need somebody first, those that are over last, the newest first.
    pub rolls: Vec<RollRow>,
    /// Nodes that are seen or in the books.
    pub hosts: BTreeMap<Token, Host>,
    /// Nodes by name.
    pub by_name: BTreeMap<String, Token>,
    /// Workloads by node.
    pub pods: BTreeMap<String, Pods>,
    /// What cannot be relied on of the fleet; empty where everything can, and where no roll was ever started.
    pub veiled: Vec<Veiled>,
    /// When they would read differently by time alone.
    pub due: Option<Timestamp>,
}

impl FleetFacts {
    /// Looks everything up; identities of an older picture are not made again.
    pub(in super::super) fn of(picture: &Snapshot, moment: Timestamp, older: Self) -> Self {
        let (world, observed) = (&*picture.world, &*picture.observed);
        let fleet = observed.cluster.as_ref().map(|sight| &sight.fleet);
        let mut facts = Self::default();
        for host in hosts(world, observed, moment) {
            let id = older.by_name.get(&host.name).copied().unwrap_or_else(|| Token::of("node", &host.name));
            facts.by_name.insert(host.name.clone(), id);
            facts.hosts.insert(id, host);
        }
        if world.rolls.is_empty() {
            return facts;
        }
        facts.rolls = world.rolls.rolls.iter().map(|roll| RollRow::of(roll, fleet, moment)).collect();
        facts
            .rolls
            .sort_by_key(|row| (row.rank(), row.waits_since, (!row.is_over()).then_some(row.at), Reverse(row.at)));
        facts.veiled = veiled(fleet, moment);
        facts.pods = fleet.map(pods).unwrap_or_default();
        facts.due = due(&world.rolls, fleet, moment);
        facts
    }

    /// No roll was ever started.
    pub fn is_empty(&self) -> bool {
        self.rolls.is_empty()
    }

    /// One of the rolls.
    pub fn roll(&self, id: RollId) -> Option<&RollRow> {
        self.rolls.iter().find(|row| row.id == id)
    }

    /// A node by its name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.get(self.by_name.get(name)?)
    }

    /// Nodes by name.
    pub fn named(&self) -> impl Iterator<Item = (Token, &Host)> {
        self.by_name.values().filter_map(|id| Some((*id, self.hosts.get(id)?)))
    }

    /// Rolls that have not ended.
    pub fn live(&self) -> impl Iterator<Item = &RollRow> {
        self.rolls.iter().filter(|row| !row.is_over())
    }
}

fn veiled(fleet: Option<&FleetSight>, moment: Timestamp) -> Vec<Veiled> {
    let Some(fleet) = fleet else {
        return vec![Veiled { kind: "", word: NO_CLUSTER, why: None, as_of: None }];
    };
    let kinds = [("nodes", &fleet.nodes.contact), ("pods", &fleet.pods.contact), ("jobs", &fleet.jobs.contact)];
    unread(kinds, moment)
}

fn pods(fleet: &FleetSight) -> BTreeMap<String, Pods> {
    // A node nothing runs on is known to be empty once pods were read.
    let read = fleet.pods.contact.read_at().is_some();
    let mut counts: BTreeMap<String, Pods> =
        fleet.nodes.rows.keys().filter(|_| read).map(|node| (node.clone(), (0, 0))).collect();
    for pod in fleet.pods.rows.values().filter(|pod| is_workload(pod) && !pod.stamp.is_leaving()) {
        let Some(node) = &pod.node else { continue };
        let (ready, all) = counts.entry(node.clone()).or_default();
        *ready += usize::from(pod.ready);
        *all += 1;
    }
    counts
}

/// A source goes stale, or a roll looks away from its nodes.
fn due(rolls: &Rolls, fleet: Option<&FleetSight>, moment: Timestamp) -> Option<Timestamp> {
    let contacts = fleet.map(|fleet| [&fleet.nodes.contact, &fleet.pods.contact, &fleet.jobs.contact]);
    let live = contacts.into_iter().flatten().filter(|contact| contact.is_fresh(moment));
    let stale = live.filter_map(|contact| Some(STALE_AFTER.after(contact.as_of()?)));
    let watched = rolls.rolls.iter().filter_map(|roll| roll.watched_until());
    stale.chain(watched).filter(|at| *at > moment).min()
}
