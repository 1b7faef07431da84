//! The server answers, and takes instances and gateways as they are defined.

use serde_json::json;

use super::cluster::{Cluster, Lease};
use super::objects::{gateway, gateways, instance, instances};
use super::rest::FIELD_MANAGER;

#[tokio::test]
async fn it_is_a_real_one() {
    let Some(lease) = Lease::take().await else { return };
    let version = lease.cluster.admin().get("/version").await.done();
    assert_eq!(version["major"], "1");
    let minor: u32 = version["minor"].as_str().unwrap().trim_end_matches('+').parse().unwrap();
    assert!((34..=36).contains(&minor), "{version}");
    assert!(!version["gitVersion"].as_str().unwrap().contains("master"), "{version}");
}

#[tokio::test]
async fn whoever_has_no_role_is_turned_away() {
    let Some(lease) = Lease::take().await else { return };
    lease.cluster.introduce("nobody", &[]);
    let told = lease.cluster.client("nobody").get(&instances(&lease.namespace)).await;
    assert_eq!((told.status, told.reason()), (403, "Forbidden"));
}

#[tokio::test]
async fn instances_and_gateways_are_taken_with_fields_nobody_knows() {
    // K49
    let Some(lease) = Lease::take().await else { return };
    let api = lease.cluster.admin();
    let mut object = instance("kura-acme-eu1", "0.20.0", 2);
    object["spec"]["aFieldOfTomorrow"] = json!({"kept": [1, 2]});
    let made = api.create(&instances(&lease.namespace), &object).await.done();
    assert_eq!(made["spec"]["aFieldOfTomorrow"], json!({"kept": [1, 2]}));
    api.create(&gateways(&lease.namespace), &gateway("kgw-acme-eu-central")).await.done();
    let status = json!({"status": {"phase": "Ready", "observedImage": "ghcr.io/tuist/kura:0.20.0"}});
    let path = format!("{}/kura-acme-eu1", instances(&lease.namespace));
    let seen = api.merge(&format!("{path}/status"), &status).await.done();
    assert_eq!(seen["status"]["phase"], "Ready");
    assert_eq!(seen["metadata"]["generation"], made["metadata"]["generation"], "the status is a thing of its own");
}

#[tokio::test]
async fn an_instance_without_what_it_needs_is_refused() {
    // K49
    let Some(lease) = Lease::take().await else { return };
    let api = lease.cluster.admin();
    for field in ["accountHandle", "tenantID", "region", "image"] {
        let mut object = instance("kura-acme-eu1", "0.20.0", 2);
        object["spec"].as_object_mut().unwrap().remove(field);
        let told = api.create(&instances(&lease.namespace), &object).await;
        assert_eq!(told.status, 422, "{field}: {}", told.body);
        assert!(told.body["message"].as_str().unwrap().contains(&format!("spec.{field}")), "{}", told.body);
    }
}

#[tokio::test]
async fn killed_with_nine_and_started_again_it_has_what_it_had() {
    let Some(cluster) = Cluster::start("killed").await else { return };
    cluster.define().await;
    let api = cluster.admin();
    let path = format!("{}/kura-acme-eu1", instances("default"));
    let made = api.apply(&path, FIELD_MANAGER, &instance("kura-acme-eu1", "0.20.0", 2)).await.done();
    cluster.kill_api_server();
    assert!(api.try_get("/readyz").await.is_none(), "nobody answers");
    cluster.restart_api_server().await;
    let found = cluster.admin().get(&path).await.done();
    assert_eq!(found["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
}
