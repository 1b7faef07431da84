//! The witness: follows the journal of a world and what its processes said, and finds the first broken rule.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use jiff::Timestamp;

use super::super::record::{Answer, Handed, Record, Told};
use super::super::shared::Shared;
use super::super::stage::Stage;
use super::super::toll::{Mishap, Toll};
use super::faults::seats::Taking;
use super::faults::tally::FaultTally;
use super::kura::{self, steps::KuraTally};
use super::naive;
use super::promises::{Promises, index};
use super::rolls::steps::{RollTally, RollWatch};
use super::sky::{Sky, When};
use super::steps::Step;
use crate::control::ports::{ApplyResult, Clock};
use crate::domain::audit::Auditor;
use crate::domain::change::{Change, Entry};
use crate::domain::fleet::Machine;
use crate::domain::ids::{MachineId, ReleaseId, Revision};
use crate::domain::invariants::broken_step;
use crate::domain::release::Outcome;
use crate::domain::rollout::Ending;
use crate::domain::world::World;

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// When.
    pub at: Timestamp,
    /// Which, and how.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)
    }
}

/// What was seen on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Changes in the journals.
    pub changes: u64,
    /// Leases that were granted.
    pub grants: u64,
    /// Assignments that left a control plane.
    pub handed: u64,
    /// Orders that were answered.
    pub answers: u64,
    /// Appends that were outrun by another process.
    pub races: u64,
    /// Rollouts that completed.
    pub completed: u64,
    /// Seconds that went by in the worlds.
    pub virtual_seconds: u64,
    /// What was seen of Kura servers.
    pub kura: KuraTally,
    /// What was seen of fleet rolls.
    pub rolls: RollTally,
    /// What was seen of processes and their seat.
    pub faults: FaultTally,
    /// What went wrong in them.
    pub toll: Toll,
}

impl Tally {
    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.changes += other.changes;
        self.grants += other.grants;
        self.handed += other.handed;
        self.answers += other.answers;
        self.races += other.races;
        self.completed += other.completed;
        self.virtual_seconds += other.virtual_seconds;
        self.kura.add(&other.kura);
        self.rolls.add(&other.rolls);
        self.faults.add(&other.faults);
        self.toll.add(&other.toll);
    }
}

/// Successes as the agents reported them: which release, who, and when the run began.
#[derive(Debug, Default)]
struct Truth {
    /// Reports whose place among the changes is not reached yet, in the order they were sent.
    ahead: VecDeque<Told>,
    runs: BTreeMap<(ReleaseId, MachineId), Vec<Timestamp>>,
}

impl Truth {
    fn hear(&mut self, told: Vec<Told>) {
        self.ahead.extend(told);
    }

    /// Learns what was reported before this change was made.
    fn learn_until(&mut self, revision: Revision) {
        while let Some(told) = self.ahead.pop_front_if(|told| told.head < revision) {
            let ApplyResult { release, machine, outcome, started_at, .. } = told.result;
            if outcome == Outcome::Success {
                self.runs.entry((release, machine)).or_default().push(started_at);
            }
        }
    }

    /// A release that was displaced is nobody's proof of anything if it is started again (R175).
    fn forget(&mut self, displaced: ReleaseId) {
        self.runs.retain(|(release, _), _| *release != displaced);
    }

    /// A success of this machine for this release, of a run that began no earlier than its system (A08, R153).
    fn knows(&self, machine: MachineId, release: ReleaseId, installed: Option<Timestamp>) -> bool {
        let runs = self.runs.get(&(release, machine)).into_iter().flatten();
        runs.into_iter().any(|began| installed.is_none_or(|installed| installed <= *began))
    }
}

/// Watches one world.
pub(super) struct Witness {
    record: Shared<Record>,
    /// The world at every revision.
    history: Vec<World>,
    truth: Truth,
    installed: BTreeMap<MachineId, Timestamp>,
    /// Runs whose end is in the journal.
    runs: BTreeSet<(MachineId, Timestamp)>,
    promises: Promises,
    rolls: RollWatch,
    /// How often a person accepted the clocks.
    pub(super) accepted: u64,
    /// Clocks drift and calls last: of a decision only its append is known.
    is_vague: bool,
    auditor: Auditor,
    /// Who took the seat since somebody asked last.
    pub(super) takings: Vec<Taking>,
    pub(super) sky: Sky,
    pub(super) tally: Tally,
}

impl Witness {
    pub(super) fn of(stage: &mut Stage, is_vague: bool) -> Self {
        Self {
            record: stage.keep_record(),
            history: vec![World::default()],
            truth: Truth::default(),
            installed: BTreeMap::new(),
            runs: BTreeSet::new(),
            promises: Promises::default(),
            rolls: RollWatch::default(),
            accepted: 0,
            is_vague,
            auditor: Auditor::default(),
            takings: Vec::new(),
            sky: Sky::default(),
            tally: Tally::default(),
        }
    }

    /// The world as it was last seen.
    pub(super) fn world(&self) -> World {
        self.history.last().cloned().unwrap_or_default()
    }

    /// Looks at everything that happened since the last look; answers with what was answered to people.
    pub(super) fn look(&mut self, stage: &Stage) -> Result<Vec<Answer>, Breach> {
        let seen = self.record.with(std::mem::take);
        self.truth.hear(seen.told);
        fail(stage.clock().steady(), stage.outside().journal.take_breach(stage.account()))?;
        let appended = stage.outside().journal.appended_after(stage.account(), self.world().revision);
        for verdict in appended.chunk_by(is_one_verdict) {
            let entries: Vec<Entry> = verdict.iter().map(|(_, entry)| entry.clone()).collect();
            self.step(&entries, verdict[0].0)?;
        }
        let believer = self.sky.believer(self.accepted);
        let why = believer.map(|process| format!("R168: {process} followed its wall clock and nobody had said so"));
        fail(stage.clock().steady(), why)?;
        let breach = stage.outside().cluster.with(|objects| objects.breaches.pop());
        fail(stage.clock().steady(), breach)?;
        for handed in &seen.handed {
            self.handed(handed)?;
        }
        for answer in &seen.answers {
            self.tally.answers += 1;
            fail(answer.at, self.promises.answer(answer, &self.history))?;
        }
        Ok(seen.answers)
    }

    /// When entries that say `at` were decided.
    fn when(&self, at: Timestamp, appended: Timestamp) -> When {
        if self.accepted == 0 && !self.is_vague { When::exactly(at) } else { When::before(appended) }
    }

    fn step(&mut self, verdict: &[Entry], appended: Timestamp) -> Result<(), Breach> {
        let before = self.world();
        let at = verdict.first().map_or(before.at, |entry| entry.at);
        let when = self.when(at, appended);
        let mut after = before.clone();
        for entry in verdict {
            fail(entry.at, self.promises.entry(entry))?;
            fail(entry.at, self.told_twice(&entry.change))?;
            fail(entry.at, self.auditor.take(entry).err().map(|broken| format!("the audit is broken: {broken}")))?;
            self.truth.learn_until(entry.revision);
            self.count(entry, when, appended);
            after.apply(entry);
            self.history.push(after.clone());
        }
        let step = Step { before: &before, entries: verdict, sky: &self.sky, when };
        let changes: Vec<Change> = verdict.iter().map(|entry| entry.change.clone()).collect();
        let broken = broken_step(&before, &after, &changes, at).into_iter().chain(step.broken());
        let of_servers = kura::steps::broken(&before, &after, verdict);
        let of_rolls = self.rolls.look(&before, verdict);
        self.tally.rolls = self.rolls.tally;
        fail(at, broken.chain(self.unproven(&after)).chain(of_servers).chain(of_rolls).next())
    }

    fn count(&mut self, entry: &Entry, when: When, appended: Timestamp) {
        self.tally.changes += 1;
        self.tally.kura.count(&entry.change);
        let toll = &mut self.tally.toll;
        match &entry.change {
            Change::RolloutEnded { rollout, ending: Ending::Superseded { .. } } => {
                let displaced = self.history.last().and_then(|world| world.rollout(*rollout)).map(|r| r.release);
                displaced.into_iter().for_each(|release| self.truth.forget(release));
            }
            Change::LeaseGranted { .. } => self.tally.grants += 1,
            Change::RolloutEnded { ending: Ending::Completed, .. } => self.tally.completed += 1,
            Change::MachineRebuilt { machine, .. } => {
                toll.count(Mishap::Rebuild);
                self.installed.insert(*machine, self.sky.rebuilt(*machine).unwrap_or(when.from));
            }
            Change::MachineAdded { machine } => drop(self.installed.insert(machine.id, when.from)),
            Change::RenderFailed { .. } => toll.count(Mishap::RenderError),
            Change::SeatTaken { epoch, holder, .. } => {
                if *epoch > 1 {
                    toll.count(Mishap::Takeover);
                }
                if self.is_vague {
                    self.takings.push(Taking { at: appended, by: holder.clone(), epoch: *epoch });
                }
            }
            Change::ClockAccepted => {
                toll.count(Mishap::AcceptedClock);
                self.accepted += 1;
            }
            _ => {}
        }
    }

    /// A run whose report came twice counts once (R57).
    fn told_twice(&mut self, change: &Change) -> Option<String> {
        let Change::ResultReported { machine, run: Some(run), .. } = change else { return None };
        let new = self.runs.insert((*machine, *run));
        (!new).then(|| format!("R57: the run of {} that began at {run} counted twice", self.world().hostname(*machine)))
    }

    /// Done without a success of one's own for this very release (A08, R130).
    fn unproven(&self, world: &World) -> Option<String> {
        let release = world.current()?.release;
        let proven = |m: &Machine| self.truth.knows(m.id, release, self.installed.get(&m.id).copied());
        let fraud = world.machines.values().find(|m| m.is_done(release) && !proven(m))?;
        let name = &fraud.hostname;
        Some(format!("A08: {name} counts as done on {} without a run of its own", world.release_name(release)))
    }

    /// What left a process was allowed by a world it had seen between question and answer (R17).
    fn handed(&mut self, handed: &Handed) -> Result<(), Breach> {
        self.tally.handed += 1;
        let (since, until) = (index(handed.span.since), index(handed.span.until));
        let worlds = self.history.iter().take(until + 1).skip(since);
        let whys: Vec<Option<String>> =
            worlds.map(|world| naive::unservable(world, handed.machine, handed.edition)).collect();
        if whys.iter().any(Option::is_none) {
            return Ok(());
        }
        fail(handed.at, whys.into_iter().flatten().last())
    }
}

fn fail(at: Timestamp, what: Option<String>) -> Result<(), Breach> {
    what.map_or(Ok(()), |what| Err(Breach { at, what }))
}

/// Entries of one verdict say the same and were appended at the same moment. Where the world waits for a process whose
/// clock is behind, what they say may be the same for minutes.
fn is_one_verdict((when, a): &(Timestamp, Entry), (then, b): &(Timestamp, Entry)) -> bool {
    when == then && (a.at, &a.by, &a.cause) == (b.at, &b.by, &b.cause)
}
