//! What the adapter sees of a real cluster: everything there is, what changes, and what it may not see.

use kura_console::domain::kura::sight::Sight;
use kura_console::domain::kura::source::Contact;
use serde_json::json;

use super::cluster::{Cluster, Lease};
use super::eyes::Eyes;
use super::kubelet::Kubelet;
use super::objects::{gateway, gateways, image, instance, instances, path, pods, stateful_sets, workload};

const NAME: &str = "kura-acme-eu1";

#[tokio::test]
async fn all_there_is_is_seen_and_then_what_changes() {
    // K49, K50
    let Some(lease) = Lease::take().await else { return };
    let api = lease.cluster.admin();
    let namespace = lease.namespace.as_str();
    let mut object = instance(NAME, "0.20.0", 2);
    object["spec"]["aFieldOfTomorrow"] = json!(true);
    api.create(&instances(namespace), &object).await.done();
    api.create(&gateways(namespace), &gateway("kgw-acme-eu-central")).await.done();
    api.create(&stateful_sets(namespace), &workload(NAME, "0.20.0", 2)).await.done();
    let class = json!({"metadata": {"name": format!("class-{namespace}")}, "spec": {"controller": "kura/gateway"}});
    api.create("/apis/networking.k8s.io/v1/ingressclasses", &class).await.done();

    let mut eyes = Eyes::open(lease.cluster.admin_config(), namespace).await;
    eyes.until("the instance", |sight| sight.instances.rows.contains_key(NAME)).await;
    let sight = eyes.until("two pods", |sight| sight.pods.rows.len() == 2 && sight.claims.rows.len() == 2).await;
    assert_eq!(sight.instances.rows[NAME].spec["aFieldOfTomorrow"], json!(true));
    assert_eq!(sight.instances.rows[NAME].foreign.get("spec.image").map(String::as_str), Some("unknown"));
    let set = eyes.until("the set", |sight| sight.sets.rows.contains_key(NAME)).await.sets.rows[NAME].clone();
    assert_eq!((set.replicas, set.image), (2, Some(image("0.20.0"))));
    eyes.until("the gateway", |sight| sight.gateways.rows.contains_key("kgw-acme-eu-central")).await;
    eyes.until("the class", |sight| sight.classes.rows.contains_key(&format!("class-{namespace}"))).await;
    let pod = &sight.pods.rows[&format!("{NAME}-0")];
    assert_eq!((pod.instance.as_deref(), pod.ready), (Some(NAME), false));
    assert_eq!(pod.claims, [format!("data-{NAME}-0")]);

    Kubelet::new(&api, namespace).run(&format!("{NAME}-0"), true).await;
    eyes.until("it is Ready", |sight| sight.pods.rows[&format!("{NAME}-0")].ready).await;
    api.delete(&format!("{}/{NAME}", instances(namespace))).await.done();
    eyes.until("the instance is gone", |sight| sight.instances.rows.is_empty()).await;
    api.delete(&format!("{}/{NAME}-1", pods(namespace))).await.done();
    let first = sight.pods.rows[&format!("{NAME}-1")].stamp.uid.clone();
    let another = |sight: &Sight| sight.pods.rows.get(&format!("{NAME}-1")).is_some_and(|pod| pod.stamp.uid != first);
    eyes.until("another pod of that name", another).await;
}

#[tokio::test]
async fn it_knows_which_cluster_it_is_and_keeps_to_it() {
    let Some(lease) = Lease::take().await else { return };
    let mut eyes = Eyes::open(lease.cluster.admin_config(), &lease.namespace).await;
    eyes.until_live().await;
    let identity = eyes.cluster.standing().identity.expect("it answered");
    let anchor = lease.cluster.admin().get("/api/v1/namespaces/kube-system").await.done();
    assert_eq!(identity.uid.as_deref(), anchor["metadata"]["uid"].as_str());
    assert!(identity.minor >= 34, "{identity:?}");
}

#[tokio::test]
async fn a_kind_the_cluster_does_not_have_is_absent_and_the_rest_goes_on() {
    let Some(lease) = Lease::take().await else { return };
    let mut eyes = Eyes::open(lease.cluster.admin_config(), &lease.namespace).await;
    eyes.until_live().await;
    let absent = |contact: &Contact| matches!(contact, Contact::Absent { .. });
    eyes.until("no certificates", |sight| absent(&sight.certificates.contact)).await;
}

/// cert-manager is installed while somebody looks on; of its certificates hosts, readiness and the issuer's words are kept.
#[tokio::test]
async fn certificates_are_seen_as_soon_as_there_are_any() {
    // K29, K30 (I5)
    let Some(cluster) = Cluster::start("seeing-certificates").await else { return };
    cluster.define().await;
    let api = cluster.admin();
    let mut eyes = Eyes::open(cluster.admin_config(), "default").await;
    eyes.until("no certificates", |sight| matches!(sight.certificates.contact, Contact::Absent { .. })).await;

    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = include_str!("../../envtest/crds/certificates.yaml");
    api.create_yaml(definitions, definition).await.done();
    eyes.until("there are none", |sight| matches!(sight.certificates.contact, Contact::Live { .. })).await;

    let (certificates, host) = (path("/apis/cert-manager.io/v1", "default", "certificates"), "acme.kura.example");
    let object = json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": NAME},
        "spec": {"dnsNames": [host], "secretName": "tls", "issuerRef": {"name": "letsencrypt"}},
    });
    api.create(&certificates, &object).await.done();
    let says = async |conditions: serde_json::Value| {
        let status = json!({"status": {"conditions": conditions}});
        api.merge(&format!("{certificates}/{NAME}/status"), &status).await.done();
    };
    let limited = "too many certificates already issued";
    says(json!([
        {"type": "Ready", "status": "False", "message": "Issuing certificate as Secret does not exist"},
        {"type": "Issuing", "status": "False", "message": limited},
    ]))
    .await;
    let told = |sight: &Sight, ready: bool, message: Option<&str>| {
        let row = sight.certificates.rows.get(NAME);
        row.is_some_and(|row| row.ready == ready && row.message.as_deref() == message && row.hosts == [host])
    };
    eyes.until("the issuer's words", |sight| told(sight, false, Some(limited))).await;
    says(json!([{"type": "Ready", "status": "True", "message": "Certificate is up to date"}])).await;
    eyes.until("it is there", |sight| told(sight, true, None)).await;
    api.delete(&format!("{certificates}/{NAME}")).await.done();
    eyes.until("it is gone", |sight| sight.certificates.rows.is_empty()).await;
}

/// Whoever may read instances sees instances, is told what else there would be, and may not write.
#[tokio::test]
async fn what_may_not_be_read_is_told_and_the_rest_goes_on() {
    let Some(lease) = Lease::take().await else { return };
    let api = lease.cluster.admin();
    let namespace = lease.namespace.as_str();
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rules =
        json!([{"apiGroups": ["kura.tuist.dev"], "resources": ["kurainstances"], "verbs": ["get", "list", "watch"]}]);
    api.create(&path(rbac, namespace, "roles"), &json!({"metadata": {"name": "looker"}, "rules": rules})).await.done();
    let binding = json!({
        "metadata": {"name": "looker"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "looker"},
        "subjects": [{"kind": "User", "name": "looker", "apiGroup": "rbac.authorization.k8s.io"}],
    });
    api.create(&path(rbac, namespace, "rolebindings"), &binding).await.done();
    api.create(&instances(namespace), &instance(NAME, "0.20.0", 2)).await.done();

    let mut eyes = Eyes::open(lease.cluster.introduce("looker", &[]), namespace).await;
    eyes.until("the instance", |sight| sight.instances.rows.contains_key(NAME)).await;
    let refused = |contact: &Contact| matches!(contact, Contact::Forbidden { why, .. } if why.contains("looker"));
    let sight = eyes.until("no pods", |sight| refused(&sight.pods.contact) && refused(&sight.nodes)).await;
    assert!(matches!(sight.instances.contact, Contact::Live { .. }));
    assert_eq!(eyes.cluster.standing().identity.expect("it answered").uid, None, "that may not be read either");
}
