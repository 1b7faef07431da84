//! Views about rollouts: status, list, results, account, explanations, the seat.

use serde_json::{Value, json};

use super::super::call::ACCOUNT;
use super::super::file::view::Kind;
use super::super::run::Run;
use super::super::screens::Consoles;
use crate::control::ports::ResultQuery;
use crate::domain::explain::{Subject, explain};
use crate::domain::ids::{MachineId, RingId, RolloutId, ServerId};
use crate::domain::kura::refusal::KuraRefusal;
use crate::domain::refusal::Refusal;
use crate::domain::roll::host::host;
use crate::domain::roll::refusal::RollRefusal;
use crate::wire::account::AccountBody;
use crate::wire::explain::ExplanationBody;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::process::SeatBody;
use crate::wire::result::ResultBody;
use crate::wire::rollout::RolloutBody;
use crate::wire::status::status;

impl<C: Consoles> Run<C> {
    /// Of a rollout by id, else of the one that runs or was started or reset last; `{}` before any.
    pub(super) fn status(&self, rollout: Option<&str>) -> Value {
        let lens = self.lens();
        let found = match rollout {
            Some(id) => self.witness.rollout(RolloutId::named(id)),
            None => lens.world.current(),
        };
        match found {
            Some(found) => {
                let limit = lens.world.machines.len();
                self.dressed(json!(status(lens.world, &lens.observed, found, lens.now, limit)))
            }
            None => json!({}),
        }
    }

    /// Oldest first.
    pub(super) fn rollouts(&self) -> Value {
        let world = &self.witness.world;
        let listed = self.witness.rollouts().map(|rollout| {
            let mut body = self.dressed(json!(RolloutBody::of(world, rollout)));
            body["id"] = json!(self.ids.name(rollout.id.0));
            body["superseded_by_id"] = json!(body["superseded_by"].as_str().and_then(|uuid| self.ids.name_of(uuid)));
            body
        });
        Value::Array(listed.collect())
    }

    /// Of the current rollout, newest first.
    pub(super) fn results(&self) -> Value {
        let world = &self.witness.world;
        let release = world.current().map(|rollout| rollout.release);
        let query = ResultQuery { machine: None, release, limit: usize::MAX };
        match self.ground.outside.results.look(self.ground.account, query) {
            Some(results) => {
                let bodies: Vec<ResultBody> = results.into_iter().map(|result| ResultBody::of(world, result)).collect();
                self.dressed(json!(bodies))
            }
            None => {
                let down = Problem::new(ProblemKind::Unavailable, "store", "the results store does not answer");
                json!(down.body())
            }
        }
    }

    pub(super) fn account(&self) -> Value {
        let account = &self.witness.world.account;
        self.dressed(json!(AccountBody::of(self.ground.account, ACCOUNT, account, None)))
    }

    /// What something waits for, as the API explains it.
    pub(super) fn explanation(&self, kind: Kind, id: &str) -> Value {
        let lens = self.lens();
        let (subject, missing) = match kind {
            Kind::Account => (Subject::Rollout, None),
            Kind::Ring => {
                let ring = RingId::named(id);
                (Subject::Ring(ring), (!lens.world.rings.contains_key(&ring)).then_some(Refusal::NoRing(ring)))
            }
            Kind::Machine => {
                let machine = MachineId::named(id);
                let missing = (!lens.world.machines.contains_key(&machine)).then_some(Refusal::NoMachine(machine));
                (Subject::Machine(machine), missing)
            }
            Kind::Server => {
                let server = ServerId::named(id);
                let is_known = lens.world.kura.servers.contains_key(&server);
                (Subject::Server(server), (!is_known).then(|| Refusal::from(KuraRefusal::NoServer(server))))
            }
            Kind::Roll => {
                let roll = self.newest_roll(id);
                let is_known = lens.world.rolls.roll(roll).is_some();
                (Subject::Roll(roll), (!is_known).then(|| Refusal::from(RollRefusal::NoRoll(roll))))
            }
            Kind::Node => {
                let is_known = host(lens.world, &lens.observed, id, lens.now).is_some();
                let missing = (!is_known).then(|| Refusal::from(RollRefusal::NoNode(id.to_owned())));
                (Subject::Node(id.to_owned()), missing)
            }
        };
        match missing {
            Some(refusal) => json!(Problem::from(&refusal).body()),
            None => {
                let explanation = explain(lens.world, &lens.observed, subject, lens.now);
                self.dressed(json!(ExplanationBody::from(explanation)))
            }
        }
    }

    pub(super) fn seat(&self) -> Value {
        let lens = self.lens();
        self.dressed(json!(SeatBody::of(&lens.world.seat, lens.last_tick)))
    }
}
