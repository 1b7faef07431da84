//! A cluster whose endpoints are probed as well: the port of the cluster behind it, with `Sight.endpoints` filled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use imbl::OrdMap;
use tokio::sync::watch;
use tokio::task::{Id, JoinHandle, JoinSet};

use super::reach::Reach;
use super::schedule::{Pace, Schedule};
use crate::control::ports::{Clock, Cluster, Sightings};
use crate::domain::kura::estate::Estate;
use crate::domain::kura::front::wanted;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::step::{Outcome, Step};
use crate::domain::kura::traffic::Endpoint;

/// Between two looks at what is due.
const LOOK_EVERY: Duration = Duration::from_secs(1);

type Endpoints = OrdMap<String, Endpoint>;

/// A cluster and the endpoints of the servers it was told of (`Cluster::attend`). Cheap to clone; probing ends when the
/// last copy is dropped. What cannot be resolved or trusted from this machine stays unprobed: pass what
/// `Reach::of_this_machine` says on to the person, and go on with the cluster alone.
#[derive(Clone)]
pub struct Probing<K> {
    cluster: K,
    estate: watch::Sender<Estate>,
    endpoints: watch::Receiver<Endpoints>,
    /// Counts answers that are otherwise than those before.
    count: watch::Receiver<u64>,
    _rounds: Arc<Rounds>,
}

/// Ends with whoever looks.
struct Rounds(JoinHandle<()>);

impl Drop for Rounds {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<K: Cluster + Clone> Probing<K> {
    /// Probes whatever `attend` says; nothing at first. Has to be called within a runtime.
    pub fn start<C: Clock>(cluster: K, reach: Reach, clock: C) -> Self {
        Self::paced(cluster, reach, clock, Pace::default())
    }

    /// The same, more or less often.
    pub fn paced<C: Clock>(cluster: K, reach: Reach, clock: C, pace: Pace) -> Self {
        let (estate, told) = watch::channel(Estate::default());
        let (found, endpoints) = watch::channel(Endpoints::new());
        let (news, count) = watch::channel(0);
        let known = Known::default();
        let round = Round { cluster: cluster.clone(), reach, clock, told, found, news, pace, known };
        let rounds = Arc::new(Rounds(tokio::spawn(round.for_ever())));
        Self { cluster, estate, endpoints, count, _rounds: rounds }
    }

    /// The cluster behind it.
    pub fn cluster(&self) -> &K {
        &self.cluster
    }

    /// The cluster behind it, for those that wait for news of it.
    pub fn cluster_mut(&mut self) -> &mut K {
        &mut self.cluster
    }

    /// Returns once an endpoint answers otherwise than it did; that it was asked again does not count. For ever where
    /// nothing is probed any more.
    pub async fn probed(&mut self) {
        if self.endpoints.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl<K: Cluster> Cluster for Probing<K> {
    fn sight(&self) -> Option<Sight> {
        let mut sight = self.cluster.sight()?;
        sight.endpoints = self.endpoints.borrow().clone();
        Some(sight)
    }

    fn attend(&self, estate: &Estate) {
        self.estate.send_replace(estate.clone());
        self.cluster.attend(estate);
    }

    async fn run(&self, step: &Step) -> Outcome {
        self.cluster.run(step).await
    }

    fn sightings(&self) -> Sightings {
        self.cluster.sightings().and(self.count.clone())
    }
}

/// The loop behind it.
struct Round<K, C> {
    cluster: K,
    reach: Reach,
    clock: C,
    told: watch::Receiver<Estate>,
    found: watch::Sender<Endpoints>,
    news: watch::Sender<u64>,
    pace: Pace,
    known: Known,
}

/// What was last made a list of endpoints.
#[derive(Default)]
struct Known {
    estate: Estate,
    sight: Sight,
}

impl Known {
    /// Takes over what is new. False if it is the same as before, which costs next to nothing to find out.
    fn renew(&mut self, estate: &Estate, sight: Sight) -> bool {
        let same =
            self.estate.servers.ptr_eq(&estate.servers) && self.sight.instances.rows.ptr_eq(&sight.instances.rows);
        self.estate = estate.clone();
        self.sight = sight;
        !same
    }
}

impl<K: Cluster, C: Clock> Round<K, C> {
    async fn for_ever(mut self) {
        let mut schedule = Schedule::at(self.pace);
        let mut looks: JoinSet<Endpoint> = JoinSet::new();
        let mut keys: BTreeMap<Id, String> = BTreeMap::new();
        loop {
            self.renew(&mut schedule);
            for (key, front) in schedule.begin(self.clock.now()) {
                let (reach, clock) = (self.reach.clone(), self.clock.clone());
                let look = looks.spawn(async move { reach.look(&front, &clock).await });
                keys.insert(look.id(), key);
            }
            tokio::select! {
                Some(ended) = looks.join_next_with_id() => {
                    let (id, endpoint) = match ended {
                        Ok((id, endpoint)) => (id, Some(endpoint)),
                        Err(error) => (error.id(), None),
                    };
                    let Some(key) = keys.remove(&id) else { continue };
                    schedule.end(&key);
                    if let Some(endpoint) = endpoint.filter(|_| schedule.wants(&key)) {
                        self.keep(key, endpoint);
                    }
                }
                told = self.told.changed() => if told.is_err() { return },
                () = self.clock.sleep(LOOK_EVERY) => {}
            }
        }
    }

    fn renew(&mut self, schedule: &mut Schedule) {
        let Some(sight) = self.cluster.sight() else { return };
        let estate = self.told.borrow_and_update().clone();
        if !self.known.renew(&estate, sight) {
            return;
        }
        let wanted = wanted(&self.known.estate, &self.known.sight);
        self.change(|endpoints| {
            let left: Vec<String> = endpoints.keys().filter(|key| !wanted.contains_key(*key)).cloned().collect();
            left.iter().for_each(|key| drop(endpoints.remove(key)));
            !left.is_empty()
        });
        schedule.want(wanted);
    }

    fn change(&self, change: impl FnOnce(&mut Endpoints) -> bool) {
        if self.found.send_if_modified(change) {
            self.news.send_modify(|count| *count += 1);
        }
    }

    /// Files an answer, and wakes those who wait for another one if it is another one.
    fn keep(&self, key: String, endpoint: Endpoint) {
        self.change(|endpoints| {
            let facts = |one: &Endpoint| (one.dns.clone(), one.tls.clone(), one.up.clone());
            let is_news = endpoints.get(&key).is_none_or(|known| facts(known) != facts(&endpoint));
            endpoints.insert(key, endpoint);
            is_news
        });
    }
}
