//! What is seen of a fleet: its nodes, what runs on them wherever it lives, and Jobs of rolls and of nobody else.

use kura_console::domain::kura::object::MANAGED_BY_LABEL;
use kura_console::domain::roll::manifest::{ROLL_LABEL, STEP_LABEL};
use kura_console::domain::roll::sight::JobEnd;
use serde_json::json;

use super::super::eyes::Eyes;
use super::super::objects::pods;
use super::bed::Bed;
use super::fleet::{NODES, jobs};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_are_seen_with_their_boot_and_pods_on_them_from_every_namespace() {
    // F5, F31
    let Some(bed) = Bed::make(2).await else { return };
    let (namespace, node) = (bed.lease.namespace.as_str(), bed.fleet.node(1));
    let elsewhere = format!("{namespace}-apps");
    bed.lease.cluster.name_space(&elsewhere).await;
    let pod = |name: &str, node: Option<&str>| {
        json!({
            "metadata": {"name": name, "labels": {"team": "infra"}},
            "spec": {"nodeName": node, "containers": [{"name": "web", "image": "web"}]},
        })
    };
    // Two of the same name, and one that is nowhere yet.
    bed.api.create(&pods(namespace), &pod("web", Some(bed.fleet.node(2)))).await.done();
    bed.api.create(&pods(&elsewhere), &pod("web", Some(node))).await.done();
    bed.api.create(&pods(&elsewhere), &pod("nowhere", None)).await.done();
    let mut eyes = Eyes::open(bed.lease.cluster.admin_config(), namespace).await;
    let sight = eyes.until_live().await;
    let seen = sight.fleet.nodes.get(node).expect("the node");
    assert_eq!((seen.ready, seen.unschedulable, seen.boot_id.as_deref()), (true, false, Some("boot-0")));
    assert_eq!((seen.kernel.as_deref(), seen.os_image.as_deref()), (Some("6.12.0"), Some("An OS 1")));
    let (here, there) = (format!("{namespace}/web"), format!("{elsewhere}/web"));
    assert_eq!(sight.fleet.pods.get(&there).and_then(|pod| pod.node.as_deref()), Some(node));
    assert_eq!(sight.fleet.pods.get(&there).and_then(|pod| pod.stamp.label("team")), Some("infra"));
    assert!(sight.fleet.pods.get(&here).is_some());
    assert!(sight.fleet.pods.get(&format!("{elsewhere}/nowhere")).is_none(), "the field selector leaves it out");
    assert_eq!(sight.fleet.pods_on(node).filter(|pod| pod.stamp.name == "web").count(), 1);

    // Pinned where it was nowhere, it is seen; and the bit of a node as it changes.
    let target = json!({"apiVersion": "v1", "kind": "Node", "name": node});
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "nowhere"}, "target": target});
    bed.api.create(&format!("{}/nowhere/binding", pods(&elsewhere)), &binding).await.done();
    bed.fleet.set_cordon(node, true).await;
    let both = |sight: &kura_console::domain::kura::sight::Sight| {
        let bound = sight.fleet.pods.get(&format!("{elsewhere}/nowhere")).is_some();
        bound && sight.fleet.nodes.get(node).is_some_and(|node| node.unschedulable)
    };
    eyes.until("it is bound, and the node cordoned", both).await;
    bed.api.delete(&format!("{NODES}/{node}")).await.done();
    eyes.until("the node is gone", |sight| sight.fleet.nodes.get(node).is_none()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_of_rolls_are_seen_with_how_they_ended_and_those_of_others_are_not() {
    // F58
    let Some(bed) = Bed::make(1).await else { return };
    let namespace = bed.lease.namespace.as_str();
    let job = |name: &str, labels: serde_json::Value| {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]});
        json!({
            "metadata": {"name": name, "labels": labels},
            "spec": {"backoffLimit": 0, "activeDeadlineSeconds": 1, "template": {"spec": pod}},
        })
    };
    let ours = json!({MANAGED_BY_LABEL: "kura-console", ROLL_LABEL: "asked", STEP_LABEL: "boot"});
    bed.api.create(&jobs(namespace), &job("ours", ours)).await.done();
    bed.api.create(&jobs(namespace), &job("theirs", json!({"app": "x"}))).await.done();
    let mut eyes = Eyes::open(bed.lease.cluster.admin_config(), namespace).await;
    let failed = |sight: &kura_console::domain::kura::sight::Sight| {
        let ended = sight.fleet.jobs.get("ours").and_then(|job| job.ended.clone());
        matches!(ended, Some(JobEnd::Failed { message, .. }) if message.starts_with("DeadlineExceeded"))
    };
    let sight = eyes.until("the real controller ends it", failed).await;
    assert!(sight.fleet.jobs.get("theirs").is_none(), "the label selector leaves it out");
}
