//! The renderer: pure, deterministic, and every field counts (K21, K22, K49, K50).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::domain::ids::ServerId;
use crate::domain::kura::canonical::{REVISION_DIGITS, canonical};
use crate::domain::kura::object::REVISION_ANNOTATION;
use crate::domain::kura::render::{Manifest, render};
use crate::domain::kura::server::{GatewayMode, Server, ServerSpec, instance_name};

fn server() -> Server {
    Server::new(ServerId::named("acme"), "acme", "eu-central-1", Timestamp::UNIX_EPOCH)
}

fn with(change: impl FnOnce(&mut Server)) -> Manifest {
    let mut server = server();
    change(&mut server);
    render(&server, "0.20.0")
}

#[test]
fn a_server_on_a_shared_gateway_is_rendered_as_it_always_was() {
    // K21, K49, K50
    let manifest = with(|_| {});
    let expected = json!({
        "apiVersion": "kura.tuist.dev/v1alpha1",
        "kind": "KuraInstance",
        "metadata": {
            "name": "kura-acme-eu-central-1",
            "labels": {
                "app.kubernetes.io/name": "kura",
                "app.kubernetes.io/instance": "kura-acme-eu-central-1",
                "app.kubernetes.io/managed-by": "kura-console",
                "tuist.dev/account": "acme",
                "tuist.dev/region": "eu-central-1",
            },
            "annotations": { REVISION_ANNOTATION: manifest.imprint.revision },
        },
        "spec": {
            "accountHandle": "acme",
            "tenantID": "acme",
            "region": "eu-central-1",
            "image": "0.20.0",
            "replicas": 2,
            "publicHost": "acme-eu-central-1.kura.tuist.dev",
            "ingressClassName": "kura-eu-central-1",
            "publicHostNetwork": false,
            "storageSize": "20Gi",
            "nodeSelector": {},
            "tolerations": [],
            "extraEnv": [],
            "private": false,
            "mesh": true,
        },
    });
    assert_eq!(manifest.instance, expected);
    assert_eq!(manifest.gateway, None);
    assert_eq!(manifest.imprint.revision, "1113a069e426ebd5", "a revision that moves re-applies every server there is");
}

#[test]
fn a_server_with_a_gateway_of_its_own_is_rendered_with_it() {
    // K21, K49
    let manifest = with(|server| {
        server.spec_mut().gateway = GatewayMode::Dedicated;
        server.spec_mut().image_repository = Some("ghcr.io/tuist/kura".to_owned());
        server.spec_mut().node_selector.insert("pool".to_owned(), "kura".to_owned());
        server.spec_mut().extra_env.insert("RUST_LOG".to_owned(), "info".to_owned());
    });
    assert_eq!(manifest.spec()["image"], "ghcr.io/tuist/kura:0.20.0");
    assert_eq!(manifest.spec()["ingressClassName"], "kgw-acme-eu-central-1");
    assert_eq!(manifest.spec()["extraEnv"], json!([{ "name": "RUST_LOG", "value": "info" }]));
    let gateway = manifest.gateway.unwrap();
    assert_eq!(gateway["metadata"]["name"], "kgw-acme-eu-central-1");
    let spec = json!({
        "region": "eu-central-1",
        "ingressClassName": "kgw-acme-eu-central-1",
        "controllerClassName": "kura.tuist.dev/gateway",
        "replicas": 2,
        "nodeSelector": { "pool": "kura" },
        "hostNetwork": false,
    });
    assert_eq!(gateway["spec"], spec);
    assert_eq!(manifest.imprint.revision, "118c8c27da900a02");
}

#[test]
fn the_move_to_a_shared_class_renders_no_gateway_any_more() {
    // K23 (I1)
    let dedicated = with(|server| server.spec_mut().gateway = GatewayMode::Dedicated);
    let shared = with(|server| {
        server.spec_mut().gateway = GatewayMode::Dedicated;
        server.spec_mut().overrides.insert("ingressClassName".to_owned(), json!("kura-eu-central"));
    });
    assert!(dedicated.gateway.is_some() && shared.gateway.is_none());
    assert_ne!(dedicated.imprint.revision, shared.imprint.revision);
}

#[test]
fn a_name_is_never_longer_than_the_cluster_takes() {
    // K50
    assert_eq!(instance_name("acme", "eu"), "kura-acme-eu");
    let (a, b) = (instance_name(&"a".repeat(60), "eu-1"), instance_name(&"a".repeat(60), "eu-2"));
    assert_eq!((a.len(), b.len()), (53, 53));
    assert_ne!(a, b);
}

type Edit = fn(&mut Server);

/// One change per field of what is configured, and of what a server is.
fn changes() -> Vec<(&'static str, Edit)> {
    vec![
        ("tenant", |s| "other".clone_into(&mut s.tenant)),
        ("tenant_id", |s| "t-7".clone_into(&mut s.tenant_id)),
        ("region", |s| "us".clone_into(&mut s.region)),
        ("instance_name", |s| "kura-x".clone_into(&mut s.instance_name)),
        ("replicas", |s| s.spec_mut().replicas = 3),
        ("public_host", |s| s.spec_mut().public_host = Some("a.example".to_owned())),
        ("public_host_network", |s| s.spec_mut().public_host_network = true),
        ("storage_class", |s| s.spec_mut().storage_class = Some("fast".to_owned())),
        ("storage_size", |s| "21Gi".clone_into(&mut s.spec_mut().storage_size)),
        ("gateway", |s| s.spec_mut().gateway = GatewayMode::Dedicated),
        ("image_repository", |s| s.spec_mut().image_repository = Some("r".to_owned())),
        ("node_selector", |s| drop(s.spec_mut().node_selector.insert("a".to_owned(), "b".to_owned()))),
        ("tolerations", |s| s.spec_mut().tolerations.push(json!({ "key": "k" }))),
        ("extra_env", |s| drop(s.spec_mut().extra_env.insert("A".to_owned(), "b".to_owned()))),
        ("private", |s| s.spec_mut().private = true),
        ("mesh", |s| s.spec_mut().mesh = false),
        ("overrides", |s| drop(s.spec_mut().overrides.insert("private".to_owned(), json!(true)))),
    ]
}

#[test]
fn every_field_moves_the_revision() {
    // K22
    let mut revisions: BTreeSet<String> = BTreeSet::from([with(|_| {}).imprint.revision]);
    for (field, change) in changes() {
        assert!(revisions.insert(with(change).imprint.revision), "{field} is not in the revision");
    }
    assert!(revisions.insert(render(&server(), "0.20.1").imprint.revision), "the tag");
    let fields = serde_json::to_value(ServerSpec::default()).unwrap();
    let known: BTreeSet<&str> = changes().iter().map(|(field, _)| *field).collect();
    let missing: Vec<&String> = fields.as_object().unwrap().keys().filter(|f| !known.contains(f.as_str())).collect();
    assert!(missing.is_empty(), "a field of the spec that no test changes: {missing:?}");
    assert!(revisions.iter().all(|revision| revision.len() == REVISION_DIGITS));
}

fn spec() -> impl Strategy<Value = ServerSpec> {
    let words = || prop::collection::btree_map("[a-c]{1,2}", "[a-z]{0,3}", 0..3);
    let gateway = prop_oneof![Just(GatewayMode::Shared), Just(GatewayMode::Dedicated), Just(GatewayMode::NodePort)];
    let overrides = prop::collection::btree_map("(publicHost|storageSize|extra)", "[a-z]{1,4}", 0..3);
    (1..9_u32, any::<[bool; 3]>(), gateway, words(), words(), overrides).prop_map(
        |(replicas, [public_host_network, private, mesh], gateway, node_selector, extra_env, overrides)| ServerSpec {
            replicas,
            public_host_network,
            private,
            mesh,
            gateway,
            node_selector,
            extra_env,
            overrides: overrides.into_iter().map(|(name, value)| (name, json!(value))).collect::<BTreeMap<_, _>>(),
            ..ServerSpec::default()
        },
    )
}

/// The same value, with every object written in the opposite order.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let pairs = fields.iter().rev().map(|(name, value)| format!("{}:{}", json!(name), reversed(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(reversed).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

proptest! {
    #[test]
    fn order_and_defaults_never_change_what_is_rendered(spec in spec(), tag in "0\\.[0-9]\\.[0-9]") {
        // K21, K22
        let rendered = |spec: &ServerSpec| {
            let spec = Arc::new(spec.clone());
            render(&Server { spec, ..server() }, &tag)
        };
        let whole = serde_json::to_value(&spec).unwrap();
        let shuffled: ServerSpec = serde_json::from_str(&reversed(&whole)).unwrap();
        let defaults = serde_json::to_value(ServerSpec::default()).unwrap();
        let mut sparse = whole.as_object().unwrap().clone();
        sparse.retain(|name, value| defaults.get(name) != Some(value));
        let sparse: ServerSpec = serde_json::from_value(Value::Object(sparse)).unwrap();
        let manifest = rendered(&spec);
        prop_assert_eq!(&rendered(&shuffled), &manifest);
        prop_assert_eq!(&rendered(&sparse), &manifest);
        prop_assert_eq!(&rendered(&spec), &manifest);
        let again: Value = serde_json::from_str(&reversed(&manifest.instance)).unwrap();
        prop_assert_eq!(canonical(&again), canonical(&manifest.instance));
    }

    #[test]
    fn specs_that_differ_are_rendered_with_revisions_that_differ(a in spec(), b in spec()) {
        // K22
        let rendered = |spec: &ServerSpec| render(&Server { spec: Arc::new(spec.clone()), ..server() }, "0.20.0");
        let (a, b) = (rendered(&a), rendered(&b));
        let same = |manifest: &Manifest| (canonical(manifest.spec()), manifest.gateway.as_ref().map(canonical));
        prop_assert_eq!(same(&a) == same(&b), a.imprint.revision == b.imprint.revision);
    }
}
