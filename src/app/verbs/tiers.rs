//! Verbs on rings and environments: make them, and change their settings.

use uuid::Uuid;

use super::aim::{Aim, Aimed, Deed, nothing_to_change};
use super::names::Names;
use super::span::{rung, seconds};
use crate::adapters::remote::basic::stand_in::Kind;
use crate::domain::fleet::Rung;
use crate::domain::ids::{EnvironmentId, RingId};
use crate::domain::input::{RingPatch, Verb};
use crate::domain::span::Seconds;
use crate::domain::world::World;
use crate::wire::problem::Problem;

/// The brakes of a ring; what is left out stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
struct Brakes {
    /// How it is called.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Machines of an environment that may hold a slot at a time. 0 takes the cap away: everybody starts.
    #[arg(long, value_name = "COUNT")]
    cap: Option<u32>,
    /// How long a first success keeps its slot, such as 120, 2m or 1h30m.
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    settle: Option<Seconds>,
    /// How long a slot may be held before the ring halts; 0 = for ever.
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    stall: Option<Seconds>,
    /// Failures that halt it, at least 1.
    #[arg(long, value_name = "COUNT")]
    threshold: Option<u32>,
    /// How many percent are elected after how long, such as 0:10,10m:50,1h:100.
    #[arg(long, value_name = "STEPS", value_parser = rung, value_delimiter = ',')]
    ladder: Option<Vec<Rung>>,
}

impl Brakes {
    fn patch(&self) -> RingPatch {
        RingPatch {
            name: self.name.clone(),
            max_in_flight: self.cap,
            min_settle_seconds: self.settle,
            stall_timeout_seconds: self.stall,
            failure_count_threshold: self.threshold,
            wave_ladder: self.ladder.clone(),
            config_values: None,
        }
    }
}

/// New settings of a ring.
#[derive(Debug, Clone, clap::Args)]
pub struct Ring {
    /// The ring, by slug or uuid.
    ring: String,
    #[command(flatten)]
    brakes: Brakes,
}

/// A ring that is made.
#[derive(Debug, Clone, clap::Args)]
pub struct AddRing {
    /// Its slug: unique, and never changed.
    slug: String,
    #[command(flatten)]
    brakes: Brakes,
}

/// New settings of an environment.
#[derive(Debug, Clone, clap::Args)]
pub struct Environment {
    /// The environment, by slug or uuid.
    environment: String,
    /// How it is called.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Its place in the promotion path; low ones come first.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    order: Option<i64>,
    /// Take it out of the promotion path.
    #[arg(long, conflicts_with = "order")]
    no_order: bool,
}

/// An environment that is made.
#[derive(Debug, Clone, clap::Args)]
pub struct AddEnvironment {
    /// Its slug: unique, and never changed.
    slug: String,
    /// How it is called; the slug where it is left out.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Its place in the promotion path; out of the path where it is left out.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    order: Option<i64>,
}

impl Aim for Ring {
    fn verb(&self) -> &'static str {
        "ring"
    }

    fn check(&self) -> Result<(), Problem> {
        match self.brakes.patch() == RingPatch::default() {
            true => Err(nothing_to_change("--cap, --settle, --stall, --threshold, --ladder and --name")),
            false => Ok(()),
        }
    }

    fn thing(&self) -> Option<(Kind, &str)> {
        Some((Kind::Ring, &self.ring))
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let known = Names::rings(world).find(&self.ring)?;
        let verb = Verb::PatchRing { ring: RingId(known.uuid), patch: self.brakes.patch() };
        Ok((Deed::Verb(Box::new(verb)), Aimed { kind: "ring", name: known.name, uuid: Some(known.uuid) }))
    }
}

impl Aim for AddRing {
    fn verb(&self) -> &'static str {
        "add-ring"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        let (id, slug, settings) = (RingId(Uuid::nil()), self.slug.clone(), self.brakes.patch());
        let aimed = Aimed { kind: "ring", name: slug.clone(), uuid: None };
        Ok((Deed::Verb(Box::new(Verb::CreateRing { id, slug, settings })), aimed))
    }
}

impl Aim for Environment {
    fn verb(&self) -> &'static str {
        "environment"
    }

    fn check(&self) -> Result<(), Problem> {
        let says_something = self.name.is_some() || self.order.is_some() || self.no_order;
        if says_something { Ok(()) } else { Err(nothing_to_change("--order, --no-order and --name")) }
    }

    fn thing(&self) -> Option<(Kind, &str)> {
        Some((Kind::Environment, &self.environment))
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let known = Names::environments(world).find(&self.environment)?;
        let verb = Verb::PatchEnvironment {
            environment: EnvironmentId(known.uuid),
            name: self.name.clone(),
            promotion_order: if self.no_order { Some(None) } else { self.order.map(Some) },
            config_values: None,
        };
        Ok((Deed::Verb(Box::new(verb)), Aimed { kind: "environment", name: known.name, uuid: Some(known.uuid) }))
    }
}

impl Aim for AddEnvironment {
    fn verb(&self) -> &'static str {
        "add-environment"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        let slug = self.slug.clone();
        let name = self.name.clone().unwrap_or_else(|| slug.clone());
        let (id, promotion_order, config_values) = (EnvironmentId(Uuid::nil()), self.order, Default::default());
        let aimed = Aimed { kind: "environment", name: slug.clone(), uuid: None };
        let verb = Verb::CreateEnvironment { id, slug, name, promotion_order, config_values };
        Ok((Deed::Verb(Box::new(verb)), aimed))
    }
}
