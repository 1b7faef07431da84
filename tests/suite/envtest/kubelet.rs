//! The kubelet, played by tests: pods run, become Ready or not, because a test says so.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::objects::pods;
use super::rest::Rest;

/// How many looks a container takes to end: long enough for the controllers to see it end.
const ENDS_AFTER: u32 = 10;

/// Between two looks at pods that end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Hands on the pods of one namespace.
pub struct Kubelet<'a> {
    api: &'a Rest,
    namespace: &'a str,
}

impl<'a> Kubelet<'a> {
    pub fn new(api: &'a Rest, namespace: &'a str) -> Self {
        Self { api, namespace }
    }

    /// What there is, by name.
    pub async fn pods(&self) -> Vec<Value> {
        let list = self.api.get(&pods(self.namespace)).await.done();
        list["items"].as_array().expect("a list").clone()
    }

    /// One pod; none where it is not there, or on its way out.
    pub async fn pod(&self, name: &str) -> Option<Value> {
        let told = self.api.get(&format!("{}/{name}", pods(self.namespace))).await;
        (told.status == 200 && told.body["metadata"]["deletionTimestamp"].is_null()).then_some(told.body)
    }

    /// For ever: every pod gets a node, which nobody else knows of, and is gone for good once it was deleted and its
    /// container had the time to end. Without a node it would be gone in the moment it is deleted.
    pub async fn tend(&self) {
        let mut ending: BTreeMap<String, u32> = BTreeMap::new();
        loop {
            for pod in self.pods().await {
                let path = format!("{}/{}", pods(self.namespace), pod["metadata"]["name"].as_str().expect("a name"));
                let is_leaving = !pod["metadata"]["deletionTimestamp"].is_null();
                if is_leaving {
                    let looks = ending.entry(uid_of(&pod)).or_default();
                    *looks += 1;
                    if *looks > ENDS_AFTER {
                        self.api.delete_now(&path).await;
                    }
                } else if pod["spec"]["nodeName"].is_null() {
                    let node = json!({"apiVersion": "v1", "kind": "Node", "name": "worker-1"});
                    let binding = json!({"metadata": {"name": pod["metadata"]["name"]}, "target": node});
                    self.api.create(&format!("{path}/binding"), &binding).await;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// It runs, and is Ready or not.
    pub async fn run(&self, name: &str, ready: bool) {
        let status = json!({"status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
            "containerStatuses": [{
                "name": "kura", "image": "", "imageID": "", "ready": ready, "restartCount": 0,
                "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
            }],
        }});
        self.api.merge(&format!("{}/{name}/status", pods(self.namespace)), &status).await.done();
    }
}

/// What the container of a pod was told to run.
pub fn image_of(pod: &Value) -> &str {
    pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default()
}

/// Which object of that name it is.
pub fn uid_of(object: &Value) -> String {
    object["metadata"]["uid"].as_str().expect("a uid").to_owned()
}
