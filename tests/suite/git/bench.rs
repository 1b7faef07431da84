//! A control plane on a repository, and the short ways to what tests do with it.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::e2e::plane::Plane;
use super::repository::Repo;

/// A control plane that builds from a repository.
pub struct Bench {
    pub plane: Plane,
    pub repo: Repo,
}

impl Bench {
    pub fn on(repo: Repo, flags: &[&str]) -> Self {
        let address = repo.address();
        let plane = Plane::with(&[&["--repository", &address], flags].concat());
        Self { plane, repo }
    }

    /// A fleet of one control-plane machine and one worker, as the example wants it; all in rings without a cap.
    pub fn fleet(&self) -> (String, String) {
        let vars = json!({"MOTD": "hello: \"world\"", "K8S_VIP": "10.0.0.9", "K8S_TARGET": "1.31.4"});
        let tier = json!({"slug": "example", "promotion_order": 1, "config_values": vars});
        self.plane.post("/api/config/environments/", &tier);
        self.plane.post("/api/config/rings/", &json!({"name": "example-cp"}));
        let token = json!({"DRAIN_TOKEN": "{{ secrets.K8S_DRAIN_TOKEN }}"});
        self.plane.post("/api/config/rings/", &json!({"name": "example-workers", "config_values": token}));
        (self.machine("cp-1", "example-cp"), self.machine("wk-1", "example-workers"))
    }

    pub fn machine(&self, hostname: &str, ring: &str) -> String {
        let body = json!({"hostname": hostname, "environment": "example", "ring": ring});
        text(&self.plane.post("/api/provisioning/machines/", &body), "uuid")
    }

    pub fn build(&self, git_ref: &str) -> Value {
        self.plane.post("/api/config/releases/build-from-git", &json!({"git_ref": git_ref}))
    }

    /// What is said where it cannot be built: status and problem.
    pub fn unbuildable(&self, git_ref: &str) -> (u16, Value) {
        self.plane.call(Method::POST, "/api/config/releases/build-from-git", &json!({"git_ref": git_ref}))
    }

    pub fn start(&self, release: &Value) -> String {
        let body = json!({"config_release_uuid": release["uuid"]});
        text(&self.plane.post("/api/config/rollouts/", &body), "uuid")
    }

    pub fn set_secret(&self, name: &str, value: &str) {
        let (status, said) = self.plane.call(Method::PUT, &format!("/api/secrets/{name}"), &json!({"value": value}));
        assert_eq!(status, 200, "{said}");
    }

    /// What a machine is served: its files by path; none = nothing.
    pub fn served(&self, machine: &str) -> Option<Vec<(String, String)>> {
        let assignment = self.plane.poll(machine)["assignment"].clone();
        let content = assignment["content"].as_str()?.to_owned();
        let content: Value = serde_json::from_str(&content).expect("a folder of files");
        let file = |file: &Value| (text(file, "path"), text(file, "content"));
        Some(content["files"].as_array().expect("files").iter().map(file).collect())
    }

    /// The row of a machine in the status of a rollout.
    pub fn row(&self, rollout: &str, hostname: &str) -> Value {
        let status = self.plane.get(&format!("/api/config/rollouts/{rollout}/status"));
        let rows = status["machines"].as_array().expect("rows");
        rows.iter().find(|row| row["hostname"] == hostname).cloned().expect("a row")
    }
}

pub fn text(body: &Value, field: &str) -> String {
    body[field].as_str().unwrap_or_else(|| panic!("no text {field} in {body:#}")).to_owned()
}
