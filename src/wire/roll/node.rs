//! Nodes as shown: the ledger of cordons, the verdict on each runtime, and who hosts the registry.

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::ProbeBody;
use crate::domain::observed::Observed;
use crate::domain::roll::green::fingerprints;
use crate::domain::roll::node::Verdict;
use crate::domain::roll::rolls::{Cordon, Rolls};
use crate::domain::world::World;

/// Where nodes are.
pub const PATH: &str = "/api/nodes/";

/// A node. What is not known is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeBody {
    /// Its name.
    pub name: String,
    /// Its kubelet says so, which says nothing about whether containers can start.
    pub ready: Option<bool>,
    /// Cordoned, by whomever.
    pub unschedulable: Option<bool>,
    /// Version of its kubelet.
    pub version: Option<String>,
    /// It holds the VIP of the cluster.
    pub holds_vip: bool,
    /// The registry runs on it, as far as a roll looked for it.
    pub registry: bool,
    /// The cordon is ours.
    pub cordon: Option<Cordon>,
    /// The last word on its runtime.
    pub runtime: Option<Verdict>,
    /// Where that comes from.
    pub probe: Option<ProbeBody>,
    /// Pods on it that cannot be made.
    pub trouble: Option<String>,
    /// The roll in whose turn it is.
    pub in_turn_of: Option<String>,
}

impl NodeBody {
    /// Every node that is seen or in the books, by name.
    pub fn all(world: &World, observed: &Observed, now: Timestamp) -> Vec<Self> {
        let fleet = observed.cluster.as_ref().map(|sight| &sight.fleet);
        let seen = fleet.into_iter().flat_map(|fleet| fleet.nodes.rows.keys());
        let books = world.rolls.ledger.keys().chain(world.rolls.findings.keys());
        let names: BTreeSet<&String> = observed.nodes.keys().chain(seen).chain(books).collect();
        let hosts = hosts(&world.rolls, observed);
        let watched = world.rolls.watched(now);
        let look = |name: &String| {
            let back = watched.get(name).and_then(|(_, node)| node.back_since());
            back.zip(fleet).and_then(|(back, fleet)| fingerprints(fleet, name, back))
        };
        names.into_iter().map(|name| Self::of(world, observed, name, &hosts).seen_as(look(name))).collect()
    }

    /// What is to be seen there outweighs a probe that ran.
    fn seen_as(self, fingerprints: Option<String>) -> Self {
        match fingerprints {
            None => self,
            Some(_) => Self { runtime: Some(Verdict::Broken), trouble: fingerprints, ..self },
        }
    }

    fn of(world: &World, observed: &Observed, name: &str, hosts: &BTreeSet<String>) -> Self {
        let known = observed.nodes.get(name);
        let seen = observed.cluster.as_ref().and_then(|sight| sight.fleet.nodes.get(name));
        let finding = world.rolls.findings.get(name);
        let in_turn = world.rolls.rolls.iter().find(|roll| roll.in_turn() == Some(name));
        Self {
            name: name.to_owned(),
            ready: seen.map(|node| node.ready).or(known.map(|node| node.ready)),
            unschedulable: seen.map(|node| node.unschedulable).or(known.map(|node| node.unschedulable)),
            version: known.and_then(|node| node.version.clone()),
            holds_vip: known.is_some_and(|node| node.holds_vip),
            registry: hosts.contains(name),
            cordon: world.rolls.ledger.get(name).cloned(),
            runtime: finding.map(|finding| finding.verdict),
            probe: finding.map(|finding| ProbeBody::of(name, finding)),
            trouble: None,
            in_turn_of: in_turn.map(|roll| roll.name()),
        }
    }
}

/// Where the registries of the rolls are.
fn hosts(rolls: &Rolls, observed: &Observed) -> BTreeSet<String> {
    let Some(sight) = &observed.cluster else { return BTreeSet::new() };
    let selectors = rolls.rolls.iter().filter_map(|roll| roll.spec.registry.as_ref());
    selectors.filter_map(|selector| sight.fleet.registry_host(selector)).map(str::to_owned).collect()
}
