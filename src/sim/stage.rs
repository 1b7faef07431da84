//! The stage: a whole simulated world in motion. Processes, agents and people on one executor, in virtual time.

use std::sync::Arc;

use jiff::Timestamp;

use super::agents::roster::{Errand, Roster, Turn};
use super::attached::{Answering, SimLadder, attach};
use super::clock::VirtualClock;
use super::errands::{Courier, Ledger, give, pass_on_nudges};
use super::executor::{Executor, Hook, Restless, TaskId};
use super::host::{Means, Outside, SimHost};
use super::post::Post;
use super::record::Record;
use super::renderer::SimRenderer;
use super::script::{Cue, Script};
use super::shared::Shared;
use super::toll::{Mishap, Toll};
use super::trail::{Strikes, Trail};
use crate::control::door::Door;
use crate::control::ladder::Resolve;
use crate::control::local::{Introduction, LocalLink};
use crate::control::picture::Role;
use crate::control::ports::Clock;
use crate::control::service::{Loop, Service, Settings};
use crate::domain::ids::AccountId;
use crate::domain::world::World;

/// Who goes first among those who want something at the same instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The script, then results, polls, timers such as the tick, and nudged polls; within each in the order they were
    /// written or enrolled, each to its end before the next: what a scenario promises.
    InOrder,
    /// All at once, step by step as the seed picks: what explores interleavings.
    Shuffled,
}

/// What a process is and how it begins.
#[derive(Clone)]
pub struct Beginning {
    /// How it ticks, and whether it stands for the seat.
    pub settings: Settings,
    /// What it has of its own.
    pub means: Means,
    /// People and agents that may choose ask it from the start; else only once they are led to it.
    pub is_open: bool,
    /// Where it is a console: whoever answers it, and who decides that it takes the seat when nobody does.
    pub attached: Option<(Answering, Resolve)>,
}

/// One process of the control plane, and the tasks that drive it.
struct Process {
    name: String,
    service: Service<SimHost, SimRenderer>,
    means: Means,
    is_open: bool,
    tasks: Vec<TaskId>,
    ladder: Option<SimLadder>,
}

/// A world in motion. Time stands still until `advance_to`.
pub struct Stage {
    executor: Executor,
    outside: Outside,
    account: AccountId,
    ties: Ties,
    dice: fastrand::Rng,
    processes: Vec<Process>,
    roster: Shared<Roster>,
    script: Script,
    refusals: Shared<Vec<String>>,
    renderer: SimRenderer,
    post: Post,
    record: Option<Shared<Record>>,
}

impl Stage {
    /// An empty world at `start`, without any process.
    pub fn new(start: Timestamp, seed: u64, ties: Ties) -> Self {
        Self {
            executor: Executor::seeded(seed),
            outside: Outside::new(VirtualClock::starting_at(start)),
            account: AccountId::named("simulated"),
            ties,
            dice: fastrand::Rng::with_seed(seed.rotate_left(32)),
            processes: Vec::new(),
            roster: Shared::default(),
            script: Script::default(),
            refusals: Shared::default(),
            renderer: SimRenderer::default(),
            post: Post::reliable(),
            record: None,
        }
    }

    /// Keeps a record from now on of what was handed out, reported and answered; the witness empties it.
    pub fn keep_record(&mut self) -> Shared<Record> {
        self.record.get_or_insert_default().clone()
    }

    /// What cannot be rendered.
    pub fn renderer(&self) -> &SimRenderer {
        &self.renderer
    }

    /// How the agents' post fares from now on.
    pub fn set_post(&mut self, post: Post) {
        self.post = post;
    }

    /// The stores all processes share, faults included.
    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    /// Virtual time.
    pub fn clock(&self) -> &VirtualClock {
        &self.outside.clock
    }

    /// Whose world it is.
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// What went wrong so far.
    pub fn toll(&self) -> Shared<Toll> {
        self.outside.journal.toll()
    }

    /// How many processes died by `crash` or in the middle of a call.
    pub fn crashes(&self) -> u64 {
        self.executor.crashes()
    }

    /// How many processes froze in the middle of a call.
    pub fn frozen_in_mid_call(&self) -> u64 {
        self.executor.freezes()
    }

    /// At which calls processes died, and at which they froze.
    pub fn struck(&self) -> (Strikes, Strikes) {
        let mut struck = (Strikes::default(), Strikes::default());
        for (died, froze) in self.processes.iter().map(|process| process.means.trail.struck()) {
            struck.0.join(died);
            struck.1.join(froze);
        }
        struck
    }

    /// A process lives and takes steps.
    pub fn is_awake(&self, name: &str) -> bool {
        let awake = |process: &Process| process.tasks.first().is_some_and(|task| !self.executor.is_frozen(*task));
        self.living().any(|process| process.name == name && awake(process))
    }

    /// What a living process is made of.
    pub fn service(&self, name: &str) -> Option<&Service<SimHost, SimRenderer>> {
        self.living().find(|process| process.name == name).map(|process| &process.service)
    }

    /// The world as the journal has it.
    pub fn world(&self) -> World {
        self.outside.journal.world(self.account)
    }

    /// Scripted orders that were not carried out, as one sentence each.
    pub fn refusals(&self) -> Vec<String> {
        self.refusals.with(|list| list.clone())
    }

    /// The agents.
    pub fn roster(&self) -> &Shared<Roster> {
        &self.roster
    }

    /// What is going to happen from outside.
    pub fn script(&mut self) -> &mut Script {
        &mut self.script
    }

    /// Calls `hook` whenever somebody wants to go on, from whichever thread: an order from outside, for one.
    pub fn on_wake(&self, hook: Hook) {
        self.executor.on_wake(hook);
    }

    /// Starts a process that is a server like any other.
    pub fn start_process(&mut self, name: &str, settings: Settings) {
        let means = Means::of(&self.outside);
        self.begin_process(name, Beginning { settings, means, is_open: true, attached: None });
    }

    /// Starts a process.
    pub fn begin_process(&mut self, name: &str, beginning: Beginning) {
        let Beginning { settings, means, is_open, attached } = beginning;
        let host = Arc::new(SimHost::with(self.outside.clone(), means.clone(), name));
        let (service, loops) = Service::with_renderer(host, self.account, settings, self.renderer.clone());
        let mut tasks: Vec<TaskId> = loops.into_iter().map(|part| self.drive(part)).collect();
        let nudges = pass_on_nudges(service.clone(), self.roster.clone(), self.clock().clone());
        tasks.push(self.executor.spawn("nudges", nudges));
        let ladder = attached.map(|(server, resolve)| {
            let (ladder, loops) = attach(&service, introduction(), &server, resolve);
            tasks.extend(loops.into_iter().map(|part| self.drive(part)));
            ladder
        });
        means.trail.arm(self.executor.ward(tasks.clone()));
        self.processes.push(Process { name: name.to_owned(), service, means, is_open, tasks, ladder });
    }

    /// A console's end of its ladder, while it lives.
    pub fn ladder(&self, name: &str) -> Option<SimLadder> {
        self.living().find(|process| process.name == name)?.ladder.clone()
    }

    /// Nobody looks any more at a console on a ladder.
    pub fn leave(&mut self, name: &str) {
        self.processes.iter_mut().filter(|process| process.name == name).for_each(|process| process.ladder = None);
    }

    /// People and agents that may choose ask a process from now on, or do not.
    pub fn open(&mut self, name: &str, is_open: bool) {
        self.processes.iter_mut().filter(|process| process.name == name).for_each(|process| process.is_open = is_open);
    }

    /// Ends a process after `steps` more steps of anybody, at whichever await it is by then, without a last word.
    /// True if it was alive.
    pub fn crash(&mut self, name: &str, steps: u64) -> bool {
        let Some(tasks) = self.tasks_of(name) else { return false };
        self.executor.kill_after(steps, tasks);
        true
    }

    /// No process dies any more that was to die after some steps.
    pub fn spare(&mut self) {
        self.executor.spare();
    }

    /// Lets a process take no step until it is thawed. True if it lives.
    pub fn freeze(&mut self, name: &str) -> bool {
        let Some(tasks) = self.tasks_of(name) else { return false };
        self.executor.freeze(&tasks);
        true
    }

    /// Lets it go on where it stood. True if it lives.
    pub fn thaw(&mut self, name: &str) -> bool {
        let Some(tasks) = self.tasks_of(name) else { return false };
        self.executor.thaw(&tasks);
        true
    }

    fn tasks_of(&self, name: &str) -> Option<Vec<TaskId>> {
        self.living().find(|process| process.name == name).map(|process| process.tasks.clone())
    }

    /// What a living process has of its own: a wall clock that can jump, lines that can be cut.
    pub fn means(&self, name: &str) -> Option<&Means> {
        self.living().find(|process| process.name == name).map(|process| &process.means)
    }

    /// The names of the processes that live, in the order in which they were started.
    pub fn alive(&self) -> Vec<String> {
        self.living().map(|process| process.name.clone()).collect()
    }

    /// The door of the process that was started first and still lives.
    pub fn door(&self) -> Option<Door> {
        self.living().next().map(|process| process.service.door.clone())
    }

    /// A console's end of that process; its pictures begin once the loop is given to `drive`.
    pub fn link(&self, introduction: Introduction) -> Option<(LocalLink<SimHost>, Loop)> {
        self.living().next().map(|process| process.service.link(introduction))
    }

    fn living(&self) -> impl Iterator<Item = &Process> {
        let lives = |process: &&Process| process.tasks.first().is_some_and(|task| self.executor.is_alive(*task));
        self.processes.iter().filter(lives)
    }

    /// Drives a loop from now on.
    pub fn drive(&mut self, part: Loop) -> TaskId {
        self.executor.spawn(part.name, part.future)
    }

    /// Lets everybody go on who can, without moving time.
    pub fn settle(&mut self) -> Result<(), Restless> {
        self.executor.run_until_idle()
    }

    /// Lets everything happen up to and including `target`; then it is `target`.
    pub fn advance_to(&mut self, target: Timestamp) -> Result<(), Restless> {
        self.settle()?;
        while let Some(instant) = self.next_due().filter(|at| *at <= target) {
            self.clock().set(instant);
            self.perform()?;
        }
        self.clock().set(target);
        Ok(())
    }

    /// When something happens next by itself.
    pub fn next_due(&self) -> Option<Timestamp> {
        let agents = self.roster.with(|roster| roster.next_due());
        [self.script.next_due(), agents, self.clock().next_due()].into_iter().flatten().min()
    }

    /// Everything that is due at this instant.
    fn perform(&mut self) -> Result<(), Restless> {
        match self.ties {
            Ties::InOrder => self.perform_in_order()?,
            Ties::Shuffled => self.perform_at_once()?,
        }
        self.one_by_one(Turn::Nudged)
    }

    fn perform_in_order(&mut self) -> Result<(), Restless> {
        let now = self.clock().now();
        while let Some(cue) = self.script.take(now) {
            self.play(now, cue);
            self.settle()?;
        }
        self.one_by_one(Turn::Result)?;
        self.one_by_one(Turn::Poll)?;
        self.clock().wake_due();
        self.settle()
    }

    fn perform_at_once(&mut self) -> Result<(), Restless> {
        let now = self.clock().now();
        while let Some(cue) = self.script.take(now) {
            self.play(now, cue);
        }
        for errand in self.due(Turn::Result).into_iter().chain(self.due(Turn::Poll)) {
            self.send(errand);
        }
        self.clock().wake_due();
        self.settle()
    }

    /// Errands of one kind; nudged ones that bring forth others included.
    fn one_by_one(&mut self, turn: Turn) -> Result<(), Restless> {
        loop {
            let errands = self.due(turn);
            if errands.is_empty() {
                return Ok(());
            }
            for errand in errands {
                self.send(errand);
                if self.ties == Ties::InOrder {
                    self.settle()?;
                }
            }
            self.settle()?;
        }
    }

    fn due(&self, turn: Turn) -> Vec<Errand> {
        let now = self.clock().now();
        self.roster.with(|roster| roster.take(now, turn))
    }

    /// Any of the living processes that people may ask.
    fn any_process(&mut self) -> Option<&Process> {
        self.any(|process, _| process.is_open)
    }

    fn any(&mut self, is_asked: impl Fn(&Process, Timestamp) -> bool) -> Option<&Process> {
        let now = self.clock().instant();
        let asked = |process: &&Process| is_asked(process, now);
        let some = self.living().filter(asked).count();
        let chosen = if some > 1 { self.dice.usize(..some) } else { 0 };
        self.living().filter(asked).nth(chosen)
    }

    /// Sends an agent on its way, to any of the living processes that have a desk for it.
    fn send(&mut self, errand: Errand) {
        let has_desk = |process: &Process, now| {
            let means = &process.means;
            process.is_open && means.serves_agents && !means.from_agents.is_cut(now)
        };
        let chosen = self.any(has_desk).map(|process| (process.service.clone(), process.means.trail.clone()));
        let (service, trail) = chosen.map_or((None, Trail::default()), |(service, trail)| (Some(service), trail));
        let courier = Courier {
            trail,
            roster: self.roster.clone(),
            clock: self.clock().clone(),
            service,
            post: self.post.clone(),
            toll: self.toll(),
            record: self.record.clone().map(|record| (record, self.outside.journal.clone(), self.account)),
        };
        self.executor.spawn("agent", courier.run(errand));
    }

    fn play(&mut self, now: Timestamp, cue: Cue) {
        match cue {
            Cue::Orders(orders) => {
                let door = self.any_process().map(|process| process.service.door.clone());
                let ledger = Ledger {
                    clock: self.clock().clone(),
                    refusals: self.refusals.clone(),
                    record: self.record.clone(),
                };
                self.executor.spawn("people", give(door, orders, ledger));
            }
            Cue::Silence(machine) => {
                if self.roster.with(|roster| roster.silence(machine)) {
                    self.toll().with(|toll| toll.count(Mishap::SilentAgent));
                }
            }
            Cue::BringBack(machine) => self.roster.with(|roster| roster.bring_back(machine)),
            Cue::Behave(machine, behaviour) => self.roster.with(|roster| roster.enroll(now, machine, *behaviour)),
            Cue::Telemetry { up } => self.outside.results.switch(up),
            Cue::Rebuild(machine, version) => {
                self.roster.with(|roster| roster.rebuild(machine));
                if let Some(process) = self.any_process() {
                    let desk = process.service.desk.clone();
                    self.executor.spawn("agent", async move { drop(desk.rebuilt(machine, version).await) });
                }
            }
        }
    }
}

/// How the account introduces itself to a console on its stage.
fn introduction() -> Introduction {
    Introduction { endpoint: "stage".to_owned(), account: "simulated".to_owned(), role: Role::Operator }
}
