//! Processes of a run: started, crashed, frozen, thawed, each with lines to the outside that can be cut.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::super::attached::{Answering, SimLadder, attach};
use super::super::executor::{Restless, TaskId};
use super::super::host::{Means, SimHost};
use super::super::renderer::SimRenderer;
use super::super::shared::Shared;
use super::call::ACCOUNT;
use super::file::given::{ProcessGiven, ProcessKind};
use super::file::place::{Fault, Place};
use super::file::scenario::Scenario;
use super::ground::Ground;
use crate::control::ladder::Resolve;
use crate::control::link::Link;
use crate::control::local::Introduction;
use crate::control::nudges::Ear;
use crate::control::picture::{Freshness, Picture, Role};
use crate::control::ports::Clock;
use crate::control::service::{Service, Settings};

/// The run asks for every tick itself: automatic ones fall on whole periods after the start.
const NEVER: Duration = Duration::MAX;

/// The process that is meant where a file names none.
pub(super) const USUAL: &str = "server";

/// A process while it lives.
pub(super) struct Life {
    pub(super) service: Service<SimHost, SimRenderer>,
    /// Whom it nudged.
    pub(super) ear: Ear,
    tasks: Vec<TaskId>,
    /// A tick that was asked for and is not decided yet, because the process is frozen.
    pub(super) ticking: Shared<bool>,
    /// Where it is a console that is attached to a server.
    ladder: Option<SimLadder>,
}

/// A process, living or not.
pub(super) struct Process {
    pub(super) name: String,
    pub(super) kind: ProcessKind,
    pub(super) means: Means,
    pub(super) life: Option<Life>,
    /// For consoles that are attached to it.
    pub(super) answering: Answering,
    /// What it painted last before it crashed or froze.
    last: Option<Picture>,
    stands: bool,
    serves_agents: bool,
    frozen: bool,
}

impl Process {
    /// Every process the file begins with: one server that does everything, unless it says otherwise.
    pub(super) fn all(scenario: &Scenario, ground: &Ground) -> Result<Vec<Self>, Fault> {
        let Some(given) = &scenario.given.processes else {
            return Ok(vec![Self::new(USUAL, &ProcessGiven::default(), ground)]);
        };
        let mut processes: Vec<Self> = Vec::new();
        for one in given {
            let name = one.value.id.as_deref().ok_or_else(|| Fault::at(one.place, "missing field `id`"))?;
            check(&one.value, one.place)?;
            if processes.iter().any(|known| known.name == name) {
                return Err(Fault::at(one.place, format!("there are two of process {name}")));
            }
            processes.push(Self::new(name, &one.value, ground));
        }
        Ok(processes)
    }

    pub(super) fn new(name: &str, given: &ProcessGiven, ground: &Ground) -> Self {
        // A server that agents do not reach stands beside one that they do; a console is alone with what it embeds.
        let serves_agents = given.agents || given.kind == ProcessKind::Server;
        let means = Means { serves_agents, ..Means::of(&ground.outside) };
        if given.cluster.is_none() {
            means.to_cluster.cut(Timestamp::MAX);
        }
        Self {
            name: name.to_owned(),
            kind: given.kind,
            means,
            life: None,
            answering: Answering::default(),
            last: None,
            stands: given.seat,
            serves_agents: given.agents,
            frozen: false,
        }
    }

    /// Starts it; its wall clock is what it begins with.
    pub(super) fn start(&mut self, ground: &mut Ground) -> Result<(), Restless> {
        self.means.clock.accept();
        let host = Arc::new(SimHost::with(ground.outside.clone(), self.means.clone(), &self.name));
        let settings = Settings { tick_every: NEVER, stands: self.stands };
        let (service, loops) = Service::with_renderer(host, ground.account, settings, ground.renderer.clone());
        let tasks = loops.into_iter().map(|part| ground.executor.spawn(part.name, part.future)).collect();
        ground.settle()?;
        // What it nudged while it loaded its world is nobody's news.
        let ear = service.nudges.ear();
        self.answering.set(Some(service.clone()));
        self.life = Some(Life { service, ear, tasks, ticking: Shared::new(false), ladder: None });
        self.frozen = false;
        Ok(())
    }

    /// Ends it where it stands. False where it did not live.
    pub(super) fn crash(&mut self, ground: &mut Ground) -> bool {
        self.last = self.picture().map(|picture| gone(picture, ground.now()));
        self.answering.set(None);
        let Some(life) = self.life.take() else { return false };
        for task in life.tasks {
            ground.executor.kill(task);
        }
        true
    }

    /// Lets it take no step. False where it did not live, or is frozen already.
    pub(super) fn freeze(&mut self, ground: &mut Ground) -> bool {
        self.last = self.picture();
        let Some(life) = self.life.as_ref().filter(|_| !self.frozen) else { return false };
        ground.executor.freeze(&life.tasks);
        self.answering.set(None);
        self.frozen = true;
        true
    }

    /// Lets it go on. False where it was not frozen.
    pub(super) fn thaw(&mut self, ground: &mut Ground) -> Result<bool, Restless> {
        let Some(life) = self.life.as_ref().filter(|_| self.frozen) else { return Ok(false) };
        ground.executor.thaw(&life.tasks);
        self.answering.set(Some(life.service.clone()));
        self.frozen = false;
        ground.settle()?;
        Ok(true)
    }

    /// It lives and goes on.
    pub(super) fn is_awake(&self) -> bool {
        self.life.is_some() && !self.frozen
    }

    /// Agents get through to it.
    pub(super) fn is_reached_by_agents(&self, now: Timestamp) -> bool {
        self.is_awake() && self.serves_agents && !self.means.from_agents.is_cut(now)
    }

    /// Nothing leads to it or from it that time alone would mend, and its clock is that of everybody.
    pub(super) fn is_plain(&self, now: Timestamp) -> bool {
        !self.means.to_journal.is_cut(now) && !self.means.from_agents.is_cut(now) && self.means.clock.now() == now
    }

    /// A console that leaves the seat alone is attached to `server` from now on, if it is not yet.
    pub(super) fn attach(&mut self, server: &Answering, ground: &mut Ground) -> Result<(), Restless> {
        let attaches = self.kind == ProcessKind::Console && !self.stands;
        let Some(life) = self.life.as_mut().filter(|life| attaches && life.ladder.is_none()) else { return Ok(()) };
        let (ladder, loops) = attach(&life.service, introduction(), server, Resolve::Manual);
        life.tasks.extend(loops.into_iter().map(|part| ground.executor.spawn(part.name, part.future)));
        life.ladder = Some(ladder);
        ground.settle()
    }

    /// A console's end of it, while it is attached.
    pub(super) fn ladder(&self) -> Option<&SimLadder> {
        self.life.as_ref().filter(|_| self.is_awake())?.ladder.as_ref()
    }

    /// What it paints now, or painted last: none = it never lived.
    pub(super) fn picture(&self) -> Option<Picture> {
        if let Some(ladder) = self.ladder() {
            return Some(ladder.pictures().borrow().clone());
        }
        match self.service().filter(|_| self.is_awake()) {
            Some(service) => Some(service.picture(&introduction())),
            None => self.last.clone(),
        }
    }

    /// Its service, while it lives.
    pub(super) fn service(&self) -> Option<&Service<SimHost, SimRenderer>> {
        self.life.as_ref().map(|life| &life.service)
    }
}

/// How the account introduces itself to a console.
pub(super) fn introduction() -> Introduction {
    Introduction { endpoint: "scenario".to_owned(), account: ACCOUNT.to_owned(), role: Role::Operator }
}

/// The same picture, of a process that is gone since `now`.
fn gone(picture: Picture, now: Timestamp) -> Picture {
    let why = "the control plane is gone".to_owned();
    Picture { api: Freshness::Lost { since: now, why, retry_at: None }, ..picture }
}

/// There is one journal and at most one cluster.
pub(super) fn check(given: &ProcessGiven, place: Place) -> Result<(), Fault> {
    if given.journal != MAIN {
        return Err(Fault::at(place, format!("there is one journal, {MAIN}, and none called {}", given.journal)));
    }
    match given.cluster.as_deref() {
        None | Some(MAIN) => Ok(()),
        Some(other) => Err(Fault::at(place, format!("there is one cluster, {MAIN}, and none called {other}"))),
    }
}

/// The one journal and the one cluster.
const MAIN: &str = "main";
