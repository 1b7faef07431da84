//! A tier or a ring as people name it in a request: by uuid or by slug.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::{EnvironmentId, RingId};
use crate::domain::refusal::Refusal;
use crate::domain::world::World;

use super::problem::{Problem, ProblemKind};

/// A uuid or a slug.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Name(pub String);

impl Name {
    /// The environment of this name; 404 where there is none.
    pub fn environment(&self, world: &World) -> Result<EnvironmentId, Problem> {
        if let Ok(id) = self.0.parse() {
            let id = EnvironmentId(id);
            let known = world.environments.contains_key(&id);
            return if known { Ok(id) } else { Err(Problem::from(&Refusal::NoEnvironment(id)).field("environment")) };
        }
        let found = world.environments.values().find(|environment| environment.slug == self.0);
        found.map(|environment| environment.id).ok_or_else(|| unknown("environment", &self.0))
    }

    /// The ring of this name; 404 where there is none.
    pub fn ring(&self, world: &World) -> Result<RingId, Problem> {
        if let Ok(id) = self.0.parse() {
            let id = RingId(id);
            let known = world.rings.contains_key(&id);
            return if known { Ok(id) } else { Err(Problem::from(&Refusal::NoRing(id)).field("ring")) };
        }
        let found = world.rings.values().find(|ring| ring.slug == self.0);
        found.map(|ring| ring.id).ok_or_else(|| unknown("ring", &self.0))
    }
}

fn unknown(kind: &str, slug: &str) -> Problem {
    let shown: String = slug.chars().filter(|c| !c.is_control()).take(100).collect();
    Problem::new(ProblemKind::NotFound, &format!("no_{kind}"), format!("there is no {kind} {shown}"))
        .field(kind)
        .hint(format!("list them with GET /api/config/{kind}s/"))
}
