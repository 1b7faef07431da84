//! Verbs on fleet rolls as requests, and the requests as verbs.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::body::nullable;
use super::super::call::{Call, Method};
use super::{node, shown};
use crate::domain::ids::RollId;
use crate::domain::roll::partition::Partition;
use crate::domain::roll::spec::{RollSpec, Selector};
use crate::domain::roll::verb::RollVerb;
use crate::domain::span::Seconds;

/// Roll an image through a fleet. What is left out has the defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollNew {
    /// Whose.
    pub project: String,
    /// Which fleet.
    pub target: String,
    /// The image.
    pub image: String,
    /// Of which source.
    pub revision: String,
    /// The node that goes first; none = no canary, and no gate.
    #[serde(default)]
    pub canary: Option<String>,
    /// The nodes, in the order they are to go.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Stages that run at the same time (3); 0 = every node pulls in its own turn.
    #[serde(default)]
    pub stage_parallelism: Option<u32>,
    /// Nodes that roll at the same time; anything but 1 is refused.
    #[serde(default)]
    pub concurrency: Option<u32>,
    /// Gates that a person opens one after the other once the canary is green (canary).
    #[serde(default)]
    pub gates: Option<Vec<String>>,
    /// How long a node has to be back before it can be green (0).
    #[serde(default)]
    pub settle_seconds: Option<Seconds>,
    /// The same for the canary.
    #[serde(default)]
    pub canary_settle_seconds: Option<Seconds>,
    /// How long rolled nodes are looked at after the last one is green (1800).
    #[serde(default)]
    pub soak_seconds: Option<Seconds>,
    /// How the pods of the registry are known (app.kubernetes.io/name=zot); null = none of this cluster is pulled from.
    #[serde(default, deserialize_with = "nullable")]
    pub registry: Option<Option<Selector>>,
    /// Which workloads the green gate waits for, and which it only reports; none = it looks at no workload.
    #[serde(default)]
    pub partition: Option<Partition>,
    /// `spec.template.spec` of the Job that boots a node.
    #[serde(default)]
    pub boot: Option<Value>,
    /// The same for the Job that verifies it.
    #[serde(default)]
    pub verify: Option<Value>,
    /// The image of a probe.
    #[serde(default)]
    pub probe_image: Option<String>,
    /// How long the container of a probe may take to start (60): 5 to 600.
    #[serde(default)]
    pub probe_start_seconds: Option<Seconds>,
    /// How long a node may take to become green once its dwell is over (1800): up to a day.
    #[serde(default)]
    pub green_deadline_seconds: Option<Seconds>,
    /// Take the place of the roll of this target that waits at a gate or only stages.
    #[serde(default)]
    pub displace: bool,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

impl RollNew {
    /// The verb it is.
    pub fn verb(self, id: RollId) -> RollVerb {
        let usual = RollSpec::default();
        let spec = RollSpec {
            canary: self.canary,
            nodes: self.nodes,
            stage_parallelism: self.stage_parallelism.unwrap_or(usual.stage_parallelism),
            concurrency: self.concurrency.unwrap_or(usual.concurrency),
            gates: self.gates.unwrap_or(usual.gates),
            settle_seconds: self.settle_seconds.unwrap_or(usual.settle_seconds),
            canary_settle_seconds: self.canary_settle_seconds,
            soak_seconds: self.soak_seconds.unwrap_or(usual.soak_seconds),
            registry: self.registry.unwrap_or(usual.registry),
            partition: self.partition,
            boot: self.boot,
            verify: self.verify,
            probe_image: self.probe_image.unwrap_or(usual.probe_image),
            probe_start_seconds: self.probe_start_seconds,
            green_deadline_seconds: self.green_deadline_seconds,
        };
        let (project, target, image, revision) = (self.project, self.target, self.image, self.revision);
        RollVerb::Start { id, project, target, image, revision, spec: Box::new(spec), displace: self.displace }
    }
}

/// A decision at a gate, with what it was shown with (F54).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateBody {
    /// The revision that was shown.
    pub revision: String,
    /// Since when it was shown to wait.
    #[serde(default)]
    pub awaiting_since: Option<Timestamp>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// The request that carries a verb.
pub fn call_of(verb: &RollVerb) -> Call {
    let post = |path: String, body: Value| Call { method: Method::Post, path, body };
    match verb {
        RollVerb::Start { project, target, image, revision, spec, displace, .. } => {
            let mut body = json!(spec);
            let own = [("project", project), ("target", target), ("image", image), ("revision", revision)];
            own.into_iter().for_each(|(name, value)| body[name] = json!(value));
            body["displace"] = json!(displace);
            post(shown::PATH.to_owned(), body)
        }
        RollVerb::Approve { roll, gate, revision, awaiting_since } => {
            let path = format!("{}{roll}/gates/{gate}/approve", shown::PATH);
            post(path, json!({ "revision": revision, "awaiting_since": awaiting_since }))
        }
        RollVerb::Deny { roll, gate, revision, awaiting_since } => {
            let path = format!("{}{roll}/gates/{gate}/deny", shown::PATH);
            post(path, json!({ "revision": revision, "awaiting_since": awaiting_since }))
        }
        RollVerb::Abort { roll } => post(format!("{}{roll}/abort", shown::PATH), json!({})),
        RollVerb::Probe { node } => post(format!("{}{node}/probe", node::PATH), json!({})),
        RollVerb::Uncordon { node } => post(format!("{}{node}/uncordon", node::PATH), json!({})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::body::parse;

    #[test]
    fn a_start_travels_as_it_is() {
        let verb = RollVerb::Start {
            id: RollId::named("r"),
            project: "kernel".to_owned(),
            target: "fleet".to_owned(),
            image: "registry/kernel:2".to_owned(),
            revision: "x".to_owned(),
            spec: Box::new(RollSpec {
                canary: Some("wk-1".to_owned()),
                nodes: vec!["wk-2".to_owned()],
                stage_parallelism: 0,
                boot: Some(json!({ "containers": [] })),
                registry: None,
                probe_start_seconds: Some(Seconds(90)),
                green_deadline_seconds: Some(Seconds(3_600)),
                partition: Some(Partition {
                    infra: Selector::new("tier", "infra"),
                    others: Selector::new("tier", "app"),
                }),
                ..RollSpec::default()
            }),
            displace: true,
        };
        let call = call_of(&verb);
        assert_eq!((call.method, call.path.as_str()), (Method::Post, "/api/rolls/"));
        let read: RollNew = parse(call.body.to_string().as_bytes()).unwrap();
        assert_eq!(read.verb(RollId::named("r")), verb);
    }

    #[test]
    fn a_decision_carries_what_it_was_shown_with() {
        // F54
        let since = Timestamp::from_second(1_800_000_000).unwrap();
        let (roll, gate, revision) = (RollId::named("r"), "canary".to_owned(), "x".to_owned());
        let call = call_of(&RollVerb::Approve { roll, gate, revision, awaiting_since: Some(since) });
        assert!(call.path.ends_with("/gates/canary/approve"));
        let read: GateBody = parse(call.body.to_string().as_bytes()).unwrap();
        assert_eq!((read.revision.as_str(), read.awaiting_since), ("x", Some(since)));
    }
}
