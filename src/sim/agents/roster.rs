//! The roster: all simulated agents as one actor with one agenda, so that ten thousand cost no ten thousand tasks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::agent::{Agent, RunEnd, Served};
use super::behaviour::Behaviour;
use crate::control::ports::ApplyResult;
use crate::domain::ids::MachineId;
use crate::domain::input::Edition;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// How long an agent waits before it sends a report again that did not reach the control plane.
pub const RESEND_AFTER: Seconds = Seconds(5);

/// Reports an agent keeps for later; the oldest is given up for a new one.
pub const UNSENT_MAX: usize = 8;

/// States a run that upgrades a node goes through, in order (R158).
const STATES: [&str; 4] = ["cordon_drain", "upgrade", "health_gate", "uncordon"];

/// What is due, in the order in which it happens at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// A run ends.
    Result,
    /// A poll on the grid.
    Poll,
    /// A poll because of a nudge.
    Nudged,
}

/// What an agent wants from the control plane.
#[derive(Debug, Clone, PartialEq)]
pub enum Errand {
    /// Its assignment.
    Poll {
        /// Who asks.
        machine: MachineId,
        /// What it has or runs.
        have: Option<Edition>,
    },
    /// To tell how a run ended.
    Report(Box<ApplyResult>),
}

/// One agent with what it could not send yet.
#[derive(Debug)]
struct Member {
    agent: Agent,
    asking: bool,
    unsent: Vec<ApplyResult>,
}

/// All agents.
#[derive(Debug, Default)]
pub struct Roster {
    members: Vec<Member>,
    places: BTreeMap<MachineId, usize>,
    agenda: BTreeSet<(Timestamp, Turn, usize)>,
}

impl Roster {
    /// Adds an agent that starts at `now`. One that is known already gets the new behaviour, and keeps its run.
    pub fn enroll(&mut self, now: Timestamp, machine: MachineId, behaviour: Behaviour) {
        if let Some(place) = self.places.get(&machine) {
            self.members[*place].agent.behaviour = behaviour;
            return;
        }
        let (place, agent) = (self.members.len(), Agent::starting_at(now, machine, behaviour));
        self.agenda.extend(agent.next_poll().map(|at| (at, Turn::Poll, place)));
        self.members.push(Member { agent, asking: false, unsent: Vec::new() });
        self.places.insert(machine, place);
    }

    /// An agent is in the middle of a run that began at `began`, before anybody looked.
    pub fn resume(&mut self, now: Timestamp, machine: MachineId, served: Served, began: Timestamp) {
        self.edit(machine, |agent| agent.resume(now, served, began));
    }

    /// An agent failed on this for good before anybody looked.
    pub fn latch(&mut self, machine: MachineId, served: Served) {
        self.edit(machine, |agent| agent.latch(served));
    }

    /// Whether a machine has an agent that acts by itself.
    pub fn has(&self, machine: MachineId) -> bool {
        self.places.contains_key(&machine)
    }

    /// When the next agent wants something.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.agenda.first().map(|(at, _, _)| *at)
    }

    /// What the agents do at `now` in this turn, in the order they were enrolled where it was due at the same time.
    pub fn take(&mut self, now: Timestamp, turn: Turn) -> Vec<Errand> {
        let due = |(at, kind, _): &&(Timestamp, Turn, usize)| *at <= now && *kind == turn;
        let due: Vec<_> = self.agenda.iter().take_while(|(at, _, _)| *at <= now).filter(due).copied().collect();
        let mut errands = Vec::new();
        for entry in due {
            self.agenda.remove(&entry);
            match turn {
                Turn::Result => errands.extend(self.take_results(now, entry.2)),
                Turn::Poll => errands.extend(self.take_poll(entry.2)),
                Turn::Nudged => errands.extend(self.ask(entry.2)),
            }
        }
        errands
    }

    /// Takes the answer to a poll; a run that it withdraws is reported as canceled.
    pub fn answered(&mut self, now: Timestamp, machine: MachineId, served: Option<Served>) -> Option<Errand> {
        let place = *self.places.get(&machine)?;
        let member = &mut self.members[place];
        member.asking = false;
        let before = member.agent.next_result();
        let withdrawn = member.agent.answered(now, served);
        self.reschedule(place, before);
        withdrawn.map(|end| Errand::Report(Box::new(self.result(place, now, end))))
    }

    /// What an agent has or runs.
    pub fn have(&self, machine: MachineId) -> Option<Edition> {
        self.members.get(*self.places.get(&machine)?)?.agent.have()
    }

    /// The poll reached nobody.
    pub fn unanswered(&mut self, machine: MachineId) {
        if let Some(place) = self.places.get(&machine) {
            self.members[*place].asking = false;
        }
    }

    /// A report reached nobody: it is sent again a little later.
    pub fn undelivered(&mut self, now: Timestamp, result: ApplyResult) {
        self.postpone(RESEND_AFTER.after(now), result);
    }

    /// A report is sent at `at`, or with the next one if that comes first.
    pub fn postpone(&mut self, at: Timestamp, result: ApplyResult) {
        let Some(place) = self.places.get(&result.machine) else { return };
        let unsent = &mut self.members[*place].unsent;
        if unsent.len() >= UNSENT_MAX {
            unsent.remove(0);
        }
        unsent.push(result);
        self.agenda.insert((at, Turn::Result, *place));
    }

    /// These were told to poll again now, rather than at their next turn.
    pub fn nudge<'a>(&mut self, now: Timestamp, machines: impl IntoIterator<Item = &'a MachineId>) {
        for machine in machines {
            let Some(place) = self.places.get(machine) else { continue };
            let agent = &self.members[*place].agent;
            if agent.has_begun(now) {
                self.agenda.insert((agent.behaviour.nudge.after(now), Turn::Nudged, *place));
            }
        }
    }

    /// Everybody was told to poll again now.
    pub fn nudge_all(&mut self, now: Timestamp) {
        let everybody: Vec<MachineId> = self.places.keys().copied().collect();
        self.nudge(now, &everybody);
    }

    /// From now on nothing of this agent reaches anybody; its run dies. False if it was not to be heard anyway.
    pub fn silence(&mut self, machine: MachineId) -> bool {
        let place = self.places.get(&machine);
        let heard = place.is_some_and(|place| !self.members[*place].agent.is_silent());
        self.edit(machine, Agent::fall_silent);
        heard
    }

    /// It is back, and begins its arc anew.
    pub fn bring_back(&mut self, machine: MachineId) {
        self.edit(machine, Agent::come_back);
    }

    /// Its machine got a new system, which knows of no report that was still to be sent (R152).
    pub fn rebuild(&mut self, machine: MachineId) {
        self.edit(machine, Agent::rebuild);
        if let Some(place) = self.places.get(&machine) {
            self.members[*place].unsent.clear();
        }
    }

    fn edit(&mut self, machine: MachineId, edit: impl FnOnce(&mut Agent)) {
        let Some(place) = self.places.get(&machine).copied() else { return };
        let before = self.members[place].agent.next_result();
        edit(&mut self.members[place].agent);
        self.reschedule(place, before);
    }

    fn reschedule(&mut self, place: usize, before: Option<Timestamp>) {
        if let Some(at) = before {
            self.agenda.remove(&(at, Turn::Result, place));
        }
        self.agenda.extend(self.members[place].agent.next_result().map(|at| (at, Turn::Result, place)));
    }

    fn take_poll(&mut self, place: usize) -> Option<Errand> {
        let agent = &mut self.members[place].agent;
        agent.skip_to_next_poll();
        self.agenda.extend(agent.next_poll().map(|at| (at, Turn::Poll, place)));
        self.ask(place)
    }

    /// One poll of a machine is out at a time, and none of a silent one.
    fn ask(&mut self, place: usize) -> Option<Errand> {
        let member = &mut self.members[place];
        if member.asking || member.agent.is_silent() {
            return None;
        }
        member.asking = true;
        Some(Errand::Poll { machine: member.agent.machine, have: member.agent.have() })
    }

    fn take_results(&mut self, now: Timestamp, place: usize) -> Vec<Errand> {
        let member = &mut self.members[place];
        if member.agent.is_silent() {
            return Vec::new();
        }
        let mut results = std::mem::take(&mut member.unsent);
        let before = member.agent.next_result();
        if before.is_some_and(|at| at <= now) {
            let end = member.agent.take_result(now);
            self.reschedule(place, before);
            results.extend(end.map(|end| self.result(place, now, end)));
        }
        results.into_iter().map(|result| Errand::Report(Box::new(result))).collect()
    }

    fn result(&self, place: usize, now: Timestamp, end: RunEnd) -> ApplyResult {
        let Agent { machine, behaviour, .. } = &self.members[place].agent;
        let failed = end.outcome == Outcome::Failed;
        ApplyResult {
            machine: *machine,
            release: end.edition.release,
            generation: end.edition.generation,
            outcome: end.outcome,
            started_at: end.began,
            finished_at: now,
            received_at: now,
            changed_count: changed(behaviour, &end),
            failed_states: failed.then(|| behaviour.failed_state.clone()).into_iter().collect(),
            log_tail: log_of(behaviour, &end),
            rebuilds: end.rebuilds,
        }
    }
}

/// States a run got through: all of them, or those before the one that failed.
fn passed(behaviour: &Behaviour, end: &RunEnd) -> usize {
    let failing = STATES.iter().position(|state| *state == behaviour.failed_state.id).unwrap_or(1);
    match end.outcome {
        Outcome::Success => STATES.len(),
        Outcome::Failed => failing,
        Outcome::Timeout | Outcome::Canceled => 1,
    }
}

fn changed(behaviour: &Behaviour, end: &RunEnd) -> u64 {
    if end.drift { 0 } else { u64::try_from(passed(behaviour, end)).unwrap_or(0) }
}

fn log_of(behaviour: &Behaviour, end: &RunEnd) -> String {
    if end.drift {
        return "nothing to change\n".to_owned();
    }
    let mut lines: Vec<String> = STATES.iter().take(passed(behaviour, end)).map(|s| format!("{s}: changed")).collect();
    let failed = &behaviour.failed_state;
    lines.push(match end.outcome {
        Outcome::Success => "converged".to_owned(),
        Outcome::Failed => format!("{}: failed: {}", failed.id, failed.comment),
        Outcome::Timeout => "killed at the deadline of the release".to_owned(),
        Outcome::Canceled => "stopped: the assignment was withdrawn".to_owned(),
    });
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ReleaseId;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn served(release: &str, generation: u64, timeout: u64) -> Option<Served> {
        let edition = Edition { release: ReleaseId::named(release), generation };
        Some(Served { edition, timeout: Seconds(timeout), done: false, rebuilds: Some(0) })
    }

    fn done(release: &str, generation: u64) -> Option<Served> {
        served(release, generation, 0).map(|served| Served { done: true, ..served })
    }

    fn ash() -> MachineId {
        MachineId::named("ash")
    }

    fn roster(behaviour: Behaviour) -> Roster {
        let mut roster = Roster::default();
        roster.enroll(at(0), ash(), behaviour);
        roster
    }

    /// Every report due up to `until`, as (second, outcome), with `answer` for every poll on the way.
    fn live(roster: &mut Roster, until: i64, answer: impl Fn(i64) -> Option<Served>) -> Vec<(i64, Outcome)> {
        let mut told = Vec::new();
        while let Some(now) = roster.next_due().filter(|due| *due <= at(until)) {
            let mut errands: Vec<Errand> =
                [Turn::Result, Turn::Poll, Turn::Nudged].into_iter().flat_map(|turn| roster.take(now, turn)).collect();
            while let Some(errand) = errands.pop() {
                match errand {
                    Errand::Poll { machine, .. } => {
                        errands.extend(roster.answered(now, machine, answer(now.as_second())));
                    }
                    Errand::Report(result) => told.push((now.as_second(), result.outcome)),
                }
            }
        }
        told
    }

    #[test]
    fn a_run_is_reported_exactly_apply_seconds_after_it_was_served() {
        let told =
            live(&mut roster(Behaviour::default()), 2000, |now| (now >= 15).then(|| served("v1", 1, 0)).flatten());
        assert_eq!(told, [(620, Outcome::Success)]);
    }

    #[test]
    fn a_run_is_canceled_by_nothing_or_by_another_generation() {
        let pause = |now: i64| if (30..60).contains(&now) { None } else { served("v1", 1, 0) };
        let told = live(&mut roster(Behaviour::default()), 1000, pause);
        assert_eq!(told, [(30, Outcome::Canceled), (660, Outcome::Success)]);
        let reset = |now: i64| served("v1", if now < 100 { 1 } else { 2 }, 0);
        let told = live(&mut roster(Behaviour::default()), 1000, reset);
        assert_eq!(told, [(100, Outcome::Canceled), (700, Outcome::Success)]);
    }

    #[test]
    fn a_slow_run_is_killed_at_the_deadline_of_its_release() {
        // R57
        let told = live(&mut roster(Behaviour::default()), 1000, |_| served("v1", 1, 300));
        assert_eq!(told, [(300, Outcome::Timeout)]);
    }

    #[test]
    fn a_failing_agent_retries_then_latches_until_a_new_generation() {
        // R63
        let sick = Behaviour { outcome: Outcome::Failed, retries: 1, apply: Seconds(100), ..Behaviour::default() };
        let told = live(&mut roster(sick.clone()), 2000, |now| served("v1", if now < 1000 { 1 } else { 2 }, 0));
        let failed = [100, 260, 1100, 1260].map(|second| (second, Outcome::Failed));
        assert_eq!(told, failed);
        let healing = Behaviour { heals_after: Some(1), ..sick };
        let told = live(&mut roster(healing), 2000, |now| served("v1", if now < 1000 { 1 } else { 2 }, 0));
        assert_eq!(told, [(100, Outcome::Failed), (260, Outcome::Failed), (1100, Outcome::Success)]);
    }

    #[test]
    fn a_done_machine_that_is_served_again_works_on_nothing_but_drift() {
        // R16
        let reset = |now| if now < 1000 { served("v1", 1, 0) } else { done("v1", 2) };
        let told = live(&mut roster(Behaviour::default()), 9000, reset);
        assert_eq!(told, [(600, Outcome::Success)]);
        let displaced = |now| served("v1", if now < 1000 { 1 } else { 3 }, 0);
        let told = live(&mut roster(Behaviour::default()), 9000, displaced);
        assert_eq!(told, [(600, Outcome::Success), (1600, Outcome::Success)], "nobody is done after a supersede");
        let drifting = Behaviour { drift: Seconds(900), ..Behaviour::default() };
        let told = live(&mut roster(drifting), 2500, |_| served("v1", 1, 0));
        assert_eq!(told, [600, 1500, 2400].map(|second| (second, Outcome::Success)));
    }

    #[test]
    fn a_silent_agent_says_nothing_and_begins_anew_when_it_is_back() {
        let mut roster = roster(Behaviour::default());
        assert_eq!(live(&mut roster, 200, |_| served("v1", 1, 0)), []);
        roster.silence(ash());
        assert_eq!(live(&mut roster, 1000, |_| panic!("a silent agent polled")), []);
        roster.bring_back(ash());
        assert_eq!(live(&mut roster, 2000, |_| served("v1", 1, 0)), [(1610, Outcome::Success)]);
    }

    #[test]
    fn a_rebuilt_machine_works_again_on_what_it_had_done() {
        // R152
        let mut roster = roster(Behaviour::default());
        assert_eq!(live(&mut roster, 700, |_| served("v1", 1, 0)), [(600, Outcome::Success)]);
        roster.rebuild(ash());
        assert_eq!(live(&mut roster, 1400, |_| served("v1", 1, 0)), [(1310, Outcome::Success)]);
    }

    #[test]
    fn a_nudge_reaches_nobody_before_the_first_poll() {
        let mut roster = roster(Behaviour { first_poll: Seconds(7), ..Behaviour::default() });
        roster.nudge(at(3), [&ash()]);
        assert_eq!(roster.next_due(), Some(at(7)));
        assert_eq!(roster.take(at(6), Turn::Nudged).len(), 0);
        assert_eq!(roster.take(at(7), Turn::Poll).len(), 1);
        assert_eq!(roster.answered(at(7), ash(), None), None);
        roster.nudge(at(8), [&ash()]);
        assert_eq!(roster.take(at(8), Turn::Nudged).len(), 1);
    }

    #[test]
    fn a_nudge_polls_between_two_turns_of_the_grid_and_leaves_the_grid_alone() {
        let mut roster = roster(Behaviour { nudge: Seconds(2), ..Behaviour::default() });
        let poll = vec![Errand::Poll { machine: ash(), have: None }];
        assert_eq!(roster.take(at(0), Turn::Poll), poll);
        assert_eq!(roster.answered(at(0), ash(), None), None);
        roster.nudge(at(3), [&ash()]);
        assert_eq!(roster.next_due(), Some(at(5)));
        assert_eq!(roster.take(at(5), Turn::Nudged), poll);
        roster.nudge(at(5), [&ash()]);
        assert_eq!(roster.take(at(7), Turn::Nudged), [], "its poll is still out");
        roster.unanswered(ash());
        assert_eq!(roster.next_due(), Some(at(10)));
    }

    #[test]
    fn a_report_that_reached_nobody_is_sent_again() {
        let mut roster = roster(Behaviour { apply: Seconds(7), ..Behaviour::default() });
        roster.take(at(0), Turn::Poll);
        roster.answered(at(0), ash(), served("v1", 1, 0));
        let Some(Errand::Report(result)) = roster.take(at(7), Turn::Result).pop() else { panic!("no report") };
        roster.undelivered(at(7), (*result).clone());
        assert_eq!(roster.take(at(12), Turn::Result), [Errand::Report(result)]);
    }
}
