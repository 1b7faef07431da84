//! Steps of rolls on a real API server: what is made is taken, what is written is fenced, budgets are asked and passed over.

use kura_console::control::ports::Cluster;
use kura_console::domain::ids::RollId;
use kura_console::domain::kura::object::{ObjectKind, ObjectRef, Version};
use kura_console::domain::kura::step::{Deed, Outcome, Purpose, RollWork, Step};
use kura_console::domain::roll::fleet_roll::Roll;
use kura_console::domain::roll::manifest;
use kura_console::domain::roll::node::StepName;
use serde_json::{Value, json};

use super::super::eyes::Eyes;
use super::super::objects::pods;
use super::bed::{Bed, roll_id};
use super::fleet::{NODES, jobs};

fn version(object: &Value) -> Version {
    let text = |name: &str| object["metadata"][name].as_str().expect("it is there").to_owned();
    Version { uid: text("uid"), resource_version: text("resourceVersion") }
}

async fn run(eyes: &Eyes, object: ObjectRef, deed: Deed) -> Outcome {
    let purpose = Purpose::Roll { roll: None, node: String::new(), work: RollWork::Tidy };
    eyes.cluster.run(&Step { object, deed, purpose }).await
}

fn roll(bed: &Bed) -> Roll {
    let at = "2026-01-01T00:00:00Z".parse().expect("a time");
    let roll = Roll::new(roll_id(), "kernel", "fleet", "abc123", bed.fleet.spec(), at);
    Roll { image: "kernel:1".to_owned(), ..roll }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_roll_makes_is_taken_once_and_taken_away_with_all_that_came_of_it() {
    // F9, F10, F58
    let Some(bed) = Bed::make(2).await else { return };
    let namespace = bed.lease.namespace.as_str();
    let mut eyes = Eyes::open(bed.lease.cluster.admin_config(), namespace).await;
    eyes.until_live().await;
    let (roll, node) = (roll(&bed), bed.fleet.node(1));
    let verify = json!({"containers": [{"name": "check", "image": "owner/check"}]});
    let now = roll.started_at;
    let pod = |name: &ObjectRef| format!("{}/{}", pods(namespace), name.name);
    let made = [
        (manifest::stage_object(&roll, node), manifest::stage(&roll, node)),
        (manifest::probe_object(Some(roll.id), node, 0), manifest::probe(Some(roll.id), node, 0, "pause:3", now)),
        (manifest::probe_object(None, node, 7), manifest::probe(None, node, 7, "pause:3", now)),
        (
            manifest::job_object(&roll, node, StepName::Boot),
            manifest::job(&roll, node, StepName::Boot, roll.spec.boot.as_ref().expect("a boot")),
        ),
        (manifest::job_object(&roll, node, StepName::Verify), manifest::job(&roll, node, StepName::Verify, &verify)),
    ];
    for (object, manifest) in &made {
        let deed = || Deed::Apply { manifest: manifest.clone(), from: None, force: false };
        assert_eq!(run(&eyes, object.clone(), deed()).await, Outcome::Done, "{manifest:#}");
        assert_eq!(run(&eyes, object.clone(), deed()).await, Outcome::Stale, "it is there");
    }
    let probe = bed.api.get(&pod(&made[1].0)).await.done();
    assert_eq!((&probe["spec"]["nodeName"], &probe["spec"]["restartPolicy"]), (&json!(node), &json!("Never")));
    assert_eq!(probe["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent", "what is there is not pulled");
    assert_eq!(probe["metadata"]["managedFields"][0]["operation"], "Update", "nothing is written to it again");

    let key = format!("{namespace}/{}", made[1].0.name);
    let sight = eyes.until("it runs", |sight| sight.fleet.pods.get(&key).is_some_and(|pod| pod.started)).await;
    assert_eq!(sight.fleet.pods.get(&key).map(|pod| (pod.is_ours(), pod.began_at())), Some((true, now)));
    // The real controller makes a pod of each Job, pinned, with what it is told; deleting a Job takes it along.
    let of_job = async || {
        let list = bed.api.get(&pods(namespace)).await.done();
        let all = list["items"].as_array().expect("a list").clone();
        all.into_iter().filter(|pod| pod["metadata"]["ownerReferences"][0]["kind"] == "Job").collect::<Vec<_>>()
    };
    bed.until("two pods of Jobs", async || of_job().await.len() == 2).await;
    let booting = of_job().await;
    assert!(booting.iter().all(|pod| pod["spec"]["nodeName"] == node), "{booting:#?}");
    let told = booting[0]["spec"]["containers"][0]["env"].to_string();
    assert!(told.contains(node) && told.contains("kernel:1"), "{told}");
    let ended = |sight: &kura_console::domain::kura::sight::Sight| {
        [&made[3], &made[4]]
            .iter()
            .all(|(job, _)| sight.fleet.jobs.get(&job.name).is_some_and(|job| job.ended.is_some()))
    };
    eyes.until("both end", ended).await;
    for (object, _) in &made {
        let all = if object.kind == ObjectKind::Job { jobs(namespace) } else { pods(namespace) };
        let seen = bed.api.get(&format!("{all}/{}", object.name)).await.done();
        let stale = Version { resource_version: "1".to_owned(), ..version(&seen) };
        assert_eq!(run(&eyes, object.clone(), Deed::Delete { from: stale }).await, Outcome::Stale);
        assert_eq!(run(&eyes, object.clone(), Deed::Delete { from: version(&seen) }).await, Outcome::Done);
    }
    bed.until_tidy().await;
    assert!(of_job().await.is_empty(), "no pod of a Job stays behind");
}

/// The API server applies the standard itself: what needs more than it allows is turned away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_ours_needs_more_than_the_strictest_pod_security_standard() {
    // F58
    let Some(bed) = Bed::make(1).await else { return };
    let namespace = bed.lease.namespace.as_str();
    let eyes = Eyes::open(bed.lease.cluster.admin_config(), namespace).await;
    bed.until("it answers", async || eyes.cluster.standing().identity.is_some()).await;
    let strict = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
    bed.api.merge(&format!("/api/v1/namespaces/{namespace}"), &strict).await.done();
    let plain = json!({"metadata": {"name": "plain"}, "spec": {"containers": [{"name": "c", "image": "c"}]}});
    // The API server reads the label in its own time; what is only tried leaves nothing behind.
    let tried = format!("{}?dryRun=All", pods(namespace));
    bed.until("it is applied", async || bed.api.create(&tried, &plain).await.status == 403).await;
    let (roll, node) = (roll(&bed), bed.fleet.node(1));
    let probe = manifest::probe(Some(roll.id), node, 0, "pause:3", roll.started_at);
    for (object, manifest) in [
        (manifest::stage_object(&roll, node), manifest::stage(&roll, node)),
        (manifest::probe_object(Some(roll.id), node, 0), probe),
    ] {
        let deed = Deed::Apply { manifest: manifest.clone(), from: None, force: false };
        assert_eq!(run(&eyes, object, deed).await, Outcome::Done, "{manifest:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cordon_is_one_bit_under_the_version_that_was_seen() {
    // F21 (A11)
    let Some(bed) = Bed::make(1).await else { return };
    let eyes = Eyes::open(bed.lease.cluster.admin_config(), &bed.lease.namespace).await;
    bed.until("it answers", async || eyes.cluster.standing().identity.is_some()).await;
    let node = bed.fleet.node(1);
    let object = || ObjectRef::new(ObjectKind::Node, node);
    let cordon = |from: &Version, unschedulable| Deed::Cordon { from: from.clone(), unschedulable };
    let before = bed.fleet.seen(node).await;
    bed.api.merge(&format!("{NODES}/{node}"), &json!({"metadata": {"labels": {"by": "hand"}}})).await.done();
    assert_eq!(run(&eyes, object(), cordon(&version(&before), true)).await, Outcome::Stale, "somebody was there");
    assert!(!bed.fleet.is_cordoned(node).await);
    let now = bed.fleet.seen(node).await;
    let another = Version { uid: "00000000-0000-0000-0000-000000000000".to_owned(), ..version(&now) };
    assert_eq!(run(&eyes, object(), cordon(&another, true)).await, Outcome::Stale, "another node of that name");
    assert_eq!(run(&eyes, object(), cordon(&version(&now), true)).await, Outcome::Done);
    let seen = bed.fleet.seen(node).await;
    assert_eq!((&seen["spec"]["unschedulable"], &seen["metadata"]["labels"]["by"]), (&json!(true), &json!("hand")));
    assert_eq!(run(&eyes, object(), cordon(&version(&seen), false)).await, Outcome::Done);
    assert!(!bed.fleet.is_cordoned(node).await);
    let nobody = ObjectRef::new(ObjectKind::Node, "nobody");
    assert!(run(&eyes, nobody, cordon(&version(&seen), true)).await.trouble().is_some(), "there is no such node");
}

/// Two who hold the seat one after the other: what the first evicted the second saw otherwise, and leaves alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_saw_a_pod_before_it_was_evicted_evicts_it_no_more() {
    // F26, A21
    let Some(bed) = Bed::make(1).await else { return };
    let namespace = bed.lease.namespace.as_str();
    let eyes = Eyes::open(bed.lease.cluster.admin_config(), namespace).await;
    bed.until("it answers", async || eyes.cluster.standing().identity.is_some()).await;
    let slow = json!({
        "metadata": {"name": "slow", "finalizers": ["kura.dev/slow"]},
        "spec": {"nodeName": bed.fleet.node(1), "containers": [{"name": "c", "image": "c"}]},
    });
    bed.api.create(&pods(namespace), &slow).await.done();
    let path = format!("{}/slow", pods(namespace));
    let evict = async |from: Version| {
        run(&eyes, ObjectRef::within(ObjectKind::Pod, namespace, "slow"), Deed::Evict { from, insist: false }).await
    };
    // Its kubelet writes its status meanwhile: then it is seen anew.
    let mut seen = bed.api.get(&path).await.done();
    while evict(version(&seen)).await == Outcome::Stale {
        seen = bed.api.get(&path).await.done();
    }
    let leaving = bed.api.get(&path).await.done();
    assert!(leaving["metadata"]["deletionTimestamp"].is_string(), "{leaving:#}");
    assert_ne!(version(&leaving), version(&seen), "an eviction is a new version");
    assert_eq!(evict(version(&seen)).await, Outcome::Stale);
    bed.api.merge(&path, &json!({"metadata": {"finalizers": null}})).await.done();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_refuses_an_eviction_and_the_drain_of_a_roll_goes_past_it() {
    // F26, F29, F30
    let Some(bed) = Bed::make(1).await else { return };
    let eyes = Eyes::open(bed.lease.cluster.admin_config(), &bed.lease.namespace).await;
    bed.until("it answers", async || eyes.cluster.standing().identity.is_some()).await;
    bed.fleet.budget("app", &json!({"matchLabels": {"app": "app"}})).await;
    let name = format!("app-{}", bed.fleet.node(1));
    let path = format!("{}/{name}", pods(&bed.lease.namespace));
    bed.until("it runs", async || bed.api.get(&path).await.body["status"]["phase"] == "Running").await;
    let object = || ObjectRef::within(ObjectKind::Pod, &bed.lease.namespace, &name);
    let evict = |from: Version, insist| Deed::Evict { from, insist };
    let seen = bed.api.get(&path).await.done();

    let Outcome::Failed { why } = run(&eyes, object(), evict(version(&seen), false)).await else { panic!("refused") };
    assert!(why.contains("disruption budget"), "{why}");
    let stale = Version { resource_version: "1".to_owned(), ..version(&seen) };
    assert_eq!(run(&eyes, object(), evict(stale, true)).await, Outcome::Stale, "past a budget, never past a version");
    assert_eq!(bed.api.get(&path).await.done()["metadata"]["uid"], seen["metadata"]["uid"]);
    assert_eq!(run(&eyes, object(), evict(version(&seen), true)).await, Outcome::Done);
    bed.until("it is gone", async || bed.api.get(&path).await.status == 404).await;
    assert_eq!(run(&eyes, object(), evict(version(&seen), true)).await, Outcome::Done, "what is gone is done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_not_touch_nodes_is_told_so() {
    let Some(bed) = Bed::make(1).await else { return };
    let eyes = Eyes::open(bed.lease.cluster.introduce("stroller", &[]), &bed.lease.namespace).await;
    bed.until("it answers", async || eyes.cluster.standing().identity.is_some()).await;
    let from = version(&bed.fleet.seen(bed.fleet.node(1)).await);
    let object = ObjectRef::new(ObjectKind::Node, bed.fleet.node(1));
    let outcome = run(&eyes, object, Deed::Cordon { from, unschedulable: true }).await;
    assert!(matches!(&outcome, Outcome::Forbidden { why } if why.contains("stroller")), "{outcome:?}");
    assert_eq!(RollId::named("fleet"), roll_id());
}
