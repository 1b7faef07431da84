//! Which endpoint is to be looked at next: those somebody waits for more often, all of them before their last answer is
//! too old to say anything.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::kura::front::{Front, Wanted};
use crate::domain::span::Seconds;

/// How often endpoints are looked at. An answer is good for `PROBE_STALE_AFTER`.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Between two looks at an endpoint a deployment waits for (15 s).
    pub eager: Seconds,
    /// Between two looks at any other one (60 s).
    pub calm: Seconds,
}

impl Default for Pace {
    fn default() -> Self {
        Self { eager: Seconds(15), calm: Seconds(60) }
    }
}

/// Endpoints that are looked at at the same time.
pub const AT_ONCE: usize = 128;

/// All endpoints that are wanted.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    pace: Pace,
    slots: BTreeMap<String, Slot>,
    running: usize,
}

#[derive(Debug)]
struct Slot {
    wanted: Wanted,
    /// When the last look began.
    last: Option<Timestamp>,
    running: bool,
    /// Nobody wants it any more; a look at it is still under way.
    left: bool,
}

impl Slot {
    /// When the next look is due; none while one runs.
    fn due(&self, pace: Pace) -> Option<Timestamp> {
        let every = if self.wanted.eager { pace.eager } else { pace.calm };
        (!self.running).then(|| self.last.map_or(Timestamp::MIN, |last| every.after(last)))
    }
}

impl Schedule {
    pub(super) fn at(pace: Pace) -> Self {
        Self { pace, ..Self::default() }
    }

    /// From now on these. Those that are wanted already keep their place, and a look that is under way its end.
    pub(super) fn want(&mut self, wanted: BTreeMap<String, Wanted>) {
        self.slots.retain(|key, slot| slot.running || wanted.contains_key(key));
        self.slots.values_mut().for_each(|slot| slot.left = true);
        for (key, wanted) in wanted {
            let known = self.slots.remove(&key);
            let (last, running) = known.map_or((None, false), |slot| (slot.last, slot.running));
            self.slots.insert(key, Slot { wanted, last, running, left: false });
        }
    }

    /// Begins as many looks as are due and may be, the one that waited longest first.
    pub(super) fn begin(&mut self, now: Timestamp) -> Vec<(String, Front)> {
        let mut due: Vec<(Timestamp, &String)> = self
            .slots
            .iter()
            .filter_map(|(key, slot)| Some((slot.due(self.pace)?, key)))
            .filter(|(due, _)| *due <= now)
            .collect();
        due.sort();
        let begun: Vec<String> =
            due.into_iter().take(AT_ONCE.saturating_sub(self.running)).map(|(_, key)| key.clone()).collect();
        let mut fronts = Vec::new();
        for key in begun {
            let Some(slot) = self.slots.get_mut(&key) else { continue };
            (slot.running, slot.last) = (true, Some(now));
            self.running += 1;
            fronts.push((key, slot.wanted.front.clone()));
        }
        fronts
    }

    /// It is still to be looked at.
    pub(super) fn wants(&self, key: &str) -> bool {
        self.slots.contains_key(key)
    }

    /// A look came to its end.
    pub(super) fn end(&mut self, key: &str) {
        self.running = self.running.saturating_sub(1);
        match self.slots.get_mut(key) {
            Some(slot) if !slot.left => slot.running = false,
            _ => drop(self.slots.remove(key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(keys: &[(&str, bool)]) -> BTreeMap<String, Wanted> {
        let one = |(key, eager): &(&str, bool)| {
            ((*key).to_owned(), Wanted { front: Front::Host((*key).to_owned()), eager: *eager })
        };
        keys.iter().map(one).collect()
    }

    fn begun(schedule: &mut Schedule, second: i64) -> Vec<String> {
        let now = Timestamp::from_second(second).unwrap();
        let keys: Vec<String> = schedule.begin(now).into_iter().map(|(key, _)| key).collect();
        keys.iter().for_each(|key| schedule.end(key));
        keys
    }

    #[test]
    fn who_is_waited_for_is_looked_at_more_often() {
        // K29
        let mut schedule = Schedule::default();
        schedule.want(wanted(&[("calm", false), ("eager", true)]));
        assert_eq!(begun(&mut schedule, 0), ["calm", "eager"]);
        assert!(begun(&mut schedule, 14).is_empty());
        assert_eq!(begun(&mut schedule, 15), ["eager"]);
        schedule.want(wanted(&[("calm", true), ("eager", false)]));
        assert_eq!(begun(&mut schedule, 16), ["calm"], "what became eager does not wait for its calm turn");
        assert_eq!(begun(&mut schedule, 75), ["calm", "eager"]);
    }

    #[test]
    fn no_more_than_a_few_at_once_and_nobody_is_passed_over() {
        let mut schedule = Schedule::default();
        let names: Vec<String> = (0..AT_ONCE + 10).map(|n| format!("{n:04}")).collect();
        schedule.want(wanted(&names.iter().map(|name| (name.as_str(), false)).collect::<Vec<_>>()));
        let now = Timestamp::from_second(0).unwrap();
        let first = schedule.begin(now);
        assert_eq!(first.len(), AT_ONCE);
        assert!(schedule.begin(now).is_empty(), "all hands are full");
        first.iter().take(4).for_each(|(key, _)| schedule.end(key));
        let next: Vec<String> = schedule.begin(now).into_iter().map(|(key, _)| key).collect();
        assert_eq!(next, names[AT_ONCE..AT_ONCE + 4], "those that were never looked at come first");
    }

    #[test]
    fn what_is_not_wanted_any_more_is_forgotten_once_its_look_ended() {
        let mut schedule = Schedule::default();
        schedule.want(wanted(&[("a", false)]));
        let now = Timestamp::from_second(0).unwrap();
        assert_eq!(schedule.begin(now).len(), 1);
        schedule.want(wanted(&[]));
        schedule.end("a");
        assert!(schedule.slots.is_empty() && schedule.running == 0);
    }
}
