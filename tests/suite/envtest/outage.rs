//! Outages: whatever happens to the wire or to the server, in the end nothing is lost and nothing is there that is not.

use kura_console::adapters::kube::stream::IDLE_MAX;
use kura_console::domain::kura::sight::Sight;
use kura_console::domain::kura::source::Contact;
use serde_json::json;

use super::cluster::{Cluster, Lease};
use super::eyes::Eyes;
use super::objects::{instance, instances};
use super::rest::Rest;
use super::wire_cutter::WireCutter;

async fn make(api: &Rest, namespace: &str, names: &[&str]) {
    for name in names {
        api.create(&instances(namespace), &instance(name, "0.20.0", 1)).await.done();
    }
}

async fn delete(api: &Rest, namespace: &str, name: &str) {
    api.delete(&format!("{}/{name}", instances(namespace))).await.done();
}

fn names(sight: &Sight) -> Vec<&str> {
    sight.instances.rows.keys().map(String::as_str).collect()
}

fn is_live(sight: &Sight) -> bool {
    matches!(sight.instances.contact, Contact::Live { .. })
}

fn is_lost(sight: &Sight) -> bool {
    matches!(sight.instances.contact, Contact::Lost { as_of: Some(_), .. })
}

#[tokio::test]
async fn a_wire_that_is_cut_is_told_with_the_rows_as_they_were_and_taken_up_again() {
    let Some(lease) = Lease::take().await else { return };
    let (cluster, namespace) = (lease.cluster, lease.namespace.as_str());
    let wire = WireCutter::before(cluster.port()).await;
    let api = cluster.admin();
    make(&api, namespace, &["a", "b"]).await;
    let mut eyes = Eyes::open(cluster.admin_config_through(wire.port), namespace).await;
    eyes.until("both", |sight| names(sight) == ["a", "b"] && is_live(sight)).await;

    wire.cut();
    let lost = eyes.until("no contact", is_lost).await;
    assert_eq!(names(&lost), ["a", "b"], "what was known stays, with its age");
    delete(&api, namespace, "a").await;
    make(&api, namespace, &["c"]).await;
    wire.mend();
    eyes.until("what happened meanwhile", |sight| names(sight) == ["b", "c"] && is_live(sight)).await;
}

#[tokio::test]
async fn a_wire_that_went_silent_is_noticed_and_nobody_stays_behind_as_a_ghost() {
    let Some(lease) = Lease::take().await else { return };
    let (cluster, namespace) = (lease.cluster, lease.namespace.as_str());
    let wire = WireCutter::before(cluster.port()).await;
    let api = cluster.admin();
    make(&api, namespace, &["a", "b"]).await;
    let mut eyes = Eyes::open(cluster.admin_config_through(wire.port), namespace).await;
    eyes.until("both", |sight| names(sight) == ["a", "b"] && is_live(sight)).await;

    wire.go_silent();
    delete(&api, namespace, "a").await;
    eyes.until("no contact", is_lost).await;
    wire.mend();
    eyes.until("one is gone", |sight| names(sight) == ["b"] && is_live(sight)).await;
}

/// A server sends no bookmarks of a kind of which nothing happens: silence alone is no loss.
#[tokio::test]
async fn a_kind_of_which_nothing_happens_is_asked_for_anew_and_never_lost() {
    let Some(lease) = Lease::take().await else { return };
    let mut eyes = Eyes::open(lease.cluster.admin_config(), &lease.namespace).await;
    let as_of = |sight: &Sight| match sight.gateways.contact {
        Contact::Live { as_of } => Some(as_of),
        _ => None,
    };
    let first = as_of(&eyes.until_live().await).unwrap();
    let after_the_silence = first + IDLE_MAX / 20;
    let told = eyes.until("that it is still so", |sight| as_of(sight).is_none_or(|at| at > after_the_silence)).await;
    assert!(as_of(&told).is_some(), "{:?}", told.gateways.contact);
}

/// The server forgets what happened before it was started: the version that is asked for is too old, which is a 410.
#[tokio::test]
async fn a_server_that_was_killed_and_forgot_is_listed_again() {
    let Some(cluster) = Cluster::start("outage").await else { return };
    cluster.define().await;
    let wire = WireCutter::before(cluster.port()).await;
    let api = cluster.admin();
    make(&api, "default", &["a", "b"]).await;
    let mut eyes = Eyes::open(cluster.admin_config_through(wire.port), "default").await;
    let seen = eyes.until("both", |sight| names(sight) == ["a", "b"] && is_live(sight)).await;
    let version = seen.instances.rows["b"].stamp.resource_version.clone();

    wire.cut();
    eyes.until("no contact", is_lost).await;
    delete(&api, "default", "a").await;
    for n in 0..3 {
        let path = format!("{}/b", instances("default"));
        api.merge(&path, &json!({"spec": {"replicas": n}})).await.done();
    }
    cluster.kill_api_server();
    cluster.restart_api_server().await;
    let api = cluster.admin();
    let watch = format!("{}?watch=1&timeoutSeconds=1&resourceVersion={version}", instances("default"));
    // It says 429 for as long as it is reading.
    cluster.until("it is through with reading", async || api.get(&watch).await.status != 429).await;
    let told = api.get(&watch).await;
    assert!(told.status == 410 || told.body["object"]["code"] == 410, "it forgot: {told:?}");
    make(&api, "default", &["c"]).await;
    wire.mend();
    let seen = eyes.until("no ghosts", |sight| names(sight) == ["b", "c"] && is_live(sight)).await;
    assert_eq!(seen.instances.rows["b"].spec["replicas"], 2, "the last of what was missed");
}

/// Straight at the server, with nothing in between: killed with -9 under an open watch.
#[tokio::test]
async fn a_server_that_is_killed_under_a_watch_is_found_again() {
    let Some(cluster) = Cluster::start("killed-under-watch").await else { return };
    cluster.define().await;
    let api = cluster.admin();
    make(&api, "default", &["a", "b"]).await;
    let mut eyes = Eyes::open(cluster.admin_config(), "default").await;
    eyes.until_live().await;
    cluster.kill_api_server();
    let lost = eyes.until("no contact", is_lost).await;
    assert_eq!(names(&lost), ["a", "b"]);
    cluster.restart_api_server().await;
    delete(&cluster.admin(), "default", "b").await;
    eyes.until("the one that is left", |sight| names(sight) == ["a"] && is_live(sight)).await;
    eyes.until_live().await;
}
