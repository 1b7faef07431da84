//! Objects of the simulated cluster as they are.

use std::collections::{BTreeMap, BTreeSet};

use imbl::OrdMap;
use jiff::Timestamp;
use serde_json::Value;

use super::faults::ClusterFault;
use super::fences::Fences;
use super::fleet::Fleet;
use crate::domain::kura::labels::Labels;
use crate::domain::kura::object::{ObjectKind, Stamp};
use crate::domain::kura::step::Step;
use crate::domain::kura::traffic::{Dns, Gateway, Tls, Up};
use crate::domain::kura::workload::{Instance, Pod, StatefulSet};
use crate::domain::observed::Node;

/// A deleted pod is back after this many seconds.
pub const BACK_AFTER: u64 = 5;

/// A pod becomes Ready this many seconds after it started.
pub const READY_AFTER: u64 = 30;

/// A pod with what the kubelet knows of it.
#[derive(Debug, Clone)]
pub struct SimPod {
    /// As the API shows it.
    pub pod: Pod,
    /// Somebody said whether it is Ready, and so it stays.
    pub is_set: bool,
}

/// The way to one instance from outside.
#[derive(Debug, Clone)]
pub struct SimChain {
    /// Its host name.
    pub host: String,
    /// The address of its ingress.
    pub address: Option<String>,
    /// What a resolver says.
    pub dns: Dns,
    /// What a handshake comes to.
    pub tls: Tls,
    /// What the issuer of its certificate says.
    pub issuer: Option<String>,
    /// What `/up` answers.
    pub up: Up,
    /// All of that holds only while a controller runs for the class of its instance; without one there is no address, no
    /// name and no answer.
    pub follows_class: bool,
}

/// A write that was accepted.
#[derive(Debug, Clone)]
pub struct Written {
    /// When.
    pub at: Timestamp,
    /// `apply`, `patch` or `delete`.
    pub verb: &'static str,
    /// To what.
    pub kind: ObjectKind,
    /// Its name.
    pub name: String,
    /// The field manager.
    pub by: String,
    /// The process.
    pub process: String,
}

/// A write that arrives after its caller has given up.
#[derive(Debug, Clone)]
pub struct LateStep {
    /// When.
    pub due: Timestamp,
    /// What.
    pub step: Step,
    /// Whose.
    pub process: String,
}

/// Everything there is.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    /// Somebody put something into it; an untouched one is no cluster at all.
    pub is_connected: bool,
    /// Instances by name.
    pub instances: BTreeMap<String, Instance>,
    /// Their StatefulSets.
    pub sets: BTreeMap<String, StatefulSet>,
    /// Their pods.
    pub pods: BTreeMap<String, SimPod>,
    /// Pods that are on their way back, with the instance and when they start.
    pub coming: BTreeMap<String, (String, Timestamp)>,
    /// Chains by instance.
    pub chains: BTreeMap<String, SimChain>,
    /// Gateways, and whether their controller runs.
    pub gateways: BTreeMap<String, (Gateway, bool)>,
    /// Classes that gateways were given by their controller.
    pub gateway_classes: BTreeSet<String>,
    /// Classes whose controller does not run.
    pub dead_classes: BTreeSet<String>,
    /// Volumes that tie a pod to a node.
    pub pinned: BTreeMap<String, String>,
    /// Observed images that somebody set, by instance.
    pub said_images: BTreeMap<String, String>,
    /// Nodes.
    pub nodes: OrdMap<String, Node>,
    /// The fleet that rolls go through.
    pub fleet: Fleet,
    /// What goes wrong with calls.
    pub faults: Vec<ClusterFault>,
    /// Writes of our processes.
    pub written: Vec<Written>,
    /// Writes that were taken and should never have been decided, in words (K37, K42).
    pub breaches: Vec<String>,
    /// Writes on their way.
    pub late: Vec<LateStep>,
    /// Who had the seat when writes were taken.
    pub fences: Fences,
    /// Since when each instance names its class.
    pub classes_since: BTreeMap<String, (String, Timestamp)>,
    /// Versions given out.
    pub versions: u64,
    /// Until when everything has happened.
    pub until: Timestamp,
}

impl Objects {
    /// What arrives by now, in the order in which it does.
    pub(super) fn take_late(&mut self, now: Timestamp) -> Vec<LateStep> {
        let (mut due, rest): (Vec<LateStep>, _) =
            std::mem::take(&mut self.late).into_iter().partition(|l| l.due <= now);
        self.late = rest;
        due.sort_by_key(|late| late.due);
        due
    }

    /// The next version.
    pub fn version(&mut self) -> String {
        self.versions += 1;
        self.versions.to_string()
    }

    /// A stamp for something that is new at `at`.
    pub fn stamp(&mut self, name: &str, at: Timestamp) -> Stamp {
        let resource_version = self.version();
        Stamp {
            name: name.to_owned(),
            uid: format!("uid-{resource_version}"),
            resource_version,
            created_at: at,
            deleting_since: None,
            finalizers: Vec::new(),
            labels: Labels::default(),
        }
    }

    /// A new pod of an instance on the image of its template, not Ready, started at `at`.
    pub fn start_pod(&mut self, name: &str, instance: &str, at: Timestamp) {
        let image = self.sets.get(instance).and_then(|set| set.image.clone());
        let (stamp, ordinal) = (self.stamp(name, at), ordinal_of(name));
        let pod = Pod {
            stamp,
            instance: Some(instance.to_owned()),
            node: Some(format!("node-{ordinal}")),
            image,
            ready: false,
            ready_since: Some(at),
            phase: "Running".to_owned(),
            reason: Some("is starting".to_owned()),
            started_at: Some(at),
            claims: vec![format!("data-{name}")],
        };
        self.pods.insert(name.to_owned(), SimPod { pod, is_set: false });
    }
}

/// The ordinal a pod's name ends with.
pub fn ordinal_of(name: &str) -> u32 {
    name.rsplit_once('-').and_then(|(_, ordinal)| ordinal.parse().ok()).unwrap_or(0)
}

/// Puts a merge patch (RFC 7386) over a value.
pub fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else { return patch.clone_into(value) };
    if !value.is_object() {
        *value = Value::Object(serde_json::Map::new());
    }
    let Value::Object(own) = value else { return };
    for (name, field) in fields {
        match field {
            Value::Null => drop(own.remove(name)),
            field => merge(own.entry(name.clone()).or_insert(Value::Null), field),
        }
    }
}

/// Paths of the leaves of a patch, under `path`.
pub fn paths(path: &str, patch: &Value) -> Vec<String> {
    match patch {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().flat_map(|(name, field)| paths(&format!("{path}.{name}"), field)).collect()
        }
        _ => vec![path.to_owned()],
    }
}
