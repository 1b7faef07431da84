//! Lists that come as a stream, where the server does that, and in pages where it does not.

use kura_console::domain::kura::source::Contact;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::eyes::Eyes;
use super::objects::{instance, instances, path};
use super::rest::Rest;

/// Lets a user do that to instances, and nothing else.
async fn allow(api: &Rest, namespace: &str, user: &str, verbs: &[&str]) {
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rules = json!([{"apiGroups": ["kura.tuist.dev"], "resources": ["kurainstances"], "verbs": verbs}]);
    let role = json!({"metadata": {"name": user}, "rules": rules});
    api.create(&path(rbac, namespace, "roles"), &role).await.done();
    let binding = json!({
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
    });
    api.create(&path(rbac, namespace, "rolebindings"), &binding).await.done();
}

async fn make(cluster: &Cluster) -> Rest {
    cluster.define().await;
    let api = cluster.admin();
    for name in ["a", "b"] {
        let made: Value = api.create(&instances("default"), &instance(name, "0.20.0", 1)).await.done();
        assert_eq!(made["metadata"]["name"], name);
    }
    allow(&api, "default", "watcher", &["watch"]).await;
    allow(&api, "default", "reader", &["list", "watch"]).await;
    api
}

/// Whoever may watch and not list can only have been told by a stream that begins with everything there is.
#[tokio::test]
async fn a_list_comes_as_a_stream_and_is_complete_at_once() {
    // A20
    let Some(cluster) = Cluster::start("streaming").await else { return };
    let api = make(&cluster).await;
    let told = cluster_get_as(&cluster, "watcher").await;
    assert_eq!(told, 403, "a list is refused");
    let mut eyes = Eyes::open(cluster.introduce("watcher", &[]), "default").await;
    let seen = eyes.until("both", |sight| matches!(sight.instances.contact, Contact::Live { .. })).await;
    assert_eq!(seen.instances.rows.len(), 2, "as a whole");
    api.delete(&format!("{}/a", instances("default"))).await.done();
    eyes.until("one is gone", |sight| sight.instances.rows.len() == 1).await;
}

#[tokio::test]
async fn a_server_that_streams_no_lists_is_read_in_pages() {
    // A20
    let Some(cluster) = Cluster::start_with("paging", &["--feature-gates=WatchList=false"]).await else { return };
    let api = make(&cluster).await;
    let mut eyes = Eyes::open(cluster.introduce("reader", &[]), "default").await;
    let seen = eyes.until("both", |sight| matches!(sight.instances.contact, Contact::Live { .. })).await;
    assert_eq!(seen.instances.rows.len(), 2);
    api.delete(&format!("{}/a", instances("default"))).await.done();
    eyes.until("one is gone", |sight| sight.instances.rows.len() == 1).await;

    let mut eyes = Eyes::open(cluster.introduce("watcher", &[]), "default").await;
    eyes.until("a list is refused", |sight| matches!(sight.instances.contact, Contact::Forbidden { .. })).await;
}

async fn cluster_get_as(cluster: &Cluster, user: &str) -> u16 {
    cluster.introduce(user, &[]);
    cluster.client(user).get(&instances("default")).await.status
}
