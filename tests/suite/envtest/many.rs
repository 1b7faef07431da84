//! Many objects: 400 instances and 2,000 pods are seen as a whole, and one change among them at once.

use std::time::Duration;

use futures_util::future::join_all;
use kura_console::adapters::clock::SystemClock;
use kura_console::control::ports::Clock;
use serde_json::json;

use super::cluster::Lease;
use super::eyes::Eyes;
use super::kubelet::Kubelet;
use super::objects::{image, instance, instances, pods};
use super::rest::Rest;

const INSTANCES: usize = 400;
const PODS: usize = 2_000;

/// Objects that are made at the same time.
const AT_ONCE: usize = 20;

/// How long a change may take to be seen, on a machine that builds at the same time.
const SEEN_WITHIN: Duration = Duration::from_secs(2);

async fn make(api: &Rest, namespace: &str) {
    let instance_of = |n: usize| (instances(namespace), instance(&format!("kura-{n}"), "0.20.0", 5));
    let pod_of = |n: usize| {
        let owner = format!("kura-{}", n % INSTANCES);
        let object = json!({
            "metadata": {"name": format!("{owner}-{}", n / INSTANCES), "labels": {"app.kubernetes.io/instance": owner}},
            "spec": {"containers": [{"name": "kura", "image": image("0.20.0")}]},
        });
        (pods(namespace), object)
    };
    let all: Vec<_> = (0..INSTANCES).map(instance_of).chain((0..PODS).map(pod_of)).collect();
    for some in all.chunks(AT_ONCE) {
        let made = join_all(some.iter().map(|(path, object)| api.create(path, object))).await;
        for told in made {
            told.done();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_instances_and_thousands_of_pods_are_seen_as_a_whole() {
    let Some(lease) = Lease::take().await else { return };
    let api = lease.cluster.admin();
    let namespace = lease.namespace.as_str();
    make(&api, namespace).await;

    let clock = SystemClock::start();
    let begun = clock.now();
    let mut eyes = Eyes::open(lease.cluster.admin_config(), namespace).await;
    let halves = std::sync::atomic::AtomicUsize::new(0);
    let sight = eyes
        .until("all of them", |sight| {
            let count = (sight.instances.rows.len(), sight.pods.rows.len());
            halves.fetch_add(
                usize::from(count.0 % INSTANCES + count.1 % PODS != 0),
                std::sync::atomic::Ordering::Relaxed,
            );
            count == (INSTANCES, PODS)
        })
        .await;
    println!("{INSTANCES} instances and {PODS} pods seen after {}", clock.now() - begun);
    assert_eq!(halves.into_inner(), 0, "nobody saw half a list");
    assert_eq!(sight.pods_of("kura-7").count(), PODS / INSTANCES);

    eyes.until_live().await;
    let changed = clock.now();
    Kubelet::new(&api, namespace).run("kura-7-3", true).await;
    eyes.until("one pod is Ready", |sight| sight.pods.rows["kura-7-3"].ready).await;
    let took = clock.now().duration_since(changed);
    println!("one pod is seen to be Ready after {took}");
    assert!(took < SEEN_WITHIN.try_into().unwrap(), "{took}");
}
