//! The book of one account in a simulated journal: its entries, the signs of life beside them, and what goes wrong.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::fence::broken;
use super::shared::Shared;
use super::toll::{Mishap, Toll};
use crate::control::batch::{EMPTY, advance, check_shape};
use crate::control::ports::{AppendError, Batch, Beat, Head, JournalError};
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::ids::{Epoch, Revision};
use crate::domain::world::World;

/// Entries an account's journal keeps; older ones are archived, which here means forgotten.
pub const ENTRIES_KEPT: usize = 500_000;

/// What goes wrong with exactly one append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalFault {
    /// It is refused as outrun, though nobody was faster.
    Conflict,
    /// The store fails and nothing was written.
    Error,
    /// It is written, and the answer gets lost.
    LostAnswer,
}

/// A promise of the port that a store breaks all the time: proves that the checks of a simulation find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// It appends without comparing: a batch that was outrun lands behind whatever is there.
    Blind,
    /// Of the batches with an order in them it acknowledges every fourth without keeping it.
    Forgetful,
}

/// What the store says when it was told to fail.
#[derive(Debug, thiserror::Error)]
#[error("the simulated store was told to fail")]
struct ToldToFail;

/// A write on its way.
#[derive(Debug)]
pub(super) enum Parcel {
    Batch(Batch),
    Beat(Beat),
}

/// Signs of life that are kept for whoever reads the past.
const BEATS_KEPT: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) head: Head,
    /// The last signs of life, and when each was kept.
    pub(super) beats: VecDeque<(Timestamp, Beat)>,
    /// Who took the seat last in which epoch.
    pub(super) seats: BTreeMap<String, Epoch>,
    pub(super) entries: VecDeque<Entry>,
    /// When each of them was appended, whatever the clock of its process said.
    pub(super) moments: VecDeque<Timestamp>,
    pub(super) world: World,
    pub(super) seal: Sha256,
    pub(super) followers: Vec<Waker>,
    pub(super) faults: VecDeque<JournalFault>,
    /// Until when nothing can be kept.
    pub(super) full_until: Option<Timestamp>,
    /// Writes that were said to have failed, and when they arrive.
    pub(super) under_way: Vec<(Timestamp, Parcel)>,
    pub(super) defect: Option<Defect>,
    ordered: u64,
    pub(super) races: u64,
    /// Appends that should never have come, or been answered like that, in words (R28).
    breaches: Vec<String>,
}

impl Book {
    pub(super) fn empty() -> Self {
        Self { head: EMPTY, ..Self::default() }
    }

    pub(super) fn append(&mut self, mut batch: Batch, at: Timestamp, toll: &mut Toll) -> Result<Head, AppendError> {
        if self.defect == Some(Defect::Blind) {
            self.put_behind_the_head(&mut batch);
        } else if self.defect == Some(Defect::Forgetful) && self.forgets(&batch) {
            return Ok(self.head);
        }
        let fault = self.faults.pop_front();
        match fault {
            Some(JournalFault::Conflict) => {
                toll.count(Mishap::Conflict);
                return Err(AppendError::Outrun { head: self.head });
            }
            Some(JournalFault::Error) => {
                toll.count(Mishap::FailedAppend);
                return Err(told_to_fail().into());
            }
            Some(JournalFault::LostAnswer) | None => {}
        }
        check_shape(&batch)?;
        let answer = advance(self.head, &batch);
        self.breaches.extend(broken(&self.world, &batch, &answer));
        self.head.epoch = answer.inspect_err(|error| self.refused(error, toll))?.epoch;
        for entry in batch.entries {
            self.keep(entry, at)?;
        }
        self.followers.drain(..).for_each(Waker::wake);
        if fault.is_none() {
            return Ok(self.head);
        }
        toll.count(Mishap::LostAnswer);
        Err(told_to_fail().into())
    }

    fn refused(&mut self, error: &AppendError, toll: &mut Toll) {
        match error {
            AppendError::Deposed { .. } => toll.count(Mishap::FencedAppend),
            AppendError::Outrun { .. } => self.races += 1,
            AppendError::Failed(_) => {}
        }
    }

    /// A rule that was broken by an append, once.
    pub(super) fn take_breach(&mut self) -> Option<String> {
        self.breaches.pop()
    }

    pub(super) fn is_full(&self, now: Timestamp) -> bool {
        self.full_until.is_some_and(|until| now < until)
    }

    /// Writes arrive that were said to have failed; whoever sent them hears no more of it.
    pub(super) fn land(&mut self, now: Timestamp, toll: &Shared<Toll>) {
        if self.under_way.iter().all(|(due, _)| now < *due) {
            return;
        }
        let (mut due, rest) = std::mem::take(&mut self.under_way).into_iter().partition(|(due, _)| *due <= now);
        self.under_way = rest;
        let due: &mut Vec<(Timestamp, Parcel)> = &mut due;
        due.sort_by_key(|(at, _)| *at);
        for (_, parcel) in due.drain(..) {
            match parcel {
                Parcel::Batch(batch) => {
                    let landed = toll.with(|toll| self.append(batch, now, toll)).is_ok();
                    toll.with(|toll| {
                        if landed {
                            toll.count(Mishap::LateLanding)
                        }
                    });
                }
                Parcel::Beat(beat) => self.beat(beat, now),
            }
        }
    }

    /// A beat of an older epoch than the last one is that of a holder who does not know yet.
    pub(super) fn beat(&mut self, beat: Beat, now: Timestamp) {
        if self.beats.back().is_none_or(|(_, last)| last.epoch <= beat.epoch) {
            self.beats.push_back((now, beat));
            let surplus = self.beats.len().saturating_sub(BEATS_KEPT);
            self.beats.drain(..surplus);
        }
    }

    /// Where it stood at a moment.
    pub(super) fn head_at(&self, moment: Timestamp) -> Head {
        let later = self.moments.iter().rev().take_while(|at| moment < **at).count();
        Head { revision: self.head.revision - u64::try_from(later).unwrap_or(0), ..self.head }
    }

    pub(super) fn put_behind_the_head(&self, batch: &mut Batch) {
        batch.expected = self.head.revision;
        for (entry, revision) in batch.entries.iter_mut().zip(self.head.revision + 1..) {
            entry.revision = revision;
        }
    }

    pub(super) fn forgets(&mut self, batch: &Batch) -> bool {
        let ordered = batch.entries.iter().any(|entry| matches!(entry.cause, Cause::Verb { .. }));
        self.ordered += u64::from(ordered);
        ordered && self.ordered.is_multiple_of(4)
    }

    pub(super) fn keep(&mut self, entry: Entry, at: Timestamp) -> Result<(), JournalError> {
        let line = serde_json::to_vec(&entry)
            .map_err(|source| JournalError::Store { attempt: "append", source: Box::new(source) })?;
        self.seal.update(&line);
        self.world.apply(&entry);
        if let Change::SeatTaken { holder, epoch, .. } = &entry.change {
            self.seats.insert(holder.clone(), *epoch);
        }
        self.head.revision = entry.revision;
        self.entries.push_back(entry);
        self.moments.push_back(at);
        self.forget(ENTRIES_KEPT);
        Ok(())
    }

    pub(super) fn forget(&mut self, kept: usize) {
        let surplus = self.entries.len().saturating_sub(kept.max(1));
        self.entries.drain(..surplus);
        self.moments.drain(..surplus.min(self.moments.len()));
        self.head.oldest = self.entries.front().map_or(1, |first| first.revision);
    }

    /// The world as it stood at a moment, as long as every entry is kept.
    pub(super) fn world_at(&self, moment: Timestamp) -> World {
        let head = self.head_at(moment).revision;
        if head == self.head.revision || self.head.oldest > 1 {
            return self.world.clone();
        }
        let mut world = World::default();
        self.entries.iter().take_while(|entry| entry.revision <= head).for_each(|entry| world.apply(entry));
        world
    }

    pub(super) fn read(&self, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        let Some(first) = self.entries.front() else { return Ok(Vec::new()) };
        let next = after.saturating_add(1);
        let Some(skipped) = next.checked_sub(first.revision) else {
            return Err(JournalError::Compacted { oldest: first.revision });
        };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        Ok(self.entries.iter().skip(skipped).take(limit).cloned().collect())
    }
}

fn told_to_fail() -> JournalError {
    JournalError::Store { attempt: "append", source: Box::new(ToldToFail) }
}
