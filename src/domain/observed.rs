//! What the world outside looks like right now. Never journaled; every source says how old it is.

use imbl::OrdMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{MachineId, ReleaseId};
use super::kura::sight::Sight;
use super::span::Seconds;

/// How long an agent is asked to wait between two polls that changed nothing.
pub const POLL_AFTER: Seconds = Seconds(15);

/// A machine is offline when it has not polled for max(180 s, 3 x poll_after).
pub const OFFLINE_AFTER: Seconds = Seconds(if POLL_AFTER.0 * 3 > 180 { POLL_AFTER.0 * 3 } else { 180 });

/// Can apply results be read, so that one may know who is done (R142-R147)?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Telemetry {
    /// Yes.
    #[default]
    Readable,
    /// No: nothing is granted, nothing promoted, holders are served.
    Unreadable,
}

/// What is known about a Kubernetes node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its kubelet says so.
    pub ready: bool,
    /// Cordoned.
    pub unschedulable: bool,
    /// Version of its kubelet.
    pub version: Option<String>,
    /// It holds the cluster's VIP, as its label `kube-vip.io/has-ip` says (R165).
    #[serde(default)]
    pub holds_vip: bool,
}

/// The label kube-vip puts on the node that holds the VIP.
pub const VIP_LABEL: &str = "kube-vip.io/has-ip";

/// Everything a decision may look at that is not a fact of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Last poll per machine.
    pub last_poll: OrdMap<MachineId, Timestamp>,
    /// Since when polls are being received; before that nobody can be called offline.
    pub listening_since: Timestamp,
    /// The results store.
    pub telemetry: Telemetry,
    /// Nodes by name, where a cluster is connected.
    pub nodes: OrdMap<String, Node>,
    /// When a tick was last decided; none = not by this process nor by one it follows.
    #[serde(default)]
    pub last_tick: Option<Timestamp>,
    /// The last start that was refused because the running rollout is protected (B18 D6).
    #[serde(default)]
    pub refused_start: Option<RefusedStart>,
    /// Wall clock and monotonic time drifted apart: nothing stalls or promotes until a person accepts the time (R168).
    #[serde(default)]
    pub clock_suspect: bool,
    /// The cluster of the Kura servers; none where none is connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Sight>,
}

/// A start that a protected rollout turned away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedStart {
    /// When.
    pub at: Timestamp,
    /// Who wanted it.
    pub by: String,
    /// What.
    pub release: ReleaseId,
}

impl Observed {
    /// Nothing is known; polls are received from now on.
    pub fn starting_at(now: Timestamp) -> Self {
        Self {
            last_poll: OrdMap::new(),
            listening_since: now,
            telemetry: Telemetry::Readable,
            nodes: OrdMap::new(),
            last_tick: None,
            refused_start: None,
            clock_suspect: false,
            cluster: None,
        }
    }

    /// `Some(false)` = offline, `None` = not known yet: just after a start nobody is called offline (R138).
    pub fn is_online(&self, machine: MachineId, now: Timestamp) -> Option<bool> {
        match self.last_poll.get(&machine) {
            Some(at) if now < OFFLINE_AFTER.after(*at) => Some(true),
            _ if now < OFFLINE_AFTER.after(self.listening_since) => None,
            _ => Some(false),
        }
    }

    /// When the machine was last heard of; none where it never polled this control plane.
    pub fn last_seen(&self, machine: MachineId) -> Option<Timestamp> {
        self.last_poll.get(&machine).copied()
    }
}
