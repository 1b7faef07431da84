//! The workload: one pod, a disk for its journal, and what it may not do.

use serde_json::{Value, json};

use super::args::Args;
use super::run::{NAME, PORT, labels, meta};

/// Where the volume of the journal is mounted.
const STATE: &str = "/var/lib/kura-console";

/// Where the secrets are mounted.
const SECRETS: &str = "/etc/kura-console";

/// The user it runs as: nobody on the node.
const USER: u32 = 65_532;

/// How long it serves on once it is to end, while `/readyz` says 503: what a Service needs to notice.
const DRAIN_SECONDS: u32 = 5;

/// How long it has to end: draining, answers that were begun (10 s), loops (5 s), and some room.
const GRACE_SECONDS: u32 = DRAIN_SECONDS + 25;

/// The arguments of the container: a `serve` as anybody would type it.
pub(super) fn arguments(args: &Args) -> Vec<String> {
    let mut said: Vec<String> = [
        "serve",
        "--listen",
        &format!("0.0.0.0:{PORT}"),
        "--journal",
        &format!("sqlite:{STATE}/kura.db"),
        "--tokens",
        &format!("{SECRETS}/tokens/tokens.yaml"),
        "--tls-cert",
        &format!("{SECRETS}/tls/tls.crt"),
        "--tls-key",
        &format!("{SECRETS}/tls/tls.key"),
        "--drain-seconds",
        &DRAIN_SECONDS.to_string(),
        "--log-format",
        "json",
    ]
    .map(str::to_owned)
    .to_vec();
    said.extend(match args.no_cluster {
        true => vec!["--no-cluster".to_owned()],
        false => vec!["--in-cluster".to_owned(), "--namespace".to_owned(), args.kura_namespace.clone()],
    });
    said.extend(args.repository.iter().flat_map(|url| ["--repository".to_owned(), url.clone()]));
    said
}

/// The disk.
pub(super) fn volume(args: &Args) -> Value {
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": args.storage}},
    });
    if let Some(class) = &args.storage_class {
        spec["storageClassName"] = json!(class);
    }
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta(Some(&args.namespace)), "spec": spec})
}

/// One replica: the journal is a file on one disk. The old pod is gone before the new one begins.
pub(super) fn deployment(args: &Args) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta(Some(&args.namespace)),
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels()},
            "template": {"metadata": {"labels": labels()}, "spec": pod(args)},
        },
    })
}

fn pod(args: &Args) -> Value {
    json!({
        "serviceAccountName": NAME,
        "automountServiceAccountToken": !args.no_cluster,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container(args)],
        "volumes": [
            {"name": "state", "persistentVolumeClaim": {"claimName": NAME}},
            {"name": "tokens", "secret": {"secretName": args.tokens_secret, "defaultMode": 0o440}},
            {"name": "tls", "secret": {"secretName": args.tls_secret, "defaultMode": 0o440}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}},
        ],
    })
}

fn container(args: &Args) -> Value {
    json!({
        "name": NAME,
        "image": args.image,
        "args": arguments(args),
        "ports": [{"name": "api", "containerPort": PORT}],
        "env": [{"name": "HOME", "value": "/tmp"}],
        "startupProbe": probe("/healthz", 2, 30),
        "livenessProbe": probe("/healthz", 10, 3),
        "readinessProbe": probe("/readyz", 5, 2),
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
        "securityContext": confined(),
        "volumeMounts": [
            {"name": "state", "mountPath": STATE},
            {"name": "tokens", "mountPath": format!("{SECRETS}/tokens"), "readOnly": true},
            {"name": "tls", "mountPath": format!("{SECRETS}/tls"), "readOnly": true},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    })
}

fn confined() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
    })
}

fn probe(path: &str, period: u32, failures: u32) -> Value {
    json!({
        "httpGet": {"path": path, "port": "api", "scheme": "HTTPS"},
        "periodSeconds": period, "failureThreshold": failures, "timeoutSeconds": 5,
    })
}
