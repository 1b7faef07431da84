//! Nodes with what runs on them. Their kubelets, and the scheduler of one namespace, are a script that does at once what
//! it is told to, unless a test holds it up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kura_console::control::ports::Clock;
use kura_console::domain::roll::manifest::{ROLL_LABEL, STEP_LABEL};
use kura_console::domain::roll::spec::{RollSpec, Selector};
use kura_console::domain::span::Seconds;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::super::cluster::Lease;
use super::super::host::Steered;
use super::super::objects::{path, pods, stateful_sets};
use super::super::rest::Rest;

/// Between two rounds of the kubelets.
const ROUND_EVERY: Duration = Duration::from_millis(100);

/// What every image is pulled as.
pub const DIGEST: &str = "sha256:00ff";

/// Where nodes are.
pub const NODES: &str = "/api/v1/nodes";

/// What a test wants otherwise.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Nodes whose runtime makes no containers.
    pub wedged: BTreeSet<String>,
    /// Nodes where nothing becomes of a probe.
    pub mute: BTreeSet<String>,
    /// Nodes that take no more pods.
    pub full: BTreeSet<String>,
    /// Nodes whose pods stay although they are to go.
    pub clinging: BTreeSet<String>,
    /// Nodes whose Job does not get on.
    pub stuck: BTreeSet<String>,
    /// Nodes whose pull does not get on.
    pub pulling: BTreeSet<String>,
    /// Nodes that cannot pull.
    pub unpullable: BTreeSet<String>,
    /// Nodes whose boot ends their Job while they say Ready yet.
    pub hasty: BTreeSet<String>,
    /// Nodes that go down and take the Job along that boots them, until a test brings them back.
    pub doomed: BTreeSet<String>,
    /// Pods that run and do not become Ready.
    pub unready: BTreeSet<String>,
    /// How often each was booted.
    pub boots: BTreeMap<String, u32>,
}

/// The nodes of one test. Its script ends with it.
pub struct Fleet {
    hands: Hands,
    script: JoinHandle<()>,
}

#[derive(Clone)]
struct Hands {
    api: Rest,
    namespace: String,
    nodes: Vec<String>,
    script: Arc<Mutex<Script>>,
    clock: Steered,
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.script.abort();
    }
}

impl Fleet {
    /// So many nodes, each with one pod of its own. Names are of this test alone: nodes are of the whole cluster.
    pub async fn raise(lease: &Lease, count: usize, clock: Steered) -> Self {
        let (api, namespace) = (lease.cluster.admin(), lease.namespace.clone());
        let nodes: Vec<String> = (1..=count).map(|n| format!("{namespace}-wk-{n}")).collect();
        let hands = Hands { api, namespace, nodes, script: Arc::default(), clock };
        for node in &hands.nodes {
            hands.api.create(NODES, &json!({"metadata": {"name": node}})).await.done();
            hands.put_up(node, true).await;
            hands.put_pod(&format!("app-{node}"), node).await;
        }
        let own = hands.clone();
        let script = tokio::spawn(async move {
            loop {
                own.round().await;
                tokio::time::sleep(ROUND_EVERY).await;
            }
        });
        Self { hands, script }
    }

    /// The node of that number, from 1 on.
    pub fn node(&self, number: usize) -> &str {
        &self.hands.nodes[number - 1]
    }

    /// From now on it is otherwise.
    pub fn script(&self, edit: impl FnOnce(&mut Script)) {
        edit(&mut self.hands.script.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// How often a node was booted.
    pub fn boots(&self, node: &str) -> u32 {
        self.hands.told().boots.get(node).copied().unwrap_or(0)
    }

    /// A node as the server has it.
    pub async fn seen(&self, node: &str) -> Value {
        self.hands.api.get(&format!("{NODES}/{node}")).await.done()
    }

    pub async fn is_cordoned(&self, node: &str) -> bool {
        self.seen(node).await["spec"]["unschedulable"] == true
    }

    /// Somebody sets the bit of a node by hand.
    pub async fn set_cordon(&self, node: &str, unschedulable: bool) {
        let patch = json!({"spec": {"unschedulable": unschedulable}});
        self.hands.api.merge(&format!("{NODES}/{node}"), &patch).await.done();
    }

    /// Names of pods and Jobs of rolls that are there.
    pub async fn own(&self) -> Vec<String> {
        let selector = format!("?labelSelector={}", ROLL_LABEL.replace('/', "%2F"));
        let mut names = Vec::new();
        for kind in [pods(&self.hands.namespace), jobs(&self.hands.namespace)] {
            let list = self.hands.api.get(&format!("{kind}{selector}")).await.done();
            names.extend(list["items"].as_array().expect("a list").iter().map(|one| text(&one["metadata"]["name"])));
        }
        names
    }

    /// A registry of one replica with a budget that wants it to stay, on that node.
    pub async fn put_registry(&self, node: &str) {
        let labels = json!({"app.kubernetes.io/name": self.registry().value});
        let Hands { api, namespace, .. } = &self.hands;
        let template = json!({
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "zot", "image": "zot"}], "terminationGracePeriodSeconds": 30},
        });
        let selector = json!({"matchLabels": labels});
        let spec = json!({"replicas": 1, "serviceName": "zot", "selector": selector, "template": template});
        let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "zot"}, "spec": spec});
        let others: Vec<&String> = self.hands.nodes.iter().filter(|other| *other != node).collect();
        for other in &others {
            self.set_cordon(other, true).await;
        }
        api.create(&stateful_sets(namespace), &set).await.done();
        self.budget("zot", &selector).await;
        while self.hands.node_of("zot-0").await.as_deref() != Some(node) {
            tokio::time::sleep(ROUND_EVERY).await;
        }
        for other in others {
            self.set_cordon(other, false).await;
        }
    }

    /// Something more that runs on a node, where its kubelet can start it.
    pub async fn put_pod(&self, name: &str, node: &str) {
        self.hands.put_pod(name, node).await;
    }

    /// A pod of a daemon on a node, with a label. Its controller is not there; the garbage collector is.
    pub async fn put_daemon(&self, name: &str, node: &str, (label, value): (&str, &str)) {
        let Hands { api, namespace, .. } = &self.hands;
        let labels = json!({label: value, "daemon": name});
        let container = json!([{"name": "app", "image": "app"}]);
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": container}});
        let spec = json!({"selector": {"matchLabels": {"daemon": name}}, "template": template});
        let set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name}, "spec": spec});
        let set = api.create(&path("/apis/apps/v1", namespace, "daemonsets"), &set).await.done();
        let owner = json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": set["metadata"]["uid"], "controller": true,
        });
        let metadata = json!({"name": name, "labels": labels, "ownerReferences": [owner]});
        let pod = json!({"metadata": metadata, "spec": {"nodeName": node, "containers": container}});
        api.create(&pods(namespace), &pod).await.done();
    }

    /// A pod that did not become Ready does.
    pub async fn make_ready(&self, pod: &str) {
        self.script(|script| {
            script.unready.remove(pod);
        });
        let seen = self.hands.api.get(&self.hands.pod_path(pod)).await.done();
        self.hands.run(&seen).await;
    }

    /// A pod gets a label.
    pub async fn label(&self, pod: &str, (label, value): (&str, &str)) {
        let patch = json!({"metadata": {"labels": {label: value}}});
        self.hands.api.merge(&self.hands.pod_path(pod), &patch).await.done();
    }

    /// A node is back, on another boot.
    pub async fn bring_up(&self, node: &str) {
        self.hands.count_boot(node);
        self.hands.put_up(node, true).await;
    }

    /// Nobody of these may leave.
    pub async fn budget(&self, name: &str, selector: &Value) {
        let spec = json!({"minAvailable": 1, "selector": selector});
        let budget = json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec,
        });
        let all = path("/apis/policy/v1", &self.hands.namespace, "poddisruptionbudgets");
        self.hands.api.create(&all, &budget).await.done();
    }

    /// The registry is taken away for good.
    pub async fn lose_registry(&self) {
        let Hands { api, namespace, .. } = &self.hands;
        api.delete(&format!("{}/zot", stateful_sets(namespace))).await.done();
        api.delete(&format!("{}/zot-0", pods(namespace))).await;
        api.delete(&format!("{}/zot", path("/apis/policy/v1", namespace, "poddisruptionbudgets"))).await.done();
    }

    /// Where the registry is.
    pub async fn registry_host(&self) -> Option<String> {
        self.hands.node_of("zot-0").await
    }

    fn registry(&self) -> Selector {
        Selector::new("app.kubernetes.io/name", &format!("zot-{}", self.hands.namespace))
    }

    /// The first node is the canary, the others are the fleet.
    pub fn spec(&self) -> RollSpec {
        RollSpec {
            canary: Some(self.node(1).to_owned()),
            nodes: self.hands.nodes[1..].to_vec(),
            soak_seconds: Seconds(1),
            registry: Some(self.registry()),
            boot: Some(json!({"containers": [{"name": "boot", "image": "owner/boot:1"}]})),
            ..RollSpec::default()
        }
    }
}

pub fn jobs(namespace: &str) -> String {
    path("/apis/batch/v1", namespace, "jobs")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Hands {
    fn told(&self) -> Script {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn pod_path(&self, name: &str) -> String {
        format!("{}/{name}", pods(&self.namespace))
    }

    async fn put_pod(&self, name: &str, node: &str) {
        let spec = json!({"nodeName": node, "containers": [{"name": "app", "image": "app"}]});
        let object = json!({"metadata": {"name": name, "labels": {"app": "app"}}, "spec": spec});
        self.api.create(&pods(&self.namespace), &object).await.done();
    }

    async fn node_of(&self, pod: &str) -> Option<String> {
        let told = self.api.get(&self.pod_path(pod)).await;
        told.body["spec"]["nodeName"].as_str().map(str::to_owned)
    }

    /// What the kubelet of a node says of it.
    async fn put_up(&self, node: &str, ready: bool) {
        let boots = self.told().boots.get(node).copied().unwrap_or(0);
        let status = json!({"status": {
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
            "nodeInfo": {
                "bootID": format!("boot-{boots}"), "kernelVersion": format!("6.12.{boots}"), "osImage": "An OS 1",
            },
        }});
        self.api.merge(&format!("{NODES}/{node}/status"), &status).await.done();
    }

    /// Every pod of the namespace, once. What is gone by then is nobody's fault.
    async fn round(&self) {
        let list = self.api.get(&pods(&self.namespace)).await;
        for pod in list.body["items"].as_array().into_iter().flatten() {
            self.tend(pod).await;
        }
    }

    async fn tend(&self, pod: &Value) {
        let (script, name) = (self.told(), text(&pod["metadata"]["name"]));
        let Some(node) = pod["spec"]["nodeName"].as_str() else { return self.schedule(&name).await };
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            if !script.clinging.contains(node) {
                self.api.delete_now(&self.pod_path(&name)).await;
            }
            return;
        }
        if pod["status"]["phase"] != "Pending" || pod["status"]["containerStatuses"].is_array() {
            return;
        }
        let cannot = json!({"waiting": {"reason": "CreateContainerError", "message": "context deadline exceeded"}});
        match pod["metadata"]["labels"][STEP_LABEL].as_str() {
            Some("probe") if script.mute.contains(node) => {}
            Some("probe") if script.full.contains(node) => self.turn_away(pod).await,
            Some("boot" | "verify") if script.stuck.contains(node) => {}
            Some("stage") if script.pulling.contains(node) => {}
            Some("stage") if script.unpullable.contains(node) => {
                let why = json!({"waiting": {"reason": "ErrImagePull", "message": "registry.example: i/o timeout"}});
                self.say(pod, "Pending", &why).await;
            }
            _ if script.wedged.contains(node) => self.say(pod, "Pending", &cannot).await,
            Some("stage" | "verify") => self.say(pod, "Succeeded", &self.ended()).await,
            Some("boot") if script.doomed.contains(node) => {
                self.put_up(node, false).await;
                self.say(pod, "Failed", &json!({"terminated": {"exitCode": 255, "reason": "Unknown"}})).await;
            }
            Some("boot") if script.hasty.contains(node) => {
                self.say(pod, "Failed", &json!({"terminated": {"exitCode": 143, "reason": "Error"}})).await;
            }
            Some("boot") => {
                self.boot(node).await;
                self.say(pod, "Succeeded", &self.ended()).await;
            }
            _ => self.run(pod).await,
        }
    }

    async fn run(&self, pod: &Value) {
        self.say(pod, "Running", &json!({"running": {"startedAt": self.clock.now().to_string()}})).await;
    }

    /// Its kubelet does not admit it.
    async fn turn_away(&self, pod: &Value) {
        let status = json!({"status": {"phase": "Failed", "reason": "OutOfpods", "message": "node has no room"}});
        self.api.merge(&format!("{}/status", self.pod_path(&text(&pod["metadata"]["name"]))), &status).await;
    }

    fn ended(&self) -> Value {
        let at = self.clock.now().to_string();
        json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": at, "finishedAt": at}})
    }

    async fn boot(&self, node: &str) {
        self.put_up(node, false).await;
        self.count_boot(node);
        self.put_up(node, true).await;
    }

    fn count_boot(&self, node: &str) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner).boots.entry(node.to_owned()).or_default() += 1;
    }

    async fn say(&self, pod: &Value, phase: &str, state: &Value) {
        let container = &pod["spec"]["containers"][0];
        let name = text(&pod["metadata"]["name"]);
        let ready = phase == "Running" && !self.told().unready.contains(&name);
        let condition = |kind: &str| {
            json!({
                "type": kind, "status": if ready { "True" } else { "False" },
                "lastTransitionTime": self.clock.now().to_string(),
            })
        };
        let made = state["waiting"].is_null();
        let status = json!({"status": {
            "phase": phase,
            "conditions": [condition("Ready"), condition("ContainersReady")],
            "containerStatuses": [{
                "name": container["name"], "image": container["image"], "ready": ready, "restartCount": 0,
                "imageID": if made { format!("registry.example/{}@{DIGEST}", text(&container["image"])) } else { String::new() },
                "state": state,
            }],
        }});
        self.api.merge(&format!("{}/status", self.pod_path(&name)), &status).await;
    }

    /// The first node that takes it.
    async fn schedule(&self, pod: &str) {
        for node in &self.nodes {
            let seen = self.api.get(&format!("{NODES}/{node}")).await.body;
            if seen["spec"]["unschedulable"] != true && seen["status"]["conditions"][0]["status"] == "True" {
                let target = json!({"apiVersion": "v1", "kind": "Node", "name": node});
                let binding = json!({
                    "apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": target,
                });
                self.api.create(&format!("{}/binding", self.pod_path(pod)), &binding).await;
                return;
            }
        }
    }
}
