//! The adapter as tests use it: one that looks at a namespace as somebody.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::kube::cluster::KubeCluster;
use kura_console::adapters::kube::deleter::NotReadyDeletion;
use kura_console::adapters::kube::target::{Choice, Target};
use kura_console::control::ports::{Clock, Cluster};
use kura_console::domain::kura::sight::Sight;
use kura_console::domain::kura::source::Contact;

/// How long something may take to be seen, on a machine that builds at the same time.
const SEEN_WITHIN: Duration = Duration::from_secs(120);

/// A clock whose waits are a tenth as long: silence and back-off are real, and over sooner.
#[derive(Debug, Clone, Copy)]
pub struct Hurried<C = SystemClock>(pub C);

impl<C> Hurried<C> {
    const FACTOR: u32 = 10;
}

impl<C: Clock> Clock for Hurried<C> {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send {
        self.0.sleep(span / Self::FACTOR)
    }
}

/// Begins to look at a namespace; whoever looks deletes not-Ready pods itself.
pub async fn look_with<C: Clock>(kubeconfig: PathBuf, namespace: &str, clock: C) -> KubeCluster<C> {
    let choice = Choice { kubeconfig: Some(kubeconfig), context: None };
    let target = Target::pin(&choice).await.expect("a target");
    KubeCluster::start(target, namespace, NotReadyDeletion::On, clock)
}

/// What is seen of one namespace.
pub struct Eyes {
    pub cluster: KubeCluster<Hurried>,
}

impl Eyes {
    /// With the rights of the kubeconfig.
    pub async fn open(kubeconfig: PathBuf, namespace: &str) -> Self {
        Self { cluster: look_with(kubeconfig, namespace, Hurried(SystemClock::start())).await }
    }

    pub fn sight(&self) -> Sight {
        self.cluster.sight().expect("a cluster is connected")
    }

    /// The sight of which something holds.
    pub async fn until(&mut self, what: &str, holds: impl Fn(&Sight) -> bool) -> Sight {
        let seen = tokio::time::timeout(SEEN_WITHIN, async {
            loop {
                let sight = self.sight();
                if holds(&sight) {
                    return sight;
                }
                self.cluster.changed().await;
            }
        });
        match seen.await {
            Ok(sight) => sight,
            Err(_) => panic!("not seen within {SEEN_WITHIN:?}: {what}; {:?}", contacts(&self.sight())),
        }
    }

    /// Until every kind that is there was read.
    pub async fn until_live(&mut self) -> Sight {
        self.until("all of it", |sight| contacts(sight).iter().all(|contact| matches!(contact, Contact::Live { .. })))
            .await
    }
}

/// Of every kind but certificates, which this cluster does not have.
fn contacts(sight: &Sight) -> [&Contact; 13] {
    [
        &sight.instances.contact,
        &sight.gateways.contact,
        &sight.sets.contact,
        &sight.pods.contact,
        &sight.claims.contact,
        &sight.volumes.contact,
        &sight.ingresses.contact,
        &sight.classes.contact,
        &sight.services.contact,
        &sight.notices.contact,
        &sight.nodes,
        &sight.fleet.pods.contact,
        &sight.fleet.jobs.contact,
    ]
}
