//! Virtual time: it stands still until somebody moves it, and sleepers wake in the order of (time, sequence).

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::shared::Shared;
use crate::control::ports::{Clock, DRIFT_MAX};

/// Place of a sleeper among all sleepers.
type Place = (Timestamp, u64);

#[derive(Debug)]
struct Timeline {
    now: Timestamp,
    sequence: u64,
    sleepers: BTreeMap<Place, Waker>,
}

/// How far a wall clock is ahead of virtual time, and how far ahead a process believes it to be.
#[derive(Debug, Clone, Default)]
struct Wall {
    jumped: SignedDuration,
    accepted: SignedDuration,
    /// How often a person's word reached it.
    acceptances: u64,
    /// From when on it was suspect, or was not any more, by turns.
    turns: Vec<Timestamp>,
}

impl Wall {
    fn is_suspect(&self) -> bool {
        self.jumped.saturating_sub(self.accepted).unsigned_abs() > DRIFT_MAX
    }

    /// Changes something, and notes whether it is suspect since.
    fn turn(&mut self, now: Timestamp, change: impl FnOnce(&mut Self)) {
        let before = self.is_suspect();
        change(self);
        if before != self.is_suspect() {
            self.turns.push(now);
        }
    }
}

/// How fast the crystal of a process runs.
#[derive(Debug, Clone, Copy, Default)]
struct Rate {
    /// When it showed virtual time.
    since: Timestamp,
    /// Too fast, in millionths.
    ppm: i64,
}

/// A second in millionths.
const MILLION: i128 = 1_000_000;

impl Rate {
    /// What it shows at an instant of virtual time.
    fn shown(self, instant: Timestamp) -> Timestamp {
        let passed = instant.as_nanosecond() - self.since.as_nanosecond();
        let ahead = passed * i128::from(self.ppm) / MILLION;
        Timestamp::from_nanosecond(instant.as_nanosecond() + ahead).unwrap_or(instant)
    }

    /// The virtual time in which it counts a span; a little more rather than a little less.
    fn lasts(self, span: SignedDuration) -> SignedDuration {
        if self.ppm == 0 {
            return span;
        }
        let lasts = span.as_nanos() * MILLION / (MILLION + i128::from(self.ppm)) + 1;
        i64::try_from(lasts).map_or(SignedDuration::MAX, SignedDuration::from_nanos)
    }
}

/// The clock of a simulated world. Clones show the same time.
#[derive(Debug, Clone)]
pub struct VirtualClock {
    timeline: Shared<Timeline>,
    wall: Shared<Wall>,
    rate: Rate,
}

impl VirtualClock {
    /// Stands at `start`.
    pub fn starting_at(start: Timestamp) -> Self {
        let timeline = Timeline { now: start, sequence: 0, sleepers: BTreeMap::new() };
        Self { timeline: Shared::new(timeline), wall: Shared::default(), rate: Rate::default() }
    }

    /// The same time on a wall of its own.
    #[must_use]
    pub fn on_another_wall(&self) -> Self {
        Self { timeline: self.timeline.clone(), wall: Shared::default(), rate: Rate::default() }
    }

    /// The same time on a wall of its own, counted too fast by so many millionths from now on, or too slowly. The wall
    /// clock is not that far off: whoever sets it is right.
    #[must_use]
    pub fn drifting(&self, ppm: i64) -> Self {
        let rate = Rate { since: self.instant(), ppm };
        Self { timeline: self.timeline.clone(), wall: Shared::default(), rate }
    }

    /// Virtual time, however fast this clock counts it.
    pub fn instant(&self) -> Timestamp {
        self.timeline.with(|timeline| timeline.now)
    }

    /// The wall clock jumps; whoever reads this clock does not follow until a person accepts it (R168).
    pub fn jump(&self, by: SignedDuration) {
        let now = self.instant();
        self.wall.with(|wall| wall.turn(now, |wall| wall.jumped = wall.jumped.saturating_add(by)));
    }

    /// True where the wall clock was suspect from before `from` until after `to`, by virtual time.
    pub fn was_suspect(&self, from: Timestamp, to: Timestamp) -> bool {
        self.wall.with(|wall| {
            let spells = wall.turns.chunks(2);
            spells.into_iter().any(|spell| spell[0] < from && spell.get(1).is_none_or(|end| to < *end))
        })
    }

    /// How often a person's word reached it that the wall clock is right.
    pub fn acceptances(&self) -> u64 {
        self.wall.with(|wall| wall.acceptances)
    }

    /// When the first sleeper wants to wake.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.timeline.with(|timeline| timeline.sleepers.keys().next().map(|(at, _)| *at))
    }

    /// Moves the hands to `to`, never back; wakes nobody yet.
    pub fn set(&self, to: Timestamp) {
        self.timeline.with(|timeline| timeline.now = timeline.now.max(to));
    }

    /// Wakes everybody whose time has come.
    pub fn wake_due(&self) {
        let due = self.timeline.with(|timeline| {
            let later = timeline.sleepers.split_off(&(timeline.now, u64::MAX));
            std::mem::replace(&mut timeline.sleepers, later)
        });
        due.into_values().for_each(Waker::wake);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let (now, ahead) = (self.steady(), self.wall.with(|wall| wall.accepted));
        now.saturating_add(ahead).unwrap_or(now)
    }

    fn steady(&self) -> Timestamp {
        let instant = self.instant();
        if self.rate.ppm == 0 { instant } else { self.rate.shown(instant) }
    }

    fn is_suspect(&self) -> bool {
        self.wall.with(|wall| wall.is_suspect())
    }

    fn accept(&self) {
        let now = self.instant();
        self.wall.with(|wall| {
            wall.acceptances += 1;
            wall.turn(now, |wall| wall.accepted = wall.jumped);
        });
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send {
        let span = SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX);
        let until = self.instant().checked_add(self.rate.lasts(span)).unwrap_or(Timestamp::MAX);
        Sleep { clock: self.clone(), until, place: None }
    }
}

/// Pending until `wake_due` finds its time come: even a sleep of zero gives way once.
struct Sleep {
    clock: VirtualClock,
    until: Timestamp,
    place: Option<Place>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let (until, place) = (self.until, self.place);
        let placed = self.clock.timeline.with(|timeline| match place {
            Some(place) => {
                let waker = timeline.sleepers.get_mut(&place)?;
                waker.clone_from(context.waker());
                Some(place)
            }
            None => {
                timeline.sequence += 1;
                let place = (until, timeline.sequence);
                timeline.sleepers.insert(place, context.waker().clone());
                Some(place)
            }
        });
        self.place = self.place.or(placed);
        if placed.is_some() { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.clock.timeline.with(|timeline| timeline.sleepers.remove(&place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::executor::Executor;
    use super::*;

    #[test]
    fn sleepers_wake_in_order_of_time_then_sequence_and_time_stands_still_in_between() {
        let clock = VirtualClock::starting_at(Timestamp::UNIX_EPOCH);
        let (mut executor, woken) = (Executor::seeded(3), Shared::new(Vec::new()));
        for (name, seconds) in [("late", 9), ("first", 2), ("second", 5)] {
            let (own, woken) = (clock.clone(), woken.clone());
            executor.spawn(name, async move {
                own.sleep(Duration::from_secs(seconds)).await;
                woken.with(|list| list.push((name, own.now().as_second())));
            });
        }
        executor.run_until_idle().unwrap();
        assert_eq!(clock.now(), Timestamp::UNIX_EPOCH);
        while let Some(due) = clock.next_due() {
            clock.set(due);
            clock.wake_due();
            executor.run_until_idle().unwrap();
        }
        assert_eq!(woken.with(|list| list.clone()), [("first", 2), ("second", 5), ("late", 9)]);
    }

    #[test]
    fn a_sleep_that_is_dropped_is_nobodys_business() {
        let clock = VirtualClock::starting_at(Timestamp::UNIX_EPOCH);
        let mut executor = Executor::seeded(1);
        let own = clock.clone();
        let task = executor.spawn("sleeper", async move { own.sleep(Duration::from_secs(5)).await });
        executor.run_until_idle().unwrap();
        assert!(clock.next_due().is_some());
        executor.kill(task);
        assert_eq!(clock.next_due(), None);
    }

    #[test]
    fn a_wall_that_jumped_is_followed_only_once_it_is_accepted() {
        // R168
        let clock = VirtualClock::starting_at(Timestamp::UNIX_EPOCH);
        let own = clock.on_another_wall();
        own.jump(SignedDuration::from_hours(2));
        assert_eq!((own.now(), own.is_suspect()), (Timestamp::UNIX_EPOCH, true));
        own.accept();
        assert_eq!((own.now().as_second(), own.steady().as_second(), own.is_suspect()), (7_200, 0, false));
        assert_eq!((clock.now(), clock.is_suspect()), (Timestamp::UNIX_EPOCH, false));
        own.jump(SignedDuration::from_secs(30));
        assert!(!own.is_suspect());
    }

    #[test]
    fn a_wall_remembers_when_it_was_suspect() {
        // R168
        let at = |second| Timestamp::from_second(second).unwrap();
        let clock = VirtualClock::starting_at(at(0));
        clock.set(at(10));
        clock.jump(SignedDuration::from_secs(-100));
        clock.set(at(20));
        clock.accept();
        clock.set(at(30));
        clock.jump(SignedDuration::from_secs(100));
        let suspect = |from, to| clock.was_suspect(at(from), at(to));
        assert!(suspect(11, 19) && suspect(31, 1_000));
        assert!(!suspect(10, 15) && !suspect(15, 20) && !suspect(21, 29) && !suspect(15, 35));
        assert_eq!(clock.acceptances(), 1);
    }

    #[test]
    fn a_clock_that_drifts_counts_its_own_seconds() {
        // R168
        for ppm in [-10_000, 10_000] {
            let clock = VirtualClock::starting_at(Timestamp::UNIX_EPOCH).drifting(ppm);
            let mut executor = Executor::seeded(1);
            let (own, woken) = (clock.clone(), Shared::new(None));
            let noted = woken.clone();
            executor.spawn("sleeper", async move {
                own.sleep(Duration::from_secs(100)).await;
                noted.with(|at| *at = Some((own.steady(), own.instant())));
            });
            executor.run_until_idle().unwrap();
            clock.set(clock.next_due().unwrap());
            clock.wake_due();
            executor.run_until_idle().unwrap();
            let (shown, instant) = woken.with(|at| at.unwrap());
            let over = shown.duration_since(Timestamp::UNIX_EPOCH) - SignedDuration::from_secs(100);
            assert!(over >= SignedDuration::ZERO && over < SignedDuration::from_micros(1), "{over}");
            assert_eq!(instant.as_second(), if ppm < 0 { 101 } else { 99 });
            assert!(!clock.is_suspect());
        }
    }

    #[test]
    fn the_hands_never_go_back() {
        let clock = VirtualClock::starting_at(Timestamp::from_second(100).unwrap());
        clock.set(Timestamp::UNIX_EPOCH);
        assert_eq!(clock.now().as_second(), 100);
    }
}
