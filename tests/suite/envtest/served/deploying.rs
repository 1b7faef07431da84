//! A tag on its way to an instance, and what is done about those who edit it.

use serde_json::{Value, json};

use super::super::objects::{gateway, gateways, instance, instances};
use super::bed::{INSTANCE, Served};

/// What the controller of gateways leaves on them.
const FINALIZER: &str = "kuragateways.kura.tuist.dev/finalizer";

/// From a release to a success, without a person in between.
#[test]
fn a_release_reaches_the_instance_and_succeeds_once_it_answers() {
    // K23, K26, K32
    let Some(served) = Served::start() else { return };
    let (server, up) = (served.server(), served.up());
    served.release("0.20.0");
    let made = served.applied("0.20.0");
    assert_eq!(made["metadata"]["labels"]["tuist.dev/account"], "acme");
    let history = format!("{server}/deployments");
    let open = served.plane.get_until(&history, "it runs", |rows| rows[0]["status"] == "running");
    assert_eq!((&open[0]["image_tag"], &open[0]["requested_by"]), (&json!("0.20.0"), &json!("scheduler")));

    served.reconcile("0.20.0", up);
    served.plane.get_until(&history, "it succeeds", |rows| rows[0]["status"] == "succeeded");
    let body = served.plane.get(&server);
    assert_eq!((&body["status"], &body["current_image_tag"]), (&json!("active"), &json!("0.20.0")));
    assert_eq!(body["url"], format!("http://127.0.0.1:{up}"));
    assert_eq!((&body["drift"], &body["observation"]), (&json!(false), &json!([])), "{body:#}");
    // K48: nobody else has written a status lately.
    assert_eq!(body["not_ready_deletion"], "ours");
    let manifest = served.plane.get(&format!("{server}/manifest"));
    assert_eq!(manifest["revision_applied"], manifest["revision_rendered"]);
}

/// What is rendered is what is there, whether or not a deployment is open; over a person's edit it takes a person.
#[test]
fn drift_is_healed_and_an_edit_by_hand_gives_way_to_force() {
    // K24, K26, K28, K34
    let Some(served) = Served::start() else { return };
    let (server, up) = (served.server(), served.up());
    served.release("0.20.0");
    let first = served.applied("0.20.0");
    served.reconcile("0.20.0", up);
    let history = format!("{server}/deployments");
    served.plane.get_until(&history, "it succeeds", |rows| rows[0]["status"] == "succeeded");

    let (status, _) = served.ask("PATCH", &server, &json!({"spec": {"replicas": 3}}));
    assert_eq!(status, 200);
    let healed = served.instance("what is rendered otherwise is applied", |object| object["spec"]["replicas"] == 3);
    assert_eq!(healed["metadata"]["uid"], first["metadata"]["uid"]);
    assert_eq!(served.plane.get(&history).as_array().map(Vec::len), Some(1), "no deployment is needed for that");

    served.edit(&json!({"spec": {"storageSize": "999Gi"}}));
    let seen = |body: &Value| body["foreign"].to_string().contains("kubectl-edit");
    let body = served.plane.get_until(&server, "the edit is seen, and whose it is", seen);
    assert_eq!(body["foreign"][0]["field"], "spec.storageSize");
    served.plane.post(&format!("{server}/force-reapply"), &json!({"reason": "mine"}));
    served.instance("force takes the field over", |object| object["spec"]["storageSize"] == "20Gi");
    let forced = served.plane.get(&history);
    assert_eq!((&forced[0]["force"], &forced[0]["reason"]), (&json!(true), &json!("mine")), "{forced:#}");

    served.runtime.block_on(served.api.delete(&served.path())).done();
    let again =
        |object: &Value| object["metadata"]["uid"].is_string() && object["metadata"]["uid"] != first["metadata"]["uid"];
    served.instance("an instance that went away is made again", again);
}

/// A person and the cluster are heard at once; the tick is for what nobody says.
#[test]
fn what_is_asked_and_what_is_seen_is_acted_upon_between_two_ticks() {
    // K32
    let Some(served) = Served::without_ticks() else { return };
    let (server, up) = (served.server(), served.up());
    served.release("0.20.0");
    let history = format!("{server}/deployments");
    served.plane.post(&history, &json!({"image_tag": "0.20.0", "reason": "test"}));
    served.applied("0.20.0");
    served.reconcile("0.20.0", up);
    served.plane.get_until(&history, "it succeeds", |rows| rows[0]["status"] == "succeeded");
    assert!(served.plane.get("/api/seat")["last_tick"].is_null(), "no tick was needed");
}

/// Each of the endpoints of Kura, with a cluster behind it.
#[test]
fn every_endpoint_answers_with_a_cluster_behind_it() {
    // K44, K45
    let Some(served) = Served::start() else { return };
    let server = served.server();
    served.release("0.20.0");
    served.applied("0.20.0");
    let namespace = &served.lease.namespace;
    served.runtime.block_on(async {
        let mut stranger = instance("kura-nobody-eu1", "0.20.0", 1);
        stranger["metadata"]["labels"]["app.kubernetes.io/managed-by"] = json!("kura-console");
        served.api.create(&instances(namespace), &stranger).await.done();
        for (name, finalizers) in [("kgw-unused", json!([])), ("kgw-stuck", json!([FINALIZER]))] {
            let mut object = gateway(name);
            object["metadata"]["finalizers"] = finalizers;
            served.api.create(&gateways(namespace), &object).await.done();
        }
        served.api.delete(&format!("{}/kgw-stuck", gateways(namespace))).await.done();
    });
    served.plane.get_until("/api/kura/orphans/", "the stranger is seen", |rows| rows.to_string().contains("nobody"));
    served.plane.get_until("/api/kura/gateways/", "both gateways are seen", |rows| {
        rows.as_array().is_some_and(|rows| rows.len() == 2)
    });
    let reason = |name: &str| json!({"name": name, "reason": "test"});
    let strip = json!({
        "name": "kgw-stuck", "reason": "its controller is gone",
        "finalizer": FINALIZER,
    });
    for (method, path, body, expected) in [
        ("GET", "/api/kura/servers/", Value::Null, 200),
        ("POST", "/api/kura/servers/", json!({"tenant": "other", "region": "eu"}), 201),
        ("GET", &server, Value::Null, 200),
        ("PATCH", &server, json!({"spec": {"replicas": 1}}), 200),
        ("GET", &format!("{server}/deployments"), Value::Null, 200),
        ("POST", &format!("{server}/deployments"), json!({"image_tag": "0.20.0", "force": true}), 201),
        ("POST", &format!("{server}/force-reapply"), json!({"reason": "test"}), 201),
        ("GET", &format!("{server}/manifest"), Value::Null, 200),
        ("GET", "/api/kura/runtime-tags/", Value::Null, 200),
        ("POST", "/api/kura/runtime-tags/", json!({"tag": "0.21.0"}), 201),
        ("GET", "/api/kura/gateways/", Value::Null, 200),
        ("POST", "/api/kura/gateways/kgw-unused/delete", reason("kgw-unused"), 204),
        ("POST", "/api/kura/gateways/kgw-stuck/strip-finalizer", strip, 204),
        ("GET", "/api/kura/orphans/", Value::Null, 200),
        ("POST", "/api/kura/orphans/kura-nobody-eu1/delete", reason("kura-nobody-eu1"), 204),
        ("DELETE", &server, json!({"reason": "contract ended"}), 200),
    ] {
        let (status, answer) = served.ask(method, path, &body);
        assert_eq!(status, expected, "{method} {path}: {answer:#}");
    }
    served.plane.get_until("/api/kura/gateways/", "the stuck gateway is gone", |rows| {
        rows.as_array().is_some_and(|rows| rows.iter().all(|row| row["name"] != "kgw-stuck"))
    });
    served.plane.get_until(&server, "the server is gone", |body| body["status"] == "destroyed");
    let left = served.runtime.block_on(served.api.get(&instances(namespace))).done();
    let names: Vec<&str> =
        left["items"].as_array().expect("a list").iter().filter_map(|one| one["metadata"]["name"].as_str()).collect();
    assert!(!names.contains(&INSTANCE) && !names.contains(&"kura-nobody-eu1"), "{names:?}");
}
