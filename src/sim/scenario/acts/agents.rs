//! Ticks, polls, reports, and what is done to machines.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::agents::Heard;
use super::super::call::Request;
use super::super::enrolment::behaviour;
use super::super::file::act::Act;
use super::super::file::agents::{AgentAct, Newcomer};
use super::super::file::name::Name;
use super::super::records::{Answer, Ended};
use super::super::run::{Run, Stuck};
use super::super::screens::Consoles;
use crate::domain::ids::{MachineId, ReleaseId};
use crate::domain::input::Verb;
use crate::wire::agent::{Filed, PollAnswer, ReportBody};
use crate::wire::answer::{OK, Said};
use crate::wire::body::parse;
use crate::wire::machine::{MachineNew, MachinePatch};
use crate::wire::problem::Problem;

impl<C: Consoles> Run<C> {
    pub(super) fn act_as_agent(&mut self, act: &Act, doing: &AgentAct) -> Result<Answer, Stuck> {
        match doing {
            AgentAct::Tick => self.tick_at(act),
            AgentAct::Poll { machine } => self.poll_once(act, machine_id(machine)),
            AgentAct::PollAll => self.poll_everybody(act),
            AgentAct::Result { machine, .. } => self.tell_result(act, machine_id(machine), doing),
            AgentAct::AgentSilent { machine } => Ok(self.fall_silent(machine_id(machine))),
            AgentAct::AgentBack { machine } => Ok(self.come_back(machine_id(machine))),
            AgentAct::Rebuild { machine, version } => self.rebuild(act, machine_id(machine), version.clone()),
            AgentAct::AddMachine(newcomer) => self.add_machine(act, newcomer),
            AgentAct::DeleteMachine { machine } => {
                let machine = machine_id(machine);
                let answer = self.call(act, Ok((Verb::RemoveMachine { machine }, None)))?;
                if answer.ended == Ended::Done {
                    self.fall_silent(machine);
                }
                Ok(answer)
            }
            AgentAct::Assign { machine, environment, ring } => {
                let request = self.assignment(machine_id(machine), environment.as_ref(), ring.as_ref());
                self.call(act, request)
            }
            AgentAct::RenderError { machine, missing } => {
                self.ground.renderer.lose(machine_id(machine), missing.clone());
                Ok(Answer::none(Ended::Done))
            }
            AgentAct::RenderOk { machine } => {
                self.ground.renderer.find(machine_id(machine));
                Ok(Answer::none(Ended::Done))
            }
        }
    }

    fn fall_silent(&mut self, machine: MachineId) -> Answer {
        self.records.silent.insert(machine);
        self.roster.silence(machine);
        Answer::none(Ended::Done)
    }

    fn come_back(&mut self, machine: MachineId) -> Answer {
        self.records.silent.remove(&machine);
        self.roster.bring_back(machine);
        Answer::none(Ended::Done)
    }

    fn poll_once(&mut self, act: &Act, machine: MachineId) -> Result<Answer, Stuck> {
        if self.records.silent.contains(&machine) {
            return Ok(Answer::none(Ended::Unanswered));
        }
        let process = act.circumstances.process.as_deref();
        let heard = self.poll(machine, self.records.have(machine), process)?;
        Ok(self.answer_of(act, heard, PollAnswer::of))
    }

    /// In file order, added ones last.
    fn poll_everybody(&mut self, act: &Act) -> Result<Answer, Stuck> {
        let mut answer = Answer::none(Ended::Done);
        for machine in self.ids.machines.clone() {
            let is_there = self.witness.world.machines.contains_key(&machine);
            if is_there && !self.records.silent.contains(&machine) {
                answer = self.poll_once(act, machine)?;
            }
        }
        Ok(answer)
    }

    fn tell_result(&mut self, act: &Act, machine: MachineId, doing: &AgentAct) -> Result<Answer, Stuck> {
        if self.records.silent.contains(&machine) {
            return Ok(Answer::none(Ended::Unanswered));
        }
        let now = self.ground.now();
        let body = self.report_body(machine, doing);
        let report: ReportBody = match parse(body.to_string().as_bytes()) {
            Ok(report) => report,
            Err(problem) => return Ok(self.refusal(&problem)),
        };
        let heard = self.tell(report.result(machine, now), act.circumstances.process.as_deref())?;
        Ok(self.answer_of(act, heard, |_| Ok(Filed { filed: true })))
    }

    fn report_body(&mut self, machine: MachineId, doing: &AgentAct) -> Value {
        let AgentAct::Result { release, outcome, state, message, changed, drift, .. } = doing else {
            return Value::Null;
        };
        let current = self.witness.world.current().map(|rollout| rollout.release);
        let release = match release {
            Some(named) => release_id(named),
            None => current.unwrap_or(ReleaseId(uuid::Uuid::nil())),
        };
        let now = self.ground.now();
        let state = state.clone().or_else(|| message.as_ref().map(|_| "state".to_owned()));
        let failed = state.map(|id| json!([{ "id": id, "name": id, "comment": message.clone().unwrap_or_default() }]));
        json!({
            "release_uuid": release,
            "generation": self.records.generation(machine, release),
            "outcome": outcome,
            "started_at": self.records.run_began(now),
            "finished_at": now,
            "changed_count": changed.clone().unwrap_or_else(|| json!(u64::from(!drift))),
            "failed_states": failed.unwrap_or_else(|| json!([])),
        })
    }

    fn rebuild(&mut self, act: &Act, machine: MachineId, version: Option<String>) -> Result<Answer, Stuck> {
        self.roster.rebuild(machine);
        self.records.rebuilt(machine);
        if self.records.silent.contains(&machine) {
            return Ok(Answer::none(Ended::Unanswered));
        }
        let heard = match self.desk(act.circumstances.process.as_deref()) {
            Some(desk) => self.ground.run("rebuilt", async move { desk.rebuilt(machine, version).await })?,
            None => None,
        };
        self.rest()?;
        Ok(self.answer_of(act, heard, |_| Ok(Filed { filed: true })))
    }

    /// It joins, says which version its image has, and gets an agent if the others have one.
    fn add_machine(&mut self, act: &Act, newcomer: &Newcomer) -> Result<Answer, Stuck> {
        let id = self.ids.machine(&newcomer.id);
        let answer = self.call(act, self.newcomer(id, newcomer))?;
        if answer.ended != Ended::Done {
            return Ok(answer);
        }
        self.come_back(id);
        if let Some(version) = &newcomer.version {
            self.rebuild(act, id, Some(version.clone()))?;
        }
        if let Some(character) = behaviour(&self.scenario.given.agents, newcomer.agent.as_ref()) {
            self.roster.enroll(self.ground.now(), id, character);
        }
        Ok(answer)
    }

    /// What a person posts; a pinned bucket and the version of the image are the scenario's own.
    fn newcomer(&self, id: MachineId, newcomer: &Newcomer) -> Request {
        let mut body = json!({ "hostname": newcomer.id });
        let fields = [
            ("hostname", &newcomer.hostname),
            ("environment", &newcomer.environment),
            ("ring", &newcomer.ring),
            ("node", &newcomer.node),
        ];
        for (field, value) in fields {
            if let Some(value) = value {
                body[field] = value.clone();
            }
        }
        let new: MachineNew = parse(body.to_string().as_bytes())?;
        let mut verb = new.verb(id, &self.witness.world)?;
        if let Verb::AddMachine { bucket, .. } = &mut verb {
            *bucket = newcomer.bucket;
        }
        Ok((verb, None))
    }

    fn assignment(&self, machine: MachineId, environment: Option<&Value>, ring: Option<&Value>) -> Request {
        let mut body = json!({});
        for (field, value) in [("environment", environment), ("ring", ring)] {
            if let Some(value) = value {
                body[field] = value.clone();
            }
        }
        let patch = MachinePatch::parse(body.to_string().as_bytes())?;
        Ok((patch.verb(machine, &self.witness.world)?, None))
    }

    /// The answer of a desk as the API words it.
    fn answer_of<T, B: Serialize>(&self, act: &Act, heard: Heard<T>, body: impl Fn(T) -> Result<B, Problem>) -> Answer {
        let is_there = self.desk(act.circumstances.process.as_deref()).is_some();
        let ended = if is_there { Ended::Unanswered } else { Ended::Refused };
        let said = match heard {
            None => return Answer::none(ended),
            Some(heard) => heard.map_err(Problem::from).and_then(body),
        };
        match said {
            Ok(body) => self.done(Said { status: OK, body: Some(json!(body)) }, false),
            Err(problem) => self.refusal(&problem),
        }
    }
}

/// The machine the file means; what is no id is nobody's.
pub(super) fn machine_id(name: &Name) -> MachineId {
    MachineId::named(name.id().unwrap_or(""))
}

/// The release the file means.
pub(super) fn release_id(name: &Name) -> ReleaseId {
    ReleaseId::named(name.id().unwrap_or(""))
}
