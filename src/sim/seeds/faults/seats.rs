//! The seat of a world of faults: somebody who can takes it in time, nobody loses it for no reason, and who loses it
//! finishes no more than what is in flight.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::super::super::cluster::fences::Beyond;
use super::super::super::toll::{Mishap, Toll};
use crate::control::seat::{LOOK_EVERY, SEAT_EXPIRY};
use crate::domain::ids::Epoch;
use crate::domain::span::Seconds;

/// An empty seat is taken within this time by whoever can: one look until its last sign of life was seen, the expiry,
/// another look, and what drifting clocks and patrols each second add.
const TAKEN_WITHIN: Seconds = Seconds(SEAT_EXPIRY.as_secs() + 2 * LOOK_EVERY.as_secs() + 2);

/// The same of a seat that was given back: one look, and what patrols add.
const HANDED_WITHIN: Seconds = Seconds(LOOK_EVERY.as_secs() + 2);

/// Whoever cannot show that it lives steps down within this time, by its own clock.
const STEPPED_DOWN_WITHIN: Seconds = Seconds(SEAT_EXPIRY.as_secs() + 2);

/// Who has been well for so long cannot have lost the seat by its own fault.
const SOUND_AFTER: Seconds = Seconds(2 * SEAT_EXPIRY.as_secs());

/// What was the matter with a line may last for so long beyond it: a slow call that had begun, a pause before a retry.
pub(super) const AFTERMATH: Seconds = Seconds(20);

/// One process as it stands at one moment.
#[derive(Debug, Clone)]
pub(in super::super) struct Standing {
    pub(in super::super) name: String,
    /// It lives and takes steps.
    pub(in super::super) awake: bool,
    /// Nothing is the matter with its line to the journal.
    pub(in super::super) clear: bool,
    /// Nothing gets through to the journal.
    pub(in super::super) cut: bool,
    /// It has loaded the world and would take the seat.
    pub(in super::super) stands: bool,
    /// The epoch it believes to have the seat in.
    pub(in super::super) holds: Option<Epoch>,
}

/// The world they stand in.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Around {
    pub(in super::super) now: Timestamp,
    /// Something is the matter with the journal itself.
    pub(in super::super) troubled: bool,
    /// The epoch of the seat, as the journal says.
    pub(in super::super) epoch: Epoch,
}

/// The seat was taken.
#[derive(Debug, Clone)]
pub(in super::super) struct Taking {
    pub(in super::super) at: Timestamp,
    pub(in super::super) by: String,
    pub(in super::super) epoch: Epoch,
}

/// Watches the seat of one world.
#[derive(Debug, Default)]
pub(in super::super) struct SeatWatch {
    well: BTreeMap<String, Timestamp>,
    able: BTreeMap<String, Timestamp>,
    holding: BTreeMap<String, Timestamp>,
    /// Since when somebody has the seat, as it thinks, and nothing of it gets through to the journal.
    unseen: BTreeMap<String, Timestamp>,
    /// Since when nobody who takes steps has the seat.
    empty_since: Option<Timestamp>,
    handed_over_at: Option<Timestamp>,
    handed_over_by: String,
    excused: BTreeMap<String, Timestamp>,
    /// Since when somebody has the seat who was to give it back.
    reluctant: BTreeMap<String, Timestamp>,
    last: Option<Taking>,
    known: BTreeSet<String>,
    /// Epochs that were taken because the one before was thought to be over.
    expired: BTreeSet<Epoch>,
    judged: usize,
    /// Clocks went apart, and a person accepted that: whoever is ahead must not take anything (R168).
    pub(in super::super) clocks_apart: bool,
    pub(in super::super) longest_gap: u64,
    pub(in super::super) longest_hand_over: u64,
}

impl SeatWatch {
    /// A process gives the seat back, or may lose it for another good reason.
    pub(in super::super) fn excuse(&mut self, name: &str, gives_back: bool, now: Timestamp) {
        // Whoever was to die or to freeze a moment ago may do so before it has said that it gives the seat back.
        let shaken = self.excused.insert(name.to_owned(), now).is_some_and(|at| now < AFTERMATH.after(at));
        if self.holding.remove(name).is_some() && gives_back && !shaken {
            self.handed_over_at = Some(now);
            name.clone_into(&mut self.handed_over_by);
        } else if self.handed_over_by == name {
            self.handed_over_at = None;
        }
    }

    /// Looks at all processes, and at who took the seat since the last look. The rule that is broken, if one is.
    pub(in super::super) fn look(
        &mut self,
        around: Around,
        standing: &[Standing],
        takings: Vec<Taking>,
        toll: &mut Toll,
    ) -> Option<String> {
        let taken = !takings.is_empty();
        let fault = takings.into_iter().find_map(|taking| self.taken(taking, toll));
        self.stand(around, standing);
        let seated = standing.iter().any(|one| one.awake && one.holds == Some(around.epoch));
        if taken || seated {
            self.empty_since = None;
        }
        if !seated {
            self.empty_since.get_or_insert(around.now);
        }
        let by = standing.iter().find(|one| one.name == self.handed_over_by);
        if around.troubled || seated || by.is_some_and(|one| !one.awake || !one.clear) {
            self.handed_over_at = None;
        }
        fault
            .or_else(|| self.kept_unseen(around.now))
            .or_else(|| self.kept_too_long(around.now))
            .or_else(|| self.left_empty(around))
    }

    /// A process that thinks to have the seat long after others may think it dead.
    fn kept_unseen(&self, now: Timestamp) -> Option<String> {
        let late = self.unseen.iter().find(|(_, since)| STEPPED_DOWN_WITHIN.after(**since) < now);
        late.map(|(name, _)| format!("A21: {name} thinks to have the seat, cut off for {STEPPED_DOWN_WITHIN}"))
    }

    /// A console that has found its control plane again, or a process that was asked to stop, and still has the seat.
    fn kept_too_long(&self, now: Timestamp) -> Option<String> {
        let late = self.reluctant.iter().find(|(_, since)| HANDED_WITHIN.after(**since) < now);
        late.map(|(name, _)| format!("{name} was to give the seat back, and has it after {HANDED_WITHIN}"))
    }

    /// Since when each process is well, could take the seat, and has it.
    fn stand(&mut self, around: Around, standing: &[Standing]) {
        let names: BTreeSet<&String> = standing.iter().map(|one| &one.name).collect();
        for since in [&mut self.well, &mut self.able, &mut self.holding, &mut self.unseen, &mut self.reluctant] {
            since.retain(|name, _| names.contains(name));
        }
        for one in standing {
            let well = one.awake && one.clear && !around.troubled;
            let fresh = self.known.insert(one.name.clone()) || self.well.contains_key(&one.name);
            let begins = if fresh { around.now } else { AFTERMATH.after(around.now) };
            note(&mut self.well, &one.name, well, begins);
            note(&mut self.able, &one.name, well && one.stands, begins);
            let holds = well && one.holds == Some(around.epoch);
            note(&mut self.holding, &one.name, holds, around.now);
            let unseen = one.awake && one.cut && one.holds.is_some();
            note(&mut self.unseen, &one.name, unseen, around.now);
            note(&mut self.reluctant, &one.name, holds && !one.stands, around.now);
        }
    }

    /// Judges who took the seat from whom.
    fn taken(&mut self, taking: Taking, toll: &mut Toll) -> Option<String> {
        let before = self.last.replace(taking.clone());
        if let Some(handed_over_at) = self.handed_over_at.take().filter(|_| !self.clocks_apart) {
            toll.count(Mishap::HandOver);
            self.longest_hand_over = self.longest_hand_over.max(Seconds::between(handed_over_at, taking.at).0);
        }
        if let Some(since) = self.empty_since.filter(|_| !self.clocks_apart && self.able.contains_key(&taking.by)) {
            self.longest_gap = self.longest_gap.max(Seconds::between(since.max(self.able[&taking.by]), taking.at).0);
        }
        self.expired.insert(taking.epoch);
        let before = before?;
        if before.by == taking.by {
            toll.count(Mishap::StoodAgain);
        }
        let fault = before.by != taking.by && self.was_robbed(&before, &taking);
        fault.then(|| format!("A21: {} took the seat of {}, which had it and lived", taking.by, before.by))
    }

    /// Whoever had the seat before could show that it lives, and whoever took it could see that.
    fn was_robbed(&self, before: &Taking, taking: &Taking) -> bool {
        let sound = |since: Option<&Timestamp>| since.is_some_and(|since| SOUND_AFTER.after(*since) <= taking.at);
        if !sound(self.well.get(&before.by)) || !sound(self.well.get(&taking.by)) {
            return false;
        }
        // Nobody can think that a seat is empty which was taken a moment ago.
        let fresh = taking.at < Seconds(SEAT_EXPIRY.as_secs()).after(before.at);
        let excused = self.excused.get(&before.by).is_some_and(|at| *at >= before.at);
        sound(self.holding.get(&before.by)) || (fresh && !excused)
    }

    /// Nobody took an empty seat in time, though somebody could.
    fn left_empty(&mut self, around: Around) -> Option<String> {
        if self.clocks_apart {
            return None;
        }
        let now = around.now;
        if let Some(at) = self.handed_over_at.filter(|at| HANDED_WITHIN.after(*at) < now) {
            self.handed_over_at = None;
            let ready = self.able.iter().find(|(_, since)| **since <= at);
            if let Some((name, _)) = ready {
                return Some(format!("the seat was handed over, and {name} did not take it within {HANDED_WITHIN}"));
            }
        }
        let empty = self.empty_since?;
        let late = self.able.iter().find(|(_, since)| TAKEN_WITHIN.after(empty.max(**since)) < now);
        late.map(|(name, _)| format!("the seat is empty, and {name} did not take it within {TAKEN_WITHIN}"))
    }

    /// Whoever lost the seat because it was silent finishes one write at the most.
    pub(in super::super) fn overdone(&mut self, beyond: &[Beyond]) -> Option<String> {
        let new = &beyond[self.judged.min(beyond.len())..];
        self.judged = beyond.len();
        new.iter().find_map(|write| {
            let own = beyond.iter().filter(|other| (&other.process, other.epoch) == (&write.process, write.epoch));
            let many = own.count() > 1 && self.expired.contains(&(write.epoch + 1));
            let (process, object, epoch) = (&write.process, &write.object, write.epoch);
            many.then(|| format!("A21: {process} went on writing after epoch {epoch} was over: {object}"))
        })
    }
}

/// Since when something is so, from `begins` on where it was not before.
fn note(since: &mut BTreeMap<String, Timestamp>, name: &str, is_so: bool, begins: Timestamp) {
    if !is_so {
        since.remove(name);
    } else if !since.contains_key(name) {
        since.insert(name.to_owned(), begins);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000 + second).unwrap()
    }

    fn one(name: &str, holds: Option<Epoch>) -> Standing {
        Standing { name: name.to_owned(), awake: true, clear: true, cut: false, stands: true, holds }
    }

    fn look(watch: &mut SeatWatch, second: i64, standing: &[Standing], takings: &[(&str, Epoch)]) -> Option<String> {
        let epoch = watch.last.as_ref().map_or(0, |last| last.epoch).max(takings.last().map_or(0, |(_, e)| *e));
        let around = Around { now: at(second), troubled: false, epoch };
        let taking = |(by, epoch): &(&str, Epoch)| Taking { at: at(second), by: (*by).to_owned(), epoch: *epoch };
        watch.look(around, standing, takings.iter().map(taking).collect(), &mut Toll::default())
    }

    #[test]
    fn a_seat_that_stays_empty_and_one_that_was_taken_for_no_reason_are_told() {
        let mut watch = SeatWatch::default();
        assert_eq!(look(&mut watch, 0, &[one("a", Some(1)), one("b", None)], &[("a", 1)]), None);
        for second in 1..60 {
            assert_eq!(look(&mut watch, second, &[one("a", Some(1)), one("b", None)], &[]), None);
        }
        let robbed = look(&mut watch, 60, &[one("a", None), one("b", Some(2))], &[("b", 2)]);
        assert!(robbed.is_some_and(|why| why.contains("b took the seat of a")));
        let empty = (61..90).find_map(|second| look(&mut watch, second, &[one("a", None)], &[]));
        assert!(empty.is_some_and(|why| why.contains("a did not take it within")));
    }

    #[test]
    fn whoever_is_cut_off_and_does_not_step_down_is_told() {
        let mut watch = SeatWatch::default();
        look(&mut watch, 0, &[one("a", Some(1))], &[("a", 1)]);
        let cut = [Standing { clear: false, cut: true, ..one("a", Some(1)) }];
        let told = (1..30).find_map(|second| look(&mut watch, second, &cut, &[]).map(|why| (second, why)));
        assert!(told.is_some_and(|(second, why)| second == 19 && why.contains("cut off for 17s")));
    }

    #[test]
    fn a_hand_over_that_nobody_answers_is_told_soon() {
        let mut watch = SeatWatch::default();
        let both = [one("a", Some(1)), one("b", None)];
        look(&mut watch, 0, &both, &[("a", 1)]);
        look(&mut watch, 1, &both, &[]);
        watch.excuse("a", true, at(2));
        let told = (2..10).find_map(|second| look(&mut watch, second, &[one("b", None)], &[]).map(|why| (second, why)));
        assert!(told.is_some_and(|(second, why)| second == 7 && why.contains("handed over")));
    }
}
