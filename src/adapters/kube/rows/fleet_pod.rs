//! Pods of a fleet, in any namespace: where they run, why they do not, and since when.

use jiff::Timestamp;
use serde::Deserialize;

use super::super::object::{Condition, Meta, Watched};
use crate::domain::roll::manifest::SENT_ANNOTATION;
use crate::domain::roll::probe::FINGERPRINTS;
use crate::domain::roll::sight::{FleetPod, is_ours};

/// What stands beside a reason is kept up to here, in characters.
const MESSAGE_MAX: usize = 300;

/// Where the digest of an image begins in what a runtime calls it.
const DIGEST: &str = "sha256:";

/// As it comes. Names are unique in a namespace only, so that a pod is told by both.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "PodObject")]
pub struct FleetPodObject {
    key: String,
    pod: PodObject,
}

impl From<PodObject> for FleetPodObject {
    fn from(pod: PodObject) -> Self {
        Self { key: format!("{}/{}", pod.metadata.namespace, pod.metadata.name), pod }
    }
}

#[derive(Debug, Clone, Deserialize)]
struct PodObject {
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
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodStatus {
    phase: String,
    reason: Option<String>,
    message: Option<String>,
    conditions: Vec<Condition>,
    init_container_statuses: Vec<ContainerStatus>,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ContainerStatus {
    state: ContainerState,
    last_state: ContainerState,
    #[serde(rename = "imageID")]
    image_id: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ContainerState {
    running: Option<Stretch>,
    waiting: Option<Stretch>,
    terminated: Option<Stretch>,
}

/// One state of a container, with what it may say.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stretch {
    reason: Option<String>,
    message: Option<String>,
    started_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
}

/// Why something does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Why {
    reason: String,
    message: Option<String>,
    since: Option<Timestamp>,
}

impl Watched for FleetPodObject {
    type Row = FleetPod;

    fn name_and_version(&self) -> (&str, &str) {
        (&self.key, &self.pod.metadata.resource_version)
    }

    fn row(self, _: &str) -> Option<FleetPod> {
        let PodObject { mut metadata, spec, status } = self.pod;
        let owner = metadata.owner_references.iter().find(|owner| owner.controller).map(|owner| owner.kind.clone());
        let sent_at = metadata.annotations.get(SENT_ANNOTATION).and_then(|text| text.parse().ok());
        let namespace = std::mem::take(&mut metadata.namespace);
        let stamp = metadata.stamp();
        // There are many of these, and what has ended well is in nobody's way.
        if status.phase == "Succeeded" && !is_ours(&stamp) {
            return None;
        }
        let why = status.why();
        let since = why.as_ref().and_then(|why| why.since);
        Some(FleetPod {
            namespace,
            node: spec.node_name,
            ready: Condition::of(&status.conditions, "Ready").is_some_and(Condition::holds),
            started: status.container_statuses.iter().any(ContainerStatus::has_run),
            // What runs elsewhere is never compared.
            image_id: status.digest().filter(|_| is_ours(&stamp)),
            phase: status.phase,
            message: why.as_ref().and_then(|why| why.message.clone()),
            reason: why.map(|why| why.reason),
            since,
            sent_at,
            owner,
            stamp,
        })
    }

    /// Kubelets tell again and again what is so already.
    fn is_news(before: &FleetPod, now: &FleetPod) -> bool {
        !before.is_like(now)
    }
}

impl PodStatus {
    /// The fingerprint of a wedged runtime where a container has one, else the first thing in its way, init containers
    /// first, else what is said of the pod itself (F5).
    fn why(&self) -> Option<Why> {
        let unready = self.unready_since();
        let all = self.init_container_statuses.iter().chain(&self.container_statuses);
        let mut said: Vec<Why> = all.flat_map(|container| container.whys(unready)).collect();
        let is_fingerprint = |why: &Why| FINGERPRINTS.contains(&why.reason.as_str());
        let place = said.iter().position(is_fingerprint).or((!said.is_empty()).then_some(0));
        place.map(|place| said.swap_remove(place)).or_else(|| self.itself(unready))
    }

    /// Since when a container of it is missing: nobody says since when one waits (F6).
    fn unready_since(&self) -> Option<Timestamp> {
        let condition = Condition::of(&self.conditions, "ContainersReady").filter(|condition| !condition.holds())?;
        condition.last_transition_time
    }

    fn itself(&self, since: Option<Timestamp>) -> Option<Why> {
        let reason = self.reason.clone().filter(|text| !text.is_empty())?;
        Some(Why { reason, message: bounded(self.message.as_deref()), since })
    }

    fn digest(&self) -> Option<String> {
        let id =
            self.container_statuses.iter().map(|container| container.image_id.as_str()).find(|id| !id.is_empty())?;
        Some(id.rfind(DIGEST).map_or(id, |at| &id[at..]).to_owned())
    }
}

impl ContainerStatus {
    /// One that could never be started has a time as well: the beginning of all time.
    fn has_run(&self) -> bool {
        let ran = |ended: &Stretch| ended.started_at.is_some_and(|at| at > Timestamp::UNIX_EPOCH);
        self.state.running.is_some() || [&self.state, &self.last_state].iter().any(|one| one.terminated.iter().any(ran))
    }

    /// What is in its way now, and a runtime that lost it before (F5).
    fn whys(&self, unready: Option<Timestamp>) -> Vec<Why> {
        let ended_before = self.last_state.terminated.as_ref();
        let waits_since = unready.max(ended_before.and_then(|ended| ended.finished_at));
        let waiting = self.state.waiting.as_ref().map(|waiting| waiting.why(waits_since));
        let ended = self.state.terminated.as_ref().filter(|ended| ended.reason.as_deref() != Some("Completed"));
        let ended = ended.map(|ended| ended.why(ended.finished_at.or(unready)));
        let lost = ended_before.filter(|ended| ended.reason.as_deref() == Some(FINGERPRINTS[1]));
        let runs_since = self.state.running.as_ref().and_then(|running| running.started_at);
        let lost = lost.map(|lost| lost.why(runs_since.or(lost.finished_at).or(unready)));
        [waiting, ended, lost].into_iter().flatten().flatten().collect()
    }
}

impl Stretch {
    fn why(&self, since: Option<Timestamp>) -> Option<Why> {
        let reason = self.reason.clone().filter(|text| !text.is_empty())?;
        Some(Why { reason, message: bounded(self.message.as_deref()), since })
    }
}

fn bounded(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(|text| text.chars().take(MESSAGE_MAX).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn at(text: &str) -> Option<Timestamp> {
        Some(format!("2026-01-01T{text}Z").parse().unwrap())
    }

    fn row(status: &Value) -> FleetPod {
        let object = json!({
            "metadata": {
                "name": "web-0", "namespace": "apps", "resourceVersion": "4",
                "labels": {"any.example/label": "x"},
                "ownerReferences": [{"kind": "Other", "name": "o"}, {"kind": "DaemonSet", "name": "d", "controller": true}],
            },
            "spec": {"nodeName": "wk-1"}, "status": status,
        });
        let object: FleetPodObject = serde_json::from_value(object).unwrap();
        assert_eq!(object.name_and_version(), ("apps/web-0", "4"));
        object.row("kura").unwrap()
    }

    #[test]
    fn a_pod_is_told_by_its_namespace_and_kept_with_every_label() {
        // F31
        let pod = row(&json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}));
        assert_eq!((pod.namespace.as_str(), pod.node.as_deref(), pod.ready), ("apps", Some("wk-1"), true));
        assert_eq!((pod.owner.as_deref(), pod.stamp.label("any.example/label")), (Some("DaemonSet"), Some("x")));
        assert_eq!((pod.reason, pod.image_id), (None, None));
    }

    #[test]
    fn the_fingerprint_is_found_in_any_container_and_says_since_when() {
        // F5, F6
        let unready =
            json!({"type": "ContainersReady", "status": "False", "lastTransitionTime": "2026-01-01T00:05:00Z"});
        let waits = |reason: &str| json!({"state": {"waiting": {"reason": reason, "message": "said"}}});
        let pod = row(&json!({
            "phase": "Pending", "conditions": [unready],
            "initContainerStatuses": [waits("CrashLoopBackOff")], "containerStatuses": [waits("CreateContainerError")],
        }));
        assert_eq!(pod.reason.as_deref(), Some("CreateContainerError"));
        assert_eq!((pod.message.as_deref(), pod.since), (Some("said"), at("00:05:00")));
        assert!(!pod.started);

        let lost = json!({"terminated": {"reason": "ContainerStatusUnknown", "startedAt": null, "finishedAt": null}});
        let back = json!({"running": {"startedAt": "2026-01-01T00:07:00Z"}});
        let pod = row(&json!({"phase": "Running", "containerStatuses": [{"state": back, "lastState": lost}]}));
        assert_eq!((pod.reason.as_deref(), pod.since), (Some("ContainerStatusUnknown"), at("00:07:00")));
        let crashed = json!({"terminated": {"reason": "Error", "finishedAt": "2026-01-01T00:09:00Z"}});
        let again = json!({"waiting": {"reason": "CreateContainerError"}});
        let pod = row(&json!({"conditions": [unready], "containerStatuses": [{"state": again, "lastState": crashed}]}));
        assert_eq!((pod.reason.as_deref(), pod.since), (Some("CreateContainerError"), at("00:09:00")), "no earlier");
    }

    #[test]
    fn what_ended_well_or_never_began_is_told_apart() {
        // F11
        let ended =
            |reason: &str, from: &str| json!([{"state": {"terminated": {"reason": reason, "startedAt": from}}}]);
        let done = row(&json!({"phase": "Running", "containerStatuses": ended("Completed", "2026-01-01T00:00:00Z")}));
        assert!(done.started && done.reason.is_none());
        let never = row(&json!({"phase": "Failed", "containerStatuses": ended("StartError", "1970-01-01T00:00:00Z")}));
        assert!(!never.started && never.reason.as_deref() == Some("StartError"));
        let turned_away = row(&json!({"phase": "Failed", "reason": "OutOfpods", "message": "too many pods"}));
        assert_eq!(turned_away.reason.as_deref(), Some("OutOfpods"));
    }

    #[test]
    fn a_digest_is_what_two_nodes_agree_on() {
        // F21
        let status = |id: &str| PodStatus {
            container_statuses: vec![ContainerStatus { image_id: id.to_owned(), ..ContainerStatus::default() }],
            ..PodStatus::default()
        };
        assert_eq!(status("mirror.example/k@sha256:ab").digest().as_deref(), Some("sha256:ab"));
        assert_eq!(status("docker-pullable://k@sha256:ab").digest().as_deref(), Some("sha256:ab"));
        assert_eq!(status("").digest(), None);
    }

    #[test]
    fn that_a_kubelet_said_it_again_is_no_news() {
        let pod = row(&json!({"phase": "Running"}));
        let mut again = pod.clone();
        again.stamp.resource_version = "5".to_owned();
        assert!(!FleetPodObject::is_news(&pod, &again));
        again.ready = true;
        assert!(FleetPodObject::is_news(&pod, &again));
    }
}
