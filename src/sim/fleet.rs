//! Builds a fleet the way people do: by verbs through the door, never by touching the world.

use super::operator::Operator;
use super::stores::SimVault;
use crate::domain::fleet::{ConfigValues, Rung};
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId};
use crate::domain::input::{Order, RingPatch, Verb};
use crate::domain::release::Contract;
use crate::domain::span::Seconds;

/// The operator who sets up every simulated fleet.
pub const BUILDER: Operator = Operator("setup");

/// An environment that is to be.
#[derive(Debug, Clone, Copy)]
pub struct Tier<'a> {
    /// Its slug.
    pub slug: &'a str,
    /// Its name for people.
    pub name: &'a str,
    /// Its place in the path.
    pub order: i64,
}

/// A ring that is to be, as the runbook sets one up for serial upgrades.
#[derive(Debug, Clone, Copy)]
pub struct Brakes {
    /// Open slots per environment; 0 = no cap.
    pub cap: u32,
    /// Settle window.
    pub settle: Seconds,
    /// Stall timeout; only where there is a cap.
    pub stall: Seconds,
    /// Failures that halt the ring.
    pub threshold: u32,
    /// Election; empty = everybody at once.
    pub ladder: &'static [(u64, u8)],
}

impl Brakes {
    /// One node at a time, five minutes of settling, halted at the first failure or after ninety minutes.
    pub const SERIAL: Self = Self { cap: 1, settle: Seconds(300), stall: Seconds(5400), threshold: 1, ladder: &[] };

    fn patch(&self) -> RingPatch {
        let rung = |(after_seconds, pct): &(u64, u8)| Rung { after_seconds: *after_seconds, pct: *pct };
        RingPatch {
            max_in_flight: Some(self.cap),
            min_settle_seconds: Some(self.settle),
            stall_timeout_seconds: Some(self.stall),
            failure_count_threshold: Some(self.threshold),
            wave_ladder: (!self.ladder.is_empty()).then(|| self.ladder.iter().map(rung).collect()),
            ..RingPatch::default()
        }
    }
}

/// A machine that is to be.
#[derive(Debug, Clone, Copy)]
pub struct Seat<'a> {
    /// Its host name, which names it everywhere.
    pub hostname: &'a str,
    /// Slug of its environment.
    pub environment: &'a str,
    /// Slug of its ring.
    pub ring: &'a str,
    /// Pinned place in every queue; none = the hash decides.
    pub bucket: Option<u8>,
}

/// A release that is to be.
#[derive(Debug, Clone, Copy)]
pub struct Build<'a> {
    /// What names it everywhere: a tag.
    pub git_ref: &'a str,
    /// What it resolves to.
    pub commit: &'a str,
    /// Deadline of one apply.
    pub timeout: Seconds,
    /// In the operator's words.
    pub notes: &'a str,
    /// The Kubernetes version it aims at.
    pub target_version: Option<&'a str>,
}

/// Collects the verbs that build a fleet, in order.
#[derive(Debug, Default)]
pub struct FleetBuilder {
    orders: Vec<Order>,
}

impl FleetBuilder {
    /// Makes an environment.
    pub fn tier(&mut self, tier: Tier<'_>) {
        self.give(Verb::CreateEnvironment {
            id: EnvironmentId::named(tier.slug),
            slug: tier.slug.to_owned(),
            name: tier.name.to_owned(),
            promotion_order: Some(tier.order),
            config_values: ConfigValues::new(),
        });
    }

    /// Makes a ring.
    pub fn ring(&mut self, slug: &str, brakes: Brakes) {
        let settings = RingPatch { name: Some(slug.to_owned()), ..brakes.patch() };
        self.give(Verb::CreateRing { id: RingId::named(slug), slug: slug.to_owned(), settings });
    }

    /// Lets a machine join.
    pub fn machine(&mut self, seat: Seat<'_>) {
        self.give(Verb::AddMachine {
            id: MachineId::named(seat.hostname),
            hostname: seat.hostname.to_owned(),
            node: None,
            environment: Some(EnvironmentId::named(seat.environment)),
            ring: Some(RingId::named(seat.ring)),
            bucket: seat.bucket,
        });
    }

    /// Publishes a release; the Vault keeps its content.
    pub fn release(&mut self, build: Build<'_>, vault: &SimVault) {
        let content = vault.put(content_of(build));
        self.give(Verb::PublishRelease {
            id: ReleaseId::named(build.git_ref),
            git_ref: build.git_ref.to_owned(),
            commit: build.commit.to_owned(),
            engine: "salt".to_owned(),
            timeout_seconds: build.timeout,
            notes: build.notes.to_owned(),
            target_version: build.target_version.map(str::to_owned),
            content,
            contract: Contract::default(),
        });
    }

    /// The orders, to be given one after the other.
    pub fn orders(self) -> Vec<Order> {
        self.orders
    }

    fn give(&mut self, verb: Verb) {
        self.orders.push(BUILDER.gives(verb, ""));
    }
}

/// States for the nodes of a cluster, in the order the contract asks for (R158).
fn content_of(build: Build<'_>) -> Vec<u8> {
    let target = build.target_version.unwrap_or("unchanged");
    let states = ["cordon_drain", "upgrade", "health_gate", "uncordon"];
    let body: Vec<String> = states.iter().map(|state| format!("{state}:\n  target: {target}\n")).collect();
    format!("# {} at {}\n{}", build.git_ref, build.commit, body.concat()).into_bytes()
}
