//! Why a server does not get on, in the words of those who tried: services and events of a real cluster in the chain.

use jiff::SignedDuration;
use kura_console::control::ports::Clock;
use kura_console::domain::kura::incidents::progressing;
use kura_console::domain::kura::notice::{NOTICES_PER_OBJECT, PROGRESS};
use kura_console::domain::kura::object::ObjectKind;
use kura_console::domain::kura::server::{GatewayMode, ServerSpec};
use serde_json::{Value, json};

use super::cluster::Lease;
use super::eyes::Eyes;
use super::incidents::{Bed, serves};
use super::objects::{instance, instances, path};
use super::rest::Rest;

fn events(namespace: &str) -> String {
    path("/api/v1", namespace, "events")
}

/// What somebody says of an object, as client libraries write it down.
fn said(kind: &str, name: &str, n: usize, reason: &str, text: &str, at: jiff::Timestamp) -> Value {
    json!({
        "metadata": {"name": format!("{name}.{n}")},
        "involvedObject": {"kind": kind, "name": name},
        "reason": reason, "message": text, "type": if reason == PROGRESS { "Normal" } else { "Warning" },
        "firstTimestamp": at.to_string().get(..19).map(|text| format!("{text}Z")),
        "lastTimestamp": at.to_string().get(..19).map(|text| format!("{text}Z")),
    })
}

async fn say(api: &Rest, namespace: &str, mut event: Value) {
    event["involvedObject"]["namespace"] = json!(namespace);
    api.create(&events(namespace), &event).await.done();
}

/// The kubelet says of the container that it backs off, and of the pod what the registry said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_cannot_be_pulled_is_told_with_what_the_registry_said() {
    // K29, K30
    let Some(bed) = Bed::make().await else { return };
    let (plane, namespace) = (bed.ground.plane(SignedDuration::ZERO).await, &bed.ground.namespace);
    plane.add(&bed.ground, bed.ground.spec(1), "0.20.0").await;
    bed.follow("0.20.0", 1).await;
    let pod = format!("{}-0", bed.ground.instance());
    let text = "Failed to pull image \"ghcr.io/tuist/kura:0.20.0\": not found";
    say(&bed.api, namespace, said("Pod", &pod, 1, "Failed", text, plane.now())).await;
    say(&bed.api, namespace, said("Pod", &pod, 2, "Failed", "Error: ErrImagePull", plane.now())).await;
    let told = |server: &kura_console::domain::kura::server::Server| {
        let wait = server.open().and_then(|open| open.wait.as_ref());
        wait.is_some_and(|wait| wait.kind.word() == "workload_not_ready" && wait.detail.contains(text))
    };
    plane.until("it says why", told).await;
}

/// A server without an ingress: its service has a port, then its controller knows the node, then it is asked there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_of_a_node_is_followed_from_its_service_to_its_answer() {
    // K29, K30, K32
    let Some(bed) = Bed::make().await else { return };
    let (plane, namespace) = (bed.ground.plane(SignedDuration::ZERO).await, &bed.ground.namespace);
    let spec = ServerSpec { gateway: GatewayMode::NodePort, ..bed.ground.spec(1) };
    plane.add(&bed.ground, spec, "0.20.0").await;
    bed.follow("0.20.0", 1).await;
    bed.controller().run(&[true]).await;
    plane.until_it_waits("node_port_endpoint_not_ready").await;

    let name = bed.ground.instance();
    let service = json!({
        "metadata": {"name": format!("{name}-external"), "labels": {"app.kubernetes.io/instance": name}},
        "spec": {"type": "NodePort", "ports": [{"port": 4000}], "selector": {"app.kubernetes.io/instance": name}},
    });
    let made = bed.api.create(&path("/api/v1", namespace, "services"), &service).await.done();
    let allotted = format!("service {name}-external has port {} there", made["spec"]["ports"][0]["nodePort"]);
    let told = |server: &kura_console::domain::kura::server::Server| {
        let wait = server.open().and_then(|open| open.wait.as_ref());
        wait.is_some_and(|wait| wait.detail.contains(&allotted))
    };
    plane.until("the service has a port", told).await;

    let node = bed.ground.plain_endpoint().await;
    bed.controller().say(&json!({"nodeAddress": "127.0.0.1", "nodePortCache": node.port})).await;
    let server = plane.until("it serves", |server| serves(server, "0.20.0")).await;
    assert_eq!(server.url.as_deref(), Some(format!("http://127.0.0.1:{}", node.port).as_str()));
}

#[tokio::test]
async fn a_bootstrap_that_reports_progress_is_told_and_the_last_of_many_reports_are_kept() {
    // I11
    let Some(lease) = Lease::take().await else { return };
    let (api, namespace) = (lease.cluster.admin(), lease.namespace.as_str());
    let name = "kura-acme-eu1";
    api.create(&instances(namespace), &instance(name, "0.20.0", 1)).await.done();
    let pod = json!({
        "metadata": {"name": format!("{name}-0"), "labels": {"app.kubernetes.io/instance": name}},
        "spec": {"containers": [{"name": "kura", "image": "kura:0.20.0"}]},
    });
    api.create(&path("/api/v1", namespace, "pods"), &pod).await.done();
    let clock = kura_console::adapters::clock::SystemClock::start();
    let begun = clock.now() - SignedDuration::from_secs(60);
    for n in 0..NOTICES_PER_OBJECT + 3 {
        let at = begun + SignedDuration::from_secs(i64::try_from(n).expect("a few"));
        say(&api, namespace, said("KuraInstance", name, n, PROGRESS, &format!("{n} % of 1.2 TB"), at)).await;
    }
    let mut eyes = Eyes::open(lease.cluster.admin_config(), namespace).await;
    let last = format!("{} % of 1.2 TB", NOTICES_PER_OBJECT + 2);
    let sight = eyes.until("progress", |sight| progressing(sight, name, clock.now()).as_ref() == Some(&last)).await;
    let kept = sight.notices.rows.values().filter(|row| row.about.kind == ObjectKind::KuraInstance).count();
    assert_eq!(kept, NOTICES_PER_OBJECT);
}
