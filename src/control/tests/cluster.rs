//! A cluster that shows what a test says, and keeps what it was told to do.

use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;
use tokio::sync::watch;

use crate::control::ports::{Cluster, Sightings};
use crate::domain::kura::sight::{ClusterIdentity, Sight};
use crate::domain::kura::source::Contact;
use crate::domain::kura::step::{Outcome, Step};

/// Everything about it.
#[derive(Debug)]
pub(crate) struct Inside {
    sight: Option<Sight>,
    /// Steps that were tried, in order.
    pub(crate) ran: Vec<Step>,
    /// What comes of the next ones.
    pub(crate) outcome: Outcome,
}

/// The cluster all processes of a test share.
#[derive(Debug, Clone)]
pub(crate) struct TestCluster {
    inside: Arc<Mutex<Inside>>,
    count: watch::Sender<u64>,
}

impl Default for TestCluster {
    fn default() -> Self {
        let inside = Inside { sight: None, ran: Vec::new(), outcome: Outcome::Done };
        Self { inside: Arc::new(Mutex::new(inside)), count: watch::Sender::new(0) }
    }
}

impl TestCluster {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap()
    }

    /// It is read at `now`, and there is nothing in it; whoever waits for news is told.
    pub(crate) fn show(&self, now: Timestamp) {
        self.show_as(None, now);
    }

    /// The same, of the cluster with a uid.
    pub(crate) fn show_as(&self, uid: Option<&str>, now: Timestamp) {
        let mut sight = Sight::default();
        let identity = |uid: &str| ClusterIdentity { uid: Some(uid.to_owned()), ..ClusterIdentity::default() };
        sight.identity = uid.map(identity);
        sight.instances.contact = Contact::Live { as_of: now };
        self.lock().sight = Some(sight);
        self.count.send_modify(|count| *count += 1);
    }
}

impl Cluster for TestCluster {
    fn sight(&self) -> Option<Sight> {
        self.lock().sight.clone()
    }

    async fn run(&self, step: &Step) -> Outcome {
        let mut inside = self.lock();
        inside.ran.push(step.clone());
        inside.outcome.clone()
    }

    fn sightings(&self) -> Sightings {
        Sightings::of(self.count.subscribe())
    }
}
