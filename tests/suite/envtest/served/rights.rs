//! The rights that `manifests` gives are those it takes: with them everything works, without one the rest goes on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use kura_console::app::manifests::args::Args;
use kura_console::app::manifests::run::objects;
use serde_json::{Value, json};

use super::super::cluster::Lease;
use super::super::rest::Rest;
use super::bed::Served;
use crate::e2e::command::kura;

/// How often the doctor is asked, and how long it has in between.
const LOOKS: usize = 10;
const LOOK_AGAIN: Duration = Duration::from_secs(1);

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

#[derive(Parser)]
struct Typed {
    #[command(flatten)]
    args: Args,
}

/// The service account with its roles, as the program prints them; the kubeconfig that comes as it. Roles of the whole
/// cluster get a name of this test's own.
pub(in super::super) async fn introduce(lease: &Lease, flags: &[&str]) -> PathBuf {
    let namespace = lease.namespace.as_str();
    let api = lease.cluster.admin();
    let said = [&["manifests", "--namespace", namespace, "--kura-namespace", namespace], flags].concat();
    for mut object in objects(&Typed::parse_from(said).args) {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        if kind.starts_with("ClusterRole") {
            object["metadata"]["name"] = json!(format!("kura-console-{namespace}"));
        }
        if kind == "ClusterRoleBinding" {
            object["roleRef"]["name"] = json!(format!("kura-console-{namespace}"));
        }
        let path = match object["kind"].as_str().unwrap_or_default() {
            "ServiceAccount" => format!("/api/v1/namespaces/{namespace}/serviceaccounts"),
            "Role" => format!("{RBAC}/namespaces/{namespace}/roles"),
            "RoleBinding" => format!("{RBAC}/namespaces/{namespace}/rolebindings"),
            "ClusterRole" => format!("{RBAC}/clusterroles"),
            "ClusterRoleBinding" => format!("{RBAC}/clusterrolebindings"),
            _ => continue,
        };
        api.create(&path, &object).await.done();
    }
    let asked = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = format!("/api/v1/namespaces/{namespace}/serviceaccounts/kura-console/token");
    let token = api.create(&token, &asked).await.done();
    lease.cluster.bearer_config(namespace, token["status"]["token"].as_str().expect("a token"))
}

async fn take_away(api: &Rest, namespace: &str, kind: &str) {
    let path = format!("{RBAC}/namespaces/{namespace}/roles/kura-console");
    let role = api.get(&path).await.done();
    let rules = role["rules"].as_array().expect("rules").iter().filter(|rule| rule["resources"][0] != kind);
    let rules: Vec<Value> = rules.cloned().collect();
    api.merge(&path, &json!({"rules": rules})).await.done();
}

#[test]
fn the_rights_of_manifests_are_enough_and_without_one_of_them_the_rest_goes_on() {
    let mut config = PathBuf::new();
    let started = Served::with(&[], |lease| {
        // Its own runtime: this is called from none.
        config = tokio::runtime::Runtime::new().expect("a runtime").block_on(introduce(lease, &[]));
        config.clone()
    });
    let Some(mut served) = started else { return };
    let (server, up) = (served.server(), served.up());
    served.release("0.20.0");
    served.applied("0.20.0");
    served.reconcile("0.20.0", up);
    let history = format!("{server}/deployments");
    served.plane.get_until(&history, "it succeeds", |rows| rows[0]["status"] == "succeeded");
    let body = served.plane.get(&server);
    assert_eq!((&body["observation"], &body["troubles"]), (&json!([]), &json!([])), "{body:#}");
    let namespace = served.lease.namespace.clone();
    let wanted = ["everything a control plane needs", "it is the control plane's cluster", "roll no fleets"];
    doctor_says(&served, &config, &wanted);

    served.runtime.block_on(take_away(&served.api, &namespace, "pods"));
    served.plane.kill();
    served.plane.start_again();
    let told = |body: &Value| body["observation"].to_string().contains("forbidden");
    let body = served.plane.get_until(&server, "pods are forbidden", told);
    let kinds: Vec<&str> = body["observation"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["trouble"].as_str().is_some_and(|why| why.contains("forbidden")))
        .filter_map(|row| row["object"].as_str())
        .collect();
    assert_eq!(kinds, ["pods"], "{body:#}");
    assert_eq!(body["ready"], Value::Null, "what is not read is not zero");
    served.release("0.21.0");
    served.applied("0.21.0");
    doctor_says(&served, &config, &["list pods, watch pods, delete pods"]);
}

/// Asks the doctor until it says all of this: a machine that is busy with other tests may cost it an answer.
pub(super) fn doctor_says(served: &Served, config: &Path, wanted: &[&str]) {
    let mut left = LOOKS;
    loop {
        let said = doctor(served, config);
        let missing: Vec<_> = wanted.iter().filter(|words| !said.contains(**words)).collect();
        if missing.is_empty() {
            return;
        }
        left -= 1;
        assert!(left > 0, "it never says {missing:?}: {said}");
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn doctor(served: &Served, config: &Path) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (url, config) = (served.plane.url(), config.display().to_string());
    let variables = [("KURA_CONSOLE_API", url.as_str()), ("KURA_CONSOLE_TOKEN", served.plane.token("viewer"))];
    let flags = ["doctor", "-o", "json", "--kubeconfig", &config, "--namespace", &served.lease.namespace];
    kura(folder.path(), &variables, &flags).stdout
}
