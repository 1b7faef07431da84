//! Verbs on fleet rolls that go on: approve, deny, abort; and on nodes: probe, give back.

use jiff::Timestamp;

use super::aim::{Aim, Aimed, Deed};
use super::names::Names;
use crate::domain::ids::RollId;
use crate::domain::input::Verb;
use crate::domain::roll::spec::CANARY_GATE;
use crate::domain::roll::verb::RollVerb;
use crate::domain::world::World;
use crate::wire::problem::Problem;

/// A gate that is opened.
#[derive(Debug, Clone, clap::Args)]
pub struct Approve {
    #[command(flatten)]
    gate: Gate,
}

/// A gate that is kept shut.
#[derive(Debug, Clone, clap::Args)]
pub struct Deny {
    #[command(flatten)]
    gate: Gate,
}

/// A gate, and what it was shown with.
#[derive(Debug, Clone, clap::Args)]
struct Gate {
    /// The roll, as PROJECT/TARGET or by uuid.
    roll: String,
    /// Which gate.
    #[arg(default_value = CANARY_GATE)]
    gate: String,
    /// The revision that was looked at; refused if another one waits by now.
    #[arg(long, value_name = "TEXT")]
    revision: String,
    /// Since when it was seen to wait; refused if it waits anew by now.
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
}

/// A roll that is stopped.
#[derive(Debug, Clone, clap::Args)]
pub struct Abort {
    /// The roll, as PROJECT/TARGET or by uuid.
    roll: String,
}

/// A node that is probed.
#[derive(Debug, Clone, clap::Args)]
pub struct Probe {
    /// The node, as kura-console nodes lists it.
    node: String,
}

/// A node that is given back.
#[derive(Debug, Clone, clap::Args)]
pub struct Uncordon {
    /// The node, as kura-console nodes lists it.
    node: String,
}

pub(super) fn deed(verb: RollVerb) -> Deed {
    Deed::Verb(Box::new(Verb::Roll(verb)))
}

fn roll(world: &World, name: &str) -> Result<(RollId, Aimed), Problem> {
    let known = Names::rolls(world).find(name)?;
    Ok((RollId(known.uuid), Aimed { kind: "roll", name: known.name, uuid: Some(known.uuid) }))
}

fn node(name: &str) -> Aimed {
    Aimed { kind: "node", name: name.to_owned(), uuid: None }
}

impl Gate {
    /// The roll, its name, the gate, and what it was shown with.
    fn parts(&self, world: &World) -> Result<(RollId, Aimed), Problem> {
        roll(world, &self.roll)
    }
}

impl Aim for Approve {
    fn verb(&self) -> &'static str {
        "approve"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (roll, aimed) = self.gate.parts(world)?;
        let Gate { gate, revision, since, .. } = self.gate.clone();
        Ok((deed(RollVerb::Approve { roll, gate, revision, awaiting_since: since }), aimed))
    }
}

impl Aim for Deny {
    fn verb(&self) -> &'static str {
        "deny"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (roll, aimed) = self.gate.parts(world)?;
        let Gate { gate, revision, since, .. } = self.gate.clone();
        Ok((deed(RollVerb::Deny { roll, gate, revision, awaiting_since: since }), aimed))
    }
}

impl Aim for Abort {
    fn verb(&self) -> &'static str {
        "abort"
    }

    fn is_stop(&self) -> bool {
        true
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (roll, aimed) = roll(world, &self.roll)?;
        Ok((deed(RollVerb::Abort { roll }), aimed))
    }
}

impl Aim for Probe {
    fn verb(&self) -> &'static str {
        "probe"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((deed(RollVerb::Probe { node: self.node.clone() }), node(&self.node)))
    }
}

impl Aim for Uncordon {
    fn verb(&self) -> &'static str {
        "uncordon"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((deed(RollVerb::Uncordon { node: self.node.clone() }), node(&self.node)))
    }
}
