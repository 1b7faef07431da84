//! A control plane that looks after a namespace of its own, and the hands of the controller and the kubelet in it.

use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::super::cluster::Lease;
use super::super::kubelet::Kubelet;
use super::super::objects::{image, instances, stateful_sets, workload};
use super::super::rest::Rest;
use crate::e2e::plane::Plane;

/// The instance of the one server.
pub(in super::super) const INSTANCE: &str = "kura-acme-eu1";

/// Pods it has.
pub(super) const REPLICAS: u32 = 2;

/// The fields nobody has to wait for the real time of.
const HEARTBEAT: &str = "2026-01-01T00:00:00Z";

/// How whoever has this kubeconfig gets at the journal in the namespace of a test.
pub(in super::super) fn journal_by(lease: &Lease, config: &Path) -> String {
    format!("kubernetes://{}/kura-console?kubeconfig={}", lease.namespace, config.display())
}

/// Everything of one test.
pub(in super::super) struct Served {
    pub(in super::super) plane: Plane,
    pub(in super::super) lease: Lease,
    pub(in super::super) api: Rest,
    pub(in super::super) runtime: Runtime,
}

impl Served {
    /// With everything allowed. None where there is no cluster to be had.
    pub(super) fn start() -> Option<Self> {
        Self::with(&[], |lease| lease.cluster.admin_config())
    }

    /// The same, and ticks are too far apart to count.
    pub(super) fn without_ticks() -> Option<Self> {
        Self::with(&["--tick-seconds", "3600"], |lease| lease.cluster.admin_config())
    }

    /// With everything allowed, and its journal in that cluster too; how its own kubeconfig leads to the journal.
    pub(in super::super) fn kept_in_its_cluster() -> Option<(Self, String)> {
        let mut url = String::new();
        let served = Self::told(|lease| {
            let config = lease.cluster.admin_config();
            url = journal_by(lease, &config);
            (config, vec!["--journal".to_owned(), url.clone()])
        })?;
        Some((served, url))
    }

    /// With these flags, and the rights of this kubeconfig.
    pub(super) fn with(flags: &[&str], config: impl FnOnce(&Lease) -> PathBuf) -> Option<Self> {
        Self::told(|lease| (config(lease), flags.iter().map(|flag| (*flag).to_owned()).collect()))
    }

    /// With the rights of a kubeconfig and some flags.
    fn told(told: impl FnOnce(&Lease) -> (PathBuf, Vec<String>)) -> Option<Self> {
        let runtime = Runtime::new().expect("a runtime");
        let lease = runtime.block_on(Lease::take())?;
        let (config, flags) = told(&lease);
        let config = config.display().to_string();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let plane = Plane::with(&[&["--kubeconfig", &config, "--namespace", &lease.namespace][..], &flags].concat());
        let api = lease.cluster.admin();
        Some(Self { plane, lease, api, runtime })
    }

    /// A server that answers at a port of its node; its path.
    pub(in super::super) fn server(&self) -> String {
        let spec = json!({"gateway": "node_port", "image_repository": "ghcr.io/tuist/kura", "replicas": REPLICAS});
        let new = json!({"tenant": "acme", "region": "eu-central", "cluster_id": "eu1", "spec": spec});
        let made = self.plane.post("/api/kura/servers/", &new);
        assert_eq!(made["instance_name"], INSTANCE);
        format!("/api/kura/servers/{}", made["id"].as_str().expect("an id"))
    }

    pub(in super::super) fn release(&self, tag: &str) {
        self.plane.post("/api/kura/runtime-tags/", &json!({"tag": tag}));
    }

    /// The path of its instance.
    pub(in super::super) fn path(&self) -> String {
        format!("{}/{INSTANCE}", instances(&self.lease.namespace))
    }

    /// Its instance once it is like that.
    pub(in super::super) fn instance(&self, what: &str, like: impl Fn(&Value) -> bool) -> Value {
        let mut found = Value::Null;
        self.runtime.block_on(self.lease.cluster.until(what, async || {
            found = self.api.get(&self.path()).await.body;
            like(&found)
        }));
        found
    }

    /// Its instance once it names this tag.
    pub(in super::super) fn applied(&self, tag: &str) -> Value {
        let wanted = image(tag);
        self.instance(&format!("{tag} is applied"), |object| object["spec"]["image"] == *wanted)
    }

    /// Somebody edits the live object, as `kubectl edit` does.
    pub(in super::super) fn edit(&self, patch: &Value) {
        let path = format!("{}?fieldManager=kubectl-edit", self.path());
        self.runtime.block_on(self.api.merge(&path, patch)).done();
    }

    /// The controller makes the workload, the kubelet runs it, and the controller says so (K46, K47).
    pub(super) fn reconcile(&self, tag: &str, up: u16) {
        self.begin(tag);
        self.finish(tag, up);
    }

    /// The controller makes the workload, and its pods are there.
    pub(in super::super) fn begin(&self, tag: &str) {
        let namespace = &self.lease.namespace;
        self.runtime.block_on(async {
            self.api.create(&stateful_sets(namespace), &workload(INSTANCE, tag, REPLICAS)).await.done();
            let kubelet = Kubelet::new(&self.api, namespace);
            let there = async || kubelet.pods().await.len() == REPLICAS as usize;
            self.lease.cluster.until("its pods are there", there).await;
        });
    }

    /// The kubelet runs the pods, and the controller says so.
    pub(in super::super) fn finish(&self, tag: &str, up: u16) {
        let kubelet = Kubelet::new(&self.api, &self.lease.namespace);
        self.runtime.block_on(async {
            for ordinal in 0..REPLICAS {
                kubelet.run(&format!("{INSTANCE}-{ordinal}"), true).await;
            }
            let status = json!({"status": {
                "phase": "Ready", "observedImage": image(tag), "readyReplicas": REPLICAS,
                "nodeAddress": "127.0.0.1", "nodePortHTTP": up, "lastReconciledAt": HEARTBEAT,
            }});
            self.api.merge(&format!("{}/status", self.path()), &status).await.done();
        });
    }

    /// Something that answers 200 to whatever it is asked; its port.
    pub(in super::super) fn up(&self) -> u16 {
        let listener = self.runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        self.runtime.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut asked = [0; 1024];
                    let _ = stream.read(&mut asked).await;
                    let _ =
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
                });
            }
        });
        port
    }

    /// Status and body of an answer to the owner.
    pub(super) fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.plane.call(Method::from_bytes(method.as_bytes()).expect("a method"), path, body)
    }
}
