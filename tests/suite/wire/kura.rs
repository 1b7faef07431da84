//! Bodies about Kura servers, made from an estate in trouble: a wedged manifest, a stuck gateway, an orphan of each kind.

use jiff::Timestamp;
use kura_console::domain::decide::decide;
use kura_console::domain::ids::{RolloutId, ServerId};
use kura_console::domain::input::{Input, Order, Verb};
use kura_console::domain::kura::object::{ACCOUNT_LABEL, INSTANCE_LABEL, REGION_LABEL};
use kura_console::domain::kura::orphans::orphans;
use kura_console::domain::kura::sight::Sight;
use kura_console::domain::kura::source::{Contact, Source};
use kura_console::domain::kura::verb::KuraVerb;
use kura_console::domain::observed::Observed;
use kura_console::domain::plan::plan;
use kura_console::domain::verdict::Reply;
use kura_console::domain::world::World;
use kura_console::wire::kura::deployment::DeploymentBody;
use kura_console::wire::kura::gateway::GatewayBody;
use kura_console::wire::kura::manifest::ManifestBody;
use kura_console::wire::kura::server::ServerBody;
use kura_console::wire::kura::tag::TagBody;
use kura_console::wire::plan::PlanBody;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::golden::{at, body};

/// Facts and what is seen, moved on by hand.
struct Estate {
    world: World,
    sight: Sight,
    now: Timestamp,
}

impl Estate {
    fn give(&mut self, verb: KuraVerb) -> Reply {
        let (by, reason) = ("jane".to_owned(), Some("it is wedged".to_owned()));
        self.take(&Input::Verb(Order { verb: Verb::Kura(verb), by, reason, key: None }))
    }

    fn take(&mut self, input: &Input) -> Reply {
        let verdict = decide(&self.world, &self.observed(), input, self.now);
        let author = input.author(&self.world, "serve@bastion-1:4711");
        author.entries(&self.world, &verdict.changes, self.now).iter().for_each(|entry| self.world.apply(entry));
        assert!(!matches!(verdict.reply, Reply::Refused(_)), "{:?}", verdict.reply);
        verdict.reply
    }

    fn observed(&self) -> Observed {
        Observed { cluster: Some(self.sight.clone()), ..Observed::starting_at(at(-600)) }
    }
}

fn row<T: DeserializeOwned>(name: &str, labels: Value, rest: Value) -> (String, T) {
    let mut stamp = json!({
        "name": name, "uid": format!("u-{name}"), "resource_version": "7", "created_at": at(-3_600), "labels": labels,
    });
    let mut fields = rest;
    if let Some(over) = fields.as_object_mut().and_then(|fields| fields.remove("stamp")) {
        stamp.as_object_mut().unwrap().extend(over.as_object().unwrap().clone());
    }
    fields["stamp"] = stamp;
    (name.to_owned(), serde_json::from_value(fields).unwrap())
}

/// What stands in the cluster: acme's instance on a class of its own that nobody serves, and somebody's leftovers.
fn sight() -> Sight {
    let mine = || json!({INSTANCE_LABEL: "kura-acme-eu", ACCOUNT_LABEL: "acme", REGION_LABEL: "eu"});
    let instance = json!({
        "spec": {"image": "0.20.0", "ingressClassName": "kgw-acme-eu", "publicHost": "acme-eu.kura.tuist.dev"},
        "revision": "00c0ffee00c0ffee", "observed_image": "0.20.0", "ready_replicas": 1, "phase": "Pending",
        "last_reconciled_at": at(560),
    });
    let pod = |ready: bool, image: &str| {
        json!({
            "instance": "kura-acme-eu", "node": "node-1", "image": image, "ready": ready, "phase": "Running",
            "reason": if ready { Value::Null } else { json!("CrashLoopBackOff") },
        })
    };
    let stuck = json!({
        "class": "kgw-old", "region": "eu", "phase": "Terminating", "last_reconciled_at": at(-86_400),
        "stamp": {"deleting_since": at(-7_200), "finalizers": ["kuragateways.kura.tuist.dev/finalizer"]},
    });
    let set = json!({"image": "0.20.0", "replicas": 2, "strategy": {"kind": "on_delete"}, "strategy_since": at(60)});
    let class = json!({"controller": "k8s.io/kgw-acme-eu", "has_controller": false});
    let as_of = at(599);
    Sight {
        instances: Source::live(
            [row("kura-acme-eu", mine(), instance), row("kura-ghost-eu", json!({}), json!({"spec": {}}))],
            as_of,
        ),
        gateways: Source::live(
            [
                row("kgw-acme-eu", mine(), json!({"class": "kgw-acme-eu", "region": "eu"})),
                row("kgw-old", json!({}), stuck),
            ],
            as_of,
        ),
        sets: Source::live([row("kura-acme-eu", mine(), set)], as_of),
        pods: Source::live(
            [row("kura-acme-eu-0", mine(), pod(true, "0.20.0")), row("kura-acme-eu-1", mine(), pod(false, "0.19.0"))],
            as_of,
        ),
        claims: Source::live([], as_of),
        volumes: Source::live([], as_of),
        ingresses: Source::live([], as_of),
        classes: Source::live([row("kgw-acme-eu", json!({}), class)], as_of),
        certificates: Source { contact: Contact::Absent { as_of }, ..Source::default() },
        services: Source::live([], as_of),
        notices: Source::live([], as_of),
        nodes: Contact::Forbidden { as_of, why: "nodes is forbidden".to_owned() },
        ..Sight::default()
    }
}

/// 0.19.0 was superseded by 0.20.0, which is applied and waits.
fn wedged() -> Estate {
    let mut estate = Estate { world: World::default(), sight: Sight::default(), now: at(0) };
    let tick = Input::Tick { fresh: RolloutId::named("next") };
    for tenant in ["acme", "birch"] {
        let (id, region) = (ServerId::named(tenant), "eu".to_owned());
        let (tenant, spec) = (tenant.to_owned(), Box::default());
        estate.give(KuraVerb::AddServer { id, tenant, tenant_id: None, region, cluster_id: None, spec });
    }
    for (tag, now) in [("0.19.0", 10), ("0.20.0", 300)] {
        estate.now = at(now);
        estate.give(KuraVerb::ReleaseTag { tag: tag.to_owned() });
        estate.take(&tick);
    }
    estate.sight = sight();
    estate.now = at(600);
    estate.take(&tick);
    estate
}

fn acme() -> ServerId {
    ServerId::named("acme")
}

#[test]
fn a_server_in_trouble_says_everything_in_one_body() {
    let estate = wedged();
    let server = &estate.world.kura.servers[&acme()];
    let shown = ServerBody::of(&estate.world, &estate.observed(), server, at(610));
    assert_eq!((shown.ready, shown.replicas, shown.pods_on_old_image.len()), (Some(1), 2, 1));
    assert_eq!((shown.drift, shown.consecutive_superseded), (Some(true), 1));
    body("kura-server", &shown);
    let rows: Vec<_> = server.deployments.iter().rev().map(|row| DeploymentBody::of(server.id, row)).collect();
    body("kura-deployments", &rows);
    body("kura-manifest", &ManifestBody::of(&estate.observed(), server));
}

#[test]
fn what_is_released_and_what_stands_about() {
    let estate = wedged();
    body("kura-runtime-tags", &TagBody::page(&estate.world.kura, None, 10));
    let gateways = GatewayBody::all(&estate.world, &estate.sight, at(610));
    assert_eq!(gateways[0].used_by.as_deref(), Some("instance kura-acme-eu"));
    body("kura-gateways", &gateways);
    let orphans = orphans(&estate.world.kura, &estate.sight, at(610));
    assert_eq!(orphans.len(), 2, "{orphans:?}");
    body("kura-orphans", &orphans);
}

#[test]
fn a_forced_deployment_is_planned() {
    let estate = wedged();
    let verb = Verb::Kura(KuraVerb::Deploy { server: acme(), tag: "0.19.0".to_owned(), force: true });
    let plan = plan(&verb, &estate.world, &estate.observed(), "jane", at(610));
    assert_eq!(plan.refused, None);
    body("plan-kura-deploy", &PlanBody::of(&verb, &plan, &estate.world));
}

#[test]
fn without_a_cluster_a_server_says_so_and_guesses_nothing() {
    // K27
    let estate = wedged();
    let blind = Observed::starting_at(at(-600));
    let shown = ServerBody::of(&estate.world, &blind, &estate.world.kura.servers[&acme()], at(610));
    let told = json!(shown.observation);
    assert_eq!(told, json!([{"object": "cluster", "trouble": "no cluster is connected"}]));
    assert_eq!((shown.drift, shown.ready, shown.not_ready_deletion), (None, None, None));
    let chain = json!(shown.chain).to_string();
    assert!(!chain.contains("\"whole\"") && !chain.contains("\"broken\""), "{chain}");
}
