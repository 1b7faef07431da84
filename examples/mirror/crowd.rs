//! Instances and pods in a namespace, as a cluster has them: with statuses, and with who set which field.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::Fallible;
use super::cluster::Cluster;
use super::objects::{instances, pods, workload};
use super::rest::{Rest, Told};

/// Requests at the same time.
const AT_ONCE: usize = 32;

/// The region all of them are in.
pub(crate) const REGION: &str = "eu1";

/// The tenant of an instance.
pub(crate) fn tenant(n: u32) -> String {
    format!("tenant-{n:04}")
}

/// What an instance is called.
pub(crate) fn owner(n: u32) -> String {
    format!("kura-{}-{REGION}", tenant(n))
}

/// A namespace full of them.
pub(crate) struct Crowd {
    pub(crate) namespace: &'static str,
    pub(crate) pods: u32,
    instances: u32,
}

impl Crowd {
    /// Each instance as `manifest` has it for its number, applied by `manager`.
    pub(crate) async fn make(
        cluster: &Cluster,
        namespace: &'static str,
        (instances, pods): (u32, u32),
        (manager, manifest): (&str, impl Fn(u32) -> Value),
    ) -> Fallible<Self> {
        cluster.name_space(namespace).await;
        let crowd = Self { namespace, pods, instances };
        let api = &cluster.admin();
        let (crowd_ref, manifest) = (&crowd, &manifest);
        stream::iter(0..instances)
            .map(|n| async move { crowd_ref.make_instance(api, n, manager, &manifest(n)).await })
            .buffer_unordered(AT_ONCE)
            .try_collect::<()>()
            .await?;
        stream::iter(0..pods)
            .map(|n| async move { crowd_ref.make_pod(api, n).await })
            .buffer_unordered(AT_ONCE)
            .try_collect::<()>()
            .await?;
        Ok(crowd)
    }

    fn owner(&self, n: u32) -> String {
        owner(n % self.instances)
    }

    pub(crate) fn pod(&self, n: u32) -> String {
        format!("{}-{}", self.owner(n), n / self.instances)
    }

    async fn make_instance(&self, api: &Rest, n: u32, manager: &str, manifest: &Value) -> Fallible<()> {
        let name = self.owner(n);
        taken(api.apply(&format!("{}/{name}", instances(self.namespace)), manager, manifest).await)?;
        let status = json!({"status": {"phase": "Ready", "observedImage": "ghcr.io/tuist/kura:0.20.0", "readyReplicas": 3,
            "lastReconciledAt": "2026-01-01T00:00:00Z", "publicURL": format!("https://{name}.kura.example")}});
        taken(api.merge(&format!("{}/{name}/status", instances(self.namespace)), &status).await)
    }

    async fn make_pod(&self, api: &Rest, n: u32) -> Fallible<()> {
        let (name, owner) = (self.pod(n), self.owner(n));
        let template = workload(&owner, "0.20.0", 3)["spec"]["template"].clone();
        let mut spec = template["spec"].clone();
        spec["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{name}")}}]);
        let mut labels = template["metadata"]["labels"].clone();
        labels["statefulset.kubernetes.io/pod-name"] = json!(name);
        labels["controller-revision-hash"] = json!(format!("{owner}-5c9d8f7b6d"));
        let object = json!({"metadata": {"name": name, "labels": labels}, "spec": spec});
        taken(api.create(&pods(self.namespace), &object).await)?;
        self.turn(api, n, true).await
    }

    /// It is Ready, or not.
    pub(crate) async fn turn(&self, api: &Rest, n: u32, ready: bool) -> Fallible<()> {
        let word = if ready { "True" } else { "False" };
        let condition =
            |kind: &str| json!({"type": kind, "status": word, "lastTransitionTime": "2026-01-01T00:00:00Z"});
        let status = json!({"status": {
            "phase": "Running", "hostIP": "192.0.2.7", "podIP": "198.51.100.9", "startTime": "2026-01-01T00:00:00Z",
            "conditions": [condition("PodScheduled"), condition("Initialized"), condition("ContainersReady"), condition("Ready")],
            "containerStatuses": [{
                "name": "kura", "image": "ghcr.io/tuist/kura:0.20.0", "ready": ready, "restartCount": 0, "started": true,
                "imageID": "ghcr.io/tuist/kura@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
            }],
        }});
        taken(api.merge(&format!("{}/{}/status", pods(self.namespace), self.pod(n)), &status).await)
    }
}

fn taken(told: Told) -> Fallible<()> {
    match told.status {
        200..300 => Ok(()),
        status => Err(format!("{status}: {}", told.body.get("message").unwrap_or(&Value::Null)).into()),
    }
}
