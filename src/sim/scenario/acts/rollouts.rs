//! What people, pipelines and the results store do about rollouts.

use serde_json::{Map, Value, json};

use super::super::call::Request;
use super::super::file::act::Act;
use super::super::file::given::ReleaseGiven;
use super::super::file::name::Name;
use super::super::file::rollouts::{RolloutAct, Target, Up};
use super::super::prelude;
use super::super::records::{Answer, Ended};
use super::super::run::{Run, Stuck};
use super::super::screens::Consoles;
use super::agents::{machine_id, release_id};
use crate::domain::change::Level;
use crate::domain::ids::{EnvironmentId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Input, Order, Verb};
use crate::domain::refusal::Refusal;
use crate::domain::release::Release;
use crate::domain::verdict::Reply;
use crate::sim::stores::Answers;
use crate::wire::account::AccountPatch;
use crate::wire::answer::{NO_CONTENT, Said};
use crate::wire::body::parse;
use crate::wire::environment::EnvironmentPatch;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::ring::RingSet;
use crate::wire::rollout::StartBody;

impl<C: Consoles> Run<C> {
    pub(super) fn act_on_rollouts(&mut self, act: &Act, doing: &RolloutAct) -> Result<Answer, Stuck> {
        match doing {
            RolloutAct::StartRollout { release, id, protected, force, intent } => {
                let fields = [("protected", protected), ("force", force), ("intent", intent)];
                let request = self.starting(release, id.as_deref(), fields);
                self.call(act, request)
            }
            RolloutAct::Reset { rollout } => {
                let request = self.reset(rollout.as_deref());
                self.call(act, request)
            }
            RolloutAct::Halt { rollout } => {
                let request = self.named(rollout.as_deref()).map(|rollout| (Verb::Halt { rollout }, None));
                self.call(act, request)
            }
            RolloutAct::Yank { release } => self.call(act, Ok((Verb::Yank { release: release_id(release) }, None))),
            RolloutAct::Pause(target) => self.call(act, level(target).map(|level| (Verb::Pause(level), None))),
            RolloutAct::Unpause(target) => self.call(act, level(target).map(|level| (Verb::Unpause(level), None))),
            RolloutAct::PatchRing(patch) => self.call(act, patch_ring(&patch.ring, &patch.fields)),
            RolloutAct::PatchEnvironment(patch) => self.call(act, patch_environment(&patch.environment, &patch.fields)),
            RolloutAct::PatchAccount(patch) => self.call(act, patch_account(&patch.fields)),
            RolloutAct::AutoDeploy { release } => {
                self.arrive(act, release, |id, release| Input::CommitArrived { id, release })
            }
            RolloutAct::TagArrives { release } => {
                self.arrive(act, release, |_, release| Input::TagArrived { release, made_at: None })
            }
            RolloutAct::Telemetry { up } => {
                self.ground.outside.results.answer(match up {
                    Up::Up => Answers::Well,
                    Up::Down => Answers::Down,
                    Up::Empty => Answers::Empty,
                });
                Ok(Answer::none(Ended::Done))
            }
            RolloutAct::AcceptClock => self.call(act, Ok((Verb::AcceptClock, None))),
        }
    }

    fn starting(&mut self, release: &Name, id: Option<&str>, fields: [(&str, &Option<Value>); 3]) -> Request {
        let release = match release {
            Name::Id(id) => json!(ReleaseId::named(id)),
            Name::Odd(value) => value.clone(),
        };
        let mut body = json!({ "config_release_uuid": release });
        for (field, value) in fields {
            if let Some(value) = value {
                body[field] = value.clone();
            }
        }
        let wanted: StartBody = parse(body.to_string().as_bytes())?;
        let id = self.fresh_rollout(id);
        Ok((wanted.verb(id), wanted.reason))
    }

    /// The identity of the next rollout: as it is named, else r1, r2, ... in order of start.
    pub(in super::super) fn fresh_rollout(&mut self, named: Option<&str>) -> RolloutId {
        let is_free = |id: &str, run: &Self| run.witness.rollout(RolloutId::named(id)).is_none();
        if let Some(id) = named.filter(|id| is_free(id, self)) {
            return self.ids.rollout(id);
        }
        let next = (self.witness.started + 1..).map(|n| format!("r{n}")).find(|id| is_free(id, self));
        self.ids.rollout(next.as_deref().unwrap_or("r"))
    }

    /// A reset is the start of what runs, with the intent to begin it again (R93).
    fn reset(&mut self, rollout: Option<&str>) -> Request {
        let id = self.named(rollout)?;
        let release = self.witness.world.rollout(id).map(|rollout| rollout.release);
        let release = release.ok_or(Refusal::NoRollout(id))?;
        let body = json!({ "config_release_uuid": release, "intent": "reset" });
        let wanted: StartBody = parse(body.to_string().as_bytes())?;
        Ok((wanted.verb(RolloutId(uuid::Uuid::nil())), None))
    }

    /// The rollout that is named, else the one `status` shows.
    fn named(&self, rollout: Option<&str>) -> Result<RolloutId, Problem> {
        let current = self.witness.world.current().map(|rollout| rollout.id);
        let missing = || Problem::new(ProblemKind::NotFound, "no_rollout", "no rollout was ever started");
        rollout.map(RolloutId::named).or(current).ok_or_else(missing)
    }

    /// Something arrives in the configured repository: it is built, and whoever watches decides what comes of it.
    fn arrive(
        &mut self,
        act: &Act,
        release: &str,
        input: impl Fn(RolloutId, ReleaseId) -> Input,
    ) -> Result<Answer, Stuck> {
        let Some(door) = self.door(self.process_of(act)) else { return Ok(Answer::none(Ended::Refused)) };
        let id = self.ids.release(release);
        if !self.witness.world.releases.contains_key(&id) {
            let publish = publish(prelude::release(id, &built(release), &self.ground.outside.vault, self.ground.now()));
            let at = door.clone();
            self.ground.run("build", async move { at.ask(Input::Verb(publish)).await })?;
            self.rest()?;
        }
        let input = input(self.fresh_rollout(None), id);
        let reply = self.ground.run("arrival", async move { door.ask(input).await })?;
        self.rest()?;
        Ok(match reply {
            None => Answer::none(Ended::Unanswered),
            Some(Ok(Reply::Refused(refusal))) => self.turn_away(act, &act.verb, &refusal.into()),
            Some(Err(error)) => self.turn_away(act, &act.verb, &error.into()),
            Some(Ok(_)) => self.done(Said { status: NO_CONTENT, body: None }, false),
        })
    }
}

fn built(release: &str) -> ReleaseGiven {
    ReleaseGiven { id: release.to_owned(), timeout_seconds: 0, target_version: None, yanked: false }
}

fn publish(release: Release) -> Order {
    let Release { id, git_ref, commit, engine, timeout_seconds, notes, target_version, content, contract, .. } =
        release;
    let verb =
        Verb::PublishRelease { id, git_ref, commit, engine, timeout_seconds, notes, target_version, content, contract };
    Order { verb, by: "repository".to_owned(), reason: None, key: None }
}

/// The one thing that is named.
fn level(target: &Target) -> Result<Level, Problem> {
    match (&target.machine, &target.ring, &target.environment) {
        (Some(machine), None, None) => Ok(Level::Machine(machine_id(machine))),
        (None, Some(ring), None) => Ok(Level::Ring(RingId::named(ring.id().unwrap_or("")))),
        (None, None, Some(tier)) => Ok(Level::Environment(EnvironmentId::named(tier.id().unwrap_or("")))),
        _ => Err(Problem::new(ProblemKind::Malformed, "malformed", "name exactly one of machine, ring, environment")),
    }
}

fn bytes(fields: &Map<String, Value>) -> Vec<u8> {
    Value::Object(fields.clone()).to_string().into_bytes()
}

fn patch_ring(ring: &Name, fields: &Map<String, Value>) -> Request {
    let mut set = RingSet::parse_patch(&bytes(fields))?;
    let reason = set.reason.take();
    Ok((set.change(RingId::named(ring.id().unwrap_or(""))), reason))
}

fn patch_environment(environment: &Name, fields: &Map<String, Value>) -> Request {
    let mut patch = EnvironmentPatch::parse(&bytes(fields))?;
    let reason = patch.reason.take();
    Ok((patch.verb(EnvironmentId::named(environment.id().unwrap_or(""))), reason))
}

fn patch_account(fields: &Map<String, Value>) -> Request {
    let patch = AccountPatch::parse(&bytes(fields))?;
    Ok((patch.verb(), patch.reason))
}
