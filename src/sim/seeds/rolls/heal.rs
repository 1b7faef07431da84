//! The happy end of a fleet: faults stop, whatever goes on comes to an end, and then a roll goes through all of it and
//! leaves nothing behind.

use serde_json::json;

use super::super::check::Breach;
use super::super::heal::Operator;
use super::acts::PROJECT;
use crate::control::ports::Clock;
use crate::domain::ids::RollId;
use crate::domain::input::Verb;
use crate::domain::kura::object::FIELD_MANAGER;
use crate::domain::roll::fleet_roll::{Roll, RollState};
use crate::domain::roll::rolls::Rolls;
use crate::domain::roll::sight::is_ours;
use crate::domain::roll::spec::{RollSpec, Selector};
use crate::domain::roll::verb::RollVerb;
use crate::domain::span::Seconds;
use crate::sim::cluster::objects::Objects;

/// How often somebody looks.
const LOOK_EVERY: Seconds = Seconds(120);

/// Longest time a node takes from its pull to green in a world without faults, waits for ticks included.
const PER_NODE: u64 = 20 * 60;

/// What a roll takes besides: a gate that failed late, a soak, an hour to spare.
const BESIDES: u64 = 2 * 3_600;

/// Longest time between the beginnings of two probes of a rolled node (F7, F13).
const PROBED_EVERY: Seconds = Seconds(120);

/// Objects of a roll that is over are gone after this time: its last probes are judged, then a tick takes them away.
const TIDIED_AFTER: Seconds = Seconds(300);

impl Operator<'_> {
    /// From the end of all faults to a fleet that is rolled.
    pub(in super::super) fn land(&mut self, seed: u64) -> Result<(), Breach> {
        self.mend_fleet(seed.is_multiple_of(2));
        self.see_rolls_out("what was begun")?;
        let id = RollId::named("healed");
        self.insist(&Verb::Roll(self.whole(id)))?;
        self.see_rolls_out("a roll of all nodes")?;
        let rolls = self.world().rolls;
        let roll = rolls.roll(id).cloned().ok_or_else(|| self.breach("the last roll is not known".to_owned()))?;
        if roll.state() != RollState::Succeeded {
            return Err(self.breach(format!(
                "F55: a roll without faults ended {}: {:?}",
                roll.state().word(),
                roll.reason()
            )));
        }
        self.wait(TIDIED_AFTER)?;
        let fault = rarely_probed(&roll).or_else(|| self.left_behind());
        fault.map_or(Ok(()), |fault| Err(self.breach(fault)))
    }

    /// Kubelets and runtimes work, the registry is there, Jobs end; others lift their cordons, or leave them.
    fn mend_fleet(&mut self, lift: bool) {
        let now = self.theatre.stage.clock().now();
        self.theatre.stage.outside().cluster.with(|objects| {
            objects.advance(now);
            objects.faults.clear();
            let fleet = &mut objects.fleet;
            fleet.wedged.clear();
            fleet.probes.clear();
            fleet.doomed.clear();
            let names: Vec<String> = fleet.nodes.with(|nodes| nodes.keys().cloned().collect());
            names.iter().for_each(|name| fleet.edit(name, |node| node.ready = true));
            for pod in fleet.pods.values_mut().filter(|pod| !is_ours(&pod.pod.stamp)) {
                (pod.pod.reason, pod.pod.ready) = (None, true);
            }
            if lift {
                lift_cordons(objects, now);
            }
            put_back_registry(objects, now);
        });
    }

    /// Gates are opened, what ended rolls left is given back, and everything that goes on comes to its end.
    fn see_rolls_out(&mut self, what: &str) -> Result<(), Breach> {
        let rolls = self.world().rolls;
        let live = || rolls.rolls.iter().filter(|roll| roll.is_live());
        let nodes: usize = live().map(|roll| roll.nodes.len()).sum();
        let soaks: u64 = live().map(|roll| roll.spec.soak_seconds.0).sum();
        let span = Seconds(soaks + PER_NODE * u64::try_from(nodes).unwrap_or(0) + BESIDES);
        let deadline = span.after(self.theatre.stage.clock().now());
        loop {
            let rolls = self.world().rolls;
            let Some(open) = rolls.rolls.iter().find(|roll| roll.is_live()) else { return self.give_back(&rolls) };
            if self.theatre.stage.clock().now() > deadline {
                let (state, reason) = (open.state().word(), open.reason());
                let progress = open.progress();
                return Err(self.breach(format!(
                    "{what} does not converge: {} is {state}, {reason:?}, {progress:?}",
                    open.name()
                )));
            }
            self.give_back(&rolls)?;
            self.help(&rolls)?;
            self.wait(LOOK_EVERY)?;
        }
    }

    /// What a person does who wants rolls to go on.
    fn help(&mut self, rolls: &Rolls) -> Result<(), Breach> {
        for roll in rolls.rolls.iter().filter(|roll| roll.is_live()) {
            if let Some(gate) = &roll.gate {
                let (gate, revision) = (gate.gate.clone(), roll.revision.clone());
                let verb = RollVerb::Approve { roll: roll.id, gate, revision, awaiting_since: None };
                self.insist(&Verb::Roll(verb))?;
            }
            let (reason, now) = (roll.reason().unwrap_or_default(), self.theatre.stage.clock().now());
            self.theatre.stage.outside().cluster.with(|objects| {
                if reason.contains("cannot be the canary") {
                    move_registry(objects, roll.spec.canary.as_deref(), now);
                } else if reason.contains("registry") {
                    lift_cordons(objects, now); // where all nodes are cordoned by others it can run nowhere
                }
            });
        }
        Ok(())
    }

    /// Whatever a roll that is over left cordoned.
    fn give_back(&mut self, rolls: &Rolls) -> Result<(), Breach> {
        let over = |id: RollId| rolls.roll(id).is_none_or(|roll| !roll.is_live());
        let left = rolls.ledger.iter().filter(|(_, cordon)| over(cordon.roll) && cordon.asked_by.is_none());
        for node in left.map(|(node, _)| node.clone()).collect::<Vec<_>>() {
            // By now somebody else may have lifted it.
            if self.world().rolls.ledger.contains_key(&node) {
                self.give(&Verb::Roll(RollVerb::Uncordon { node }))?;
            }
        }
        Ok(())
    }

    /// A roll of every node, the registry's host not the canary.
    fn whole(&self, id: RollId) -> RollVerb {
        let selector = Selector::new("app.kubernetes.io/name", "zot");
        let (names, host) = self.theatre.stage.outside().cluster.with(|objects| {
            let sight = objects.sight(objects.until).fleet;
            let names: Vec<String> = sight.nodes.rows.keys().cloned().collect();
            (names, sight.registry_host(&selector).map(str::to_owned))
        });
        let canary = names.iter().find(|name| host.as_ref() != Some(name)).cloned();
        let nodes = names.into_iter().filter(|name| Some(name) != canary.as_ref()).collect();
        let boot = Some(json!({ "containers": [{ "name": "boot", "image": "owner/job" }] }));
        let soak_seconds = Seconds(if self.quick { 120 } else { 600 });
        let spec = RollSpec { canary, nodes, boot, soak_seconds, ..RollSpec::default() };
        let (project, target) = (PROJECT.to_owned(), "healed".to_owned());
        let (image, revision) = ("image".to_owned(), "healed".to_owned());
        RollVerb::Start { id, project, target, image, revision, spec: Box::new(spec), displace: false }
    }

    /// Something of ours that nobody needs any more.
    fn left_behind(&self) -> Option<String> {
        let (rolls, now) = (self.world().rolls, self.theatre.stage.clock().now());
        self.theatre.stage.outside().cluster.with(|objects| {
            objects.advance(now);
            let watched = rolls.watched(now);
            let pod = objects.fleet.pods.values().find(|pod| {
                let looked_at = pod.pod.node.as_ref().is_some_and(|node| watched.contains_key(node));
                is_ours(&pod.pod.stamp) && !looked_at
            });
            let pod = pod.map(|pod| format!("F9: pod {} is left behind", pod.pod.stamp.name));
            let job = || objects.fleet.jobs.keys().next().map(|name| format!("F9: Job {name} is left behind"));
            let cordon = || {
                let ours = objects.fleet.cordoned_by.iter().find(|(_, by)| *by == FIELD_MANAGER)?;
                Some(format!("A11: {} is left cordoned", ours.0))
            };
            let ledger = || rolls.ledger.keys().next().map(|node| format!("A11: the ledger has {node}"));
            let asked =
                || rolls.asked.keys().next().map(|node| format!("F9: the probe of {node} that was asked for waits"));
            let torn = rolls.rolls.iter().find(|roll| !roll.troubles.is_empty());
            let torn = torn.map(|roll| format!("writes of {} are in trouble: {:?}", roll.name(), roll.troubles));
            pod.or_else(job).or_else(cordon).or_else(ledger).or_else(asked).or(torn)
        })
    }
}

/// Whoever cordoned nodes beside us gives them back.
fn lift_cordons(objects: &mut Objects, now: jiff::Timestamp) {
    let theirs = objects.fleet.cordoned_by.iter().filter(|(_, by)| *by != FIELD_MANAGER);
    for name in theirs.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
        objects.fleet.set_cordon(&name, false, "op-heal", now);
    }
}

/// A registry that is nowhere comes back on whichever node can have it.
fn put_back_registry(objects: &mut Objects, now: jiff::Timestamp) {
    let key = format!("{}/{}", crate::sim::cluster::fleet::REGISTRY.0, crate::sim::cluster::fleet::REGISTRY.1);
    if !objects.fleet.pods.contains_key(&key) {
        move_registry(objects, None, now);
    }
}

fn move_registry(objects: &mut Objects, away_from: Option<&str>, now: jiff::Timestamp) {
    let names: Vec<String> = objects.fleet.nodes.with(|nodes| nodes.keys().cloned().collect());
    let other = names.iter().rev().find(|name| Some(name.as_str()) != away_from);
    objects.put_registry(other.map(String::as_str), now);
}

/// A rolled node that was not probed for too long in a roll without faults.
fn rarely_probed(roll: &Roll) -> Option<String> {
    roll.nodes.iter().find_map(|(name, node)| {
        let begun = node.findings.iter().filter(|finding| !finding.passive).map(|finding| finding.started_at);
        let times = node.back_since().into_iter().chain(begun).chain(roll.ended.as_ref().map(|ended| ended.at));
        let times: Vec<jiff::Timestamp> = times.collect();
        let longest = times.windows(2).map(|pair| Seconds::between(pair[0], pair[1])).max().unwrap_or_default();
        (longest > PROBED_EVERY).then(|| format!("F7: {name} was not probed for {longest}"))
    })
}
