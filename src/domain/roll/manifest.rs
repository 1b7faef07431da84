//! The objects a roll makes, and what they are called. Each carries labels by which it is found and taken away again.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::ids::RollId;
use super::super::kura::canonical::bounded;
use super::super::kura::object::{MANAGED_BY_LABEL, ObjectKind, ObjectRef, Stamp};
use super::super::kura::render::MANAGED_BY;
use super::fleet_roll::Roll;
use super::node::StepName;

/// The label that names the roll an object was made for; `asked` where a person asked for a probe.
pub const ROLL_LABEL: &str = "kura-console/roll";

/// The label that names the step: `stage`, `boot`, `verify` or `probe`.
pub const STEP_LABEL: &str = "kura-console/step";

/// The annotation that names the node: a node's name may be longer than a label can be.
pub const NODE_ANNOTATION: &str = "kura-console/node";

/// The annotation that says when a probe was sent, by our own clock: what is judged by its age is judged by one clock.
pub const SENT_ANNOTATION: &str = "kura-console/sent-at";

/// The value of `STEP_LABEL` on a probe.
pub const PROBE: &str = "probe";

/// The value of `ROLL_LABEL` on a probe that a person asked for.
pub const ASKED: &str = "asked";

/// The longest name of an object of ours: a Job's name is a label value too.
const NAME_MAX: usize = 63;

/// Whom our own containers run as: nobody, whoever the image would be otherwise.
const NOBODY: u32 = 65_534;

/// Seconds a Job may take until the cluster ends it.
const JOB_DEADLINE_SECONDS: u64 = 3_600;

/// Whom an object is made for.
pub fn owner(roll: Option<RollId>) -> String {
    roll.map_or_else(|| ASKED.to_owned(), |roll| roll.to_string())
}

/// The roll an object was made for, where its label names one.
pub fn roll_of(stamp: &Stamp) -> Option<RollId> {
    Some(RollId(stamp.label(ROLL_LABEL)?.parse().ok()?))
}

fn name(roll: Option<RollId>, step: &str, node: &str, number: u64) -> String {
    let whose = roll.map_or_else(|| ASKED.to_owned(), |roll| roll.short());
    let plain = node.replace('.', "-");
    bounded(&format!("roll-{whose}-{step}-{number}-{plain}"), NAME_MAX)
}

/// The pod that pulls the image onto a node.
pub fn stage_object(roll: &Roll, node: &str) -> ObjectRef {
    let attempt = roll.nodes.get(node).and_then(|node| node.step(StepName::Stage)).map_or(1, |row| row.attempt);
    ObjectRef::new(ObjectKind::Pod, &name(Some(roll.id), StepName::Stage.word(), node, u64::from(attempt)))
}

/// The Job that boots or verifies a node.
pub fn job_object(roll: &Roll, node: &str, step: StepName) -> ObjectRef {
    ObjectRef::new(ObjectKind::Job, &name(Some(roll.id), step.word(), node, 1))
}

/// The next probe of a node.
pub fn probe_object(roll: Option<RollId>, node: &str, number: u64) -> ObjectRef {
    ObjectRef::new(ObjectKind::Pod, &name(roll, PROBE, node, number))
}

fn metadata(name: &str, roll: Option<RollId>, step: &str, node: &str) -> Value {
    json!({
        "name": name,
        "labels": { MANAGED_BY_LABEL: MANAGED_BY, ROLL_LABEL: owner(roll), STEP_LABEL: step },
        "annotations": { NODE_ANNOTATION: node },
    })
}

/// A pod that goes past the scheduler to one node, whatever taints and cordons it has (F9, F10). It may do so little that
/// the strictest pod security standard lets it in (F58).
fn pinned(node: &str, image: &str, container: &str) -> Value {
    json!({
        "nodeName": node,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": false,
        "securityContext": {
            "runAsNonRoot": true, "runAsUser": NOBODY, "runAsGroup": NOBODY,
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        "tolerations": [{ "operator": "Exists" }],
        "containers": [{
            "name": container,
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "resources": { "requests": { "cpu": "1m", "memory": "4Mi" }, "limits": { "memory": "32Mi" } },
            "securityContext": { "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } },
        }],
    })
}

/// What a stage pulls: once a digest is rolled that one and no other, whatever the tag says by now (F21).
fn pulled(roll: &Roll) -> &str {
    roll.digest.as_deref().filter(|digest| digest.contains("@sha256:")).unwrap_or(&roll.image)
}

/// The stage of a node: the image is pulled by making a container of it that does nothing.
pub fn stage(roll: &Roll, node: &str) -> Value {
    let object = stage_object(roll, node);
    let mut spec = pinned(node, pulled(roll), "stage");
    spec["containers"][0]["command"] = json!(["true"]);
    let metadata = metadata(&object.name, Some(roll.id), StepName::Stage.word(), node);
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec })
}

/// A probe of a node that is sent now.
pub fn probe(roll: Option<RollId>, node: &str, number: u64, image: &str, now: Timestamp) -> Value {
    let object = probe_object(roll, node, number);
    let mut metadata = metadata(&object.name, roll, PROBE, node);
    metadata["annotations"][SENT_ANNOTATION] = json!(now.to_string());
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pinned(node, image, PROBE) })
}

/// The owner's Job for a step, pinned to the node; `$(NODE)`, `$(IMAGE)` and `$(DIGEST)` are in its environment (F58).
pub fn job(roll: &Roll, node: &str, step: StepName, supplied: &Value) -> Value {
    let object = job_object(roll, node, step);
    let mut spec = supplied.clone();
    spec["nodeName"] = json!(node);
    if spec.get("restartPolicy").is_none() {
        spec["restartPolicy"] = json!("Never");
    }
    let digest = roll.digest.as_deref().unwrap_or(&roll.image);
    let told = [("NODE", node), ("IMAGE", roll.image.as_str()), ("DIGEST", digest)];
    for container in spec.get_mut("containers").and_then(Value::as_array_mut).into_iter().flatten() {
        let mut env = container.get("env").and_then(Value::as_array).cloned().unwrap_or_default();
        env.extend(told.iter().map(|(name, value)| json!({ "name": name, "value": value })));
        container["env"] = Value::Array(env);
    }
    let labels = metadata(&object.name, Some(roll.id), step.word(), node);
    let pod = json!({ "metadata": { "labels": labels["labels"], "annotations": labels["annotations"] }, "spec": spec });
    let spec = json!({ "backoffLimit": 0, "activeDeadlineSeconds": JOB_DEADLINE_SECONDS, "template": pod });
    json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": labels, "spec": spec })
}
