//! The fleet as it is seen right now: nodes, what runs on them, and the objects of our own. Never journaled.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::kura::object::{FIELD_MANAGER, MANAGED_BY_LABEL, ObjectKind, ObjectRef, Stamp};
use super::super::kura::render::MANAGED_BY;
use super::super::kura::source::Source;
use super::manifest::{ROLL_LABEL, STEP_LABEL};
use super::spec::Selector;

/// A node of the fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetNode {
    /// Identity, version and labels.
    pub stamp: Stamp,
    /// Its kubelet says so; it says nothing about whether containers can start (F2).
    pub ready: bool,
    /// `spec.unschedulable`: one bit without an owner.
    pub unschedulable: bool,
    /// Who wrote that bit last, as the managers of its fields tell; none = nobody says (A11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cordoned_by: Option<String>,
    /// `status.nodeInfo.bootID`: another one means it was booted.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// `status.nodeInfo.kernelVersion`: what a roll of kernels changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// `status.nodeInfo.osImage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_image: Option<String>,
}

impl FleetNode {
    /// The same but for its version, which a kubelet changes by telling that nothing has changed.
    pub fn is_like(&self, other: &Self) -> bool {
        let stamp = self.stamp.at(&other.stamp);
        Self { stamp, ..self.clone() } == *other
    }

    /// It is cordoned, and somebody else is known to have done that.
    pub fn is_theirs(&self) -> bool {
        self.unschedulable && self.cordoned_by.as_deref().is_some_and(|manager| manager != FIELD_MANAGER)
    }
}

/// A pod on a node, in any namespace, projected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetPod {
    /// Identity, version and labels.
    pub stamp: Stamp,
    /// Where it lives.
    pub namespace: String,
    /// Where it runs.
    pub node: Option<String>,
    /// `status.phase`.
    #[serde(default)]
    pub phase: String,
    /// Its condition `Ready`.
    #[serde(default)]
    pub ready: bool,
    /// A container of it runs or has run.
    #[serde(default)]
    pub started: bool,
    /// Why it does not run: the reason of a waiting or terminated container, init containers included, else that of the
    /// pod itself (F5).
    #[serde(default)]
    pub reason: Option<String>,
    /// What stands beside that reason.
    #[serde(default)]
    pub message: Option<String>,
    /// Since when that reason holds; none = nobody says, and its age counts.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// When it was sent, by the clock of whoever sent it; none where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Timestamp>,
    /// The digest its image was pulled as; none = it was not pulled yet.
    #[serde(default)]
    pub image_id: Option<String>,
    /// Kind of its controller, such as `DaemonSet`; `Node` for a mirror pod.
    #[serde(default)]
    pub owner: Option<String>,
}

impl FleetPod {
    /// The object it is.
    pub fn object(&self) -> ObjectRef {
        ObjectRef::within(ObjectKind::Pod, &self.namespace, &self.stamp.name)
    }

    /// Made by a roll, of whichever control plane.
    pub fn is_ours(&self) -> bool {
        is_ours(&self.stamp)
    }

    /// When it was begun. What we sent says so itself: the clock of the API server may be another one, and it tells whole
    /// seconds only.
    pub fn began_at(&self) -> Timestamp {
        self.sent_at.unwrap_or(self.stamp.created_at)
    }

    /// The same but for its version.
    pub fn is_like(&self, other: &Self) -> bool {
        let stamp = self.stamp.at(&other.stamp);
        Self { stamp, ..self.clone() } == *other
    }

    /// Since when it says what it says.
    pub fn said_since(&self) -> Timestamp {
        self.since.unwrap_or(self.stamp.created_at)
    }

    /// It has ended, one way or the other.
    pub fn is_over(&self) -> bool {
        matches!(self.phase.as_str(), "Succeeded" | "Failed")
    }

    /// A drain takes it off: nothing of a daemon, nothing that has ended, nothing of ours.
    pub fn is_drained(&self) -> bool {
        !self.is_ours() && !self.is_over() && !matches!(self.owner.as_deref(), Some("DaemonSet" | "Node"))
    }
}

/// A Job of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetJob {
    /// Identity, version and labels.
    pub stamp: Stamp,
    /// How it ended; none = it has not.
    #[serde(default)]
    pub ended: Option<JobEnd>,
}

/// How a Job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum JobEnd {
    /// `Complete`.
    Complete,
    /// `Failed`.
    Failed {
        /// What its condition says.
        message: String,
        /// When, by the clock of the cluster; none = nobody says, and it is long ago.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
}

/// Everything that is seen of the fleet. Pods are by `namespace/name`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetSight {
    /// Nodes by name.
    pub nodes: Source<FleetNode>,
    /// Pods of every node, wherever they live.
    pub pods: Source<FleetPod>,
    /// Jobs of ours by name.
    pub jobs: Source<FleetJob>,
    /// The namespace our pods and Jobs are made in; none = nobody says, and any is. Another control plane may roll fleets of
    /// the same cluster from another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

impl FleetSight {
    /// Something may be decided on it: nodes and pods are read completely and lately.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.nodes.is_fresh(now) && self.pods.is_fresh(now) && self.jobs.is_fresh(now)
    }

    /// What a person is told of the first kind that nothing may be decided on.
    pub fn trouble(&self, now: Timestamp) -> Option<String> {
        let contacts = [("nodes", &self.nodes.contact), ("pods", &self.pods.contact), ("jobs", &self.jobs.contact)];
        let mut troubles = contacts.into_iter().filter_map(|(kind, contact)| {
            let trouble = contact.trouble(now)?;
            Some(format!("{kind}: {trouble}"))
        });
        troubles.next()
    }

    /// Pods on a node that are not on their way out.
    pub fn pods_on<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a FleetPod> {
        let here = move |pod: &&FleetPod| pod.node.as_deref() == Some(node) && !pod.stamp.is_leaving();
        self.pods.rows.values().filter(here)
    }

    /// A pod of ours, and of no other control plane.
    pub fn own_pod(&self, name: &str) -> Option<&FleetPod> {
        match &self.home {
            Some(home) => self.pods.get(&format!("{home}/{name}")).filter(|pod| pod.is_ours()),
            None => self.pods.rows.values().find(|pod| pod.is_ours() && pod.stamp.name == name),
        }
    }

    /// Pods of ours, and of no other control plane.
    pub fn own_pods(&self) -> impl Iterator<Item = &FleetPod> {
        let at_home = |pod: &&FleetPod| self.home.as_ref().is_none_or(|home| pod.namespace == *home);
        self.pods.rows.values().filter(|pod| pod.is_ours()).filter(at_home)
    }

    /// The node a pod of the registry is on: looked up each time, since it moves (F28).
    pub fn registry_host(&self, registry: &Selector) -> Option<&str> {
        self.registry_pods(registry).find_map(|pod| pod.node.as_deref())
    }

    /// Why nobody can pull from the registry now; none = a pod of it is Ready (F28).
    pub fn registry_trouble(&self, registry: &Selector) -> Option<String> {
        let Some(host) = self.registry_host(registry) else { return Some("nowhere to be seen".to_owned()) };
        let ready = self.registry_pods(registry).any(|pod| pod.ready);
        (!ready).then(|| format!("not Ready on {host}"))
    }

    fn registry_pods(&self, registry: &Selector) -> impl Iterator<Item = &FleetPod> {
        let pods = self.pods.rows.values().filter(|pod| !pod.stamp.is_leaving() && !pod.is_over());
        pods.filter(move |pod| registry.matches(&pod.stamp))
    }
}

/// Made by a roll, of whichever control plane.
pub fn is_ours(stamp: &Stamp) -> bool {
    stamp.label(MANAGED_BY_LABEL) == Some(MANAGED_BY)
        && stamp.label(ROLL_LABEL).is_some()
        && stamp.label(STEP_LABEL).is_some()
}
