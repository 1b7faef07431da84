//! Steps on a real cluster: each is fenced by the object it was planned from, and says what came of it.

use kura_console::control::ports::Cluster;
use kura_console::domain::kura::object::{ObjectKind, ObjectRef, Version};
use kura_console::domain::kura::step::{Deed, FieldConflict, Outcome, Purpose, Step};
use serde_json::{Value, json};

use super::cluster::Lease;
use super::eyes::Eyes;
use super::kubelet::Kubelet;
use super::objects::{gateway, gateways, image, instance, instances, pods, stateful_sets, workload};
use super::rest::Rest;

const NAME: &str = "kura-acme-eu1";

struct Bed {
    lease: Lease,
    api: Rest,
    eyes: Eyes,
}

impl Bed {
    async fn make() -> Option<Self> {
        let lease = Lease::take().await?;
        let mut eyes = Eyes::open(lease.cluster.admin_config(), &lease.namespace).await;
        eyes.until_live().await;
        Some(Self { api: lease.cluster.admin(), eyes, lease })
    }

    async fn run(&self, kind: ObjectKind, name: &str, deed: Deed) -> Outcome {
        self.eyes.cluster.run(&Step { object: ObjectRef::new(kind, name), deed, purpose: Purpose::Asked }).await
    }

    async fn apply(&self, manifest: &Value, from: Option<Version>, force: bool) -> Outcome {
        self.run(ObjectKind::KuraInstance, NAME, Deed::Apply { manifest: manifest.clone(), from, force }).await
    }

    fn path(&self) -> String {
        format!("{}/{NAME}", instances(&self.lease.namespace))
    }

    async fn object(&self) -> Value {
        self.api.get(&self.path()).await.done()
    }

    async fn version(&self) -> Version {
        version(&self.object().await)
    }
}

fn version(object: &Value) -> Version {
    let text = |name: &str| object["metadata"][name].as_str().expect("it is there").to_owned();
    Version { uid: text("uid"), resource_version: text("resourceVersion") }
}

#[tokio::test]
async fn what_is_there_already_is_not_created() {
    let Some(bed) = Bed::make().await else { return };
    assert_eq!(bed.apply(&instance(NAME, "0.20.0", 2), None, false).await, Outcome::Done);
    let made = bed.object().await;
    assert_eq!(bed.apply(&instance(NAME, "0.21.0", 2), None, true).await, Outcome::Stale);
    assert_eq!(bed.object().await, made, "untouched, even by force");
}

#[tokio::test]
async fn an_apply_keeps_what_it_does_not_know_and_drops_what_it_no_longer_wants() {
    // K49
    let Some(bed) = Bed::make().await else { return };
    let mut wanted = instance(NAME, "0.20.0", 2);
    wanted["spec"]["extraEnv"] = json!([{"name": "A", "value": "1"}]);
    assert_eq!(bed.apply(&wanted, None, false).await, Outcome::Done);
    bed.api.merge(&bed.path(), &json!({"spec": {"aFieldOfTomorrow": {"kept": true}}})).await.done();

    let wanted = instance(NAME, "0.21.0", 2);
    assert_eq!(bed.apply(&wanted, Some(bed.version().await), false).await, Outcome::Done);
    let object = bed.object().await;
    assert_eq!(object["spec"]["image"], image("0.21.0"));
    assert_eq!(object["spec"]["aFieldOfTomorrow"], json!({"kept": true}));
    assert_eq!(object["spec"]["extraEnv"], Value::Null, "what was created is owned as if it had been applied");
}

#[tokio::test]
async fn an_apply_to_what_moved_on_or_went_away_comes_to_nothing() {
    let Some(bed) = Bed::make().await else { return };
    bed.api.create(&instances(&bed.lease.namespace), &instance(NAME, "0.20.0", 2)).await.done();
    let planned_from = bed.version().await;
    bed.api.merge(&bed.path(), &json!({"spec": {"replicas": 3}})).await.done();
    let moved = bed.object().await;
    assert_eq!(bed.apply(&instance(NAME, "0.21.0", 2), Some(planned_from), true).await, Outcome::Stale);
    assert_eq!(bed.object().await, moved);

    bed.api.delete(&bed.path()).await.done();
    assert_eq!(bed.apply(&instance(NAME, "0.21.0", 2), Some(version(&moved)), true).await, Outcome::Stale);
    assert_eq!(bed.api.get(&bed.path()).await.status, 404, "it is not made again");

    let other = bed.api.create(&instances(&bed.lease.namespace), &instance(NAME, "0.20.0", 2)).await.done();
    let of_the_old = Version { uid: version(&moved).uid, ..version(&other) };
    assert_eq!(bed.apply(&instance(NAME, "0.21.0", 2), Some(of_the_old), true).await, Outcome::Stale);
    assert_eq!(bed.object().await, other, "another object of that name");
}

#[tokio::test]
async fn a_conflict_names_each_field_and_who_holds_it_and_force_takes_it() {
    // K28
    let Some(bed) = Bed::make().await else { return };
    let wanted = instance(NAME, "0.20.0", 2);
    assert_eq!(bed.apply(&wanted, None, false).await, Outcome::Done);
    let edit = format!("{}?fieldManager=kubectl-edit", bed.path());
    bed.api.merge(&edit, &json!({"spec": {"ingressClassName": "by-hand", "replicas": 5}})).await.done();

    let held = |field: &str| FieldConflict { field: field.to_owned(), manager: "kubectl-edit".to_owned() };
    let conflict = Outcome::Conflict { fields: vec![held("spec.ingressClassName"), held("spec.replicas")] };
    assert_eq!(bed.apply(&wanted, Some(bed.version().await), false).await, conflict);
    assert_eq!(bed.object().await["spec"]["replicas"], 5, "nothing was written");
    assert_eq!(bed.apply(&wanted, Some(bed.version().await), true).await, Outcome::Done);
    assert_eq!(bed.object().await["spec"]["ingressClassName"], wanted["spec"]["ingressClassName"]);
}

#[tokio::test]
async fn what_the_cluster_never_takes_is_invalid() {
    let Some(bed) = Bed::make().await else { return };
    let mut wanted = instance(NAME, "0.20.0", 2);
    wanted["spec"]["replicas"] = json!("many");
    let Outcome::Invalid { why } = bed.apply(&wanted, None, false).await else { panic!("refused") };
    assert!(why.contains("spec.replicas"), "{why}");
}

/// A pod that became Ready after it was looked at is not the one that was looked at.
#[tokio::test]
async fn a_pod_that_changed_since_it_was_seen_is_not_deleted() {
    // K37
    let Some(mut bed) = Bed::make().await else { return };
    let namespace = bed.lease.namespace.clone();
    bed.api.create(&stateful_sets(&namespace), &workload(NAME, "0.20.0", 1)).await.done();
    let pod = format!("{NAME}-0");
    let sight = bed.eyes.until("a pod", |sight| sight.pods.rows.contains_key(&format!("{NAME}-0"))).await;
    let seen = sight.pods.rows[&pod].stamp.version();
    Kubelet::new(&bed.api, &namespace).run(&pod, true).await;
    assert_eq!(bed.run(ObjectKind::Pod, &pod, Deed::Delete { from: seen.clone() }).await, Outcome::Stale);
    let now = bed.api.get(&format!("{}/{pod}", pods(&namespace))).await.done();
    assert_eq!(now["metadata"]["uid"], seen.uid);

    assert_eq!(bed.run(ObjectKind::Pod, &pod, Deed::Delete { from: version(&now) }).await, Outcome::Done);
    let is_another = |sight: &kura_console::domain::kura::sight::Sight| {
        sight.pods.rows.get(&format!("{NAME}-0")).is_some_and(|pod| pod.stamp.uid != seen.uid)
    };
    bed.eyes.until("another pod in its place", is_another).await;
    let again = bed.run(ObjectKind::Pod, &pod, Deed::Delete { from: version(&now) }).await;
    assert_eq!(again, Outcome::Stale, "and that one is not meant");
}

#[tokio::test]
async fn a_finalizer_is_taken_off_and_the_others_stay() {
    // K44
    let Some(bed) = Bed::make().await else { return };
    let (dead, alive) = ("kuragateways.kura.tuist.dev/finalizer", "example.com/alive");
    let mut object = gateway("kgw");
    object["metadata"]["finalizers"] = json!([dead, alive]);
    let made = bed.api.create(&gateways(&bed.lease.namespace), &object).await.done();
    let path = format!("{}/kgw", gateways(&bed.lease.namespace));
    bed.api.delete(&path).await.done();
    let strip = |from: Version| Deed::StripFinalizer { from, finalizer: dead.to_owned() };
    assert_eq!(
        bed.run(ObjectKind::KuraGateway, "kgw", strip(version(&made))).await,
        Outcome::Stale,
        "it is leaving now"
    );
    let leaving = bed.api.get(&path).await.done();
    assert_eq!(bed.run(ObjectKind::KuraGateway, "kgw", strip(version(&leaving))).await, Outcome::Done);
    assert_eq!(bed.api.get(&path).await.done()["metadata"]["finalizers"], json!([alive]));
    assert_eq!(bed.run(ObjectKind::KuraGateway, "kgw", strip(version(&leaving))).await, Outcome::Done, "it is off");
    bed.api.merge(&path, &json!({"metadata": {"finalizers": []}})).await.done();
    assert_eq!(bed.run(ObjectKind::KuraGateway, "kgw", strip(version(&leaving))).await, Outcome::Done, "it is gone");
    assert_eq!(bed.run(ObjectKind::KuraGateway, "kgw", Deed::Delete { from: version(&leaving) }).await, Outcome::Done);
}

#[tokio::test]
async fn whoever_may_not_write_is_told_so() {
    let Some(lease) = Lease::take().await else { return };
    let eyes = Eyes::open(lease.cluster.introduce("bystander", &[]), &lease.namespace).await;
    lease.cluster.until("it answers", async || eyes.cluster.standing().identity.is_some()).await;
    let deed = Deed::Apply { manifest: instance(NAME, "0.20.0", 2), from: None, force: false };
    let object = ObjectRef::new(ObjectKind::KuraInstance, NAME);
    let outcome = eyes.cluster.run(&Step { object, deed, purpose: Purpose::Asked }).await;
    assert!(matches!(&outcome, Outcome::Forbidden { why } if why.contains("bystander")), "{outcome:?}");
}
