//! Pods, of which there are most: very little is kept of each.

use jiff::Timestamp;
use serde::Deserialize;

use super::super::object::{Condition, Meta, Watched, named_by_metadata};
use crate::domain::kura::workload::Pod;

/// The container that is Kura.
const KURA: &str = "kura";

/// Why a pod does not run is kept up to here, in characters.
const REASON_MAX: usize = 300;

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct PodObject {
    metadata: Meta,
    #[serde(default)]
    spec: PodSpec,
    #[serde(default)]
    status: PodStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodSpec {
    node_name: Option<String>,
    containers: Vec<Container>,
    volumes: Vec<PodVolume>,
}

/// A container, as far as it is looked at.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Container {
    name: String,
    image: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodVolume {
    persistent_volume_claim: Option<ClaimName>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaimName {
    claim_name: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodStatus {
    phase: String,
    reason: Option<String>,
    message: Option<String>,
    start_time: Option<Timestamp>,
    conditions: Vec<Condition>,
    init_container_statuses: Vec<ContainerStatus>,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ContainerStatus {
    state: ContainerState,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ContainerState {
    waiting: Option<Why>,
    terminated: Option<Why>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Why {
    reason: Option<String>,
    message: Option<String>,
}

impl Watched for PodObject {
    type Row = Pod;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<Pod> {
        let ready = Condition::of(&self.status.conditions, "Ready");
        let claims =
            self.spec.volumes.into_iter().filter_map(|volume| Some(volume.persistent_volume_claim?.claim_name));
        Some(Pod {
            instance: self.metadata.instance(),
            stamp: self.metadata.slim_stamp(),
            node: self.spec.node_name,
            image: image_of(&self.spec.containers),
            ready: ready.is_some_and(Condition::holds),
            ready_since: ready.and_then(|condition| condition.last_transition_time),
            reason: self.status.why(),
            phase: self.status.phase,
            started_at: self.status.start_time,
            claims: claims.collect(),
        })
    }
}

/// The image of the container that is Kura.
pub(super) fn image_of(containers: &[Container]) -> Option<String> {
    containers.iter().find(|container| container.name == KURA)?.image.clone()
}

impl PodStatus {
    /// The first thing in its way: no node, an init container, a container, the pod itself, a readiness gate.
    fn why(&self) -> Option<String> {
        let unscheduled = || {
            let condition = Condition::of(&self.conditions, "PodScheduled").filter(|condition| !condition.holds())?;
            told(condition.reason.as_deref(), condition.message.as_deref())
        };
        let container = || {
            let all = self.init_container_statuses.iter().chain(&self.container_statuses);
            all.filter_map(|one| one.state.why()).next()
        };
        let itself = || told(self.reason.as_deref(), self.message.as_deref());
        let not_ready = || {
            let condition = Condition::of(&self.conditions, "Ready").filter(|condition| !condition.holds())?;
            told(condition.reason.as_deref(), condition.message.as_deref())
        };
        unscheduled().or_else(container).or_else(itself).or_else(not_ready)
    }
}

impl ContainerState {
    /// An init container that ended well is in nobody's way.
    fn why(&self) -> Option<String> {
        let ended = self.terminated.as_ref().filter(|why| why.reason.as_deref() != Some("Completed"));
        let why = self.waiting.as_ref().or(ended)?;
        told(why.reason.as_deref(), why.message.as_deref())
    }
}

fn told(reason: Option<&str>, message: Option<&str>) -> Option<String> {
    let text = match (reason.filter(|text| !text.is_empty()), message.filter(|text| !text.is_empty())) {
        (Some(reason), Some(message)) => format!("{reason}: {message}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => return None,
    };
    Some(text.chars().take(REASON_MAX).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(spec: serde_json::Value, status: serde_json::Value) -> Pod {
        let object = json!({
            "metadata": {
                "name": "kura-acme-eu1-0",
                "labels": {"app.kubernetes.io/instance": "kura-acme-eu1", "pod-template-hash": "x"},
                "deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30,
                "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
            },
            "spec": spec, "status": status,
        });
        serde_json::from_value::<PodObject>(object).unwrap().row("kura").unwrap()
    }

    #[test]
    fn a_pod_is_cut_down_to_what_is_decided_on() {
        let spec = json!({
            "nodeName": "n1",
            "containers": [{"name": "sidecar", "image": "x"}, {"name": "kura", "image": "kura:0.20.0"}],
            "volumes": [{"name": "token"}, {"name": "data", "persistentVolumeClaim": {"claimName": "data-a-0"}}],
        });
        let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"});
        let pod = row(spec, json!({"phase": "Running", "conditions": [ready]}));
        assert_eq!(pod.instance.as_deref(), Some("kura-acme-eu1"));
        assert_eq!((pod.image.as_deref(), pod.node.as_deref(), pod.ready), (Some("kura:0.20.0"), Some("n1"), true));
        assert_eq!(pod.claims, ["data-a-0"]);
        assert_eq!(pod.stamp.deleting_since, Some("2026-01-01T00:00:00Z".parse().unwrap()), "when it was asked for");
        assert_eq!(pod.stamp.label("pod-template-hash"), None);
        assert_eq!(pod.reason, None);
    }

    #[test]
    fn the_first_thing_in_its_way_is_told() {
        // I6
        let nowhere =
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"});
        let pod = row(json!({}), json!({"phase": "Pending", "conditions": [nowhere]}));
        assert_eq!(pod.reason.as_deref(), Some("Unschedulable: 0/3 nodes"));
        let crash = json!([{"state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m"}}}]);
        let done = json!([{"state": {"terminated": {"reason": "Completed"}}}]);
        let status = json!({"phase": "Running", "initContainerStatuses": done, "containerStatuses": crash});
        assert_eq!(row(json!({}), status).reason.as_deref(), Some("CrashLoopBackOff: back-off 5m"));
        let unready = json!({"type": "Ready", "status": "False", "reason": "ContainersNotReady"});
        let pod = row(json!({}), json!({"phase": "Running", "conditions": [unready]}));
        assert_eq!(pod.reason.as_deref(), Some("ContainersNotReady"));
    }
}
