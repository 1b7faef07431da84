//! The kubelet, played by tests: pods run, become Ready or not, because a test says so.

use serde_json::{Value, json};

use super::objects::pods;
use super::rest::Rest;

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
