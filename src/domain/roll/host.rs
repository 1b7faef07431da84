//! A node as people see it: whose its cordon is, what is known of its runtime and how, and what it hosts.

use std::collections::BTreeSet;

use imbl::OrdMap;
use jiff::Timestamp;

use super::super::ids::RollId;
use super::super::observed::Observed;
use super::super::world::World;
use super::green::Prints;
use super::node::{Finding, NodeRoll, StepName, Verdict};
use super::rolls::{Cordon, Rolls};
use super::sight::FleetSight;

/// What is known of a runtime. Ready is never called a proof (F2, F12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runtime {
    /// Containers cannot start: a probe says so, or pods that are to be seen.
    Broken,
    /// A probe ran and says nothing about it.
    NotProven,
    /// It is looked at only: its kubelet reports, and nobody proved that a container starts.
    Passive,
    /// A container started on it.
    Proven,
    /// Nothing is seen of it.
    Unknown,
}

impl Runtime {
    /// As screens and commands write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::NotProven => "not proven",
            Self::Passive => "passive",
            Self::Proven => "proven",
            Self::Unknown => "not seen",
        }
    }

    /// What the last finding says, and what is to be seen right now, which outweighs a probe that ran.
    pub fn of(finding: Option<&Finding>, fingerprints: Option<&String>, ready: Option<bool>) -> Self {
        match (fingerprints, finding.map(|finding| finding.verdict), ready) {
            (Some(_), ..) | (None, Some(Verdict::Broken), _) => Self::Broken,
            (None, Some(Verdict::NotProven), _) => Self::NotProven,
            (None, Some(Verdict::Proven), _) => Self::Proven,
            (None, None, Some(_)) => Self::Passive,
            (None, None, None) => Self::Unknown,
        }
    }
}

/// Whose a cordon is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cordoned {
    /// A roll took it: ours to give back.
    Ours,
    /// Somebody else set it: theirs to lift.
    Somebodys,
    /// It is none.
    No,
    /// The node is not seen.
    Unknown,
}

impl Cordoned {
    /// As screens and commands write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Somebodys => "somebody's",
            Self::No => "-",
            Self::Unknown => "?",
        }
    }
}

/// A node. What is not known is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its kubelet says so, which says nothing about whether containers can start (F2).
    pub ready: Option<bool>,
    /// Cordoned, by whomever.
    pub unschedulable: Option<bool>,
    /// Who else cordoned it; none where nobody says (A11).
    pub cordoned_by: Option<String>,
    /// Version of its kubelet.
    pub version: Option<String>,
    /// The kernel it runs.
    pub kernel: Option<String>,
    /// Its operating system.
    pub os_image: Option<String>,
    /// It holds the VIP of the cluster.
    pub holds_vip: bool,
    /// A registry that a roll looks for runs on it.
    pub registry: bool,
    /// The cordon is ours.
    pub cordon: Option<Cordon>,
    /// What was found last of the boot it is in.
    pub finding: Option<Finding>,
    /// Pods on it that cannot be made, since it was given back.
    pub fingerprints: Option<String>,
    /// The roll in whose turn it is.
    pub in_turn_of: Option<RollId>,
    /// The roll that looks at it until the end of its soak (F13, F60).
    pub watched_by: Option<RollId>,
    /// A probe that a person asked for is out.
    pub is_asked: bool,
}

impl Host {
    /// What is known of its runtime.
    pub fn runtime(&self) -> Runtime {
        Runtime::of(self.finding.as_ref(), self.fingerprints.as_ref(), self.ready)
    }

    /// Why its runtime is what it is.
    pub fn reason(&self) -> Option<&str> {
        self.fingerprints.as_deref().or(self.finding.as_ref().map(|finding| finding.reason.as_str()))
    }

    /// Whose its cordon is.
    pub fn cordoned(&self) -> Cordoned {
        match (&self.cordon, self.unschedulable) {
            (Some(_), _) if self.cordoned_by.is_none() => Cordoned::Ours,
            (Some(_), _) => Cordoned::Somebodys,
            (None, Some(true)) => Cordoned::Somebodys,
            (None, Some(false)) => Cordoned::No,
            (None, None) => Cordoned::Unknown,
        }
    }

    /// What it hosts, in a word each.
    pub fn marks(&self) -> Vec<&'static str> {
        let marks = [(self.registry, "registry"), (self.holds_vip, "vip")];
        marks.into_iter().filter(|(own, _)| *own).map(|(_, mark)| mark).collect()
    }

    /// A roll that has ended left it cordoned: a person gives it back.
    pub fn is_left_cordoned(&self, rolls: &Rolls) -> bool {
        let over = |cordon: &Cordon| rolls.roll(cordon.roll).is_none_or(|roll| !roll.is_live());
        self.cordon.as_ref().is_some_and(|cordon| cordon.asked_by.is_none() && over(cordon))
    }
}

/// Every node that is seen or in the books, by name.
pub fn hosts(world: &World, observed: &Observed, now: Timestamp) -> Vec<Host> {
    let fleet = observed.cluster.as_ref().map(|sight| &sight.fleet);
    let seen = fleet.into_iter().flat_map(|fleet| fleet.nodes.rows.keys());
    let books = world.rolls.ledger.keys().chain(world.rolls.findings.keys());
    let names: BTreeSet<&String> = observed.nodes.keys().chain(seen).chain(books).collect();
    let looker = Looker::of(world, observed, now);
    names.into_iter().map(|name| looker.host(name)).collect()
}

/// One node; none where nobody ever heard of it.
pub fn host(world: &World, observed: &Observed, name: &str, now: Timestamp) -> Option<Host> {
    let seen = observed.cluster.as_ref().is_some_and(|sight| sight.fleet.nodes.get(name).is_some());
    let books = world.rolls.ledger.contains_key(name) || world.rolls.findings.contains_key(name);
    let known = seen || books || observed.nodes.contains_key(name);
    known.then(|| Looker::of(world, observed, now).host(name))
}

/// What is the same for all nodes of a look.
struct Looker<'a> {
    world: &'a World,
    observed: &'a Observed,
    fleet: Option<&'a FleetSight>,
    registries: BTreeSet<&'a str>,
    prints: Option<Prints<'a>>,
    /// Who looks at which node: decided in one place for everybody.
    watched: OrdMap<String, (RollId, NodeRoll)>,
    in_turn: Option<(RollId, &'a str)>,
}

impl<'a> Looker<'a> {
    fn of(world: &'a World, observed: &'a Observed, now: Timestamp) -> Self {
        let fleet = observed.cluster.as_ref().map(|sight| &sight.fleet);
        let selectors: BTreeSet<_> = world.rolls.rolls.iter().filter_map(|roll| roll.spec.registry.as_ref()).collect();
        let registries =
            fleet.into_iter().flat_map(|fleet| selectors.iter().filter_map(|one| fleet.registry_host(one))).collect();
        let in_turn = world.rolls.in_turn().map(|(roll, node)| (roll.id, node));
        let (prints, watched) = (fleet.map(Prints::of), world.rolls.watched(now));
        Self { world, observed, fleet, registries, prints, watched, in_turn }
    }

    fn host(&self, name: &str) -> Host {
        let rolls = &self.world.rolls;
        let known = self.observed.nodes.get(name);
        let seen = self.fleet.and_then(|fleet| fleet.nodes.get(name));
        let watched = self.watched.get(name).and_then(|(roll, node)| Some((*roll, node.back_since()?)));
        Host {
            name: name.to_owned(),
            ready: seen.map(|node| node.ready).or(known.map(|node| node.ready)),
            unschedulable: seen.map(|node| node.unschedulable).or(known.map(|node| node.unschedulable)),
            cordoned_by: seen.filter(|node| node.is_theirs()).and_then(|node| node.cordoned_by.clone()),
            version: known.and_then(|node| node.version.clone()),
            kernel: seen.and_then(|node| node.kernel.clone()),
            os_image: seen.and_then(|node| node.os_image.clone()),
            holds_vip: known.is_some_and(|node| node.holds_vip),
            registry: self.registries.contains(name),
            cordon: rolls.ledger.get(name).cloned(),
            finding: rolls.findings.get(name).filter(|finding| finding.at >= booted_at(rolls, name)).cloned(),
            fingerprints: watched.zip(self.prints.as_ref()).and_then(|((_, back), prints)| prints.on(name, back)),
            in_turn_of: self.in_turn.filter(|(_, node)| *node == name).map(|(roll, _)| roll),
            watched_by: watched.map(|(roll, _)| roll),
            is_asked: rolls.asked.contains_key(name),
        }
    }
}

/// When a roll booted it last: what was found before says nothing any more (F6).
fn booted_at(rolls: &Rolls, name: &str) -> Timestamp {
    let boots = rolls.rolls.iter().filter_map(|roll| roll.nodes.get(name)?.step(StepName::Boot));
    boots.map(|boot| boot.started_at).max().unwrap_or(Timestamp::MIN)
}
