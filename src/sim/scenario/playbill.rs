//! The playbill: when entries of `when`, automatic ticks and entries of `then` are due.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::file::act::{Act, Doing, Timing};
use super::file::faults::FaultAct;
use super::file::moment::Moment;
use super::file::scenario::Scenario;

/// What is due when.
#[derive(Debug)]
pub(super) struct Playbill {
    /// Next time of each entry of `when`, in file order where they fall together.
    acts: BTreeSet<(Timestamp, usize)>,
    /// How far apart the times of a repeated entry are, and the last one.
    repeats: BTreeMap<usize, (SignedDuration, Timestamp)>,
    ticks: Option<(Timestamp, SignedDuration)>,
    thens: BTreeMap<Timestamp, Vec<usize>>,
    end: Moment,
}

impl Playbill {
    /// Everything of a scenario that starts at `start`.
    pub(super) fn of(scenario: &Scenario, start: Timestamp) -> Self {
        let named = scenario.when.iter().flat_map(named).chain(scenario.then.iter().map(|then| then.end()));
        let end = named.max().unwrap_or_default().max(Moment(0));
        let (mut acts, mut repeats) = (BTreeSet::new(), BTreeMap::new());
        for (n, act) in scenario.when.iter().enumerate() {
            match act.timing {
                Timing::At(at) => drop(acts.insert((at.after(start), n))),
                Timing::Every { step, from, until } => {
                    let last = until.unwrap_or(end);
                    if from <= last {
                        acts.insert((from.after(start), n));
                        repeats.insert(n, (SignedDuration::from_secs(step), last.after(start)));
                    }
                }
            }
        }
        let period = i64::try_from(scenario.heading.tick_seconds).unwrap_or(i64::MAX);
        let first = Moment(period.min(super::file::moment::SECONDS_MAX)).after(start);
        let ticks = (period > 0).then(|| (first, SignedDuration::from_secs(period)));
        let mut thens: BTreeMap<Timestamp, Vec<usize>> = BTreeMap::new();
        for (n, then) in scenario.then.iter().enumerate() {
            thens.entry(then.end().after(start)).or_default().push(n);
        }
        Self { acts, repeats, ticks, thens, end }
    }

    /// Strikes everything but the automatic ticks, and what is still to happen to processes.
    pub(super) fn strike(&mut self, when: &[Act]) {
        let is_fate = |n: &usize| when.get(*n).is_some_and(|act| matches!(act.doing, Doing::Faults(_)));
        self.acts.retain(|(_, n)| is_fate(n));
        self.repeats.retain(|n, _| is_fate(n));
        self.thens.clear();
    }

    /// The last instant the file names.
    pub(super) fn end(&self) -> Moment {
        self.end
    }

    /// When something of it is due next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let act = self.acts.first().map(|(at, _)| *at);
        let then = self.thens.keys().next().copied();
        [act, self.ticks.map(|(at, _)| at), then].into_iter().flatten().min()
    }

    /// The next entry of `when` that is due.
    pub(super) fn take_act(&mut self, now: Timestamp) -> Option<usize> {
        let (at, n) = self.acts.first().copied().filter(|(at, _)| *at <= now)?;
        self.acts.pop_first();
        if let Some((step, last)) = self.repeats.get(&n)
            && let Ok(next) = at.checked_add(*step)
            && next <= *last
        {
            self.acts.insert((next, n));
        }
        Some(n)
    }

    /// True where an automatic tick is due.
    pub(super) fn take_tick(&mut self, now: Timestamp) -> bool {
        let Some((at, period)) = self.ticks.filter(|(at, _)| *at <= now) else { return false };
        self.ticks = at.checked_add(period).ok().map(|next| (next, period));
        true
    }

    /// The entries of `then` that are due.
    pub(super) fn take_thens(&mut self, now: Timestamp) -> Vec<usize> {
        let later = self.thens.split_off(&now.saturating_add(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MAX));
        std::mem::replace(&mut self.thens, later).into_values().flatten().collect()
    }
}

/// Instants an entry names.
fn named(act: &Act) -> impl Iterator<Item = Moment> {
    let timing = match act.timing {
        Timing::At(at) => at,
        Timing::Every { from, until, .. } => until.unwrap_or(from),
    };
    let own = match &act.doing {
        Doing::Faults(FaultAct::Partition { until, .. }) => Some(*until),
        _ => None,
    };
    [Some(timing), own].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str) -> Vec<(i64, &'static str)> {
        let scenario = Scenario::parse(text).unwrap();
        let start = scenario.start();
        let mut playbill = Playbill::of(&scenario, start);
        let mut seen = Vec::new();
        while let Some(now) = playbill.next_due().filter(|due| *due <= playbill.end().after(start)) {
            let at = Moment::of(now, start).0;
            while let Some(n) = playbill.take_act(now) {
                seen.push((at, ["a", "b", "c"][n]));
            }
            if playbill.take_tick(now) {
                seen.push((at, "tick"));
            }
            seen.extend(playbill.take_thens(now).into_iter().map(|_| (at, "then")));
        }
        seen
    }

    #[test]
    fn one_instant_goes_in_file_order_then_tick_then_then() {
        let text = "
scenario: order
when:
  - {every: 60s, until: 2m, do: tick}
  - {at: 60s, do: tick}
  - {every: 30s, from: 90s, do: tick}
then:
  - {at: 60s, view: seat, count: 1}
  - {at: 125s, view: seat, count: 1}
";
        let expected = [
            (0, "a"),
            (60, "a"),
            (60, "b"),
            (60, "tick"),
            (60, "then"),
            (90, "c"),
            (120, "a"),
            (120, "c"),
            (120, "tick"),
            (125, "then"),
        ];
        assert_eq!(times(text), expected);
    }
}
