//! Rights: one table of what the control plane may do in a cluster, and for what. Nothing of it is needed for rollouts of
//! rings; it is what looking at nodes and looking after Kura servers takes.

use serde_json::{Value, json};

use super::args::Args;
use super::run::{NAME, meta};

/// Where a right holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Things that lie in no namespace.
    Cluster,
    /// The namespace of the Kura servers.
    Kura,
    /// The namespace of the control plane.
    Own,
}

/// One right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Right {
    /// Where.
    pub place: Place,
    /// API group; empty = the core.
    pub group: &'static str,
    /// Plural of the kind.
    pub kind: &'static str,
    /// The only object it holds for; none = all of the kind.
    pub name: Option<&'static str>,
    /// What may be done.
    pub verbs: &'static [&'static str],
}

/// To look, and go on looking: all of a kind, never one by one.
const LOOK: &[&str] = &["list", "watch"];

/// The objects that are applied: server-side apply is a create or a patch, a finalizer is stripped by a patch. One is read
/// by itself before its fields are claimed.
const KEEP: &[&str] = &["get", "list", "watch", "create", "patch", "delete"];

const fn right(place: Place, group: &'static str, kind: &'static str, verbs: &'static [&'static str]) -> Right {
    Right { place, group, kind, name: None, verbs }
}

/// Every right but those of fleet rolls. With these nobody may write a node, read a secret, or open a shell in a pod.
pub const RIGHTS: [Right; 13] = [
    // Which cluster this is: its uid is that of a namespace every cluster has.
    Right { place: Place::Cluster, group: "", kind: "namespaces", name: Some("kube-system"), verbs: &["get"] },
    // Ready, cordoned, version, who holds the VIP.
    right(Place::Cluster, "", "nodes", LOOK),
    // Volumes that are bound to a node that is gone.
    right(Place::Cluster, "", "persistentvolumes", LOOK),
    // A class that no gateway names any more is collected with its gateway (K43).
    right(Place::Cluster, "networking.k8s.io", "ingressclasses", &["list", "watch", "delete"]),
    right(Place::Kura, "kura.tuist.dev", "kurainstances", KEEP),
    right(Place::Kura, "kura.tuist.dev", "kuragateways", KEEP),
    // Pods that are not ready when the image changes are deleted (K35).
    right(Place::Kura, "", "pods", &["list", "watch", "delete"]),
    right(Place::Kura, "", "persistentvolumeclaims", LOOK),
    // What explains why a server does not get on: its services, and what the cluster says of its objects.
    right(Place::Kura, "", "services", LOOK),
    right(Place::Kura, "", "events", LOOK),
    right(Place::Kura, "apps", "statefulsets", LOOK),
    right(Place::Kura, "networking.k8s.io", "ingresses", LOOK),
    right(Place::Kura, "cert-manager.io", "certificates", LOOK),
];

/// What fleet rolls take besides. It is a lot, so it is only given where it is asked for: the boot of a node is a Job of its
/// owner, and whoever starts a roll says what that Job is (F58).
pub const FLEET_RIGHTS: [Right; 5] = [
    // The cordon, and giving it back: one bit, by a patch under the version that was seen.
    right(Place::Cluster, "", "nodes", &["patch"]),
    // What runs on the nodes, in whichever namespace, and what a budget keeps there (F5, F26).
    right(Place::Cluster, "", "pods", &["list", "watch", "delete"]),
    right(Place::Cluster, "", "pods/eviction", &["create"]),
    // Pulls and probes: pods of ours, which are looked at and taken away with the rights above.
    right(Place::Kura, "", "pods", &["create"]),
    right(Place::Kura, "batch", "jobs", &["list", "watch", "create", "delete"]),
];

/// What a journal in the cluster takes: its entries are in config maps, contents and secrets of machines in secrets.
pub const RIGHTS_OF_JOURNAL: [Right; 2] = [
    right(Place::Own, "", "configmaps", &["get", "list", "watch", "create", "update", "delete"]),
    right(Place::Own, "", "secrets", &["get", "create", "delete"]),
];

/// Role and binding for a journal in the cluster.
pub(super) fn of_journal(args: &Args) -> Vec<Value> {
    let named = || {
        let mut meta = meta(Some(&args.namespace));
        meta["name"] = json!(format!("{NAME}-journal"));
        meta
    };
    let rules: Vec<Value> = RIGHTS_OF_JOURNAL.iter().map(rule).collect();
    vec![
        json!({"apiVersion": GROUP_VERSION, "kind": "Role", "metadata": named(), "rules": rules}),
        json!({
            "apiVersion": GROUP_VERSION, "kind": "RoleBinding", "metadata": named(),
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": args.namespace}],
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": format!("{NAME}-journal"),
            },
        }),
    ]
}

/// Roles and their bindings to the service account.
pub(super) fn objects(args: &Args) -> Vec<Value> {
    let fleet = if args.fleet_rolls { &FLEET_RIGHTS[..] } else { &[] };
    let rules =
        |place: Place| RIGHTS.iter().chain(fleet).filter(|right| right.place == place).map(rule).collect::<Vec<_>>();
    let subject = json!({"kind": "ServiceAccount", "name": NAME, "namespace": args.namespace});
    let binding = |kind: &str, meta: Value, role: &str| {
        json!({
            "apiVersion": GROUP_VERSION, "kind": kind, "metadata": meta, "subjects": [subject],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": NAME},
        })
    };
    let role = |kind: &str, meta: Value, place: Place| json!({"apiVersion": GROUP_VERSION, "kind": kind, "metadata": meta, "rules": rules(place)});
    let (of_cluster, of_kura) = (|| meta(None), || meta(Some(&args.kura_namespace)));
    vec![
        role("ClusterRole", of_cluster(), Place::Cluster),
        binding("ClusterRoleBinding", of_cluster(), "ClusterRole"),
        role("Role", of_kura(), Place::Kura),
        binding("RoleBinding", of_kura(), "Role"),
    ]
}

const GROUP_VERSION: &str = "rbac.authorization.k8s.io/v1";

fn rule(right: &Right) -> Value {
    let mut rule = json!({"apiGroups": [right.group], "resources": [right.kind], "verbs": right.verbs});
    if let Some(name) = right.name {
        rule["resourceNames"] = json!([name]);
    }
    rule
}
