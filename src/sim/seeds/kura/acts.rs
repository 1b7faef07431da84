//! What happens to a generated estate from outside: kubelets, controllers, other people's hands, an API that fails.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::kura::object::{ACCOUNT_LABEL, ObjectKind, ObjectRef, REGION_LABEL, REVISION_ANNOTATION};
use crate::domain::span::Seconds;
use crate::sim::cluster::faults::{ClusterFault, Wrong};
use crate::sim::cluster::objects::Objects;
use crate::sim::cluster::outside::{LinkChange, PodChange};

/// Where every server of a generated estate serves.
pub const REGION: &str = "eu";

/// The instance of a tenant.
pub fn instance(tenant: &str) -> String {
    format!("kura-{tenant}-{REGION}")
}

/// One thing that happens to the cluster.
#[derive(Debug, Clone)]
pub enum ClusterAct {
    /// Calls go wrong for a while.
    Fault {
        /// Of this kind; none = of every kind.
        kind: Option<ObjectKind>,
        /// Of this verb; none = of every verb.
        verb: Option<&'static str>,
        /// How.
        wrong: Wrong,
        /// How long.
        span: Seconds,
    },
    /// A pod is Ready or not, and stays so until it is replaced or let go.
    Pod {
        /// Its name.
        name: String,
        /// Ready.
        ready: bool,
    },
    /// A pod dies, and comes back as its StatefulSet wants it.
    Kill(String),
    /// Pods of a tenant become Ready by themselves again.
    LetGo(String),
    /// Somebody else writes to an instance.
    Edit {
        /// Whose.
        tenant: String,
        /// What.
        patch: Value,
        /// As whom.
        manager: &'static str,
    },
    /// Somebody deletes an instance.
    DeleteInstance(String),
    /// Somebody holds an update back, or lets it go on.
    Hold {
        /// Whose.
        tenant: String,
        /// `operator`, `controller`, or nobody.
        by: Option<&'static str>,
    },
    /// The way to a tenant changes.
    Link(String, Box<LinkChange>),
    /// A gateway with the labels of a tenant appears, held by a finalizer or not.
    Gateway {
        /// Whose.
        tenant: String,
        /// Its name and class.
        name: String,
        /// Nobody cleans up after it.
        stuck: bool,
    },
}

/// Lets it happen.
pub fn happen(objects: &mut Objects, act: &ClusterAct, now: Timestamp) {
    objects.advance(now);
    match act {
        ClusterAct::Fault { kind, verb, wrong, span } => {
            let kept = Box::new(objects.sight(now));
            let (verb, until) = (verb.map(str::to_owned), span.after(now));
            objects.faults.retain(|fault| now < fault.until);
            objects.faults.push(ClusterFault { kind: *kind, verb, wrong: *wrong, since: now, until, kept });
        }
        ClusterAct::Pod { name, ready } if objects.pods.contains_key(name) => {
            objects.change_pod(name, PodChange { ready: Some(*ready), ..PodChange::default() }, now);
        }
        ClusterAct::Pod { .. } => {}
        ClusterAct::Kill(name) => objects.delete_pod(name, now),
        ClusterAct::LetGo(tenant) => let_go(objects, &instance(tenant)),
        ClusterAct::Edit { tenant, patch, manager } => {
            objects.patch_by(&of(tenant), patch, manager, now);
        }
        ClusterAct::DeleteInstance(tenant) => drop(objects.delete_by(&of(tenant), now)),
        ClusterAct::Hold { tenant, by } => drop(objects.pause_update(&instance(tenant), *by, now)),
        ClusterAct::Link(tenant, change) if objects.instances.contains_key(&instance(tenant)) => {
            objects.change_link(&instance(tenant), (**change).clone());
        }
        ClusterAct::Link(..) => {}
        ClusterAct::Gateway { tenant, name, stuck } => gateway(objects, tenant, name, *stuck, now),
    }
}

fn of(tenant: &str) -> ObjectRef {
    ObjectRef::new(ObjectKind::KuraInstance, &instance(tenant))
}

/// What was said of the readiness of pods is forgotten; those that are not Ready become so in their time.
pub fn let_go(objects: &mut Objects, instance: &str) {
    let ours = objects.pods.values_mut().filter(|pod| pod.pod.instance.as_deref() == Some(instance));
    ours.for_each(|pod| pod.is_set = false);
}

fn gateway(objects: &mut Objects, tenant: &str, name: &str, stuck: bool, now: Timestamp) {
    let manifest = json!({
        "metadata": {
            "labels": { ACCOUNT_LABEL: tenant, REGION_LABEL: REGION },
            "annotations": { REVISION_ANNOTATION: "somebody's" },
        },
        "spec": { "region": REGION, "ingressClassName": name },
    });
    objects.put_gateway(name, &manifest, now);
    if let Some((row, alive)) = objects.gateways.get_mut(name) {
        *alive = !stuck;
        row.stamp.finalizers = if stuck { vec!["gw.example/cleanup".to_owned()] } else { Vec::new() };
    }
}
