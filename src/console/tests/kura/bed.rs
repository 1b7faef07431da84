//! A bed for these tests: servers that were deployed to, and a cluster that agrees with them until a test says otherwise.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::super::facts::Node as Row;
use super::super::super::kura::{Part, Token};
use super::super::super::need::NeedKind;
use super::super::stage::Stage;
use crate::domain::ids::ServerId;
use crate::domain::input::Verb;
use crate::domain::kura::render::render;
use crate::domain::kura::server::{MovePhase, Server, ServerSpec};
use crate::domain::kura::sight::Sight;
use crate::domain::kura::source::{Contact, Source};
use crate::domain::kura::traffic::Endpoint;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::kura::workload::Pod;
use crate::domain::observed::Node;

/// A world with Kura servers, and what is seen of their cluster.
pub(super) struct Bed {
    pub(super) stage: Stage,
    pub(super) sight: Sight,
}

/// Any row of a source, from its fields.
pub(super) fn row<T: DeserializeOwned>(name: &str, mut fields: Value) -> (String, T) {
    let mut stamp = json!({
        "name": name, "uid": format!("u-{name}"), "resource_version": "7", "created_at": "2026-06-20T02:00:00Z",
    });
    if let Some(given) = fields.get("stamp").and_then(Value::as_object) {
        given.iter().for_each(|(field, value)| stamp[field] = value.clone());
    }
    fields["stamp"] = stamp;
    (name.to_owned(), serde_json::from_value(fields).unwrap())
}

impl Bed {
    /// Servers by tenant and region, all of which serve 0.19.0.
    pub(super) fn serving(width: u16, height: u16, servers: &[(&str, &str)]) -> Self {
        let mut bed = Self { stage: Stage::fleet(width, height), sight: Sight::default() };
        for (tenant, region) in servers {
            let (id, spec) = (ServerId::named(&format!("{tenant}-{region}")), Box::<ServerSpec>::default());
            let (tenant, region) = ((*tenant).to_owned(), (*region).to_owned());
            bed.verb(KuraVerb::AddServer { id, tenant, tenant_id: None, region, cluster_id: None, spec });
        }
        bed.release("0.19.0");
        bed.settle();
        bed
    }

    pub(super) fn verb(&mut self, verb: KuraVerb) {
        self.stage.verb(Verb::Kura(verb));
    }

    /// A tag is released, and the scheduler brings every server to it.
    pub(super) fn release(&mut self, tag: &str) {
        self.verb(KuraVerb::ReleaseTag { tag: tag.to_owned() });
        self.stage.picture.observed = Arc::new({
            let mut observed = (*self.stage.picture.observed).clone();
            observed.cluster = None;
            observed
        });
        self.stage.tick();
    }

    /// The cluster comes to agree with all that is wanted of it.
    pub(super) fn agree(&mut self) {
        let servers: Vec<Server> = self.stage.picture.world.kura.servers.values().cloned().collect();
        let live = Contact::Live { as_of: self.stage.now };
        self.sight = Sight { nodes: live.clone(), ..Sight::default() };
        for server in &servers {
            self.put(server);
        }
        self.hear();
        let ready = |_| Node { ready: true, unschedulable: false, version: None, holds_vip: false };
        let observed = Arc::make_mut(&mut self.stage.picture.observed);
        observed.nodes = ["node-0", "node-1"].map(|name| (name.to_owned(), ready(name))).into_iter().collect();
    }

    fn put(&mut self, server: &Server) {
        let Some(tag) = server.wanted_tag() else { return };
        let (name, manifest) = (server.instance_name.as_str(), render(server, tag));
        let spec = manifest.spec().clone();
        let class = spec["ingressClassName"].as_str().unwrap_or("none").to_owned();
        let host = server.public_host().unwrap_or_default();
        let live = json!({
            "spec": spec, "observed_image": tag, "revision": manifest.imprint.revision, "last_reconciled_at": self.stage.now,
        });
        self.sight.instances.rows.extend([row(name, live)]);
        let set = json!({"image": tag, "replicas": 2, "strategy": {"kind": "rolling_update", "partition": 0}});
        self.sight.sets.rows.extend([row(name, set)]);
        for ordinal in 0..2 {
            let pod = json!({
                "instance": name, "node": format!("node-{ordinal}"), "image": tag, "ready": true, "phase": "Running",
                "claims": [format!("data-{name}-{ordinal}")],
            });
            self.sight.pods.rows.extend([row(&format!("{name}-{ordinal}"), pod)]);
        }
        let ingress = json!({"instance": name, "class": class, "hosts": [host], "addresses": ["10.0.0.9"]});
        self.sight.ingresses.rows.extend([row(name, ingress)]);
        self.sight.classes.rows.extend([row(&class, json!({"controller": "nginx", "has_controller": true}))]);
        let probe = json!({
            "as_of": self.stage.now, "dns": {"kind": "addresses", "addresses": ["10.0.0.9"]}, "tls": {"kind": "valid"},
            "up": {"kind": "status", "status": 200},
        });
        self.sight.endpoints.insert(host, serde_json::from_value(probe).unwrap());
    }

    /// Every source says something now; those that are lost or forbidden stay so.
    pub(super) fn hear(&mut self) {
        let as_of = self.stage.now;
        let live = |contact: &mut Contact| {
            if matches!(contact, Contact::Never | Contact::Live { .. }) {
                *contact = Contact::Live { as_of };
            }
        };
        let Sight { instances, gateways, sets, pods, claims, volumes, ingresses, classes, certificates, nodes, .. } =
            &mut self.sight;
        let all = [
            &mut instances.contact,
            &mut gateways.contact,
            &mut sets.contact,
            &mut pods.contact,
            &mut claims.contact,
            &mut volumes.contact,
            &mut ingresses.contact,
            &mut classes.contact,
            &mut certificates.contact,
            nodes,
        ];
        all.into_iter().for_each(live);
        for host in self.sight.endpoints.keys().cloned().collect::<Vec<_>>() {
            self.probe(&host, |probe| probe.as_of = as_of);
        }
        let names: Vec<String> = self.sight.instances.rows.keys().cloned().collect();
        for name in names {
            let live = self.sight.instances.rows.get_mut(&name).unwrap();
            live.last_reconciled_at = live.last_reconciled_at.map(|_| as_of);
        }
        self.see();
    }

    /// The picture gets what is seen.
    pub(super) fn see(&mut self) {
        Arc::make_mut(&mut self.stage.picture.observed).cluster = Some(self.sight.clone());
    }

    /// Everything agrees, and ticks bring it to where it belongs.
    pub(super) fn settle(&mut self) {
        self.agree();
        self.stage.tick();
        self.stage.tick();
    }

    /// Time goes by; the cluster is heard of and ticks go on.
    pub(super) fn pass(&mut self, seconds: u64) {
        self.hear();
        self.stage.tick();
        self.stage.pass(seconds);
        self.hear();
        self.stage.tick();
    }

    pub(super) fn shown(mut self) -> Self {
        self.see();
        self.stage.show();
        self
    }

    pub(super) fn pod(&mut self, name: &str, change: impl FnOnce(&mut Pod)) {
        change(self.sight.pods.rows.get_mut(name).unwrap());
    }

    /// What was probed of a host is otherwise.
    pub(super) fn probe(&mut self, host: &str, change: impl FnOnce(&mut Endpoint)) {
        change(self.sight.endpoints.get_mut(host).unwrap());
    }

    pub(super) fn id(name: &str) -> ServerId {
        ServerId::named(name)
    }

    pub(super) fn move_server(&mut self, name: &str, phase: MovePhase) {
        self.verb(KuraVerb::MoveServer { server: Self::id(name), phase });
    }

    /// What needs a human, with its text.
    pub(super) fn needs(&self) -> Vec<(NeedKind, String, String)> {
        let needs = self.stage.model.facts.needs.iter();
        needs.map(|need| (need.kind, need.name.clone(), need.text.clone())).collect()
    }

    /// The screen as one text without its line breaks.
    pub(super) fn words(&self) -> String {
        self.stage.screen().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A gateway of nobody, or of a tenant.
    pub(super) fn gateway(&mut self, name: &str, fields: Value) {
        self.sight.gateways.rows.extend([row(name, fields)]);
    }

    /// A node that is not Ready has these pods.
    pub(super) fn dead_node(&mut self, node: &str, pods: &[&str]) {
        for pod in pods {
            self.pod(pod, |pod| (pod.node, pod.ready) = (Some(node.to_owned()), false));
        }
        let dead = Node { ready: false, unschedulable: false, version: None, holds_vip: false };
        Arc::make_mut(&mut self.stage.picture.observed).nodes.insert(node.to_owned(), dead);
    }
}

/// A source that cannot be read.
pub(super) fn veil<T: Clone>(source: &mut Source<T>, contact: Contact) {
    source.contact = contact;
}

/// The row of a group.
pub(super) fn group(kind: &str, name: &str) -> Row {
    Row::Kura(Part::Group(Token::of(kind, name)))
}

/// The row of a server.
pub(super) fn server(name: &str) -> Row {
    Row::Kura(Part::Server(ServerId::named(name)))
}
