//! Kura servers of `given`: what the control plane knows of them, and the cluster that agrees with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::cluster::fleet::Pace;
use super::super::cluster::objects::Objects;
use super::super::cluster::outside::PodChange;
use super::file::given::{Agents, Given};
use super::file::kura_given::{DeploymentGiven, GatewayGiven, InstanceGiven, PodGiven, RowGiven, ServerGiven};
use super::file::moment::Moment;
use super::file::name::Name;
use super::file::place::{Fault, Placed};
use super::ids::Ids;
use crate::domain::kura::deployment::{Deployment, DeploymentStatus};
use crate::domain::kura::object::{ACCOUNT_LABEL, MANAGED_BY_LABEL, REGION_LABEL};
use crate::domain::kura::render::render;
use crate::domain::kura::server::{PodMark, Roll, Server, ServerSpec, ServerStatus, instance_name};
use crate::domain::kura::traffic::Gateway;
use crate::domain::span::Seconds;

/// How old things are where the file does not say.
const LONG_AGO: Moment = Moment(-86_400);

/// Who scheduled what was there before the start.
const SCHEDULER: &str = "scheduler";

/// A text as it was spelt.
pub(super) fn text(name: &Name) -> String {
    match name {
        Name::Id(id) => id.clone(),
        Name::Odd(value) => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

/// A server as the control plane knows it at the start.
pub(super) fn server(given: &Placed<ServerGiven>, start: Timestamp, ids: &mut Ids) -> Result<Server, Fault> {
    let (place, given) = (given.place, &given.value);
    let tenant = given.tenant.as_deref().unwrap_or(&given.id);
    let mut server = Server::new(ids.server(&given.id), tenant, &given.region, LONG_AGO.after(start));
    server.instance_name = instance_name(tenant, &given.region);
    let mut spec = spec(&given.spec).map_err(|why| Fault::at(place, why))?;
    spec.replicas = given.replicas.unwrap_or(spec.replicas);
    spec.overrides.extend(given.rendered.clone());
    server.spec = Arc::new(spec);
    server.move_phase = given.move_phase;
    server.current_image_tag = given.current_tag.as_ref().map(text);
    server.url = server.current_image_tag.as_ref().and(server.public_host()).map(|host| format!("https://{host}"));
    let served = server.current_image_tag.is_some();
    let usual = if served { ServerStatus::Active } else { ServerStatus::Provisioning };
    server.status = given.status.unwrap_or(usual);
    history(&mut server, given, start);
    server.observed_image_tag = live_tag(&server);
    server.roll =
        server.observed_image_tag.clone().map(|image| Roll { image, fixed: true, pods: Vec::<PodMark>::new() });
    Ok(server)
}

/// Fields of a server's spec by their names; any other is one of the instance's.
fn spec(given: &BTreeMap<String, Value>) -> Result<ServerSpec, String> {
    let mut known = json!(ServerSpec::default());
    let mut overrides = BTreeMap::new();
    for (field, value) in given {
        match known.get_mut(field) {
            Some(own) => *own = value.clone(),
            None => drop(overrides.insert(field.clone(), value.clone())),
        }
    }
    let mut spec: ServerSpec = serde_json::from_value(known).map_err(|why| format!("spec: {why}"))?;
    spec.overrides.extend(overrides);
    Ok(spec)
}

fn history(server: &mut Server, given: &ServerGiven, start: Timestamp) {
    let mut rows: Vec<Deployment> = given.history.iter().map(|row| past(server, row, start)).collect();
    if let Some(last) = &given.deployment {
        rows.push(latest(server, last, start));
    }
    let next: Vec<Option<String>> = rows.iter().skip(1).map(|row| Some(row.image_tag.clone())).chain([None]).collect();
    for (row, next) in rows.iter_mut().zip(next) {
        row.displaced_by = next.filter(|_| row.status == DeploymentStatus::Superseded);
        row.id = server.next_deployment();
        server.attempts += 1;
        server.deployments.push_back(row.clone());
    }
}

fn past(server: &Server, row: &RowGiven, start: Timestamp) -> Deployment {
    let at = LONG_AGO.after(start);
    let mut made = Deployment::pending(server.next_deployment(), &text(&row.tag), SCHEDULER, at);
    (made.status, made.started_at, made.finished_at) = (row.status, Some(at), Some(at));
    made
}

fn latest(server: &Server, row: &DeploymentGiven, start: Timestamp) -> Deployment {
    let at = Moment(-row.open_for.0.abs()).after(start);
    let tag = text(&row.tag);
    let mut made = Deployment::pending(server.next_deployment(), &tag, SCHEDULER, at);
    (made.status, made.force) = (row.status, row.force);
    if row.status != DeploymentStatus::Pending {
        (made.started_at, made.applied) = (Some(at), true);
        made.manifest_revision = Some(render(server, &tag).imprint.revision);
    }
    made.finished_at = (!row.status.is_open()).then_some(at);
    made
}

/// The tag its instance carries: what is pending is not applied yet.
fn live_tag(server: &Server) -> Option<String> {
    let running = server.open().filter(|row| row.status == DeploymentStatus::Running);
    running.map(|row| row.image_tag.clone()).or(server.current_image_tag.clone())
}

/// Puts the cluster of `given` up.
pub(super) fn put_up(given: &Given, objects: &mut Objects, servers: &[Server], start: Timestamp) {
    let kura = !given.servers.is_empty() || !given.instances.is_empty() || !given.gateways.is_empty();
    let others = !given.pods.is_empty() || given.registry.is_some();
    objects.is_connected = kura || others || !given.runtime_tags.is_empty();
    objects.until = start;
    for (given, server) in given.servers.iter().zip(servers) {
        put_server(objects, &given.value, server, start);
    }
    given.instances.iter().for_each(|one| put_instance(objects, &one.value, servers, start));
    given.gateways.iter().for_each(|one| put_gateway(objects, &one.value, start));
    given.pods.iter().for_each(|one| put_pod(objects, &one.value, start));
    put_fleet(given, objects, start);
}

/// The fleet: how long its steps take, whether they answer by themselves, where the registry is.
fn put_fleet(given: &Given, objects: &mut Objects, start: Timestamp) {
    let usual = Pace::default();
    let seconds = |own: Option<u64>, usual: Seconds| own.map_or(usual, Seconds);
    objects.fleet.is_manual = matches!(given.agents, Agents::None);
    objects.fleet.pace = Pace {
        stage: seconds(given.pace.stage_seconds, usual.stage),
        drain: seconds(given.pace.drain_seconds, usual.drain),
        boot: seconds(given.pace.boot_seconds, usual.boot),
        verify: seconds(given.pace.verify_seconds, usual.verify),
        probe: seconds(given.pace.probe_seconds, usual.probe),
    };
    if let Some(registry) = &given.registry {
        objects.is_connected = true;
        objects.put_node(&registry.value.node, None, start);
        objects.put_registry(Some(&registry.value.node), start);
    }
}

fn put_server(objects: &mut Objects, given: &ServerGiven, server: &Server, start: Timestamp) {
    let Some(tag) = live_tag(server).filter(|_| server.status != ServerStatus::Destroyed) else { return };
    let (name, manifest) = (server.instance_name.as_str(), render(server, &tag));
    objects.put_instance(name, &manifest.instance, start);
    if let Some(live) = objects.instances.get_mut(name) {
        live.revision = given.revision.as_ref().map(text).or(live.revision.take());
        live.spec.edit(|spec| {
            if let Value::Object(spec) = spec {
                spec.extend(given.live.clone());
                spec.retain(|_, value| !value.is_null());
            }
        });
    }
    let image = given.image.as_ref().map(text).or(server.current_image_tag.clone()).unwrap_or(tag);
    pods(objects, name, Some(&image), given.ready.unwrap_or(server.spec.replicas), start);
}

/// The pods of an instance at the start: the lowest ordinals are Ready, the others stay as they are.
fn pods(objects: &mut Objects, instance: &str, image: Option<&str>, ready: u32, start: Timestamp) {
    let replicas = objects.sets.get(instance).map_or(0, |set| set.replicas);
    for ordinal in 0..replicas {
        let name = format!("{instance}-{ordinal}");
        let started = Some(LONG_AGO.after(start));
        let change = PodChange { image: image.map(str::to_owned), started, ..PodChange::default() };
        if let Some(pod) = objects.pods.get_mut(&name) {
            pod.pod.image = change.image.or(pod.pod.image.take());
            pod.pod.started_at = change.started;
            pod.pod.ready_since = change.started;
            pod.pod.ready = ordinal < ready;
            pod.is_set = ordinal >= ready;
            pod.pod.reason = (ordinal >= ready).then(|| "is not Ready".to_owned());
        }
    }
}

/// More about an instance of a server, or one that nobody claims.
fn put_instance(objects: &mut Objects, given: &InstanceGiven, servers: &[Server], start: Timestamp) {
    let name = given.name.as_str();
    let image = given.observed_image.as_ref().map(text);
    if !servers.iter().any(|server| server.instance_name == name) {
        let labels = given.managed_by.as_ref().map_or_else(|| json!({}), |by| json!({ MANAGED_BY_LABEL: by }));
        let image = image.clone().unwrap_or_else(|| "unknown".to_owned());
        let spec = json!({ "image": image, "replicas": given.replicas.unwrap_or(2) });
        objects.put_instance(name, &json!({ "metadata": { "labels": labels }, "spec": spec }), start);
    }
    if let Some(by) = given.update_paused {
        let by = json!(by);
        objects.pause_update(name, by.as_str(), LONG_AGO.after(start));
    }
    if let Some(image) = image {
        objects.change_instance(name, "observed_image", &json!(image), start);
    }
    let replicas = objects.sets.get(name).map_or(0, |set| set.replicas);
    if let Some(ready) = given.ready.or((given.replicas.is_some()).then_some(replicas)) {
        pods(objects, name, None, ready, start);
    }
}

/// A gateway as it is said to be; what is left out stays, or is as usual.
pub(super) fn put_gateway(objects: &mut Objects, given: &GatewayGiven, now: Timestamp) {
    let known = objects.gateways.get(&given.name).cloned();
    let created = given.age.map_or(LONG_AGO, |age| Moment(-age.0.abs())).after(now);
    let fresh = objects.stamp(&given.name, created);
    let version = fresh.resource_version.clone();
    let (mut row, alive) = known.unwrap_or_else(|| {
        let class = Some(given.name.clone());
        let (phase, message) = (Some("Ready".to_owned()), None);
        let heartbeat = Some(created);
        let row = Gateway {
            stamp: fresh,
            region: None,
            class,
            revision: None,
            phase,
            ready_replicas: 1,
            message,
            last_reconciled_at: heartbeat,
        };
        (row, true)
    });
    row.stamp.resource_version = version;
    row.class = given.ingress_class_name.clone().or(row.class);
    row.region = given.region.clone().or(row.region);
    row.phase = given.phase.clone().or(row.phase);
    row.stamp.finalizers = given.finalizers.clone().unwrap_or(row.stamp.finalizers);
    row.stamp.deleting_since =
        given.deleting_for.map(|age| Moment(-age.0.abs()).after(now)).or(row.stamp.deleting_since);
    let labels = [(ACCOUNT_LABEL, &given.tenant), (REGION_LABEL, &given.region)];
    let labels = labels.into_iter().filter_map(|(label, value)| Some((label.to_owned(), value.clone()?)));
    row.stamp.labels.extend(labels);
    objects.gateways.insert(given.name.clone(), (row, given.controller_alive.unwrap_or(alive)));
}

fn put_pod(objects: &mut Objects, given: &PodGiven, start: Timestamp) {
    let change = PodChange {
        ready: given.ready,
        image: given.image.as_ref().map(text),
        reason: given.reason.clone(),
        node: given.node.clone(),
        started: Some(given.started.unwrap_or(LONG_AGO).after(start)),
    };
    objects.change_pod(&given.name, change, start);
    let foreign = given.namespace.as_deref().is_some_and(|namespace| namespace != "kura");
    objects.fleet.namespaces.extend(given.namespace.clone().map(|namespace| (given.name.clone(), namespace)));
    if let Some(pod) = objects.pods.get_mut(&given.name) {
        pod.pod.stamp.labels.extend(given.labels.clone());
        pod.pod.instance = pod.pod.instance.take().filter(|_| !foreign);
    }
}
