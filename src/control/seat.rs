//! The seat: stands for it while nobody lives in it, shows signs of life while it is held, gives it back at the end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

use super::door::{Door, DoorError};
use super::host::Host;
use super::observe::Observer;
use super::ports::{Beat, Clock, Heartbeats, LEAD_MAX};
use super::stop::Stop;
use super::time::{later, until};
use super::trouble::sentence;
use crate::domain::fallback::SeatSeen;
use crate::domain::ids::{AccountId, Epoch};
use crate::domain::input::Input;
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::SeatRecord;

/// A seat whose beat has not changed for this long, by one's own clock, is empty.
pub const SEAT_EXPIRY: Duration = Duration::from_secs(15);

/// How often the holder shows that it lives.
pub const BEAT_EVERY: Duration = Duration::from_secs(5);

/// How often somebody who stands for the seat looks at it.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The epoch this process holds the seat in, told to everybody in it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Held {
    epoch: watch::Sender<Option<Epoch>>,
    /// From then on, by this process's own clock, others may think that nobody lives in the seat.
    until: Arc<Mutex<Timestamp>>,
}

impl Default for Held {
    fn default() -> Self {
        Self { epoch: watch::Sender::new(None), until: Arc::new(Mutex::new(Timestamp::MIN)) }
    }
}

impl Held {
    /// The epoch, again and again; none while this process does not hold the seat.
    pub fn epochs(&self) -> watch::Receiver<Option<Epoch>> {
        self.epoch.subscribe()
    }

    /// Waits until the seat is held. None = stopped first.
    pub(super) async fn next_epoch(&self, stop: &Stop) -> Option<Epoch> {
        let mut epochs = self.epochs();
        tokio::select! {
            biased;
            () = stop.asked() => None,
            held = epochs.wait_for(Option::is_some) => held.ok().and_then(|epoch| *epoch),
        }
    }

    /// The seat is held in this epoch, and nobody can think otherwise at `now`: a process that was frozen knows by its
    /// clock that it has lost the seat, before any of its loops has noticed.
    pub(super) fn covers(&self, epoch: Epoch, now: Timestamp) -> bool {
        *self.epoch.borrow() == Some(epoch) && now < *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Others have been told that this process lives.
    fn extend(&self, until: Timestamp) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// The seat is lost, if it is still held in this epoch.
    pub(super) fn lose(&self, epoch: Epoch) {
        self.epoch.send_if_modified(|held| {
            let lost = *held == Some(epoch);
            if lost {
                *held = None;
            }
            lost
        });
    }
}

/// What a process does about the seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bid {
    /// Take it once nobody lives in it.
    Stand,
    /// Take it now, whoever has it, and stand from then on: the epoch fences off the one before.
    Take,
    /// Leave it alone, and give it back where it is held.
    Abstain,
}

/// What a candidate sees of the seat, told to everybody in its process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Looks {
    seen: watch::Sender<SeatSeen>,
}

impl Default for Looks {
    fn default() -> Self {
        Self { seen: watch::Sender::new(SeatSeen::default()) }
    }
}

impl Looks {
    /// What was seen last, again and again; as it was before it was ever looked at, to begin with.
    pub fn seen(&self) -> watch::Receiver<SeatSeen> {
        self.seen.subscribe()
    }

    /// Tells what is otherwise by now, if anything is.
    fn tell(&self, change: impl FnOnce(&mut SeatSeen)) {
        self.seen.send_if_modified(|seen| {
            let known = seen.clone();
            change(seen);
            *seen != known
        });
    }
}

/// The bid of this process, for whoever may change it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bidding {
    bid: watch::Sender<Bid>,
}

impl Bidding {
    pub(super) fn starting_with(bid: Bid) -> Self {
        Self { bid: watch::Sender::new(bid) }
    }

    /// What it bids now.
    pub fn now(&self) -> Bid {
        *self.bid.borrow()
    }

    /// Bids like this from now on.
    pub fn set(&self, bid: Bid) {
        self.bid.send_replace(bid);
    }
}

/// Who stands for the seat of one account.
pub(super) struct Candidate<H> {
    pub(super) host: Arc<H>,
    pub(super) account: AccountId,
    pub(super) door: Door,
    pub(super) held: Held,
    pub(super) bidding: Bidding,
    pub(super) looks: Looks,
    pub(super) observer: Observer<H>,
    pub(super) stop: Stop,
}

/// A seat that was just taken.
struct Taken {
    epoch: Epoch,
    /// When it was asked for: whoever judges its beats began to count no earlier.
    asked_at: Timestamp,
}

/// Stands, holds, and stands again, until it is stopped.
pub(super) async fn run_seat<H: Host>(candidate: Candidate<H>) {
    if candidate.door.ready().await.is_err() {
        return;
    }
    while let Some(taken) = candidate.stand().await {
        tracing::info!(account = %candidate.account, epoch = taken.epoch, "the seat is taken");
        candidate.hold(&taken).await;
        tracing::info!(account = %candidate.account, epoch = taken.epoch, "the seat is given up");
    }
}

impl<H: Host> Candidate<H> {
    /// Time that is counted and not told: nobody's seat is lost because a clock was set (R168).
    fn now(&self) -> Timestamp {
        self.host.clock().steady()
    }

    /// Stands until the seat is taken. None = stopped first.
    async fn stand(&self) -> Option<Taken> {
        let mut watched = Watched::default();
        let mut bids = self.bidding.bid.subscribe();
        while !self.stop.is_asked() {
            let bid = *bids.borrow_and_update();
            let taken = match bid {
                Bid::Stand => self.look(&mut watched).await,
                Bid::Take => self.seize().await,
                Bid::Abstain => {
                    self.glance(&mut watched).await;
                    None
                }
            };
            if taken.is_some() {
                return taken;
            }
            tokio::select! {
                biased;
                () = self.stop.asked() => {}
                _ = bids.changed() => {}
                () = self.host.clock().sleep(LOOK_EVERY) => {}
            }
        }
        None
    }

    /// Looks at the seat, and takes it where nobody lives in it. Whoever was ahead of the last one that did would take
    /// the account with it, so it leaves the seat alone (R168).
    async fn look(&self, watched: &mut Watched) -> Option<Taken> {
        let (seat, is_empty) = self.glance(watched).await?;
        match self.observer.ahead() {
            Some(lead) => {
                let why = format!("the clock here is {lead} ahead of the last tick");
                self.looks.tell(|seen| seen.untaken = Some(why));
                None
            }
            None if is_empty => self.take(seat.epoch).await,
            None => None,
        }
    }

    /// The seat, and whether nobody lives in it; compares the clocks on the way (R168).
    async fn glance(&self, watched: &mut Watched) -> Option<(SeatRecord, bool)> {
        let asked_at = self.host.clock().now();
        let beat = match self.host.heartbeats().last(self.account).await {
            Ok(beat) => beat,
            Err(error) => {
                // A beat that cannot be read proves nobody dead.
                let why = sentence(&error);
                tracing::warn!(account = %self.account, %why, "no beat can be read");
                self.looks.tell(|seen| (seen.unread, seen.is_free) = (Some(why), false));
                return None;
            }
        };
        if let Some(lead) = watched.lead(beat.as_ref(), asked_at) {
            self.observer.compared((lead.0 > LEAD_MAX.as_secs()).then_some(lead));
        }
        let seat = self.door.world().seat.clone();
        let is_empty = watched.is_empty(&seat, beat, self.now());
        self.looks.tell(|seen| {
            (seen.holder, seen.epoch) = (seat.holder.clone(), seat.epoch);
            (seen.quiet_since, seen.is_free, seen.unread) = (watched.since, is_empty, None);
        });
        if !is_empty {
            // Whoever lives in the seat ticks, as far as can be told from here.
            self.observer.ticked(self.host.clock().now());
        }
        Some((seat, is_empty))
    }

    /// Takes the seat, whoever has it.
    async fn seize(&self) -> Option<Taken> {
        let (asked_at, holder, agents) = self.bidder();
        let taken = self.taken(asked_at, self.door.ask(Input::TakeSeat { holder, agents }).await)?;
        self.bidding.set(Bid::Stand);
        Some(taken)
    }

    /// Takes the seat, unless somebody was faster: then the epoch is not the one that was looked at.
    async fn take(&self, epoch: Epoch) -> Option<Taken> {
        let (asked_at, holder, agents) = self.bidder();
        self.taken(asked_at, self.door.ask_under(epoch, Input::TakeSeat { holder, agents }).await)
    }

    /// When it is asked for, by whom, and whether agents reach that one.
    fn bidder(&self) -> (Timestamp, String, bool) {
        (self.now(), self.host.process().to_owned(), self.host.serves_agents())
    }

    fn taken(&self, asked_at: Timestamp, reply: Result<Reply, DoorError>) -> Option<Taken> {
        match reply {
            Ok(Reply::Seated(epoch)) => {
                self.looks.tell(|seen| seen.untaken = None);
                Some(Taken { epoch, asked_at })
            }
            Ok(_) => None,
            Err(error) => {
                tracing::info!(account = %self.account, why = %error, "the seat was not taken");
                self.looks.tell(|seen| seen.untaken = Some(error.to_string()));
                None
            }
        }
    }

    /// Holds the seat until it is lost, its signs of life fail for too long, or the end.
    async fn hold(&self, taken: &Taken) {
        self.held.extend(later(taken.asked_at, SEAT_EXPIRY));
        self.held.epoch.send_replace(Some(taken.epoch));
        let kept = self.beat_on(taken).await;
        self.held.lose(taken.epoch);
        if kept {
            self.release(taken.epoch).await;
        }
    }

    /// Beats until the end (true) or until the seat is lost (false).
    async fn beat_on(&self, taken: &Taken) -> bool {
        let mut deadline = later(taken.asked_at, SEAT_EXPIRY);
        let mut published = self.door.published();
        let mut held = self.held.epochs();
        let mut bids = self.bidding.bid.subscribe();
        loop {
            let began = self.now();
            if began >= deadline {
                // Others may think the seat empty by now: thawed or cut off, this process must not go on ticking.
                return false;
            }
            let count = u64::try_from(self.host.clock().now().as_millisecond()).unwrap_or(0);
            let beat = Beat { holder: self.host.process().to_owned(), epoch: taken.epoch, count };
            let beaten = tokio::select! {
                biased;
                () = self.host.clock().sleep(until(deadline, began)) => return false,
                beaten = self.host.heartbeats().beat(self.account, beat) => beaten,
            };
            match beaten {
                Ok(()) => {
                    deadline = later(began, SEAT_EXPIRY);
                    self.held.extend(deadline);
                }
                Err(error) => tracing::warn!(account = %self.account, why = %sentence(&error), "a beat failed"),
            }
            let pause = BEAT_EVERY.min(until(deadline, self.now()));
            tokio::select! {
                biased;
                () = self.stop.asked() => return true,
                _ = bids.wait_for(|bid| *bid == Bid::Abstain) => return true,
                _ = held.wait_for(|held| *held != Some(taken.epoch)) => return false,
                _ = published.wait_for(|p| p.world.seat.epoch > taken.epoch) => return false,
                () = self.host.clock().sleep(pause) => {}
            }
        }
    }

    /// Says "nobody", so that the next one need not wait for the expiry.
    async fn release(&self, epoch: Epoch) {
        let nobody = Beat { holder: String::new(), epoch, count: 0 };
        if let Err(error) = self.host.heartbeats().beat(self.account, nobody).await {
            tracing::warn!(account = %self.account, why = %sentence(&error), "the seat could not be released");
        }
    }
}

/// The seat as somebody sees it who has no other clock than his own.
#[derive(Debug, Default)]
struct Watched {
    last: Option<(Epoch, Option<Beat>)>,
    since: Option<Timestamp>,
    /// When it was looked at last, by the clock of decisions.
    asked_at: Option<Timestamp>,
}

impl Watched {
    /// How far one's own clock is ahead of the holder's, at least: a beat that is new since the last look was made
    /// after that look began, so what is more than that is no delay. None where there is no new beat.
    fn lead(&mut self, beat: Option<&Beat>, asked_at: Timestamp) -> Option<Seconds> {
        let before = self.asked_at.replace(asked_at)?;
        let known = self.last.as_ref().and_then(|(_, beat)| beat.as_ref());
        let beat = beat.filter(|beat| !beat.holder.is_empty() && Some(*beat) != known)?;
        known?;
        let beaten_at = Timestamp::from_millisecond(i64::try_from(beat.count).ok()?).ok()?;
        Some(Seconds::between(beaten_at, before))
    }

    /// Looks at the seat at `now`, by one's own clock. True = nobody lives in it: it was never taken, it was released
    /// in this epoch, or nothing about it changed for `SEAT_EXPIRY`.
    fn is_empty(&mut self, seat: &SeatRecord, beat: Option<Beat>, now: Timestamp) -> bool {
        let released = beat.as_ref().is_some_and(|beat| beat.holder.is_empty() && beat.epoch >= seat.epoch);
        if seat.holder.is_none() || released {
            return true;
        }
        let look = Some((seat.epoch, beat));
        if self.last != look {
            self.last = look;
            self.since = Some(now);
        }
        self.since.is_some_and(|since| now >= later(since, SEAT_EXPIRY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    fn held_by(holder: &str, epoch: Epoch) -> SeatRecord {
        SeatRecord { epoch, holder: Some(holder.to_owned()), ..SeatRecord::default() }
    }

    fn beat(holder: &str, epoch: Epoch, count: u64) -> Option<Beat> {
        Some(Beat { holder: holder.to_owned(), epoch, count })
    }

    #[test]
    fn a_seat_covers_its_epoch_until_others_may_think_that_it_is_empty() {
        // A21
        let held = Held::default();
        assert!(!held.covers(1, at(0)));
        held.extend(at(15));
        held.epoch.send_replace(Some(1));
        assert!(held.covers(1, at(14)) && !held.covers(2, at(14)));
        assert!(!held.covers(1, at(15)), "nobody here has noticed yet, and the clock knows");
        held.extend(at(20));
        held.lose(1);
        assert!(!held.covers(1, at(16)));
    }

    #[test]
    fn a_seat_nobody_ever_took_is_empty() {
        assert!(Watched::default().is_empty(&SeatRecord::default(), None, at(0)));
    }

    #[test]
    fn a_seat_expires_by_ones_own_clock_since_its_beat_last_changed() {
        let seat = held_by("a", 1);
        let mut watched = Watched::default();
        assert!(!watched.is_empty(&seat, beat("a", 1, 1), at(0)));
        assert!(!watched.is_empty(&seat, beat("a", 1, 1), at(14)));
        assert!(!watched.is_empty(&seat, beat("a", 1, 2), at(16)), "a changed beat starts the count again");
        assert!(!watched.is_empty(&seat, beat("a", 1, 2), at(30)));
        assert!(watched.is_empty(&seat, beat("a", 1, 2), at(31)));
    }

    #[test]
    fn a_new_holder_that_did_not_beat_yet_is_not_taken_for_dead() {
        let mut watched = Watched::default();
        assert!(!watched.is_empty(&held_by("a", 1), None, at(0)));
        assert!(!watched.is_empty(&held_by("b", 2), None, at(14)));
        assert!(!watched.is_empty(&held_by("b", 2), None, at(28)));
        assert!(watched.is_empty(&held_by("b", 2), None, at(29)));
    }

    #[test]
    fn a_clock_is_ahead_by_what_no_delay_explains() {
        // R168
        let beaten = |seconds: i64| beat("a", 1, u64::try_from(at(seconds).as_millisecond()).unwrap());
        let mut watched = Watched::default();
        let mut look = |holder: i64, own: i64| {
            let beat = beaten(holder);
            let lead = watched.lead(beat.as_ref(), at(own));
            watched.is_empty(&held_by("a", 1), beat, at(own));
            lead.map(|lead| lead.0)
        };
        assert_eq!(look(0, 7_200), None, "the first beat may be as old as it looks");
        assert_eq!(look(0, 7_202), None, "nothing new");
        assert_eq!(look(5, 7_204), Some(7_197), "it was made after 7,202 by one's own clock");
        assert_eq!(look(10, 9_000), Some(7_194), "not by when it is read");
        assert_eq!(look(15, 16), Some(8_985), "a clock that was set is known by the next beat");
        assert_eq!(look(20, 21), Some(0));
        assert_eq!(look(100, 23), Some(0), "who is behind is not ahead");
    }

    #[test]
    fn a_released_seat_is_empty_at_once_but_not_by_an_old_release() {
        assert!(Watched::default().is_empty(&held_by("a", 3), beat("", 3, 0), at(0)));
        assert!(!Watched::default().is_empty(&held_by("b", 4), beat("", 3, 0), at(0)));
    }
}
