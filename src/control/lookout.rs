//! The lookout: has the cluster decided upon as soon as it looks otherwise or a person wants something of it, while this
//! process holds the seat. What comes in quick succession is decided once; the tick goes on as ever.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::door::{Door, DoorError};
use super::host::Host;
use super::ports::{Clock, Cluster, Sightings};
use super::publish::Published;
use super::seat::Held;
use super::stop::Stop;
use super::time::until;
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::ids::{AccountId, Epoch, Revision};
use crate::domain::input::Input;
use crate::domain::world::World;

/// Between two passes that were not asked for by the tick: a cluster in which something changes all the time is passed
/// over no more often than this.
pub(super) const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// How often it is asked when something of a probe is due, while a roll goes on or soaks: a pod that was just sent is not
/// seen at once.
const PROBES_ASKED_EVERY: Duration = Duration::from_secs(15);

/// Looks out for one account.
pub(super) struct Lookout<H> {
    pub(super) host: Arc<H>,
    pub(super) account: AccountId,
    pub(super) door: Door,
    pub(super) held: Held,
    pub(super) stop: Stop,
}

/// What is new since the last pass.
struct News {
    sightings: Sightings,
    published: watch::Receiver<Published>,
    /// What the journal said by then.
    known: Revision,
}

/// Looks out whenever the seat is held, until it is stopped. An account that has no cluster is not looked out for.
pub(super) async fn run_lookout<H: Host>(lookout: Lookout<H>) {
    if !lookout.host.looks_after(lookout.account) {
        // A loop that ends before it is told to is taken for broken.
        return lookout.stop.asked().await;
    }
    let published = lookout.door.published();
    let mut news = News { sightings: lookout.host.cluster().sightings(), published, known: 0 };
    while let Some(epoch) = lookout.held.next_epoch(&lookout.stop).await {
        news.known = lookout.door.world().revision;
        lookout.look_under(epoch, &mut news).await;
    }
}

impl<H: Host> Lookout<H> {
    async fn look_under(&self, epoch: Epoch, news: &mut News) {
        let mut epochs = self.held.epochs();
        loop {
            tokio::select! {
                biased;
                () = self.stop.asked() => return,
                _ = epochs.wait_for(|held| *held != Some(epoch)) => return,
                () = news.next() => {}
                () = self.probe_is_due() => {}
            }
            if has_nothing(&self.door.world()) {
                continue;
            }
            match self.door.ask_under(epoch, Input::Seen { ran: Vec::new(), tried: BTreeSet::new() }).await {
                Ok(_) => {}
                Err(DoorError::Deposed) => return self.held.lose(epoch),
                // The tick is the retry.
                Err(error) => tracing::debug!(%epoch, why = %error, "what is seen of the cluster was not decided upon"),
            }
            tokio::select! {
                biased;
                () = self.stop.asked() => return,
                () = self.host.clock().sleep(LOOK_AGAIN_AFTER) => {}
            }
        }
    }
}

impl<H: Host> Lookout<H> {
    /// Returns as soon as something is to be done about a probe (F7); never where nobody rolls anything.
    async fn probe_is_due(&self) {
        let clock = self.host.clock();
        loop {
            let (now, world) = (clock.now(), self.door.world());
            if !world.rolls.asks_for_probes(now) {
                return std::future::pending().await;
            }
            let sight = self.host.cluster().sight();
            let due = sight.and_then(|sight| world.rolls.next_probe(&sight.fleet, now)).map(|at| until(at, now));
            clock.sleep(due.unwrap_or(PROBES_ASKED_EVERY).min(PROBES_ASKED_EVERY)).await;
            if due.is_some_and(|due| due <= PROBES_ASKED_EVERY) {
                return;
            }
        }
    }
}

/// Neither servers nor rolls: whatever the cluster looks like, nothing follows from it.
fn has_nothing(world: &World) -> bool {
    world.kura.is_empty() && world.rolls.is_empty()
}

impl News {
    async fn next(&mut self) {
        tokio::select! {
            biased;
            () = self.sightings.next() => {}
            () = asked(&mut self.published, &mut self.known) => {}
        }
    }
}

/// Returns once a person wanted something of a Kura server or a fleet roll after revision `known`.
async fn asked(published: &mut watch::Receiver<Published>, known: &mut Revision) {
    loop {
        let newest = published.borrow_and_update().clone();
        let since = newest.entries_after(*known);
        *known = newest.world.revision;
        // More than is at hand may well hold such a wish.
        if since.is_none_or(|entries| entries.iter().any(is_wish)) {
            return;
        }
        if published.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

fn is_wish(entry: &Entry) -> bool {
    matches!((&entry.cause, &entry.change), (Cause::Verb { .. }, Change::Kura(_) | Change::Roll(_)))
}
