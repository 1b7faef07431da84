//! A cluster of Kura servers behind the port: what is seen of it, and hands to do a step.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use imbl::OrdMap;
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::connection::Connection;
use super::deed::Hands;
use super::deleter::{NotReadyDeletion, heartbeat};
use super::identity::Identity;
use super::mirror::{Mirror, Seen};
use super::target::Target;
use crate::adapters::pause::Pauses;
use crate::control::ports::{Clock, Cluster, Sightings};
use crate::domain::kura::sight::{ClusterIdentity, Sight};
use crate::domain::kura::source::STALE_AFTER;
use crate::domain::kura::step::{Outcome, Step};
use crate::domain::kura::traffic::{Gateway, IngressClass};
use crate::domain::kura::workload::Instance;
use crate::domain::observed::Node;

/// How often the cluster is asked whether it is still the same one (A19).
pub const IDENTITY_EVERY: Duration = Duration::from_secs(60);

/// What is known about who it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// As it was when it first answered; pinned from then on. None = it did not answer yet.
    pub identity: Option<Identity>,
    /// Why nothing is done there: it does not answer yet, or another cluster answers in its place.
    pub trouble: Option<String>,
}

/// A cluster and one namespace of it. Streams end when the last copy is dropped.
#[derive(Clone)]
pub struct KubeCluster<C> {
    connection: Connection<C>,
    namespace: Arc<str>,
    deletion: NotReadyDeletion,
    seen: watch::Receiver<Seen>,
    standing: watch::Receiver<Standing>,
    /// Counts what was seen or found out.
    count: watch::Receiver<u64>,
    told: Arc<Mutex<Told>>,
    _streams: Arc<Streams>,
}

/// What was made of the last sight: it costs a walk over all rows, and most sights are like the one before.
#[derive(Default)]
struct Told {
    gateways: OrdMap<String, Gateway>,
    classes: OrdMap<String, IngressClass>,
    with_controllers: OrdMap<String, IngressClass>,
    instances: OrdMap<String, Instance>,
    heartbeat: Option<Timestamp>,
}

/// Ends with whoever looks.
struct Streams(JoinHandle<()>);

impl Drop for Streams {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<C: Clock> KubeCluster<C> {
    /// Begins to follow `namespace`; nothing is known at first. Has to be called within a runtime.
    pub fn start(target: Target, namespace: &str, deletion: NotReadyDeletion, clock: C) -> Self {
        let connection = Connection::new(target, clock);
        let (seen_sender, seen) = watch::channel(Seen::default());
        let (standing_sender, standing) = watch::channel(Standing::default());
        let (count_sender, count) = watch::channel(0);
        let mirror = Mirror { connection: connection.clone(), namespace: namespace.to_owned(), seen: seen_sender };
        let counting = count_up(seen.clone(), standing.clone(), count_sender);
        let follow = async move { tokio::join!(follow(mirror, standing_sender), counting) };
        let streams = Arc::new(Streams(tokio::spawn(async move {
            let _ = follow.await;
        })));
        let (namespace, told) = (namespace.into(), Arc::default());
        Self { connection, namespace, deletion, seen, standing, count, told, _streams: streams }
    }

    /// Which cluster was asked for.
    pub fn target(&self) -> &Target {
        self.connection.target()
    }

    /// Which cluster it is.
    pub fn standing(&self) -> Standing {
        self.standing.borrow().clone()
    }

    /// Which namespace of it.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Nodes by name, as long as they were heard of lately: what a node was an hour ago is no ground for anything.
    pub fn nodes(&self) -> OrdMap<String, Node> {
        let seen = self.seen.borrow();
        let now = self.connection.clock().now();
        match seen.sight.nodes.as_of() {
            Some(as_of) if now < STALE_AFTER.after(as_of) && self.standing.borrow().trouble.is_none() => {
                seen.nodes.clone()
            }
            _ => OrdMap::new(),
        }
    }

    /// Returns once something is seen that was not before; the age of what is known does not count.
    pub async fn changed(&mut self) {
        let _ = self.count.changed().await;
    }

    fn seen_now(&self) -> Sight {
        let mut sight = self.seen.borrow().sight.clone();
        let heartbeat = self.complete(&mut sight);
        sight.deleter = self.deletion.deleter(heartbeat, self.connection.clock().now());
        let standing = self.standing.borrow();
        sight.identity = standing.identity.as_ref().map(|identity| self.identity(identity));
        sight.fleet.home = standing.identity.as_ref().map(|_| self.namespace.to_string());
        if let Some(why) = &standing.trouble {
            sight.lose(why);
        }
        sight
    }

    /// Adds what no single object says; returns when a controller last wrote the status of an instance.
    fn complete(&self, sight: &mut Sight) -> Option<Timestamp> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !told.instances.ptr_eq(&sight.instances.rows) {
            told.instances = sight.instances.rows.clone();
            told.heartbeat = heartbeat(sight);
        }
        if !told.gateways.ptr_eq(&sight.gateways.rows) || !told.classes.ptr_eq(&sight.classes.rows) {
            (told.gateways, told.classes) = (sight.gateways.rows.clone(), sight.classes.rows.clone());
            find_controllers(sight);
            told.with_controllers = sight.classes.rows.clone();
        }
        sight.classes.rows = told.with_controllers.clone();
        told.heartbeat
    }

    fn identity(&self, found: &Identity) -> ClusterIdentity {
        ClusterIdentity {
            uid: found.uid.clone(),
            version: found.version.clone(),
            context: self.target().context().map(str::to_owned),
            namespace: self.namespace.to_string(),
        }
    }
}

impl<C: Clock> Cluster for KubeCluster<C> {
    fn sight(&self) -> Option<Sight> {
        Some(self.seen_now())
    }

    async fn run(&self, step: &Step) -> Outcome {
        let standing = self.standing();
        match standing.trouble {
            Some(why) => Outcome::Failed { why },
            None if standing.identity.is_none() => Outcome::Failed { why: "the cluster did not answer yet".to_owned() },
            None => Hands { connection: &self.connection, namespace: &self.namespace }.run(step).await,
        }
    }

    fn sightings(&self) -> Sightings {
        Sightings::of(self.count.clone())
    }
}

/// Counts up with whatever is seen or found out, until nobody looks.
async fn count_up(mut seen: watch::Receiver<Seen>, mut standing: watch::Receiver<Standing>, count: watch::Sender<u64>) {
    loop {
        let more = tokio::select! {
            more = seen.changed() => more,
            more = standing.changed() => more,
        };
        if more.is_err() {
            return;
        }
        count.send_modify(|count| *count += 1);
    }
}

/// A class that a gateway provides has a controller while a replica of that gateway is Ready. Of any other class nothing
/// can be told from inside the namespace.
fn find_controllers(sight: &mut Sight) {
    for gateway in sight.gateways.rows.values() {
        let Some(class) = gateway.class.as_ref().and_then(|name| sight.classes.rows.get_mut(name)) else { continue };
        class.has_controller = Some(class.has_controller == Some(true) || gateway.ready_replicas > 0);
    }
}

/// Finds out who it is, follows every kind, and goes on asking who it is.
async fn follow<C: Clock>(mirror: Mirror<C>, standing: watch::Sender<Standing>) {
    let clock = mirror.connection.clock().clone();
    let mut pauses = Pauses::default();
    let first = loop {
        match Identity::ask(&mirror.connection).await {
            Ok(identity) => break identity,
            Err(fault) => {
                let why = fault.to_string();
                if standing.send_if_modified(|standing| standing.trouble.replace(why.clone()) != Some(why.clone())) {
                    tracing::warn!(why, "the cluster does not answer yet");
                }
                clock.sleep(pauses.next(fastrand::f64())).await;
            }
        }
    };
    tracing::info!(uid = first.uid, version = first.version, "the cluster answers");
    standing.send_replace(Standing { identity: Some(first.clone()), trouble: None });
    let _streams = mirror.follow(first.minor);
    loop {
        clock.sleep(IDENTITY_EVERY).await;
        let trouble = match Identity::ask(&mirror.connection).await {
            Ok(now) => stranger(&first, &now),
            // What it means is for the streams to say.
            Err(_) => continue,
        };
        if standing.send_if_modified(|standing| std::mem::replace(&mut standing.trouble, trouble.clone()) != trouble) {
            tracing::warn!(why = trouble, "the cluster is not trusted, or is again");
        }
    }
}

/// Another cluster answers at the same address.
fn stranger(first: &Identity, now: &Identity) -> Option<String> {
    let (Some(then), Some(uid)) = (&first.uid, &now.uid) else { return None };
    (then != uid)
        .then(|| format!("another cluster answers here now ({uid} instead of {then}); start again if that is meant"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::kura::object::Stamp;

    fn identity(uid: Option<&str>) -> Identity {
        Identity { uid: uid.map(str::to_owned), version: "v1.34.2".to_owned(), minor: 34 }
    }

    #[test]
    fn a_class_has_a_controller_while_a_replica_of_one_of_its_gateways_is_ready() {
        // K30
        let stamp = |name: &str| {
            let stamp =
                json!({"name": name, "uid": name, "resource_version": "1", "created_at": "2026-01-01T00:00:00Z"});
            serde_json::from_value::<Stamp>(stamp).unwrap()
        };
        let gateway = |name: &str, class: &str, ready: u32| {
            let gateway = json!({"stamp": stamp(name), "class": class, "ready_replicas": ready});
            (name.to_owned(), serde_json::from_value::<Gateway>(gateway).unwrap())
        };
        let class = |name: &str| {
            let class = IngressClass { stamp: stamp(name), controller: "c".to_owned(), has_controller: None };
            (name.to_owned(), class)
        };
        let mut sight = Sight::default();
        sight.classes.rows = [class("dead"), class("alive"), class("nginx")].into_iter().collect();
        let gateways = [gateway("a", "dead", 0), gateway("b", "alive", 1), gateway("c", "alive", 0)];
        sight.gateways.rows = gateways.into_iter().collect();
        find_controllers(&mut sight);
        let found = |name: &str| sight.classes.rows[name].has_controller;
        assert_eq!((found("dead"), found("alive"), found("nginx")), (Some(false), Some(true), None));
    }

    #[test]
    fn another_cluster_at_the_same_address_is_told() {
        assert_eq!(stranger(&identity(Some("a")), &identity(Some("a"))), None);
        assert_eq!(stranger(&identity(None), &identity(Some("a"))), None, "nothing was pinned");
        let told = stranger(&identity(Some("a")), &identity(Some("b"))).unwrap();
        assert!(told.contains("b instead of a"), "{told}");
    }
}
