//! What leads from a process to something outside, and how calls fare that go over it.

use std::time::Duration;

use jiff::Timestamp;

use super::clock::VirtualClock;
use super::pending::pend_once;
use super::shared::Shared;
use super::trail::{Call, Point, Trail};
use crate::control::ports::Clock;
use crate::domain::span::Seconds;

/// What a process hears that is cut off, or whose answer got lost.
#[derive(Debug, thiserror::Error)]
#[error("the simulated network is parted")]
pub struct Parted;

/// How calls over a line fare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Nothing gets through.
    Cut,
    /// What is asked for is done, and no answer comes back.
    Deaf,
    /// Every call takes so long on its way, and its answer on the way back.
    Slow {
        /// Before it is done.
        out: Seconds,
        /// After it was done.
        back: Seconds,
    },
    /// Reads answer with what was there so long ago, and news come so much later. Where the journal stands is no such
    /// read: a port may not answer that with the past.
    Stale(Seconds),
    /// The caller hears that a write failed, and it arrives so much later nevertheless.
    Late(Seconds),
}

#[derive(Debug, Clone, Copy)]
struct Spell {
    weather: Weather,
    until: Timestamp,
}

/// What leads from a process to something outside. Clones are the same line.
#[derive(Debug, Clone, Default)]
pub struct Line {
    spells: Shared<Vec<Spell>>,
    trail: Trail,
}

impl Line {
    /// The line of a process that leaves this trail.
    pub fn of(trail: Trail) -> Self {
        Self { spells: Shared::default(), trail }
    }

    /// Cuts it until `mended`.
    pub fn cut(&self, mended: Timestamp) {
        self.bring(Weather::Cut, mended);
    }

    /// Calls fare like this until then, besides whatever else is the matter.
    pub fn bring(&self, weather: Weather, until: Timestamp) {
        self.spells.with(|spells| spells.push(Spell { weather, until }));
    }

    /// Nothing is the matter with it any more.
    pub fn mend(&self) {
        self.spells.with(Vec::clear);
    }

    /// True where nothing gets through at `now`.
    pub fn is_cut(&self, now: Timestamp) -> bool {
        self.find(now, |weather| (weather == Weather::Cut).then_some(())).is_some()
    }

    /// True where nothing is the matter with it at `now`.
    pub fn is_clear(&self, now: Timestamp) -> bool {
        self.find(now, Some).is_none()
    }

    /// How old what is read over it is.
    pub fn lag(&self, now: Timestamp) -> Option<Seconds> {
        self.find(now, |weather| if let Weather::Stale(lag) = weather { Some(lag) } else { None })
    }

    /// How much later a write arrives that is said to have failed.
    pub fn lateness(&self, now: Timestamp) -> Option<Seconds> {
        self.find(now, |weather| if let Weather::Late(late) = weather { Some(late) } else { None })
    }

    /// The trail its process leaves.
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// A call on its way out: pending at least once.
    ///
    /// # Errors
    /// Nothing gets through.
    pub(super) async fn reach(&self, clock: &VirtualClock, call: Call) -> Result<(), Parted> {
        pend_once().await;
        self.trail.pass(call, Point::Unsent).await;
        if let Some((out, _)) = self.delays(clock.instant()) {
            clock.sleep(Duration::from_secs(out.0)).await;
        }
        if self.is_cut(clock.instant()) { Err(Parted) } else { Ok(()) }
    }

    /// Its answer on the way back; pending only where something is the matter.
    ///
    /// # Errors
    /// It gets lost.
    pub(super) async fn answer(&self, clock: &VirtualClock, call: Call, point: Point) -> Result<(), Parted> {
        self.trail.pass(call, point).await;
        if let Some((_, back)) = self.delays(clock.instant()) {
            clock.sleep(Duration::from_secs(back.0)).await;
        }
        let lost = self.find(clock.instant(), |weather| (weather == Weather::Deaf).then_some(()));
        if lost.is_some() { Err(Parted) } else { Ok(()) }
    }

    fn delays(&self, now: Timestamp) -> Option<(Seconds, Seconds)> {
        self.find(now, |weather| if let Weather::Slow { out, back } = weather { Some((out, back)) } else { None })
    }

    /// The first weather of a kind at `now`; what is over is forgotten.
    fn find<T>(&self, now: Timestamp, kind: impl FnMut(Weather) -> Option<T>) -> Option<T> {
        self.spells.with(|spells| {
            spells.retain(|spell| now < spell.until);
            spells.iter().map(|spell| spell.weather).find_map(kind)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::executor::Executor;
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_line_is_cut_until_it_is_mended_and_every_weather_passes() {
        let line = Line::default();
        line.cut(at(10));
        line.cut(at(5));
        line.bring(Weather::Stale(Seconds(4)), at(20));
        assert!(line.is_cut(at(9)) && !line.is_cut(at(10)) && line.lag(at(19)) == Some(Seconds(4)));
        assert!(!line.is_clear(at(19)) && line.is_clear(at(20)) && line.lateness(at(19)).is_none());
        line.bring(Weather::Late(Seconds(3)), at(90));
        assert_eq!(line.lateness(at(30)), Some(Seconds(3)));
        line.mend();
        assert!(line.is_clear(at(30)));
    }

    #[test]
    fn a_slow_call_takes_its_time_on_both_ways_and_a_deaf_line_loses_the_answer() {
        let clock = VirtualClock::starting_at(at(0));
        let (line, mut executor, heard) = (Line::default(), Executor::seeded(1), Shared::new(Vec::new()));
        line.bring(Weather::Slow { out: Seconds(3), back: Seconds(4) }, at(5));
        line.bring(Weather::Deaf, at(100));
        let (own, end, notes) = (line.clone(), clock.clone(), heard.clone());
        executor.spawn("caller", async move {
            let out = own.reach(&end, Call::Read).await.is_ok();
            notes.with(|notes| notes.push((end.instant(), out)));
            let back = own.answer(&end, Call::Read, Point::Done).await.is_ok();
            notes.with(|notes| notes.push((end.instant(), back)));
        });
        executor.run_until_idle().unwrap();
        while let Some(due) = clock.next_due() {
            clock.set(due);
            clock.wake_due();
            executor.run_until_idle().unwrap();
        }
        assert_eq!(heard.with(|notes| notes.clone()), [(at(3), true), (at(7), false)]);
    }
}
