//! What must be true of a console on its ladder, whatever happens: it stands for the seat only once nobody has answered it for
//! long enough or because a person said so, hands back what it has once a server answers again, and says where the seat is.

use jiff::Timestamp;

use super::super::plot::Grace;
use super::seats::AFTERMATH;
use crate::control::ladder::HAND_BACK_AFTER;
use crate::domain::fallback::Rung;
use crate::domain::ids::Epoch;
use crate::domain::span::Seconds;

/// What rounds each second and drifting clocks add.
const SLACK: Seconds = Seconds(2);

/// A server that answers gets the seat back within this time.
const HANDED_BACK_WITHIN: Seconds = Seconds(HAND_BACK_AFTER.as_secs() + 2 * SLACK.0);

/// What a person asked for may come about so much later.
const ASKED_WITHIN: Seconds = Seconds(60);

/// A console at one moment.
#[derive(Debug, Clone)]
pub(in super::super) struct Seen {
    pub(in super::super) now: Timestamp,
    /// It takes steps, and nothing is the matter with the journal, for it and for that server.
    pub(in super::super) clear: bool,
    /// It takes steps.
    pub(in super::super) awake: bool,
    /// It stands for the seat. A taking that was under way over a slow line may give it the seat when it does so no more.
    pub(in super::super) bids: bool,
    /// Where it says that it stands.
    pub(in super::super) rung: Rung,
    /// Why it can do nothing, as it says.
    pub(in super::super) trouble: Option<String>,
    /// The epoch it has the seat in.
    pub(in super::super) holds: Option<Epoch>,
}

/// Watches one console.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Watch {
    alone_since: Option<Timestamp>,
    /// Since when a server answers it and nothing is the matter.
    well_since: Option<Timestamp>,
    unwell_at: Option<Timestamp>,
    asleep_at: Option<Timestamp>,
    asked_at: Option<Timestamp>,
    bids: bool,
    stands: bool,
}

impl Watch {
    /// A person at it asks for the seat.
    pub(in super::super) fn asked(&mut self, now: Timestamp) {
        self.asked_at = Some(now);
    }

    /// Whether a server answers it from now on.
    pub(in super::super) fn hears(&mut self, answers: bool, now: Timestamp) {
        self.alone_since = if answers { None } else { self.alone_since.or(Some(now)) };
    }

    /// It is without its control plane.
    pub(in super::super) fn is_alone(&self) -> bool {
        self.alone_since.is_some()
    }

    /// It stands for the seat, or has it.
    pub(in super::super) fn stands(&self) -> bool {
        self.stands
    }

    /// A person asked for what it does.
    pub(in super::super) fn is_asked(&self, now: Timestamp) -> bool {
        self.asked_at.is_some_and(|at| now <= ASKED_WITHIN.after(at))
    }

    /// Looks at it. The rule it breaks, if it does.
    pub(in super::super) fn look(&mut self, seen: &Seen, grace: Grace) -> Option<String> {
        let now = seen.now;
        if !seen.awake {
            // What it shows is what it knew; what it hears when it wakes is for later.
            self.asleep_at = Some(now);
            self.note(seen);
            return None;
        }
        let stood = std::mem::replace(&mut self.bids, seen.bids);
        self.stands = matches!(seen.rung, Rung::Waiting(_) | Rung::Seated(_));
        self.note(seen);
        let fault = self.untrue(seen).or_else(|| if stood { None } else { self.too_soon(now, grace) });
        fault.or_else(|| self.too_long(seen))
    }

    fn note(&mut self, seen: &Seen) {
        if !seen.clear || !seen.awake {
            self.unwell_at = Some(seen.now);
        }
        let well = self.unwell_at != Some(seen.now) && !self.is_alone();
        let begins = self.unwell_at.map_or(seen.now, |at| AFTERMATH.after(at).max(seen.now));
        self.well_since = well.then(|| self.well_since.unwrap_or(begins));
    }

    /// It stands for the seat although a server answered it a moment ago, or without a person where one was needed.
    fn too_soon(&self, now: Timestamp, grace: Grace) -> Option<String> {
        if !self.bids || self.is_asked(now) {
            return None;
        }
        let Some(grace) = grace else { return Some("stands for the seat, and nobody told it to".to_owned()) };
        let needed = Seconds(grace.0.saturating_sub(SLACK.0));
        let slept = self.asleep_at.is_some_and(|at| now <= Seconds(needed.0 + SLACK.0).after(at));
        let alone = self.alone_since.is_some_and(|since| needed.after(since) <= now);
        let since = self.alone_since.map(|since| Seconds::between(since, now));
        let since =
            since.map_or("a server answers".to_owned(), |alone| format!("nobody has answered for {alone} only"));
        (needed.0 > 0 && !alone && !slept).then(|| format!("stands for the seat, and {since}"))
    }

    /// It stands for the seat, or has it, and a server has answered for long enough.
    fn too_long(&self, seen: &Seen) -> Option<String> {
        let late = self.well_since.is_some_and(|since| HANDED_BACK_WITHIN.after(since) < seen.now);
        (self.stands && late).then(|| {
            let trouble = seen.trouble.as_deref().map(|trouble| format!(": {trouble}")).unwrap_or_default();
            format!("has not handed the seat back within {HANDED_BACK_WITHIN}{trouble}")
        })
    }

    /// Where it says that the seat is, it is not.
    fn untrue(&self, seen: &Seen) -> Option<String> {
        let says = match seen.rung {
            Rung::Seated(epoch) => Some(epoch),
            Rung::HandingBack(_) => return None,
            _ => None,
        };
        let (rung, holds) = (&seen.rung, seen.holds);
        // A taking that was under way over a slow line is given up with the next sign of life.
        let settled = self.unwell_at.is_none_or(|at| AFTERMATH.after(at) <= seen.now);
        (settled && says != holds).then(|| format!("says {rung:?} while it has the seat in epoch {holds:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fallback::SeatSeen;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000 + second).unwrap()
    }

    fn seen(second: i64, rung: Rung) -> Seen {
        let (holds, bids) = (rung.epoch(), matches!(rung, Rung::Waiting(_) | Rung::Seated(_)));
        Seen { now: at(second), clear: true, awake: true, bids, rung, trouble: None, holds }
    }

    fn waiting() -> Rung {
        Rung::Waiting(SeatSeen::default())
    }

    #[test]
    fn a_console_that_stands_too_soon_or_unasked_is_told() {
        let (mut watch, grace) = (Watch::default(), Some(Seconds(10)));
        assert_eq!(watch.look(&seen(0, Rung::Attached), grace), None);
        let attached = watch.clone().look(&seen(60, waiting()), grace);
        assert_eq!(attached.as_deref(), Some("stands for the seat, and a server answers"));
        watch.hears(false, at(1));
        let soon = watch.clone().look(&seen(7, waiting()), grace);
        assert_eq!(soon.as_deref(), Some("stands for the seat, and nobody has answered for 6s only"));
        assert!(watch.clone().look(&seen(60, waiting()), None).is_some_and(|why| why.contains("nobody told")));
        assert_eq!(watch.look(&seen(11, waiting()), grace), None);
        let mut told = Watch::default();
        told.hears(false, at(0));
        told.asked(at(1));
        assert_eq!(told.look(&seen(2, waiting()), None), None, "a person said so");
    }

    #[test]
    fn a_console_that_keeps_the_seat_and_one_that_is_wrong_about_it_are_told() {
        let mut watch = Watch::default();
        watch.hears(false, at(0));
        watch.asked(at(0));
        assert_eq!(watch.look(&seen(1, Rung::Seated(3)), None), None);
        watch.hears(true, at(1));
        assert_eq!(watch.look(&seen(2, Rung::Seated(3)), None), None);
        assert_eq!(watch.look(&seen(11, Rung::Seated(3)), None), None);
        let kept = watch.look(&seen(12, Rung::Seated(3)), None);
        assert!(kept.is_some_and(|why| why.contains("has not handed the seat back")));
        let wrong = Seen { holds: None, ..seen(13, Rung::Seated(3)) };
        assert!(watch.look(&wrong, None).is_some_and(|why| why.contains("says Seated(3)")));
    }
}
