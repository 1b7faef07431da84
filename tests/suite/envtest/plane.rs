//! A control plane on a real cluster: the loop of `control` with its seat and its ticks, the adapter, probes of endpoints
//! on loopback, a journal in memory that outlives it.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kura_console::adapters::journal::memory::MemoryJournal;
use kura_console::adapters::kube::cluster::KubeCluster;
use kura_console::adapters::probe::handshake::Trust;
use kura_console::adapters::probe::names::Names;
use kura_console::adapters::probe::probing::Probing;
use kura_console::adapters::probe::reach::Reach;
use kura_console::adapters::probe::schedule::Pace;
use kura_console::control::local::Introduction;
use kura_console::control::picture::Role;
use kura_console::control::ports::{Clock, Cluster, Journal};
use kura_console::control::service::{Service, Settings, drive};
use kura_console::domain::change::{Change, Entry};
use kura_console::domain::ids::{AccountId, ServerId};
use kura_console::domain::input::{Input, Order, Verb};
use kura_console::domain::kura::change::KuraChange;
use kura_console::domain::kura::server::{Server, ServerSpec};
use kura_console::domain::kura::sight::Sight;
use kura_console::domain::kura::verb::KuraVerb;
use kura_console::domain::span::Seconds;
use kura_console::domain::verdict::Reply;
use tokio::task::JoinHandle;

use super::cluster::Lease;
use super::eyes::{Hurried, look_with};
use super::host::{PlaneHost, Steered};
use super::screen::Shown;
use crate::probe::endpoint::{Endpoint, Manner};
use crate::probe::papers::Authority;
use crate::probe::resolver::Resolver;

/// Period of the tick: short, since these tests run in real time.
const TICK: Duration = Duration::from_millis(300);

/// How long anything may take, on a machine that builds at the same time.
const PATIENCE: Duration = Duration::from_secs(120);

/// Entries of a journal these tests look at.
const ENTRIES: usize = 10_000;

/// The cluster it looks after.
type Probed = Probing<KubeCluster<Hurried<Steered>>>;

/// What outlives a control plane: its journal, and the network its servers answer in.
pub struct Ground {
    pub namespace: String,
    /// A tenant that no other test has.
    pub tenant: String,
    pub host: String,
    pub resolver: Resolver,
    kubeconfig: std::path::PathBuf,
    journal: MemoryJournal,
    authority: Authority,
    endpoint: Endpoint,
}

/// The one server of a test.
pub fn server_id() -> ServerId {
    ServerId::named("eu")
}

pub const REGION: &str = "eu-central-1";

impl Ground {
    /// In a namespace of the shared cluster.
    pub async fn lay(lease: &Lease) -> Self {
        Self::lay_in(&lease.namespace, lease.cluster.admin_config()).await
    }

    pub async fn lay_in(namespace: &str, kubeconfig: std::path::PathBuf) -> Self {
        let (resolver, authority) = (Resolver::start().await, Authority::make("known"));
        let (tenant, host) = (format!("t-{namespace}"), format!("{namespace}.kura.example"));
        let endpoint = Endpoint::start(Some(authority.certify(&host, false)), Manner::Status(200)).await;
        let (namespace, journal) = (namespace.to_owned(), MemoryJournal::default());
        Self { namespace, tenant, host, resolver, kubeconfig, journal, authority, endpoint }
    }

    /// The name of the server's instance.
    pub fn instance(&self) -> String {
        format!("kura-{}-{REGION}", self.tenant)
    }

    pub fn spec(&self, replicas: u32) -> ServerSpec {
        ServerSpec {
            replicas,
            public_host: Some(self.host.clone()),
            image_repository: Some("ghcr.io/tuist/kura".to_owned()),
            ..ServerSpec::default()
        }
    }

    /// A control plane whose clock is that much behind.
    pub async fn plane(&self, behind: SignedDuration) -> Plane {
        let reach = Reach {
            names: Names::at(&[self.resolver.address]).expect("a resolver"),
            trust: Trust::in_roots(self.authority.roots()).expect("an authority"),
            port: self.endpoint.port,
        };
        let clock = Steered::ahead(-behind);
        let pace = Pace { eager: Seconds(1), calm: Seconds(1) };
        let cluster = look_with(self.kubeconfig.clone(), &self.namespace, Hurried(clock.clone())).await;
        let cluster = Probing::paced(cluster, reach, clock.clone(), pace);
        let host = PlaneHost::on(self.journal.clone(), cluster, clock);
        let settings = Settings { tick_every: TICK, ..Settings::default() };
        let (service, loops) = Service::new(Arc::new(host), AccountId::named("envtest"), settings);
        let task = tokio::spawn(drive(loops));
        service.door.ready().await.expect("it loads");
        Plane { service, task }
    }

    /// Somebody who answers without a certificate.
    pub async fn plain_endpoint(&self) -> Endpoint {
        Endpoint::start(None, Manner::Status(200)).await
    }

    /// A plane with the server added to it, and this tag released.
    pub async fn plane_with_server(&self, replicas: u32, tag: &str) -> Plane {
        let plane = self.plane(SignedDuration::ZERO).await;
        plane.add(self, self.spec(replicas), tag).await;
        plane
    }
}

/// A control plane that runs.
pub struct Plane {
    service: Service<PlaneHost<Probed>>,
    task: JoinHandle<()>,
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.service.stop.ask();
        self.task.abort();
    }
}

impl Plane {
    pub async fn add(&self, ground: &Ground, spec: ServerSpec, tag: &str) {
        self.verb(KuraVerb::AddServer {
            id: server_id(),
            tenant: ground.tenant.clone(),
            tenant_id: None,
            region: REGION.to_owned(),
            cluster_id: None,
            spec: Box::new(spec),
        })
        .await;
        self.release(tag).await;
    }

    pub async fn release(&self, tag: &str) {
        self.verb(KuraVerb::ReleaseTag { tag: tag.to_owned() }).await;
    }

    pub async fn force(&self) {
        self.verb(KuraVerb::ForceReapply { server: server_id() }).await;
    }

    pub async fn configure(&self, spec: ServerSpec) {
        self.verb(KuraVerb::ConfigureServer { server: server_id(), spec: Box::new(spec) }).await;
    }

    async fn verb(&self, verb: KuraVerb) {
        let order = Order { verb: Verb::Kura(verb), by: "op-a".to_owned(), reason: None, key: None };
        let reply = self.service.door.ask(Input::Verb(order)).await.expect("an answer");
        assert!(!matches!(reply, Reply::Refused(_)), "{reply:?}");
    }

    pub fn server(&self) -> Server {
        self.service.door.world().kura.servers.get(&server_id()).expect("the server").clone()
    }

    /// The server once something holds of it.
    pub async fn until(&self, what: &str, holds: impl Fn(&Server) -> bool) -> Server {
        let mut published = self.service.door.published();
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                published.borrow_and_update();
                let server = self.server();
                if holds(&server) {
                    return server;
                }
                published.changed().await.expect("it runs");
            }
        });
        match found.await {
            Ok(server) => server,
            Err(_) => panic!("not within {PATIENCE:?}: {what}; {:#?}", self.server()),
        }
    }

    /// Until the open deployment waits for that.
    pub async fn until_it_waits(&self, kind: &str) -> Server {
        let waits = |server: &Server| {
            server.open().and_then(|open| open.wait.as_ref()).is_some_and(|wait| wait.kind.word() == kind)
        };
        self.until(kind, waits).await
    }

    /// Until a console shows these things beside its lists, in this order: on its first screen, or on the one some keys
    /// lead to.
    pub async fn until_shown(&self, keys: &str, parts: &[&str]) -> Shown {
        let mut published = self.service.door.published();
        let introduction =
            Introduction { endpoint: "envtest".to_owned(), account: "envtest".to_owned(), role: Role::Operator };
        let look = || Shown::of(self.service.picture(&introduction), keys, self.now());
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                published.borrow_and_update();
                let shown = look();
                if shown.says(parts) {
                    return shown;
                }
                published.changed().await.expect("it runs");
            }
        });
        match found.await {
            Ok(shown) => shown,
            Err(_) => panic!("not shown within {PATIENCE:?}: {parts:?}\n{}", look()),
        }
    }

    /// Until so many ticks were decided from now on, each with all that came of it.
    pub async fn ticks(&self, count: usize) {
        let mut published = self.service.door.published();
        let mut seen = std::collections::BTreeSet::new();
        let ticked = tokio::time::timeout(PATIENCE, async {
            while seen.len() <= count {
                seen.extend(published.borrow_and_update().last_tick);
                published.changed().await.expect("it runs");
            }
        });
        ticked.await.expect("it ticks");
    }

    pub fn now(&self) -> Timestamp {
        self.service.host().clock.now()
    }

    pub fn sight(&self) -> Sight {
        self.service.host().cluster.sight().expect("a cluster")
    }

    /// Facts about Kura servers, oldest first, with the revision of the journal.
    pub async fn facts(&self) -> Vec<(u64, KuraChange)> {
        let account = self.service.account();
        let entries = self.service.host().journal.read(account, 0, ENTRIES).await.expect("it can be read");
        let fact = |entry: Entry| match entry.change {
            Change::Kura(change) => Some((entry.revision, *change)),
            _ => None,
        };
        entries.into_iter().filter_map(fact).collect()
    }

    /// Stops it as a process is stopped, and waits for its end.
    pub async fn stop(mut self) {
        self.service.stop.ask();
        (&mut self.task).await.expect("it ends");
    }
}
