//! As whom credentials are let in, which is by whom verbs are done over a journal in the cluster.

use std::path::PathBuf;

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::kube::connection::Connection;
use kura_console::adapters::kube::fault::ClusterFault;
use kura_console::adapters::kube::rights::who;
use kura_console::adapters::kube::target::{Choice, Target};
use serde_json::json;

use super::super::cluster::Lease;

async fn named(kubeconfig: PathBuf) -> Result<String, ClusterFault> {
    let choice = Choice { kubeconfig: Some(kubeconfig), context: None };
    let target = Target::pin(&choice).await.expect("a kubeconfig");
    who(&Connection::new(target, SystemClock::start())).await
}

/// A person with a certificate, a program with a token: nobody says who they are but the cluster.
#[tokio::test]
async fn the_cluster_says_who_shows_a_certificate_or_a_token() {
    let Some(lease) = Lease::take().await else { return };
    let ann = lease.cluster.introduce("ann@example.com", &["nobodies"]);
    assert_eq!(named(ann).await.expect("no right is needed for that"), "ann@example.com");

    let namespace = &lease.namespace;
    let asked = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/default/token");
    let made = lease.cluster.admin().create(&path, &asked).await.done();
    let token = made["status"]["token"].as_str().expect("a token");
    let program = lease.cluster.bearer_config(&format!("{namespace}-who"), token);
    assert_eq!(named(program).await.expect("it says so"), format!("system:serviceaccount:{namespace}:default"));

    let stranger = lease.cluster.bearer_config(&format!("{namespace}-stranger"), "made-up");
    assert!(named(stranger).await.expect_err("a token of nobody").is_refusal());
}
