//! The answer to a verb that was decided: its status, and the thing it made or changed as it is now.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::account::AccountBody;
use super::environment::EnvironmentBody;
use super::kura::deployment::DeploymentBody;
use super::kura::server::ServerBody;
use super::kura::tag::TagBody;
use super::machine::MachineBody;
use super::problem::{Problem, ProblemKind};
use super::process::SeatBody;
use super::release::ReleaseBody;
use super::ring::RingBody;
use super::roll::shown::RollBody;
use super::rollout::RolloutBody;
use super::secret::SecretBody;
use crate::domain::change::Level;
use crate::domain::ids::{
    AccountId, DeploymentId, EnvironmentId, MachineId, ReleaseId, RingId, RollId, RolloutId, ServerId,
};
use crate::domain::input::Verb;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::observed::Observed;
use crate::domain::roll::verb::RollVerb;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// It was there already, or was changed.
pub const OK: u16 = 200;

/// It was made.
pub const CREATED: u16 = 201;

/// It is gone, so there is nothing to show.
pub const NO_CONTENT: u16 = 204;

/// What bodies are made from, right after the verb was decided.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// Facts.
    pub world: &'a World,
    /// Presence and telemetry.
    pub observed: &'a Observed,
    /// By the clock of the process that answers.
    pub now: Timestamp,
    /// Whose account.
    pub uuid: AccountId,
    /// What people call it.
    pub name: &'a str,
    /// Where releases are built from.
    pub repository: Option<&'a str>,
    /// Why the repository cannot be followed.
    pub trouble: Option<String>,
    /// Who ticks.
    pub seat: SeatBody,
}

/// A status, and a body where there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// HTTP status.
    pub status: u16,
    /// The thing as it is now.
    pub body: Option<Value>,
}

/// What is said to whoever gave `verb`. The problem is what was refused.
pub fn said(verb: &Verb, reply: &Reply, scene: &Scene<'_>) -> Result<Said, Problem> {
    if let Reply::Refused(refusal) = reply {
        return Err(Problem::from(refusal));
    }
    match verb {
        Verb::PatchAccount { .. } | Verb::ConfigureAccount { .. } => scene.account(),
        Verb::Kura(verb) => scene.kura(verb, reply),
        Verb::Roll(verb) => scene.roll(verb, reply),
        Verb::AcceptClock => show(OK, (), Some(&scene.seat)),
        Verb::CreateEnvironment { id, .. } => match reply {
            Reply::Environment(made) => scene.environment(CREATED, *made),
            _ => scene.environment(CREATED, *id),
        },
        Verb::CreateRing { id, .. } => match reply {
            Reply::Ring(made) => scene.ring(CREATED, *made),
            _ => scene.ring(CREATED, *id),
        },
        Verb::AddMachine { id, .. } => match reply {
            Reply::Machine(made) => scene.machine(CREATED, *made),
            _ => scene.machine(CREATED, *id),
        },
        Verb::PublishRelease { id, .. } => match reply {
            Reply::Release(made) => scene.release(CREATED, *made),
            _ => scene.release(CREATED, *id),
        },
        Verb::Start { id, .. } => match reply {
            // R99: in place, the same uuid
            Reply::Reset(rollout) => scene.rollout(OK, *rollout),
            Reply::Started(rollout) => scene.rollout(CREATED, *rollout),
            _ => scene.rollout(CREATED, *id),
        },
        Verb::PatchEnvironment { environment, .. } => scene.environment(OK, *environment),
        Verb::PatchRing { ring, .. } => scene.ring(OK, *ring),
        Verb::Pause(level) | Verb::Unpause(level) => match level {
            Level::Machine(machine) => scene.machine(OK, *machine),
            Level::Ring(ring) => scene.ring(OK, *ring),
            Level::Environment(environment) => scene.environment(OK, *environment),
        },
        Verb::AssignMachine { machine, .. } => scene.machine(OK, *machine),
        Verb::RemoveMachine { .. } => Ok(Said { status: NO_CONTENT, body: None }),
        Verb::SetSecret { name, .. } => scene.secret(name),
        Verb::Yank { release } => scene.release(OK, *release),
        Verb::Halt { rollout } => scene.rollout(OK, *rollout),
    }
}

impl Scene<'_> {
    fn account(&self) -> Result<Said, Problem> {
        let shown = AccountBody::of(self.uuid, self.name, &self.world.account, self.repository);
        show(OK, self.uuid, Some(&shown.followed(self.world, self.trouble.clone())))
    }

    fn environment(&self, status: u16, id: EnvironmentId) -> Result<Said, Problem> {
        show(status, id, self.world.environments.get(&id).map(EnvironmentBody::from).as_ref())
    }

    fn ring(&self, status: u16, id: RingId) -> Result<Said, Problem> {
        show(status, id, self.world.rings.get(&id).map(RingBody::from).as_ref())
    }

    fn machine(&self, status: u16, id: MachineId) -> Result<Said, Problem> {
        let found = self.world.machines.get(&id);
        show(status, id, found.map(|machine| MachineBody::of(self.world, self.observed, machine, self.now)).as_ref())
    }

    fn kura(&self, verb: &KuraVerb, reply: &Reply) -> Result<Said, Problem> {
        match (verb, reply) {
            (_, Reply::Deployment(server, id)) => self.deployment(*server, *id),
            (KuraVerb::AddServer { .. }, Reply::Server(made)) => self.server(CREATED, *made),
            (KuraVerb::AddServer { id, .. }, _) => self.server(CREATED, *id),
            (KuraVerb::ConfigureServer { server, .. } | KuraVerb::MoveServer { server, .. }, _) => {
                self.server(OK, *server)
            }
            (KuraVerb::DestroyServer { server }, _) => self.server(OK, *server),
            (KuraVerb::ReleaseTag { tag }, _) => {
                let found = self.world.kura.tags.iter().find(|known| known.tag == *tag);
                show(CREATED, tag, found.map(|known| TagBody::of(&self.world.kura, known)).as_ref())
            }
            _ => Ok(Said { status: NO_CONTENT, body: None }),
        }
    }

    fn roll(&self, verb: &RollVerb, reply: &Reply) -> Result<Said, Problem> {
        match (verb, reply) {
            (_, Reply::Roll(made)) => self.one_roll(CREATED, *made),
            (RollVerb::Start { id, .. }, _) => self.one_roll(CREATED, *id),
            (RollVerb::Approve { roll, .. } | RollVerb::Deny { roll, .. } | RollVerb::Abort { roll }, _) => {
                self.one_roll(OK, *roll)
            }
            (RollVerb::Probe { .. } | RollVerb::Uncordon { .. }, _) => Ok(Said { status: NO_CONTENT, body: None }),
        }
    }

    fn one_roll(&self, status: u16, id: RollId) -> Result<Said, Problem> {
        let found = self.world.rolls.roll(id);
        show(status, id, found.map(|roll| RollBody::of(self.observed, roll, self.now)).as_ref())
    }

    fn server(&self, status: u16, id: ServerId) -> Result<Said, Problem> {
        let found = self.world.kura.servers.get(&id);
        show(status, id, found.map(|server| ServerBody::of(self.world, self.observed, server, self.now)).as_ref())
    }

    fn deployment(&self, server: ServerId, id: DeploymentId) -> Result<Said, Problem> {
        let found = self.world.kura.servers.get(&server).and_then(|server| server.deployment(id));
        show(CREATED, id, found.map(|row| DeploymentBody::of(server, row)).as_ref())
    }

    fn secret(&self, name: &str) -> Result<Said, Problem> {
        show(OK, name, self.world.secrets.get(name).map(|mark| SecretBody::of(name, mark)).as_ref())
    }

    fn release(&self, status: u16, id: ReleaseId) -> Result<Said, Problem> {
        show(status, id, self.world.releases.get(&id).map(ReleaseBody::from).as_ref())
    }

    fn rollout(&self, status: u16, id: RolloutId) -> Result<Said, Problem> {
        show(status, id, self.world.rollout(id).map(|rollout| RolloutBody::of(self.world, rollout)).as_ref())
    }
}

/// A thing that was made or changed. Where it is gone again by now, which a second try under the same key may find, its
/// uuid is all that is left to tell.
fn show<T: Serialize>(status: u16, id: impl Serialize, made: Option<&T>) -> Result<Said, Problem> {
    let unwritable = |error: serde_json::Error| Problem::new(ProblemKind::Internal, "body", error.to_string());
    let body = match made {
        Some(made) => serde_json::to_value(made).map_err(unwritable)?,
        None => json!({ "uuid": id, "gone": true }),
    };
    Ok(Said { status, body: Some(body) })
}
