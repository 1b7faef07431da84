//! What is wrong with instances beyond their own deployment: dead nodes, pinned volumes, held updates, stuck gateways.

use std::collections::{BTreeMap, BTreeSet};

use imbl::OrdMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::observed::Node;
use super::super::span::Seconds;
use super::estate::Estate;
use super::notice;
use super::object::tag_of;
use super::server::Server;
use super::sight::Sight;
use super::traffic::Gateway;
use super::workload::{PausedBy, Pod};

/// A progress that did not change for this long is none any more (I11).
pub const PROGRESS_STALE_AFTER: Seconds = Seconds(15 * 60);

/// Instances that stand on one dead node: one incident (I8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeadNode {
    /// The node.
    pub node: String,
    /// Instances all of whose pods are on it, sorted.
    pub instances: Vec<String>,
}

/// Nodes that are not Ready, with the instances that have no pod elsewhere.
pub fn dead_nodes(sight: &Sight, nodes: &OrdMap<String, Node>) -> Vec<DeadNode> {
    let pods = sight.pods_by_instance();
    let mut on: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for name in sight.instances.rows.keys() {
        let theirs = pods.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        if let Some(node) = dead_node(theirs, nodes) {
            on.entry(node).or_default().push(name.clone());
        }
    }
    on.into_iter().map(|(node, instances)| DeadNode { node: node.to_owned(), instances }).collect()
}

/// The node that is not Ready and has every one of an instance's pods.
pub fn dead_node<'a>(pods: &[&'a Pod], nodes: &OrdMap<String, Node>) -> Option<&'a str> {
    let first = pods.first()?.node.as_deref()?;
    let is_dead = nodes.get(first).is_some_and(|node| !node.ready);
    (is_dead && pods.iter().all(|pod| pod.node.as_deref() == Some(first))).then_some(first)
}

/// A pod that cannot be scheduled because its volume is tied to one node (I6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PinnedPod {
    /// The pod.
    pub pod: String,
    /// The node its volume is tied to.
    pub node: String,
    /// Since when it is pending.
    pub since: Timestamp,
    /// Why it is not scheduled, where that is said.
    pub reason: Option<String>,
}

/// Those of an instance's pods that are pending and tied to a node.
pub fn pinned_pods(sight: &Sight, pods: &[&Pod]) -> Vec<PinnedPod> {
    let pinned = |pod: &&Pod| {
        let node = pinned_to(sight, pod)?;
        let since = pod.started_at.unwrap_or(pod.stamp.created_at);
        Some(PinnedPod { pod: pod.stamp.name.clone(), node, since, reason: pod.reason.clone() })
    };
    pods.iter().filter(|pod| pod.phase == "Pending").filter_map(pinned).collect()
}

fn pinned_to(sight: &Sight, pod: &Pod) -> Option<String> {
    let volumes = pod.claims.iter().filter_map(|claim| sight.claims.get(claim)?.volume.as_ref());
    volumes.filter_map(|volume| sight.volumes.get(volume)?.pinned_to.clone()).next()
}

/// An update that is held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldUpdate {
    /// By whom (K38).
    pub by: PausedBy,
    /// Since when, where the cluster says so.
    pub since: Option<Timestamp>,
}

/// What an operator sees of a server's workload in one row (§8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// Ready pods.
    pub ready: u32,
    /// Wanted pods.
    pub replicas: u32,
    /// Pods that do not run the wanted tag, sorted.
    pub on_old_image: Vec<String>,
    /// Who holds the update.
    pub held: Option<HeldUpdate>,
    /// Pods tied to a node where they cannot run.
    pub pinned: Vec<PinnedPod>,
    /// A bootstrap that reports progress: not Ready, and not stuck either (I11).
    pub progressing: Option<String>,
}

/// The workload of a server.
pub fn workload(server: &Server, sight: &Sight, now: Timestamp) -> Workload {
    let pods: Vec<&Pod> = sight.pods_of(&server.instance_name).collect();
    workload_of(server, sight, &pods, now)
}

/// The same where its pods were looked up already, since a look through all of them is not for free.
pub fn workload_of(server: &Server, sight: &Sight, pods: &[&Pod], now: Timestamp) -> Workload {
    let instance = server.instance_name.as_str();
    let set = sight.sets.get(instance);
    let old = |pod: &&&Pod| server.wanted_tag().is_some_and(|tag| pod.image.as_deref().map(tag_of) != Some(tag));
    let ready = pods.iter().filter(|pod| pod.ready).count();
    Workload {
        ready: u32::try_from(ready).unwrap_or(u32::MAX),
        replicas: set.map_or(server.spec.replicas, |set| set.replicas),
        on_old_image: pods.iter().filter(old).map(|pod| pod.stamp.name.clone()).collect(),
        held: set.and_then(|set| Some(HeldUpdate { by: set.paused_by()?, since: set.strategy_since })),
        pinned: pinned_pods(sight, pods),
        progressing: progress(sight, instance, pods, now),
    }
}

/// The progress of a bootstrap, while it moves (I11).
pub fn progressing(sight: &Sight, instance: &str, now: Timestamp) -> Option<String> {
    let pods: Vec<&Pod> = sight.pods_of(instance).collect();
    progress(sight, instance, &pods, now)
}

fn progress(sight: &Sight, instance: &str, pods: &[&Pod], now: Timestamp) -> Option<String> {
    if pods.iter().all(|pod| pod.ready) {
        return None;
    }
    let progress = notice::progress(sight, instance)?;
    (now < PROGRESS_STALE_AFTER.after(progress.at)).then_some(progress.text)
}

/// The class a gateway serves: the one it says, else the one of its name.
pub fn class_of(gateway: &Gateway) -> &str {
    gateway.class.as_deref().unwrap_or(&gateway.stamp.name)
}

/// Classes that an instance names, or that a server's manifest does (K43).
pub fn used_classes(estate: &Estate, sight: &Sight) -> BTreeSet<String> {
    let live = sight.instances.rows.values().filter_map(|live| live.spec.class().map(str::to_owned));
    let serving = estate.servers.values().filter(|server| !server.status.is_leaving());
    live.chain(serving.filter_map(super::render::class)).collect()
}

/// Who uses each class: an instance that names it, else a server whose manifest does (K42, K43).
pub fn users(estate: &Estate, sight: &Sight) -> BTreeMap<String, String> {
    let serving = estate.servers.values().filter(|server| !server.status.is_leaving());
    let rendered =
        serving.filter_map(|server| Some((super::render::class(server)?, format!("server {}", server.name()))));
    let live = sight.instances.rows.iter();
    let live = live.filter_map(|(name, live)| Some((live.spec.class()?.to_owned(), format!("instance {name}"))));
    rendered.chain(live).collect()
}

/// Who uses a gateway: an instance that names its class, else a server whose manifest does (K42, K43).
pub fn user_of(gateway: &Gateway, estate: &Estate, sight: &Sight) -> Option<String> {
    let class = class_of(gateway);
    let live = sight.instances.rows.iter().find(|(_, live)| live.spec.class() == Some(class));
    let rendered = || {
        let serving = estate.servers.values().filter(|server| !server.status.is_leaving());
        serving.into_iter().find(|server| super::render::class(server).as_deref() == Some(class))
    };
    let named = live.map(|(name, _)| format!("instance {name}"));
    named.or_else(|| rendered().map(|server| format!("server {}", server.name())))
}
