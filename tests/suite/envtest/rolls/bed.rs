//! Control planes that roll fleets: the loop of `control` with its seat and its ticks on a journal that outlives it, and
//! the adapter.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use kura_console::adapters::journal::memory::MemoryJournal;
use kura_console::adapters::kube::cluster::KubeCluster;
use kura_console::control::ports::{Clock, Cluster, Journal};
use kura_console::control::seat::Bid;
use kura_console::control::service::{Service, Settings, drive};
use kura_console::domain::change::{Change, Entry};
use kura_console::domain::ids::{AccountId, RollId};
use kura_console::domain::input::{Input, Order, Verb};
use kura_console::domain::roll::change::RollChange;
use kura_console::domain::roll::fleet_roll::Roll;
use kura_console::domain::roll::rolls::Rolls;
use kura_console::domain::roll::sight::FleetSight;
use kura_console::domain::roll::spec::RollSpec;
use kura_console::domain::roll::verb::RollVerb;
use kura_console::domain::verdict::Reply;
use tokio::task::JoinHandle;

use super::super::cluster::Lease;
use super::super::eyes::{Hurried, look_with};
use super::super::host::{PlaneHost, Steered};
use super::super::rest::Rest;
use super::fleet::Fleet;

/// Period of the tick: short, since these tests run in real time.
const TICK: Duration = Duration::from_millis(300);

/// How long anything may take, on a machine that builds at the same time.
const PATIENCE: Duration = Duration::from_secs(120);

/// Entries of a journal these tests look at.
const ENTRIES: usize = 10_000;

/// The revision of the one roll of a test.
pub const REVISION: &str = "abc123";

/// Everything of one test but its control planes.
pub struct Bed {
    pub lease: Lease,
    pub api: Rest,
    pub fleet: Fleet,
    pub clock: Steered,
    journal: MemoryJournal,
}

impl Bed {
    /// With so many nodes.
    pub async fn make(nodes: usize) -> Option<Self> {
        let lease = Lease::take().await?;
        let clock = Steered::ahead(SignedDuration::ZERO);
        let fleet = Fleet::raise(&lease, nodes, clock.clone()).await;
        Some(Self { api: lease.cluster.admin(), fleet, clock, journal: MemoryJournal::default(), lease })
    }

    /// A control plane, which takes the seat from whoever has it. It has seen the fleet.
    pub async fn plane(&self) -> RollPlane {
        let clock = Hurried(self.clock.clone());
        let cluster = look_with(self.lease.cluster.admin_config(), &self.lease.namespace, clock).await;
        let mut waiting = cluster.clone();
        let host = PlaneHost::on(self.journal.clone(), cluster, self.clock.clone());
        let settings = Settings { tick_every: TICK, ..Settings::default() };
        let (service, loops) = Service::new(Arc::new(host), AccountId::named("envtest"), settings);
        service.bidding.set(Bid::Take);
        let task = tokio::spawn(drive(loops));
        service.door.ready().await.expect("it loads");
        let is_fresh = |cluster: &KubeCluster<Hurried<Steered>>| {
            cluster.sight().is_some_and(|sight| sight.fleet.is_fresh(self.clock.now()))
        };
        while !is_fresh(&waiting) {
            tokio::time::timeout(PATIENCE, waiting.changed()).await.expect("it sees the fleet");
        }
        RollPlane { service, task }
    }

    /// Until something holds.
    pub async fn until(&self, what: &str, holds: impl AsyncFnMut() -> bool) {
        self.lease.cluster.until(what, holds).await;
    }

    /// Until nothing that a roll made is there any more.
    pub async fn until_tidy(&self) {
        self.until("nothing of ours is left", async || self.fleet.own().await.is_empty()).await;
    }
}

/// A control plane that runs.
pub struct RollPlane {
    service: Service<PlaneHost<KubeCluster<Hurried<Steered>>>>,
    task: JoinHandle<()>,
}

impl Drop for RollPlane {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub fn roll_id() -> RollId {
    RollId::named("fleet")
}

impl RollPlane {
    /// Gives a verb.
    pub async fn ask(&self, verb: RollVerb) -> Reply {
        let order = Order { verb: Verb::Roll(verb), by: "op-a".to_owned(), reason: None, key: None };
        self.service.door.ask(Input::Verb(order)).await.expect("an answer")
    }

    /// Begins the one roll.
    pub async fn start(&self, spec: RollSpec) {
        assert_eq!(self.ask_start(spec).await, Reply::Roll(roll_id()));
    }

    /// Asks for it.
    pub async fn ask_start(&self, spec: RollSpec) -> Reply {
        let (project, target) = ("kernel".to_owned(), "fleet".to_owned());
        let (image, revision) = ("kernel:1".to_owned(), REVISION.to_owned());
        let spec = Box::new(spec);
        let verb = RollVerb::Start { id: roll_id(), project, target, image, revision, spec, displace: false };
        self.ask(verb).await
    }

    /// Opens the gate as it is shown.
    pub async fn approve(&self) {
        let gate = self.roll().gate.expect("it waits");
        let (revision, awaiting_since) = (REVISION.to_owned(), Some(gate.since));
        let verb = RollVerb::Approve { roll: roll_id(), gate: gate.gate, revision, awaiting_since };
        assert_eq!(self.ask(verb).await, Reply::Done);
    }

    pub fn rolls(&self) -> Rolls {
        self.service.door.world().rolls.clone()
    }

    pub fn roll(&self) -> Roll {
        self.rolls().roll(roll_id()).expect("the roll").clone()
    }

    pub fn fleet(&self) -> FleetSight {
        self.service.host().cluster.sight().expect("a cluster").fleet
    }

    /// The rolls once something holds of them.
    pub async fn until(&self, what: &str, holds: impl Fn(&Rolls) -> bool) -> Rolls {
        let mut published = self.service.door.published();
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                published.borrow_and_update();
                let rolls = self.rolls();
                if holds(&rolls) {
                    return rolls;
                }
                published.changed().await.expect("it runs");
            }
        });
        match found.await {
            Ok(rolls) => rolls,
            Err(_) => panic!("not within {PATIENCE:?}: {what}; {:#?}; {:#?}", self.rolls(), self.fleet()),
        }
    }

    /// The one roll once something holds of it.
    pub async fn until_roll(&self, what: &str, holds: impl Fn(&Roll) -> bool) -> Roll {
        let rolls = self.until(what, |rolls| rolls.roll(roll_id()).is_some_and(&holds)).await;
        rolls.roll(roll_id()).expect("the roll").clone()
    }

    /// Until it stands still or stopped for something that says this.
    pub async fn until_told(&self, words: &str) -> Roll {
        self.until_roll(words, |roll| roll.reason().is_some_and(|reason| reason.contains(words))).await
    }

    /// Facts about rolls, oldest first.
    pub async fn facts(&self) -> Vec<RollChange> {
        let account = self.service.account();
        let entries = self.service.host().journal.read(account, 0, ENTRIES).await.expect("it can be read");
        let fact = |entry: Entry| match entry.change {
            Change::Roll(change) => Some(*change),
            _ => None,
        };
        entries.into_iter().filter_map(fact).collect()
    }

    /// It ends wherever it is, and whatever it was at: nobody is told.
    pub async fn crash(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}
