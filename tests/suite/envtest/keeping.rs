//! Control planes whose journal is in the cluster: two of them, with the rights that `manifests` prints, one killed.

use std::path::PathBuf;

use clap::Parser;
use kura_console::app::manifests::args::Args;
use kura_console::app::manifests::run::objects;
use kura_console::control::ports::{AppendError, Journal, JournalError};
use kura_console::domain::ids::AccountId;
use serde_json::{Value, json};

use super::cluster::Lease;
use crate::e2e::command::kura;
use crate::e2e::plane::Plane;
use crate::journal::beds::{Bed, Kubernetes};
use crate::journal::changes::batch;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

#[derive(Parser)]
struct Typed {
    #[command(flatten)]
    args: Args,
}

/// The service account with the rights on a journal, as the program prints them, and nothing else; its kubeconfig.
async fn introduce(lease: &Lease) -> PathBuf {
    let (namespace, api) = (lease.namespace.as_str(), lease.cluster.admin());
    let flags = ["manifests", "--namespace", namespace, "--no-cluster", "--journal", "kubernetes"];
    for object in objects(&Typed::parse_from(flags).args) {
        let path = match object["kind"].as_str().unwrap_or_default() {
            "ServiceAccount" => format!("/api/v1/namespaces/{namespace}/serviceaccounts"),
            "Role" => format!("{RBAC}/namespaces/{namespace}/roles"),
            "RoleBinding" => format!("{RBAC}/namespaces/{namespace}/rolebindings"),
            _ => continue,
        };
        api.create(&path, &object).await.done();
    }
    let asked = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = format!("/api/v1/namespaces/{namespace}/serviceaccounts/kura-console/token");
    let token = api.create(&token, &asked).await.done();
    lease.cluster.bearer_config(namespace, token["status"]["token"].as_str().expect("a token"))
}

fn revision(plane: &Plane) -> u64 {
    plane.get("/api/world")["world"]["revision"].as_u64().expect("a revision")
}

fn heard(plane: &Plane, revision: u64) {
    let reached = |body: &Value| body["world"]["revision"].as_u64().is_some_and(|now| now >= revision);
    plane.get_until("/api/world", "what the other one did", reached);
}

#[test]
fn two_control_planes_on_a_cluster_hand_the_seat_on_with_the_rights_of_manifests() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let Some(lease) = runtime.block_on(Lease::take()) else { return };
    let config = runtime.block_on(introduce(&lease));
    let url = format!("kubernetes://{}/kura-console?kubeconfig={}", lease.namespace, config.display());
    let mut one = Plane::on(&url);
    one.get_until("/api/seat", "a tick", |seat| !seat["last_tick"].is_null());
    let two = one.elsewhere();
    let made = two.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
    heard(&one, revision(&two));
    one.post("/api/config/releases/build-from-git", &json!({"git_ref": "v1"}));
    heard(&two, revision(&one));
    let secret = two.request(reqwest::Method::PUT, "/api/secrets/PLANTED").bearer_auth(two.token("owner"));
    let (status, _, said) = two.send(secret.json(&json!({"value": "canary"})));
    assert!((200..300).contains(&status), "{status} {said}");
    one.get_until("/api/secrets/", "the name of a secret", |body| body[0]["name"] == "PLANTED");

    one.kill();
    two.post(
        &format!("/api/config/environments/{}/pause", made["uuid"].as_str().expect("an id")),
        &json!({"reason": "x"}),
    );
    two.get_until("/api/seat", "the seat is taken", |seat| seat["epoch"] == 2);
    let run = |arguments: &[&str]| {
        kura(two.folder(), &[("KURA_CONSOLE_JOURNAL", url.as_str())], &[&["journal"], arguments].concat())
    };
    let verified = run(&["verify"]);
    assert!(
        verified.stdout.contains("1 contents, 1 secrets") && verified.stdout.contains("nothing is wrong"),
        "{verified:?}"
    );
    let exported = run(&["export"]).stdout;
    assert!(exported.contains("seat_taken") && !exported.contains("canary"), "{exported}");
    let copied = kura(two.folder(), &[], &["journal", "copy", &url, "sqlite:saved.db"]);
    assert!(copied.stdout.contains("both ends are the same"), "{copied:?}");
    let there = kura(two.folder(), &[], &["journal", "export", "--journal", "sqlite:saved.db"]).stdout;
    assert!(there.starts_with(&exported), "the file has it all");
    let backup = run(&["backup", "--to", "saved"]);
    assert!(backup.code == Some(2) && backup.stderr.contains("journal copy"), "{backup:?}");

    let misspelt = format!("kubernetes://{}/kura-consol?kubeconfig={}", lease.namespace, config.display());
    let refused = kura(two.folder(), &[], &["journal", "verify", "--journal", &misspelt]);
    assert!(refused.code == Some(1) && refused.stderr.contains("there is no journal kura-consol in"), "{refused:?}");
    let nowhere = format!("kubernetes://{}/kura-console?context=nobody", lease.namespace);
    let refused = kura(two.folder(), &[], &["journal", "verify", "--journal", &nowhere]);
    assert!(refused.code == Some(2) && refused.stderr.contains("kubeconfig"), "{refused:?}");
    let stranger = lease.cluster.introduce("stranger", &[]);
    let forbidden = format!("kubernetes://{}/kura-console?kubeconfig={}", lease.namespace, stranger.display());
    let refused = kura(two.folder(), &[], &["journal", "verify", "--journal", &forbidden]);
    assert!(refused.code == Some(2) && refused.stderr.contains("forbidden"), "{refused:?}");
}

/// Whoever takes the seat makes the journal short; what was read before that is no ground to append on.
#[test]
fn a_journal_in_a_cluster_is_compacted_by_itself_and_takes_nothing_from_before() {
    // R28
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let Some(bed) = runtime.block_on(Kubernetes::bed()) else { return };
    let config = bed.lease.cluster.admin_config();
    let url = format!("kubernetes://{}/kura?kubeconfig={}", bed.lease.namespace, config.display());
    let mut plane = Plane::with(&["--journal", &url, "--keep-entries", "20"]);
    for place in 1..=30 {
        plane.post("/api/config/environments/", &json!({"slug": format!("oak-{place}"), "promotion_order": place}));
    }
    let account = AccountId::named("default");
    let late = runtime.block_on(bed.open());
    let before = runtime.block_on(late.head(account)).expect("a head");
    assert!(before.oldest == 1 && before.revision > 60, "nobody compacts between two hours: {before:?}");
    assert!(plane.ends_in_order());
    plane.start_again();
    let shortened = async || late.head(account).await.is_ok_and(|head| head.oldest > 1);
    runtime.block_on(bed.lease.cluster.until("whoever takes the seat compacts", shortened));

    let after = runtime.block_on(late.head(account)).expect("a head");
    assert!(after.revision - after.oldest < 25 && after.oldest > 40, "{after:?}");
    for expected in [after.oldest - 2, before.revision] {
        let refused = runtime.block_on(late.append(batch(account, expected, 2, 1)));
        assert!(matches!(refused, Err(AppendError::Outrun { head }) if head.oldest == after.oldest), "{refused:?}");
    }
    let behind = runtime.block_on(late.read(account, after.oldest - 2, 10));
    assert!(matches!(behind, Err(JournalError::Compacted { .. })), "{behind:?}");
    assert_eq!(plane.get("/api/config/environments/").as_array().map(Vec::len), Some(30), "what they came to stays");
    let verified = kura(plane.folder(), &[("KURA_CONSOLE_JOURNAL", url.as_str())], &["journal", "verify"]);
    assert!(verified.stdout.contains("nothing is wrong"), "{verified:?}");
}
