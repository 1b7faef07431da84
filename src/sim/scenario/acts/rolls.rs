//! What people do about fleet rolls, and what becomes of their steps and nodes.

use serde_json::{Map, Value, json};

use super::super::super::cluster::fleet::{ProbeFate, StepFate};
use super::super::call::Request;
use super::super::estate::text;
use super::super::file::act::Act;
use super::super::file::name::Name;
use super::super::file::rolls::{GateAct, ProbeOutcome, RollAct, RollGiven};
use super::super::records::{Answer, Ended};
use super::super::run::{Run, Stuck};
use super::super::screens::Consoles;
use crate::domain::ids::RollId;
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::domain::roll::fleet_roll::{Ending, Roll};
use crate::domain::roll::node::StepName;
use crate::domain::roll::refusal::RollRefusal;
use crate::domain::roll::verb::RollVerb;
use crate::wire::body::parse;
use crate::wire::problem::Problem;
use crate::wire::roll::request::{GateBody, RollNew};

/// The Job that boots a node of a scenario.
fn boot() -> Value {
    json!({ "containers": [{ "name": "boot", "image": "owner/boot" }] })
}

impl<C: Consoles> Run<C> {
    pub(super) fn act_on_rolls(&mut self, act: &Act, doing: &RollAct) -> Result<Answer, Stuck> {
        self.ground.outside.cluster.with(|objects| objects.is_connected = true);
        let request = match doing {
            RollAct::StartRoll(given) => self.start_roll(given),
            RollAct::Approve(gate) => self.at_gate(gate, true),
            RollAct::Deny(gate) => self.at_gate(gate, false),
            RollAct::Abort { roll } => Ok(verb(RollVerb::Abort { roll: self.newest_roll(&text(roll)) })),
            RollAct::Displace { roll, revision } => {
                let revision = revision.as_ref().map(written);
                self.displace(&text(roll), revision.as_ref())
            }
            RollAct::Probe { node } => Ok(verb(RollVerb::Probe { node: text(node) })),
            RollAct::Uncordon { node } => Ok(verb(RollVerb::Uncordon { node: text(node) })),
            outside => {
                self.happens(outside);
                return Ok(Answer::none(Ended::Done));
            }
        };
        self.call(act, request)
    }

    /// What no control plane is asked about.
    fn happens(&mut self, doing: &RollAct) {
        let now = self.ground.now();
        self.ground.outside.cluster.with(|objects| {
            objects.advance(now);
            match doing {
                RollAct::StageResult { node, outcome, message, .. } => {
                    objects.step_comes_to(&text(node), StepName::Stage, fate(outcome, message.as_ref()));
                }
                RollAct::StepResult { node, step, outcome, message, .. } => {
                    objects.step_comes_to(&text(node), *step, fate(outcome, message.as_ref()));
                }
                RollAct::ProbeResult { node, outcome, message, .. } => {
                    let message = message.clone().unwrap_or_default();
                    objects.probes_come_to(&text(node), probe_fate(*outcome, message), now);
                }
                RollAct::RuntimeWedged { node } => drop(objects.fleet.wedged.insert(text(node))),
                RollAct::RegistryMoves { to } => {
                    let to = to.as_ref().map(text);
                    to.iter().for_each(|node| objects.put_node(node, None, now));
                    objects.put_registry(to.as_deref(), now);
                }
                _ => {}
            }
        });
    }

    /// Nodes that the file does not describe are there, Ready and with something that runs on them.
    fn start_roll(&mut self, given: &RollGiven) -> Request {
        let id = self.ids.roll(&text(&given.roll));
        let now = self.ground.now();
        let listed = given.nodes.iter().flatten();
        let named: Vec<String> = given.canary.iter().chain(listed).filter_map(Name::id).map(str::to_owned).collect();
        self.ground.outside.cluster.with(|objects| {
            objects.advance(now);
            named.iter().for_each(|node| objects.put_node(node, None, now));
        });
        let body = body_of(given);
        let new: RollNew = parse(body.to_string().as_bytes())?;
        let reason = new.reason.clone();
        Ok((Verb::Roll(new.verb(id)), reason))
    }

    fn at_gate(&self, given: &GateAct, opens: bool) -> Request {
        let id = self.newest_roll(&text(&given.roll));
        let roll = self.witness.world.rolls.roll(id);
        let shown = roll.map(|roll| json!(roll.revision));
        let revision = given.revision.as_ref().map(written).or(shown).unwrap_or(Value::Null);
        let body: GateBody = parse(json!({ "revision": revision }).to_string().as_bytes())?;
        let (roll, gate, revision, awaiting_since) = (id, given.gate.clone(), body.revision, body.awaiting_since);
        Ok(verb(match opens {
            true => RollVerb::Approve { roll, gate, revision, awaiting_since },
            false => RollVerb::Deny { roll, gate, revision, awaiting_since },
        }))
    }

    /// The same roll with another revision. The file goes on calling it what it called the one that made way.
    fn displace(&mut self, name: &str, revision: Option<&Value>) -> Request {
        let rolls = &self.witness.world.rolls;
        let (old, known) = match rolls.roll(self.newest_roll(name)) {
            Some(roll) => (Some(roll.clone()), true),
            None => (rolls.rolls.iter().rev().find(|roll| roll.is_live()).cloned(), false),
        };
        let old = old.ok_or_else(|| Problem::from(&Refusal::from(RollRefusal::NoRoll(RollId::named(name)))))?;
        let id = if known { RollId::named(&format!("{name} {}", rolls.started + 1)) } else { RollId::named(name) };
        self.ids.roll_as(id, name);
        let image = old.image.replace(&old.revision, revision.and_then(Value::as_str).unwrap_or_default());
        let given = json!({
            "project": old.project, "target": old.target, "image": image, "revision": revision, "displace": true,
            "boot": old.spec.boot,
        });
        let new: RollNew = parse(given.to_string().as_bytes())?;
        let RollVerb::Start { id, project, target, image, revision, displace, .. } = new.verb(id) else {
            return Ok(verb(RollVerb::Abort { roll: id }));
        };
        let spec = Box::new(old.spec);
        Ok(verb(RollVerb::Start { id, project, target, image, revision, spec, displace }))
    }

    /// What the file calls a roll is the last of those that took each other's place.
    pub(in super::super) fn newest_roll(&self, name: &str) -> RollId {
        let rolls = &self.witness.world.rolls;
        let mut id = RollId::named(name);
        let successor = |roll: &Roll| match roll.ended.as_ref().map(|ended| &ended.ending) {
            Some(Ending::Displaced { by }) => Some(*by),
            _ => None,
        };
        while let Some(next) = rolls.roll(id).and_then(successor).filter(|by| self.ids.name(by.0) == Some(name)) {
            id = next;
        }
        id
    }
}

fn verb(verb: RollVerb) -> (Verb, Option<String>) {
    (Verb::Roll(verb), None)
}

/// What is left out has a value that makes sense where the API has none.
fn body_of(given: &RollGiven) -> Value {
    let revision = given.revision.as_ref().map_or_else(|| json!("x"), written);
    let image = json!(format!("registry/kernel:{}", revision.as_str().unwrap_or("x")));
    let usual = [
        ("project", given.project.as_ref().map(written).or_else(|| Some(json!("kernel")))),
        ("target", given.target.as_ref().map(written).or_else(|| Some(json!("fleet")))),
        ("image", given.image.as_ref().map(written).or(Some(image))),
        ("revision", Some(revision)),
        ("canary", given.canary.as_ref().map(written)),
        ("nodes", given.nodes.as_ref().map(|nodes| nodes.iter().map(written).collect())),
        ("stage_parallelism", given.stage_parallelism.clone()),
        ("concurrency", given.concurrency.clone()),
        ("gates", given.gates.clone()),
        ("settle_seconds", given.settle_seconds.clone()),
        ("canary_settle_seconds", given.canary_settle_seconds.clone()),
        ("soak_seconds", given.soak_seconds.clone()),
        ("partition", given.partition.clone()),
        ("displace", given.displace.clone()),
        ("boot", Some(boot())),
        ("verify", Some(boot())),
    ];
    let fields = usual.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// As it is written: what is no text is for the control plane to refuse.
fn written(name: &Name) -> Value {
    match name {
        Name::Id(id) => json!(id),
        Name::Odd(value) => value.clone(),
    }
}

fn fate(outcome: &str, message: Option<&String>) -> StepFate {
    let ok = outcome == "ok";
    let message = message.cloned().unwrap_or_else(|| if ok { String::new() } else { outcome.to_owned() });
    StepFate { ok, message }
}

fn probe_fate(outcome: ProbeOutcome, message: String) -> ProbeFate {
    match outcome {
        ProbeOutcome::Running => ProbeFate::Running,
        ProbeOutcome::CreateContainerError => ProbeFate::Stuck("CreateContainerError".to_owned(), message),
        ProbeOutcome::ImagePullError => ProbeFate::Stuck("ErrImagePull".to_owned(), message),
        ProbeOutcome::Rejected => ProbeFate::Rejected(message),
        ProbeOutcome::NeverStarted => ProbeFate::Never,
    }
}
