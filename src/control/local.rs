//! The local link: a console in the same process as the loop.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::answer;
use super::door::Door;
use super::host::Host;
use super::link::{Answer, Link, PAST_READ};
use super::observe::Observer;
use super::picture::{Freshness, Picture, Role, TAIL_KEPT};
use super::ports::{ApplyResult, Clock, Cluster, Journal, ResultQuery, Results, Sightings, Stretch};
use super::publish::Published;
use super::stop::Stop;
use super::trouble::sentence;
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, MachineId, ReleaseId, Revision, RolloutId};
use crate::domain::input::Order;
use crate::domain::world::World;

/// How often presence is looked at.
pub const PRESENCE_EVERY: Duration = Duration::from_secs(1);

/// What is seen of the cluster within so long is painted in one picture.
pub const SEEN_AT_ONCE: Duration = Duration::from_millis(50);

/// Results of one machine in one rollout that are read at a time.
pub const RESULTS_READ: usize = 20;

/// How the account introduces itself to its reader.
#[derive(Debug, Clone)]
pub struct Introduction {
    /// Whom the link talks to, such as `demo`.
    pub endpoint: String,
    /// The account's name.
    pub account: String,
    /// What the reader may do.
    pub role: Role,
}

/// A console's end of the loop in its own process. Cheap to clone.
pub struct LocalLink<H> {
    host: Arc<H>,
    account: AccountId,
    door: Door,
    pictures: watch::Receiver<Picture>,
}

impl<H> Clone for LocalLink<H> {
    fn clone(&self) -> Self {
        let (host, door, pictures) = (Arc::clone(&self.host), self.door.clone(), self.pictures.clone());
        Self { host, account: self.account, door, pictures }
    }
}

/// Paints the pictures of a local link.
pub(super) struct Painter<H> {
    host: Arc<H>,
    door: Door,
    observer: Observer<H>,
    introduction: Introduction,
    pictures: watch::Sender<Picture>,
    stop: Stop,
}

/// A link, and the painter that has to run for it.
pub(super) fn local_link<H: Host>(
    host: &Arc<H>,
    account: AccountId,
    door: &Door,
    observer: &Observer<H>,
    introduction: Introduction,
    stop: &Stop,
) -> (LocalLink<H>, Painter<H>) {
    let first = paint(&door.published().borrow(), observer, host.as_ref(), &introduction);
    let (sender, pictures) = watch::channel(first);
    let link = LocalLink { host: Arc::clone(host), account, door: door.clone(), pictures };
    let painter = Painter {
        host: Arc::clone(host),
        door: door.clone(),
        observer: observer.clone(),
        introduction,
        pictures: sender,
        stop: stop.clone(),
    };
    (link, painter)
}

/// Paints a picture after every turn, and once a second for presence and for the proof that the loop lives.
pub(super) async fn run_painter<H: Host>(painter: Painter<H>) {
    let mut published = painter.door.published();
    let mut sightings = painter.host.cluster().sightings();
    loop {
        let newest = published.borrow_and_update().clone();
        painter.pictures.send_replace(paint(&newest, &painter.observer, painter.host.as_ref(), &painter.introduction));
        tokio::select! {
            biased;
            () = painter.stop.asked() => return,
            changed = published.changed() => if changed.is_err() { return },
            () = seen(painter.host.as_ref(), &mut sightings) => {}
            () = painter.host.clock().sleep(PRESENCE_EVERY) => {}
        }
    }
}

/// Returns a moment after the cluster is seen otherwise: what changes in that moment is painted once.
async fn seen<H: Host>(host: &H, sightings: &mut Sightings) {
    sightings.next().await;
    host.clock().sleep(SEEN_AT_ONCE).await;
}

/// What a console is shown of what was published last.
pub(super) fn paint<H: Host>(
    published: &Published,
    observer: &Observer<H>,
    host: &H,
    introduction: &Introduction,
) -> Picture {
    let api = match &published.journal {
        Freshness::Live(_) => Freshness::Live(host.clock().now()),
        other => other.clone(),
    };
    let surplus = published.tail.len().saturating_sub(TAIL_KEPT);
    Picture {
        world: Arc::clone(&published.world),
        observed: Arc::new(observer.observe(&published.world)),
        tail: published.tail.clone().split_off(surplus),
        seat: published.seat(),
        api,
        endpoint: introduction.endpoint.clone(),
        account: introduction.account.clone(),
        role: introduction.role,
        glimpse: None,
        own: None,
        fallback: None,
    }
}

impl<H: Host> Link for LocalLink<H> {
    fn pictures(&self) -> watch::Receiver<Picture> {
        self.pictures.clone()
    }

    async fn order(&self, order: Order, planned_at: Option<Revision>) -> Answer {
        let verb = order.verb.clone();
        // A verb may take away what it names, so names are looked up where they were before.
        let before = self.door.world();
        match self.door.give(order, planned_at).await {
            Ok(answered) => answer::to_reply(&before, &verb, &answered.reply),
            Err(error) => answer::to_error(&error),
        }
    }

    async fn results(&self, rollout: RolloutId, machine: MachineId) -> Result<Vec<ApplyResult>, String> {
        let release = self.release_of(&self.door.world(), rollout)?;
        let query = ResultQuery { machine: Some(machine), release: Some(release), limit: RESULTS_READ };
        self.host.results().find(self.account, query).await.map_err(|error| sentence(&error))
    }

    async fn past(&self, before: Revision) -> Result<Vec<Entry>, String> {
        let read = self.host.journal().links(self.account, Stretch::Before(before), PAST_READ).await;
        read.map_err(|error| sentence(&error))
    }
}

impl<H: Host> LocalLink<H> {
    fn release_of(&self, world: &World, rollout: RolloutId) -> Result<ReleaseId, String> {
        let known = world.rollout(rollout).map(|r| r.release);
        known.ok_or_else(|| format!("rollout {} is no longer kept here", rollout.short()))
    }
}
