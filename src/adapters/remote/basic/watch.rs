//! What is looked at, and when: shared by whoever reads the status and whoever gives orders.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::super::client::{Client, Failure};
use super::memory::Memory;
use super::reading::{Catalog, catalog, progress, watched};
use super::sketch::{Sketch, sketch};
use crate::control::ports::Clock;
use crate::domain::glimpse::Glimpse;
use crate::domain::ids::RolloutId;

/// How often the status is read.
pub const POLL_EVERY: Duration = Duration::from_secs(5);

/// Readings after which what changes rarely is read again, and whether more is offered by now: a minute.
pub const READINGS_PER_CATALOG: u64 = 12;

/// What somebody wants to see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wish {
    /// The rollout that was named; none = the one that runs, where that is listed.
    pub rollout: Option<RolloutId>,
    /// Counts the times somebody wanted everything read at once.
    pub asked: u64,
}

/// Tells the one who reads what is wanted. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Wishes(Arc<watch::Sender<Wish>>);

impl Wishes {
    /// Nothing but this rollout, if any.
    pub fn of(rollout: Option<RolloutId>) -> Self {
        Self(Arc::new(watch::Sender::new(Wish { rollout, asked: 0 })))
    }

    /// Look at this rollout from now on.
    pub fn look_at(&self, rollout: RolloutId) {
        self.0.send_modify(|wish| *wish = Wish { rollout: Some(rollout), asked: wish.asked + 1 });
    }

    /// Read everything again. What is read from now on carries at least this number.
    pub fn read_again(&self) -> u64 {
        self.0.send_modify(|wish| wish.asked += 1);
        self.0.borrow().asked
    }

    pub(in super::super) fn heard(&self) -> watch::Receiver<Wish> {
        self.0.subscribe()
    }
}

/// Reads again and again. Lives as long as its link, so that what it remembers outlasts an outage.
#[derive(Debug)]
pub struct Reader {
    wishes: watch::Receiver<Wish>,
    memory: Memory,
    catalog: Option<Catalog>,
    readings: u64,
}

impl Reader {
    /// Has read nothing yet.
    pub fn new(wishes: &Wishes) -> Self {
        Self { wishes: wishes.heard(), memory: Memory::default(), catalog: None, readings: 0 }
    }

    /// Reads once.
    ///
    /// # Errors
    /// Where what it cannot do without is not told.
    pub async fn read<C: Clock>(&mut self, client: &Client, clock: &C) -> Result<Sketch, Failure> {
        let wish = *self.wishes.borrow_and_update();
        let known = match self.catalog.take() {
            Some(known) => known,
            None => catalog(client, wish.rollout).await?,
        };
        let progress = match watched(&known, wish.rollout) {
            Some(rollout) => Some(progress(client, rollout).await?),
            None => None,
        };
        let made = sketch(&known, progress.as_ref(), &mut self.memory, clock.now());
        self.readings += 1;
        self.catalog = Some(known).filter(|_| !self.is_due());
        Ok(Sketch { glimpse: Glimpse { reading: wish.asked, ..made.glimpse }, ..made })
    }

    /// It is time to look whether more is offered by now.
    pub fn is_due(&self) -> bool {
        self.readings.is_multiple_of(READINGS_PER_CATALOG)
    }

    /// Until it is time to read again.
    pub async fn pause<C: Clock>(&mut self, clock: &C) {
        tokio::select! {
            () = clock.sleep(POLL_EVERY) => {}
            _ = self.wishes.changed() => self.catalog = None,
        }
    }

    /// What is known of the lists is not to be relied on any more.
    pub fn forget(&mut self) {
        self.catalog = None;
    }
}
