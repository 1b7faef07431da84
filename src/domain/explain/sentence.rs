//! The entry: picks the subject and says one sentence about it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::failure_mode::{FailureMode, Finding, of_machine, of_ring, of_rollout};
use super::super::ids::{MachineId, RingId, RollId, ServerId};
use super::super::observed::Observed;
use super::super::world::World;
use super::{host, machine, ring, roll, rollout, server};

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The current rollout.
    Rollout,
    /// A ring, in the environment where it matters most now.
    Ring(RingId),
    /// A machine.
    Machine(MachineId),
    /// A Kura server.
    Server(ServerId),
    /// A fleet roll.
    Roll(RollId),
    /// A node, by its name.
    Node(String),
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// One sentence.
    pub sentence: String,
    /// Whom or what it waits for.
    pub on: Option<String>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// What one can do next, most useful first.
    pub next: Vec<String>,
    /// The row of the table of failure modes that holds, if one does (B18).
    #[serde(default)]
    pub failure_mode: Option<FailureMode>,
    /// What to verify afterwards.
    #[serde(default)]
    pub verify: Vec<String>,
}

impl Explanation {
    pub(super) fn of(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), ..Self::default() }
    }

    pub(super) fn on(mut self, on: &str) -> Self {
        self.on = Some(on.to_owned());
        self
    }

    pub(super) fn since(mut self, since: Option<Timestamp>) -> Self {
        self.since = since;
        self
    }

    /// Sentence and advice are about the same thing: a finding about another one brings its own sentence.
    fn about(self, world: &World, finding: &Finding) -> Self {
        if self.is_about(world, finding) {
            return self;
        }
        let on = finding.machine.map(|id| world.hostname(id).to_owned());
        Self { on, ..Self::of(finding.sentence.as_str()) }.since(finding.since)
    }

    /// The advice of a failure mode goes before the general one.
    fn advised(mut self, world: &World, finding: &Finding) -> Self {
        self.failure_mode = Some(finding.mode);
        self.next = finding.next(world);
        self.verify = finding.verify();
        self
    }

    /// Of a machine the finding may know more than its row does: its node, and whether it is there at all.
    fn surpassed(self, finding: &Finding) -> Self {
        use FailureMode as M;
        match finding.mode {
            M::AppliedButCordoned | M::DeadMachine => {
                Self { sentence: finding.sentence.clone(), since: finding.since.or(self.since), ..self }
            }
            _ => self,
        }
    }

    fn is_about(&self, world: &World, finding: &Finding) -> bool {
        let machine = finding.machine.map(|id| world.hostname(id));
        let ring = finding.ring.map(|id| world.ring_slug(id));
        let tells_news = matches!(finding.mode, FailureMode::StartRefused | FailureMode::NoTicks);
        let general = machine.is_none() && ring.is_none() && !tells_news;
        general || self.on.as_deref().is_some_and(|on| Some(on) == machine || Some(on) == ring)
    }

    pub(super) fn next(mut self, next: &[&str]) -> Self {
        self.next.extend(next.iter().map(|n| (*n).to_owned()));
        self
    }
}

/// Says what the subject waits for.
pub fn explain(world: &World, observed: &Observed, subject: Subject, now: Timestamp) -> Explanation {
    let (said, finding) = match &subject {
        Subject::Rollout => (rollout::explain(world, observed, now), of_rollout(world, observed, now)),
        Subject::Ring(id) => (ring::explain(world, observed, *id, now), of_ring(world, observed, *id, now)),
        Subject::Machine(id) => (machine::explain(world, observed, *id, now), of_machine(world, observed, *id, now)),
        Subject::Server(id) => return server::explain(world, observed, *id, now),
        Subject::Roll(id) => return roll::explain(world, observed, *id, now),
        Subject::Node(name) => return host::explain(world, observed, name, now),
    };
    match finding {
        Some(finding) if speaks_for_itself(world, &subject) => said.surpassed(&finding).advised(world, &finding),
        Some(finding) => said.about(world, &finding).advised(world, &finding),
        None => said,
    }
}

/// A machine's sentence is about that machine, and the end of a rollout is what there is to say about it.
fn speaks_for_itself(world: &World, subject: &Subject) -> bool {
    matches!(subject, Subject::Machine(_)) || world.running().is_none()
}
