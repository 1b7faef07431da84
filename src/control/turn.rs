//! The turn: what waits is decided on the newest world and appended in one piece, or decided again on a newer one.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::chronicle::chronicle;
use super::door::{DoorError, Request};
use super::draft::{Basis, Draft};
use super::execute::Lot;
use super::host::Host;
use super::observe::Observer;
use super::ports::{AppendError, Clock, Journal, JournalError};
use super::reader::Reader;
use super::trouble::sentence;
use crate::domain::ids::{AccountId, Epoch, Revision};

/// How often what waits is decided again because others appended first.
pub const DECIDED_AT_MOST: usize = 8;

/// How often an append is tried that fails and leaves nothing behind; after that the next request is the retry.
pub const APPENDS_TRIED: usize = 2;

/// Decides and appends for one account.
pub(super) struct Turns<H> {
    pub(super) host: Arc<H>,
    pub(super) account: AccountId,
    pub(super) observer: Observer<H>,
    pub(super) reader: Reader<H>,
    pub(super) lots: mpsc::Sender<Lot>,
}

/// What happened so far in one turn.
#[derive(Default)]
struct Tries {
    /// Drafts whose append failed: they may be in the journal nevertheless.
    unsure: Vec<Draft>,
    /// The lowest epoch the journal still takes a tick's changes from.
    floor: Epoch,
    /// What was read last ends before the head that was told.
    is_behind: bool,
}

/// What is told to whom nothing can be told for sure.
const BEHIND: &str = "the journal does not show yet where it stands";

impl<H: Host> Turns<H> {
    /// Where the published world stands.
    pub(super) fn revision(&self) -> Revision {
        self.reader.publisher().world().revision
    }

    /// Decides and answers everything that waits, in as many batches as it takes.
    pub(super) async fn decide_all(&self, waiting: &mut Vec<Request>) {
        while !waiting.is_empty() {
            self.turn(waiting).await;
        }
    }

    /// One turn: takes as many of the waiting as fit in one batch, and answers them for good.
    async fn turn(&self, waiting: &mut Vec<Request>) {
        let mut tries = Tries::default();
        for _ in 0..DECIDED_AT_MOST {
            let draft = self.decide(tries.floor, |basis| Draft::of(basis, waiting));
            if let Some(by) = self.observer.ahead().filter(|_| draft.needs_a_clock()) {
                return self.refuse(waiting, &tries, &DoorError::Ahead(by));
            }
            let Err(error) = self.keep(&draft).await else { return draft.reply(waiting) };
            match self.recover(error, draft, &mut tries).await {
                Ok(None) => {}
                Ok(Some(landed)) => return landed.reply(waiting),
                Err(error) => return self.refuse(waiting, &tries, &error),
            }
        }
        // Under its key it may have been done before, and the entry that says so cannot be read yet.
        let error = if tries.is_behind { DoorError::Unknown(BEHIND.to_owned()) } else { DoorError::Busy };
        self.refuse(waiting, &tries, &error);
    }

    fn decide(&self, floor: Epoch, draft: impl FnOnce(Basis<'_>) -> Draft) -> Draft {
        let published = self.reader.publisher().current();
        let observed = self.observer.observe(&published.world);
        let (process, clock, tried) = (self.host.process(), self.host.clock().now(), self.observer.tried());
        draft(Basis { published: &published, observed: &observed, tried: &tried, process, clock, floor })
    }

    fn refuse(&self, waiting: &mut Vec<Request>, tries: &Tries, error: &DoorError) {
        self.decide(tries.floor, |basis| Draft::refusing(basis, waiting, error)).reply(waiting);
    }

    /// Appends and publishes a draft; where it changes nothing there is nothing to append (R28: the compare-and-set
    /// of the append is what makes one free slot one lease).
    async fn keep(&self, draft: &Draft) -> Result<(), AppendError> {
        match (draft.entries.is_empty(), draft.lots.is_empty()) {
            (false, _) => drop(self.host.journal().append(draft.batch(self.account)).await?),
            (true, false) => self.confirm(draft).await?,
            (true, true) => {}
        }
        self.note(draft);
        chronicle(&draft.world, &draft.entries);
        self.reader.advance(draft.world.clone(), draft.entries.clone(), draft.ticked);
        // What finds no room is decided anew by the next tick.
        draft.lots.iter().for_each(|lot| drop(self.lots.try_send(lot.clone())));
        Ok(())
    }

    /// Writes that leave nothing in the journal beforehand follow only from a world that is still the newest. Whoever lost
    /// the seat without noticing would see what its successor made of the cluster, and undo it by what it knew before.
    async fn confirm(&self, draft: &Draft) -> Result<(), AppendError> {
        let head = self.host.journal().head(self.account).await?;
        if draft.lots.iter().any(|lot| lot.epoch < head.epoch) {
            return Err(AppendError::Deposed { head });
        }
        if head.revision != draft.expected {
            return Err(AppendError::Outrun { head });
        }
        self.reader.found();
        Ok(())
    }

    /// Remembers what no entry says.
    fn note(&self, draft: &Draft) {
        if draft.ticked {
            self.observer.ticked(draft.now);
        }
        self.observer.try_these(draft.tried.clone());
        if draft.accepts_the_clock() {
            self.observer.compared(None);
        }
        if let Some(refused) = &draft.refused_start {
            self.observer.refused(refused.clone());
        }
    }

    /// After an append that did not happen, or may have: catches up with the journal. `None` = decide again, a draft =
    /// that one is there after all, an error = give up.
    async fn recover(&self, error: AppendError, draft: Draft, tries: &mut Tries) -> Result<Option<Draft>, DoorError> {
        let (head, failure) = match error {
            AppendError::Outrun { head } => (Ok(head), None),
            AppendError::Deposed { head } => {
                tries.floor = head.epoch;
                (Ok(head), None)
            }
            AppendError::Failed(error) => {
                self.reader.lose(&error, None);
                tries.unsure.extend(Some(draft).filter(|draft| !draft.entries.is_empty()));
                (self.host.journal().head(self.account).await, Some(error))
            }
        };
        let met = match head {
            Ok(head) => {
                let met = self.reader.meet(head).await;
                tries.is_behind = self.revision() < head.revision;
                met
            }
            Err(error) => Err(error),
        };
        if let Err(error) = met {
            self.reader.lose(&error, None);
            return Err(tries.verdict(&error));
        }
        match (self.landed(&mut tries.unsure), failure) {
            (Some(landed), _) => Ok(Some(landed)),
            (None, Some(error)) if tries.unsure.len() >= APPENDS_TRIED => {
                Err(match self.host.journal().fails_for_good() {
                    true => DoorError::Journal(sentence(&error)),
                    false => DoorError::Unknown(sentence(&error)),
                })
            }
            (None, _) => Ok(None),
        }
    }

    /// The draft whose entries turn out to be in the journal, although its append seemed to fail.
    fn landed(&self, unsure: &mut Vec<Draft>) -> Option<Draft> {
        let published = self.reader.publisher().current();
        let is_there = |draft: &Draft| {
            let after = published.entries_after(draft.expected).unwrap_or_default();
            after.starts_with(&draft.entries)
        };
        let place = unsure.iter().position(is_there)?;
        let landed = unsure.swap_remove(place);
        chronicle(&landed.world, &landed.entries);
        self.reader.advance(landed.world.clone(), Vec::new(), landed.ticked);
        Some(landed)
    }
}

impl Tries {
    /// What those are told whose changes may or may not be there, the journal being unreadable.
    fn verdict(&self, error: &JournalError) -> DoorError {
        let why = sentence(error);
        if self.unsure.is_empty() { DoorError::Journal(why) } else { DoorError::Unknown(why) }
    }
}
