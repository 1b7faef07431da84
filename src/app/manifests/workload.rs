//! The workload: one pod, a disk for its journal, and what it may not do.

use serde_json::{Value, json};

use super::args::{Args, JournalPlace};
use super::run::{NAME, PORT, labels, meta};

/// Where the volume of the journal is mounted.
const STATE: &str = "/var/lib/kura-console";

/// What the journal is called among the objects of the cluster.
const JOURNAL: &str = NAME;

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
        &match args.journal {
            JournalPlace::Sqlite => format!("sqlite:{STATE}/kura.db"),
            JournalPlace::Kubernetes => format!("kubernetes://{}/{JOURNAL}", args.namespace),
        },
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

/// One replica. Where the journal is a file on one disk the old pod is gone before the new one begins; where it is in the
/// cluster the two of them stand for the seat, as any two would.
pub(super) fn deployment(args: &Args) -> Value {
    let strategy = if has_disk(args) { "Recreate" } else { "RollingUpdate" };
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta(Some(&args.namespace)),
        "spec": {
            "replicas": 1,
            "strategy": {"type": strategy},
            "selector": {"matchLabels": labels()},
            "template": {"metadata": {"labels": labels()}, "spec": pod(args)},
        },
    })
}

fn pod(args: &Args) -> Value {
    json!({
        "serviceAccountName": NAME,
        "automountServiceAccountToken": !args.no_cluster || !has_disk(args),
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container(args)],
        "volumes": with_state(args, json!({"name": "state", "persistentVolumeClaim": {"claimName": NAME}}), json!([
            {"name": "tokens", "secret": {"secretName": args.tokens_secret, "defaultMode": 0o440}},
            {"name": "tls", "secret": {"secretName": args.tls_secret, "defaultMode": 0o440}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}},
        ])),
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
        "volumeMounts": with_state(args, json!({"name": "state", "mountPath": STATE}), json!([
            {"name": "tokens", "mountPath": format!("{SECRETS}/tokens"), "readOnly": true},
            {"name": "tls", "mountPath": format!("{SECRETS}/tls"), "readOnly": true},
            {"name": "tmp", "mountPath": "/tmp"},
        ])),
    })
}

/// True where the journal is on a volume.
pub(super) fn has_disk(args: &Args) -> bool {
    args.journal == JournalPlace::Sqlite
}

/// The volume of the journal in front, where there is one.
fn with_state(args: &Args, state: Value, rest: Value) -> Vec<Value> {
    let state = has_disk(args).then_some(state);
    state.into_iter().chain(rest.as_array().cloned().unwrap_or_default()).collect()
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
