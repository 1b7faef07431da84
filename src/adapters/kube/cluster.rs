//! A cluster of Kura servers behind the port: what is seen of it, and hands to do a step.

use std::sync::Arc;
use std::time::Duration;

use imbl::OrdMap;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::connection::Connection;
use super::deed::Hands;
use super::identity::Identity;
use super::mirror::{Mirror, Seen, lose_all};
use super::target::Target;
use crate::adapters::pause::Pauses;
use crate::control::ports::{Clock, Cluster};
use crate::domain::kura::sight::{PodDeleter, Sight};
use crate::domain::kura::step::{Outcome, Step};
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
    deleter: PodDeleter,
    seen: watch::Receiver<Seen>,
    standing: watch::Receiver<Standing>,
    _streams: Arc<Streams>,
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
    pub fn start(target: Target, namespace: &str, deleter: PodDeleter, clock: C) -> Self {
        let connection = Connection::new(target, clock);
        let (seen_sender, seen) = watch::channel(Seen::default());
        let (standing_sender, standing) = watch::channel(Standing::default());
        let mirror = Mirror { connection: connection.clone(), namespace: namespace.to_owned(), seen: seen_sender };
        let streams = Arc::new(Streams(tokio::spawn(follow(mirror, standing_sender))));
        Self { connection, namespace: namespace.into(), deleter, seen, standing, _streams: streams }
    }

    /// Which cluster was asked for.
    pub fn target(&self) -> &Target {
        self.connection.target()
    }

    /// Which cluster it is.
    pub fn standing(&self) -> Standing {
        self.standing.borrow().clone()
    }

    /// Nodes by name, as they were seen last.
    pub fn nodes(&self) -> OrdMap<String, Node> {
        self.seen.borrow().nodes.clone()
    }

    /// Returns once something is seen that was not before; the age of what is known does not count.
    pub async fn changed(&mut self) {
        tokio::select! {
            _ = self.seen.changed() => {}
            _ = self.standing.changed() => {}
        }
    }

    fn seen_now(&self) -> Sight {
        let mut sight = self.seen.borrow().sight.clone();
        sight.deleter = self.deleter;
        find_controllers(&mut sight);
        if let Some(why) = &self.standing.borrow().trouble {
            lose_all(&mut sight, why);
        }
        sight
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
                standing.send_if_modified(|standing| standing.trouble.replace(why.clone()) != Some(why));
                clock.sleep(pauses.next(fastrand::f64())).await;
            }
        }
    };
    standing.send_replace(Standing { identity: Some(first.clone()), trouble: None });
    let _streams = mirror.follow(first.minor);
    loop {
        clock.sleep(IDENTITY_EVERY).await;
        let trouble = match Identity::ask(&mirror.connection).await {
            Ok(now) => stranger(&first, &now),
            // What it means is for the streams to say.
            Err(_) => continue,
        };
        standing.send_if_modified(|standing| std::mem::replace(&mut standing.trouble, trouble.clone()) != trouble);
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
    use super::*;

    fn identity(uid: Option<&str>) -> Identity {
        Identity { uid: uid.map(str::to_owned), version: "v1.34.2".to_owned(), minor: 34 }
    }

    #[test]
    fn another_cluster_at_the_same_address_is_told() {
        assert_eq!(stranger(&identity(Some("a")), &identity(Some("a"))), None);
        assert_eq!(stranger(&identity(None), &identity(Some("a"))), None, "nothing was pinned");
        let told = stranger(&identity(Some("a")), &identity(Some("b"))).unwrap();
        assert!(told.contains("b instead of a"), "{told}");
    }
}
