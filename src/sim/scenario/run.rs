//! A run: the order of one instant, again and again, until the last instant the file names.
//!
//! At one instant: `when` in file order, results of agents, their polls, everybody's timers, the automatic tick, polls
//! that were nudged, then `then`. After each step the journal is looked at, verdict by verdict.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::super::agents::roster::{Roster, Turn};
use super::super::executor::Restless;
use super::calm::Calm;
use super::check::check;
use super::enrolment::{enrol, put_up};
use super::estate;
use super::file::expectation::{Hour, Look};
use super::file::moment::Moment;
use super::file::place::Fault;
use super::file::scenario::Scenario;
use super::file::view::View;
use super::ground::Ground;
use super::ids::Ids;
use super::judge::{Case, Judge, Met};
use super::look::{find, holds};
use super::playbill::Playbill;
use super::prelude::Prelude;
use super::process::Process;
use super::records::Records;
use super::requests::Asked;
use super::screens::Consoles;
use super::seats::Seats;
use super::witness::{Witness, verdicts};
use crate::control::nudges::Heard;
use crate::control::ports::JournalError;
use crate::domain::change::{Change, Entry};
use crate::domain::ids::ServerId;
use crate::domain::kura::server::Server;

/// Why a scenario could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Stuck {
    /// The file contradicts itself.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The simulation never came to rest.
    #[error(transparent)]
    Restless(#[from] Restless),
    /// The past could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A scenario in motion.
pub struct Run<C: Consoles> {
    pub(super) scenario: Scenario,
    pub(super) ground: Ground,
    pub(super) ids: Ids,
    pub(super) processes: Vec<Process>,
    pub(super) roster: Roster,
    pub(super) records: Records,
    pub(super) witness: Witness,
    pub(super) judge: Judge,
    pub(super) consoles: C,
    pub(super) seats: Seats<C::Console>,
    pub(super) calm: Calm,
    pub(super) playbill: Playbill,
    end: Moment,
}

impl<C: Consoles> Run<C> {
    /// The world at the start; nothing has happened yet.
    pub fn new(scenario: Scenario, consoles: C) -> Result<Self, Stuck> {
        let ground = Ground::new(scenario.start(), scenario.heading.seed);
        let mut ids = Ids::default();
        let past = Prelude::write(&scenario.given, ground.start, &mut ids, &ground.outside.vault)?;
        let mut witness = Witness::default();
        witness.begin(&past);
        ground.outside.journal.write_past(ground.account, past)?;
        let (mut roster, mut records) = (Roster::default(), Records::default());
        enrol(&scenario.given, &ground, &mut ids, &mut roster, &mut records);
        put_up(&scenario.given, &ground);
        let servers: Vec<Server> = scenario
            .given
            .servers
            .iter()
            .filter_map(|given| witness.world.kura.servers.get(&ServerId::named(&given.value.id)).cloned())
            .collect();
        ground.outside.cluster.with(|objects| estate::put_up(&scenario.given, objects, &servers, ground.start));
        let playbill = Playbill::of(&scenario, ground.start);
        let judge = Judge {
            then: vec![Case::default(); scenario.then.len()],
            never: vec![Case::default(); scenario.never.len()],
            met: Vec::new(),
        };
        let processes = Process::all(&scenario, &ground)?;
        check(&scenario, &processes, &consoles)?;
        let (end, seats, calm) = (playbill.end(), Seats::default(), Calm::default());
        let mut run = Self {
            scenario,
            ground,
            ids,
            processes,
            roster,
            records,
            witness,
            judge,
            consoles,
            seats,
            calm,
            playbill,
            end,
        };
        run.raise()?;
        Ok(run)
    }

    /// From now on every poll is asked, also one whose answer is known: slower, and the same.
    pub fn ask_every_poll(&mut self) {
        self.calm.is_off = true;
    }

    /// The instant its time began at.
    pub fn start(&self) -> Timestamp {
        self.ground.start
    }

    /// Every entry of the journal, the past included.
    pub fn entries(&self) -> Vec<Entry> {
        self.ground.outside.journal.entries(self.ground.account)
    }

    /// A digest of every entry of the journal.
    pub fn fingerprint(&self) -> String {
        self.ground.outside.journal.fingerprint(self.ground.account)
    }

    /// Plays to the last instant the file names.
    pub fn play(&mut self) -> Result<(), Stuck> {
        self.play_until(self.end)
    }

    /// Plays up to and including `until`.
    pub fn play_until(&mut self, until: Moment) -> Result<(), Stuck> {
        self.advance_to(until.after(self.ground.start))
    }

    /// Lets everything happen up to and including `target`; then it is `target`.
    pub fn advance_to(&mut self, target: Timestamp) -> Result<(), Stuck> {
        self.ground.settle()?;
        self.rest()?;
        while let Some(due) = self.next_due().filter(|due| *due <= target) {
            self.ground.outside.clock.set(due);
            self.instant()?;
        }
        self.ground.outside.clock.set(target);
        Ok(())
    }

    /// When something happens next by itself.
    pub fn next_due(&self) -> Option<Timestamp> {
        let own = self.playbill.next_due();
        [own, self.roster.next_due(), self.ground.outside.clock.next_due()].into_iter().flatten().min()
    }

    /// The last instant the file names.
    pub fn end(&self) -> Moment {
        self.end
    }

    /// A view as it is now.
    pub fn view(&self, view: &View) -> Value {
        self.body(view)
    }

    /// Processes start in file order: the first one that stands for the seat has it from the start.
    fn raise(&mut self) -> Result<(), Stuck> {
        for process in &mut self.processes {
            process.start(&mut self.ground)?;
        }
        self.rest()
    }

    fn instant(&mut self) -> Result<(), Stuck> {
        let now = self.ground.now();
        while let Some(n) = self.playbill.take_act(now) {
            self.entry(n)?;
        }
        self.errands(Turn::Result)?;
        self.errands(Turn::Poll)?;
        self.ground.outside.clock.wake_due();
        self.ground.settle()?;
        self.rest()?;
        if self.playbill.take_tick(now) {
            self.tick_all()?;
        }
        while self.errands(Turn::Nudged)? {}
        for n in self.playbill.take_thens(now) {
            self.check(n);
        }
        Ok(())
    }

    /// One entry of `when`.
    fn entry(&mut self, n: usize) -> Result<(), Stuck> {
        let Some(act) = self.scenario.when.get(n).cloned() else { return Ok(()) };
        self.calm.stir();
        let answer = self.perform(&act)?;
        if let Some(asked) = answer.status.and_then(|status| Asked::of(&act, status)) {
            self.records.count(asked);
        }
        self.calm.stir();
        self.rest()?;
        self.deliver()?;
        if let Some(wanted) = act.circumstances.expect {
            let (at, place, verb) = (self.ground.moment(), act.place, act.verb.clone());
            let why = answer.body.get("detail").and_then(Value::as_str).map(str::to_owned);
            let (ended, status) = (answer.ended, answer.status);
            self.judge.met.push(Met { at, place, verb, wanted, ended, status, why });
        }
        self.records.reply = answer;
        self.check_never();
        Ok(())
    }

    /// Errands of agents of one kind that are due. False where there was none.
    fn errands(&mut self, turn: Turn) -> Result<bool, Stuck> {
        let errands = self.roster.take(self.ground.now(), turn);
        let some = !errands.is_empty();
        for errand in errands {
            self.run_errand(errand)?;
        }
        Ok(some)
    }

    /// Looks at what was committed and whom it nudged.
    pub(super) fn rest(&mut self) -> Result<(), Stuck> {
        let entries = self.ground.outside.journal.entries_after(self.ground.account, self.witness.world.revision);
        for verdict in verdicts(&entries) {
            let (start, consoles, ids) = (self.ground.start, &self.consoles, &self.ids);
            self.witness.take(verdict, |world, entry| {
                let said = consoles.sentence(world, entry);
                format!("{} {}: {said}{}", Moment::of(entry.at, start), entry.by, told_apart(ids, entry, &said))
            });
            self.after_commit();
        }
        let now = self.ground.now();
        for life in self.processes.iter_mut().filter_map(|process| process.life.as_mut()) {
            match life.ear.take() {
                Heard::Machines(machines) => self.roster.nudge(now, &machines),
                Heard::Everybody => self.roster.nudge_all(now),
            }
        }
        Ok(())
    }

    fn after_commit(&mut self) {
        self.check_never();
        let now = self.ground.moment();
        let in_span = |hour: Hour| matches!(hour, Hour::Span(from, until) if from <= now && now <= until);
        let due: Vec<usize> = (0..self.scenario.then.len()).filter(|n| in_span(self.scenario.then[*n].hour)).collect();
        let looks: Vec<&Look> = due.iter().map(|n| &self.scenario.then[*n].look).collect();
        let seen = self.look_at(&looks);
        for (n, (found, ok)) in due.into_iter().zip(seen) {
            self.judge.then[n].look(now, found, ok);
        }
    }

    /// An entry of `then` whose instant has come, or whose span ends without a commit in it.
    fn check(&mut self, n: usize) {
        let (then, now) = (&self.scenario.then[n], self.ground.moment());
        let is_span = matches!(then.hour, Hour::Span(..));
        if is_span && self.judge.then[n].looks > 0 {
            return;
        }
        for (found, ok) in self.look_at(&[&then.look]) {
            self.judge.then[n].look(now, found, ok);
        }
    }

    fn check_never(&mut self) {
        let open: Vec<usize> = (0..self.judge.never.len()).filter(|n| self.judge.never[*n].failed.is_none()).collect();
        let looks: Vec<&Look> = open.iter().map(|n| &self.scenario.never[*n].look).collect();
        let (seen, now) = (self.look_at(&looks), self.ground.moment());
        for (n, (found, holds)) in open.into_iter().zip(seen) {
            self.judge.never[n].look(now, if holds { found } else { Vec::new() }, !holds);
        }
    }

    /// What each look finds, and whether its matchers hold; a view is made once for all of them.
    fn look_at(&self, looks: &[&Look]) -> Vec<(Vec<Value>, bool)> {
        let mut bodies: BTreeMap<&View, Value> = BTreeMap::new();
        let mut seen = Vec::with_capacity(looks.len());
        for look in looks {
            let body = bodies.entry(&look.view).or_insert_with(|| self.body(&look.view));
            let found = find(look, body);
            let ok = holds(look, &found);
            seen.push((found, ok));
        }
        seen
    }
}

/// What the file calls a server, where the sentence calls it otherwise.
fn told_apart(ids: &Ids, entry: &Entry, said: &str) -> String {
    let Change::Kura(change) = &entry.change else { return String::new() };
    let name = change.server().and_then(|server| ids.name(server.0)).filter(|name| !said.contains(name));
    name.map_or_else(String::new, |name| format!(" [{name}]"))
}
