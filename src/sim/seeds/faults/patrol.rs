//! The patrol of a world of faults: each second it looks at every process and at the seat, and moves consoles up and
//! down between their control plane and the seat.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::super::check::Breach;
use super::super::play::Theatre;
use super::super::plot::{End, Grace, PROCESSES};
use super::ladder::{Seen, Watch};
use super::seats::{Around, SeatWatch, Standing};
use super::tally::FaultTally;
use crate::control::host::Host;
use crate::control::ladder::Resolve;
use crate::control::link::{Link, SeatOrder, SeatWish};
use crate::control::picture::Freshness;
use crate::control::ports::Cluster;
use crate::control::seat::Bid;
use crate::control::service::Loop;
use crate::domain::fallback::Fallback;
use crate::domain::span::Seconds;
use crate::sim::attached::Answering;
use crate::sim::cluster::port::SimCluster;
use crate::sim::executor::Fate;
use crate::sim::line::{Line, Weather};
use crate::sim::toll::{Mishap, Toll};
use crate::sim::trail::Doom;

/// How often it looks.
pub(in super::super) const EVERY: Seconds = Seconds(1);

/// A console, and who answers it.
#[derive(Default)]
struct Console {
    watch: Watch,
    answering: Answering,
    /// The server that answers.
    server: Option<String>,
}

/// What it knows.
pub(in super::super) struct Patrol {
    seats: SeatWatch,
    consoles: [Console; PROCESSES],
    /// Writes on their way arrive when it comes by.
    cluster: SimCluster,
    pub(in super::super) tally: FaultTally,
    toll: Toll,
}

impl Patrol {
    /// Begins its rounds; `cluster` is an end of its own.
    pub(in super::super) fn of(cluster: SimCluster) -> Self {
        let (seats, consoles) = (SeatWatch::default(), Default::default());
        Self { seats, consoles, cluster, tally: FaultTally::default(), toll: Toll::default() }
    }

    /// What it counted, once.
    pub(in super::super) fn take_toll(&mut self) -> Toll {
        self.tally.longest_gap = self.tally.longest_gap.max(self.seats.longest_gap);
        self.tally.longest_hand_over = self.tally.longest_hand_over.max(self.seats.longest_hand_over);
        std::mem::take(&mut self.toll)
    }

    /// A console starts: whom it is attached to, and who decides that it takes the seat.
    pub(in super::super) fn starts(&mut self, process: usize, grace: Grace, now: Timestamp) -> (Answering, Resolve) {
        self.consoles[process] = Console::default();
        self.consoles[process].watch.hears(false, now);
        let resolve = grace.map_or(Resolve::Manual, |grace| Resolve::Auto(Duration::from_secs(grace.0)));
        (self.consoles[process].answering.clone(), resolve)
    }

    /// A process is to die, to freeze or to stop: what it has it may lose.
    pub(in super::super) fn excuse(&mut self, name: &str, gives_back: bool, now: Timestamp) {
        self.seats.excuse(name, gives_back, now);
    }
}

impl Theatre {
    /// One round.
    pub(in super::super) fn patrol(&mut self) -> Result<(), Breach> {
        let Some(mut patrol) = self.patrol.take() else { return Ok(()) };
        patrol.cluster.land();
        // Whoever is ahead of the others must not take the seat, and only a person can tell who that is (R168).
        patrol.seats.clocks_apart |= self.witness.accepted > 0;
        let now = self.stage.clock().instant();
        let (account, journal) = (self.stage.account(), self.stage.outside().journal.clone());
        let epoch = self.stage.world().seat.epoch;
        let around = Around { now, troubled: journal.is_troubled(account), epoch };
        let climbed = (0..PROCESSES).filter_map(|process| self.climb(&mut patrol, process, around)).next();
        let standing: Vec<Standing> = (0..PROCESSES).filter_map(|process| self.standing(process)).collect();
        self.count_cuts(&mut patrol.tally, &standing, epoch);
        let takings = std::mem::take(&mut self.witness.takings);
        patrol.tally.takings += u64::try_from(takings.len()).unwrap_or(0);
        let fault = patrol.seats.look(around, &standing, takings, &mut patrol.toll);
        let overdone = self.stage.outside().cluster.with(|objects| patrol.seats.overdone(&objects.fences.beyond));
        self.patrol = Some(patrol);
        climbed.or(fault).or(overdone).map_or(Ok(()), |what| Err(Breach { at: now, what }))
    }

    fn standing(&self, process: usize) -> Option<Standing> {
        let name = self.name(process).to_owned();
        let service = self.stage.service(&name)?;
        let means = self.stage.means(&name)?;
        let published = service.door.published();
        let loaded = published.borrow().is_loaded();
        let bids = self.cast_of(process).console.is_none() || self.patrol_stands(process);
        let holds = *service.held.epochs().borrow();
        Some(Standing {
            awake: self.stage.is_awake(&name),
            clear: means.to_journal.is_clear(means.clock.instant()),
            cut: means.to_journal.is_cut(means.clock.instant()),
            stands: loaded && bids && !service.stop.is_asked(),
            holds,
            name,
        })
    }

    /// Which lines are cut at once, for whoever has the seat and for everybody else.
    fn count_cuts(&self, tally: &mut FaultTally, standing: &[Standing], epoch: u64) {
        for one in standing.iter().filter(|one| one.awake) {
            let Some(means) = self.stage.means(&one.name) else { continue };
            let now = means.clock.instant();
            let cut = [&means.to_journal, &means.to_cluster, &means.from_agents, &means.to_servers];
            let mask = cut.iter().rev().fold(0, |mask, line| mask * 2 + usize::from(line.is_cut(now)));
            let counts = if one.holds == Some(epoch) { &mut tally.holder_cut } else { &mut tally.other_cut };
            counts[mask] += 1;
        }
    }

    /// Looks at a console and where it stands on its ladder, and connects it to whoever answers it. The rule that is
    /// broken, if one is.
    fn climb(&mut self, patrol: &mut Patrol, process: usize, around: Around) -> Option<String> {
        let (name, grace) = (self.name(process).to_owned(), self.cast_of(process).console?);
        let service = self.stage.service(&name)?;
        let holds = *service.held.epochs().borrow();
        let Some(ladder) = self.stage.ladder(&name) else {
            // Whoever looked has left: it ends once it has given back what it had.
            self.stands[process] = false;
            if holds.is_none() {
                service.stop.ask();
            }
            return None;
        };
        let fallback = fallback(&ladder)?;
        let Console { watch, server, .. } = &mut patrol.consoles[process];
        let heard = server.as_ref().is_none_or(|server| self.is_clear(server));
        let seen = Seen {
            now: around.now,
            clear: heard && self.is_clear(&name) && !around.troubled,
            awake: self.stage.is_awake(&name),
            bids: service.bidding.now() != Bid::Abstain,
            rung: fallback.rung.clone(),
            trouble: fallback.trouble.clone(),
            holds,
        };
        let stood = watch.stands();
        let fault = watch.look(&seen, grace).map(|what| format!("A24: {name} {what}"));
        self.stands[process] = watch.stands();
        if !stood && watch.stands() && watch.is_asked(around.now) {
            patrol.toll.count(Mishap::TakenByHand);
        }
        if stood && !watch.stands() {
            let says_so = self.says_so(&name);
            patrol.excuse(&name, says_so, around.now);
        }
        self.stage.open(&name, self.stands[process]);
        if self.connect(&mut patrol.consoles[process], &name) {
            patrol.toll.count(Mishap::LostControlPlane);
        }
        fault
    }

    /// A console hears whichever server answers it from now on, if any does. True = it had one, and has none any more.
    fn connect(&self, console: &mut Console, name: &str) -> bool {
        let now = self.stage.clock().instant();
        let reached = self.stage.means(name).is_some_and(|means| !means.to_servers.is_cut(now));
        let keeps = |process: &usize| console.server.as_deref() == Some(self.name(*process));
        let answer = |process: &usize| reached && self.answers(*process);
        let server = (0..PROCESSES).filter(answer).max_by_key(keeps).map(|process| self.name(process).to_owned());
        let is_lost = server.is_none() && console.server.is_some();
        if server != console.server {
            console.answering.set(server.as_ref().and_then(|server| self.stage.service(server)).cloned());
            console.watch.hears(server.is_some(), now);
            console.server = server;
        }
        is_lost
    }

    /// Nothing is the matter between a process and its journal.
    fn is_clear(&self, name: &str) -> bool {
        let now = self.stage.clock().instant();
        self.stage.means(name).is_some_and(|means| means.to_journal.is_clear(now))
    }

    /// A server answers, and reaches its journal.
    fn answers(&self, process: usize) -> bool {
        if self.cast_of(process).console.is_some() || !self.stage.is_awake(self.name(process)) {
            return false;
        }
        let Some(service) = self.stage.service(self.name(process)) else { return false };
        let published = service.door.published();
        let live = matches!(published.borrow().journal, Freshness::Live(_));
        live && !service.stop.is_asked()
    }

    /// A person asks for the seat at a console.
    pub(in super::super) fn take_seat(&mut self, process: usize) {
        let name = self.name(process).to_owned();
        let (Some(patrol), Some(ladder)) = (&mut self.patrol, self.stage.ladder(&name)) else { return };
        let now = self.stage.clock().instant();
        patrol.consoles[process].watch.asked(now);
        let (by, key) = ("operator".to_owned(), format!("{name} at {now}"));
        let order = SeatOrder { wish: SeatWish::Take, by, reason: None, key };
        let asking = Loop::new("person", async move { drop(ladder.seat(order).await) });
        self.stage.drive(asking);
    }

    /// Calls over a line of a process fare like this until then.
    pub(in super::super) fn bring(&mut self, process: usize, end: End, weather: Weather, until: Timestamp) {
        let Some(means) = self.stage.means(self.name(process)) else { return };
        let line: &Line = match end {
            End::Journal => &means.to_journal,
            End::Cluster => &means.to_cluster,
            End::Agents => &means.from_agents,
            End::Servers => &means.to_servers,
        };
        line.bring(weather, until);
        if let (End::Cluster, Weather::Stale(_), Some(service)) = (end, weather, self.stage.service(self.name(process)))
        {
            // What is seen at this moment is what is seen for a while.
            drop(service.host().cluster().sight());
        }
        if matches!(weather, Weather::Slow { .. }) {
            self.count(Mishap::SlowLine);
        }
    }

    /// A process dies or freezes at one of its next calls.
    pub(in super::super) fn doom(&mut self, process: usize, doom: Doom) {
        let (name, now) = (self.name(process).to_owned(), self.stage.clock().instant());
        self.excuse(&name, false);
        if doom.fate == Fate::Freezes {
            self.witness.sky.freeze(&name, true, now);
        }
        if let Some(means) = self.stage.means(&name) {
            means.trail.doom(doom);
        }
    }

    /// Nothing waits for a process any more that has not come by yet.
    pub(in super::super) fn spare(&mut self, process: usize) {
        self.stage.means(self.name(process)).into_iter().for_each(|means| means.trail.spare());
    }

    /// A process is asked to stop; whoever looks at a console leaves.
    pub(in super::super) fn stop(&mut self, process: usize) {
        let name = self.name(process).to_owned();
        let Some(stop) = self.stage.service(&name).map(|service| service.stop.clone()) else { return };
        let says_so = self.says_so(&name);
        self.excuse(&name, says_so);
        match self.cast_of(process).console {
            Some(_) => self.stage.leave(&name),
            None => stop.ask(),
        }
    }

    /// A process that gives the seat back gets that through to the journal.
    fn says_so(&self, name: &str) -> bool {
        self.is_clear(name) && self.stage.means(name).is_some_and(|means| !means.trail.is_doomed())
    }

    pub(in super::super) fn excuse(&mut self, name: &str, gives_back: bool) {
        let now = self.stage.clock().instant();
        if let Some(patrol) = &mut self.patrol {
            patrol.excuse(name, gives_back, now);
        }
    }

    /// Every line holds, nobody is to be struck, and the journal has room.
    pub(in super::super) fn mend_lines(&mut self) {
        for process in 0..PROCESSES {
            let Some(means) = self.stage.means(self.name(process)) else { continue };
            means.trail.spare();
            [&means.to_journal, &means.to_cluster, &means.from_agents, &means.to_servers].iter().for_each(|l| l.mend());
        }
        self.stage.outside().journal.mend(self.stage.account());
    }
}

/// Where a console says that it stands.
fn fallback(ladder: &impl Link) -> Option<Arc<Fallback>> {
    ladder.pictures().borrow().fallback.clone()
}
