//! Views of Kura servers and of the cluster they run in.

use serde_json::{Value, json};

use super::super::run::Run;
use super::super::screens::Consoles;
use super::body::Lens;
use crate::domain::ids::ServerId;
use crate::domain::kura::incidents::dead_nodes;
use crate::domain::kura::orphans::orphans;
use crate::domain::kura::render::render;
use crate::domain::kura::server::Server;
use crate::domain::kura::skew::meshes;
use crate::domain::kura::workload::Pod;
use crate::wire::kura::deployment::DeploymentBody;
use crate::wire::kura::gateway::GatewayBody;
use crate::wire::kura::manifest::ManifestBody;
use crate::wire::kura::server::ServerBody;

impl<C: Consoles> Run<C> {
    /// One server; `{}` where there is none of that name.
    pub(super) fn kura_server(&self, id: &str) -> Value {
        let lens = self.lens();
        let found = lens.world.kura.servers.get(&ServerId::named(id));
        found.map_or_else(|| json!({}), |server| self.server_body(&lens, server))
    }

    fn server_body(&self, lens: &Lens<'_>, server: &Server) -> Value {
        let mut body = json!(ServerBody::of(lens.world, &lens.observed, server, lens.now));
        let sight = lens.observed.cluster.as_ref();
        let live = sight.and_then(|sight| sight.instances.get(&server.instance_name));
        body["server"] = json!(self.ids.name(server.id.0));
        body["live"] = live.map_or(Value::Null, |live| (*live.spec).clone());
        body["rendered"] = server.wanted_tag().map_or(Value::Null, |tag| render(server, tag).spec().clone());
        self.dressed(body)
    }

    /// Its deployments, oldest first.
    pub(super) fn deployments(&self, id: &str) -> Value {
        let Some(server) = self.witness.world.kura.servers.get(&ServerId::named(id)) else { return json!([]) };
        let rows = server.deployments.iter().map(|row| json!(DeploymentBody::of(server.id, row)));
        self.dressed(Value::Array(rows.collect()))
    }

    /// Every server, and what they share.
    pub(super) fn kura(&self) -> Value {
        let lens = self.lens();
        let servers: Vec<Value> =
            lens.world.kura.servers.values().map(|server| self.server_body(&lens, server)).collect();
        let cluster = lens.observed.cluster.clone().unwrap_or_default();
        let mut regions = serde_json::Map::new();
        for server in lens.world.kura.servers.values() {
            let names = regions.entry(server.region.clone()).or_insert_with(|| json!([]));
            if let (Value::Array(names), Some(name)) = (names, self.ids.name(server.id.0)) {
                names.push(json!(name));
            }
        }
        json!({
            "target": lens.world.kura.target(),
            "servers": servers,
            "meshes": meshes(&lens.world.kura, &cluster.pods_by_instance()),
            "dead_nodes": dead_nodes(&cluster, &lens.observed.nodes),
            "regions": regions,
            "troubles": cluster.troubles(lens.now).into_iter().map(|(kind, trouble)| json!({ "kind": kind, "trouble": trouble })).collect::<Vec<_>>(),
        })
    }

    /// What is rendered for a server, and what is there.
    pub(super) fn manifest(&self, id: &str) -> Value {
        let lens = self.lens();
        let found = lens.world.kura.servers.get(&ServerId::named(id));
        found.map_or_else(|| json!({}), |server| json!(ManifestBody::of(&lens.observed, server)))
    }

    /// Every gateway.
    pub(super) fn gateways(&self) -> Value {
        let lens = self.lens();
        let rows = lens.observed.cluster.as_ref().map(|sight| GatewayBody::all(lens.world, sight, lens.now));
        json!(rows.unwrap_or_default())
    }

    /// Orphans in both directions.
    pub(super) fn orphans(&self) -> Value {
        let lens = self.lens();
        let found = lens.observed.cluster.as_ref().map(|sight| orphans(&lens.world.kura, sight, lens.now));
        json!(found.unwrap_or_default())
    }

    /// Pods as the first living process sees them.
    pub(super) fn pods(&self) -> Value {
        let cluster = self.lens().observed.cluster.unwrap_or_default();
        let row = |pod: &Pod| {
            json!({
                "name": pod.stamp.name,
                "instance": pod.instance,
                "node": pod.node,
                "image": pod.image,
                "ready": pod.ready,
                "phase": pod.phase,
                "reason": pod.reason,
                "labels": pod.stamp.labels,
            })
        };
        Value::Array(cluster.pods.rows.values().map(row).chain(self.pods_of_rolls()).collect())
    }

    /// Accepted writes of our processes, in order.
    pub(super) fn cluster_writes(&self) -> Value {
        let start = self.ground.start;
        let row = |one: &crate::sim::cluster::objects::Written| {
            json!({
                "at": super::super::file::moment::Moment::of(one.at, start).0,
                "verb": one.verb,
                "kind": one.kind.name(),
                "name": one.name,
                "by": one.by,
                "process": one.process,
            })
        };
        self.ground.outside.cluster.with(|objects| Value::Array(objects.written.iter().map(row).collect()))
    }
}
