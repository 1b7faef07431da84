//! The fleet of a generated world: tiers, rings over their whole ranges, machines, releases, agents.

use super::super::agents::behaviour::Behaviour;
use super::super::stores::SimVault;
use super::generate::Scale;
use crate::domain::fleet::{ConfigValues, Rung};
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId};
use crate::domain::input::{RingPatch, Verb};
use crate::domain::release::{Contract, Outcome};
use crate::domain::span::Seconds;

/// Dice and the names that were given out.
pub(super) struct Draw {
    pub(super) dice: fastrand::Rng,
    pub(super) environments: Vec<String>,
    pub(super) rings: Vec<String>,
    pub(super) machines: Vec<String>,
    pub(super) releases: Vec<String>,
}

/// Releases of a world.
const RELEASES: usize = 4;

impl Draw {
    /// Names for tiers, rings and machines of a world of this size.
    pub(super) fn of(seed: u64, scale: &Scale) -> Self {
        let mut dice = fastrand::Rng::with_seed(seed);
        let name = |stem: &'static str| move |n: usize| format!("{stem}{n}");
        let (tiers, rings, machines) =
            (dice.usize(1..=scale.tiers), dice.usize(1..=scale.rings), dice.usize(scale.machines.clone()));
        Self {
            dice,
            environments: (1..=tiers).map(name("tier-")).collect(),
            rings: (1..=rings).map(name("ring-")).collect(),
            machines: (1..=machines).map(name("m")).collect(),
            releases: (1..=RELEASES).map(name("v")).collect(),
        }
    }

    /// True in `pct` of a hundred cases.
    pub(super) fn chance(&mut self, pct: u8) -> bool {
        self.dice.u8(..100) < pct
    }

    /// Any of these.
    pub(super) fn one<T: Clone>(&mut self, of: &[T], otherwise: T) -> T {
        self.dice.choice(of).cloned().unwrap_or(otherwise)
    }

    /// Any name of a list.
    pub(super) fn name(&mut self, of: fn(&Self) -> &Vec<String>) -> String {
        let chosen = self.dice.usize(..of(self).len().max(1));
        of(self).get(chosen).cloned().unwrap_or_default()
    }

    /// The verbs that build the fleet.
    pub(super) fn fleet(&mut self) -> Vec<Verb> {
        let mut verbs = Vec::new();
        for slug in self.environments.clone() {
            verbs.push(Verb::CreateEnvironment {
                id: EnvironmentId::named(&slug),
                name: slug.clone(),
                slug,
                promotion_order: self.order(),
                config_values: ConfigValues::new(),
            });
        }
        for slug in self.rings.clone() {
            let settings = self.settings();
            verbs.push(Verb::CreateRing { id: RingId::named(&slug), slug, settings });
        }
        for hostname in self.machines.clone() {
            verbs.push(self.machine(&hostname));
        }
        for git_ref in self.releases.clone() {
            let timeout = self.one(&[0, 120, 600, 1_800], 0);
            verbs.push(release(&git_ref, Seconds(timeout)));
        }
        verbs
    }

    /// A place in the path; ties are likely, and one in ten is out of it (R77).
    pub(super) fn order(&mut self) -> Option<i64> {
        (!self.chance(10)).then(|| self.dice.i64(1..=4) * 10)
    }

    /// Brakes over their whole ranges; a stall timeout only where there is a cap (R123).
    pub(super) fn settings(&mut self) -> RingPatch {
        let cap = self.one(&[0, 0, 1, 1, 1, 2, 3], 1);
        let stall = if cap == 0 { 0 } else { self.one(&[0, 300, 900, 3_600], 0) };
        RingPatch {
            max_in_flight: Some(cap),
            min_settle_seconds: Some(Seconds(self.one(&[0, 0, 45, 120, 300, 600], 0))),
            stall_timeout_seconds: Some(Seconds(stall)),
            failure_count_threshold: Some(self.one(&[1, 1, 2, 5, 10], 1)),
            wave_ladder: Some(self.ladder()),
            ..RingPatch::default()
        }
    }

    /// Everybody at once, or up to three steps that may end below 100 (R73).
    pub(super) fn ladder(&mut self) -> Vec<Rung> {
        if self.chance(60) {
            return vec![Rung { after_seconds: 0, pct: 100 }];
        }
        let (mut after_seconds, mut pct) = (0, self.dice.u8(5..=50));
        let mut ladder = Vec::new();
        for _ in 0..self.dice.usize(1..=3) {
            ladder.push(Rung { after_seconds, pct });
            after_seconds += self.dice.u64(60..=900);
            pct = if self.chance(60) { 100 } else { self.dice.u8(pct..=100) };
        }
        ladder
    }

    /// A machine that joins; one in twenty has no ring or no tier, one in three a pinned place.
    pub(super) fn machine(&mut self, hostname: &str) -> Verb {
        let environment = EnvironmentId::named(&self.name(|draw| &draw.environments));
        let ring = RingId::named(&self.name(|draw| &draw.rings));
        Verb::AddMachine {
            id: MachineId::named(hostname),
            hostname: hostname.to_owned(),
            node: None,
            environment: (!self.chance(3)).then_some(environment),
            ring: (!self.chance(3)).then_some(ring),
            bucket: self.chance(33).then(|| self.dice.u8(..100)),
        }
    }

    /// An agent of any character: most succeed, some heal, some never do.
    pub(super) fn behaviour(&mut self) -> Behaviour {
        let poll = self.dice.u64(20..=90);
        let outcome = if self.chance(75) { Outcome::Success } else { Outcome::Failed };
        let heals_after = self.chance(70).then(|| self.dice.u32(1..=2));
        Behaviour {
            poll: Seconds(poll),
            first_poll: Seconds(self.dice.u64(..poll)),
            nudge: Seconds(self.dice.u64(..5)),
            apply: Seconds(self.dice.u64(5..=400)),
            outcome,
            heals_after,
            retries: self.dice.u32(..3),
            retry: Seconds(30),
            drift: Seconds(self.one(&[0, 0, 300, 900], 0)),
            ..Behaviour::default()
        }
    }
}

/// A release; its content is kept by whoever plays the plot.
pub(super) fn release(git_ref: &str, timeout: Seconds) -> Verb {
    Verb::PublishRelease {
        id: ReleaseId::named(git_ref),
        git_ref: git_ref.to_owned(),
        commit: format!("commit of {git_ref}"),
        engine: "salt".to_owned(),
        timeout_seconds: timeout,
        notes: String::new(),
        target_version: None,
        content: SimVault::default().put(content(git_ref)),
        contract: Contract::default(),
    }
}

/// The content of a release.
pub(super) fn content(git_ref: &str) -> Vec<u8> {
    format!("states of {git_ref}").into_bytes()
}
