//! What is said about verbs on fleet rolls: who goes, in which order, what is bypassed, what stays as it is.

use std::collections::BTreeSet;

use super::super::ids::RollId;
use super::super::kura::sight::NO_CLUSTER;
use super::super::roll::fleet_roll::Roll;
use super::super::roll::node::StepName;
use super::super::roll::order::remaining;
use super::super::roll::quorum::margin_of;
use super::super::roll::sight::FleetPod;
use super::super::roll::spec::CONTROL_PLANE;
use super::super::roll::verb::RollVerb;
use super::outline::PlanKind;
use super::rehearsal::Rehearsal;

/// Nodes that are named one by one; the others are counted.
const NODES_NAMED: usize = 6;

impl Rehearsal<'_> {
    pub(super) fn roll(&mut self, verb: &RollVerb) {
        match verb {
            RollVerb::Start { id, .. } => self.start_roll(*id),
            RollVerb::Approve { roll, gate, .. } => self.approve_gate(*roll, gate),
            RollVerb::Deny { gate, .. } => {
                self.say(PlanKind::Ends, format!("the roll ends at its {gate} gate"));
                self.say(PlanKind::Stays, "staged images stay where they are, nothing else was changed but the canary");
            }
            RollVerb::Abort { roll } => self.abort_roll(*roll),
            RollVerb::Probe { node } => {
                self.say(PlanKind::Starts, format!("a throwaway pod is made on {node} at the next tick, and judged"));
                self.say(PlanKind::Stays, "nothing that runs there is touched");
                self.probe_writes(node);
            }
            RollVerb::Uncordon { node } => {
                self.say(PlanKind::Starts, format!("{node} is schedulable again at the next tick"));
                self.say(PlanKind::Warns, "whether it is healthy is for you to say: no step of a roll vouches for it");
                self.uncordon_writes(node);
            }
        }
        if self.observed.cluster.is_none() {
            self.say(PlanKind::Warns, format!("{NO_CLUSTER}: it is recorded, and nothing is done until one is"));
        }
    }

    fn start_roll(&mut self, id: RollId) {
        let Some(roll) = self.after.rolls.roll(id).cloned() else { return };
        let fleet = self.observed.cluster.as_ref().map(|sight| &sight.fleet);
        let selector = roll.spec.registry.as_ref();
        let registry = fleet.zip(selector).and_then(|(fleet, registry)| fleet.registry_host(registry));
        let registry = registry.map(str::to_owned);
        if let Some(old) = self.before.rolls.live(&roll.project, &roll.target).map(|old| old.revision.clone()) {
            self.say(PlanKind::Ends, format!("the roll of revision {old} is displaced and leaves its gate"));
        }
        let order = remaining(&roll, registry.as_deref());
        let named = order.iter().take(NODES_NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = order.len().saturating_sub(NODES_NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        self.say(PlanKind::Starts, format!("one node after the other: {named}{rest}"));
        match roll.spec.stage_parallelism {
            0 => self.say(PlanKind::Stays, "nothing is staged ahead: each node pulls in its own turn"),
            many => self.say(PlanKind::Starts, format!("the image is pulled ahead on {many} nodes at a time")),
        }
        self.says_of_the_registry(&roll, registry.as_deref());
        self.drains(&roll);
        self.says_of_control_planes(&roll);
        self.says_of_gates(&roll);
        self.roll_writes(&roll, registry.as_deref());
    }

    /// What each drain passes over, and what it costs a fleet without a margin (F24, F26).
    fn drains(&mut self, roll: &Roll) {
        self.say(PlanKind::Warns, "its drains pass over budgets: a pod whose budget says no is deleted all the same");
        if let Some(warning) = margin_of(&roll.spec).warning() {
            self.say(PlanKind::Warns, warning);
        }
    }

    /// Whoever is drained with the node it looks after may not come back before that does.
    fn says_of_control_planes(&mut self, roll: &Roll) {
        let is_one = |pod: &&FleetPod| CONTROL_PLANE.iter().all(|(label, value)| pod.stamp.label(label) == Some(value));
        let pods = self.observed.cluster.iter().flat_map(|sight| sight.fleet.pods.rows.values()).filter(is_one);
        let hosts: BTreeSet<String> = pods.filter_map(|pod| pod.node.clone()).collect();
        for host in hosts.into_iter().filter(|host| roll.nodes.contains_key(host)) {
            let text = format!(
                "{host} runs a control plane, which its drain takes off: the roll goes on once one runs elsewhere, and one \
                 whose volume is bound to {host} never does"
            );
            self.say(PlanKind::Warns, text);
        }
    }

    fn says_of_the_registry(&mut self, roll: &Roll, registry: Option<&str>) {
        let among = registry.filter(|host| roll.nodes.contains_key(*host));
        match (among, registry, &roll.spec.registry) {
            (Some(host), ..) => self
                .say(PlanKind::Stays, format!("{host} hosts the registry and goes last, once every other is staged")),
            (None, None, Some(selector)) => self.say(
                PlanKind::Warns,
                format!("no pod with {}={} is seen: no node goes last for its sake", selector.label, selector.value),
            ),
            _ => {}
        }
    }

    fn says_of_gates(&mut self, roll: &Roll) {
        match (&roll.spec.canary, roll.spec.gates.as_slice()) {
            (None, _) => self.say(PlanKind::Warns, "no canary: nobody is asked before the first node of the fleet"),
            (Some(_), []) => self.say(PlanKind::Warns, "no gate: the fleet follows the canary by itself"),
            (Some(canary), gates) => {
                let gates = gates.join(", ");
                self.say(PlanKind::Stays, format!("after {canary} a person is waited for: {gates}"));
            }
        }
    }

    fn approve_gate(&mut self, id: RollId, gate: &str) {
        let Some(roll) = self.after.rolls.roll(id).cloned() else { return };
        match &roll.gate {
            Some(next) => {
                let next = next.gate.clone();
                self.say(PlanKind::Stays, format!("the {next} gate waits next"));
            }
            None => {
                let next = remaining(&roll, roll.registry.as_deref()).first().map(|node| (*node).to_owned());
                let next = next.unwrap_or_else(|| "nobody".to_owned());
                self.say(PlanKind::Starts, format!("the {gate} gate opens: {next} goes next, at the next tick"));
                self.drains(&roll);
            }
        }
        if let Some(reason) = roll.blocked.as_ref().map(|blocked| blocked.reason.clone()) {
            self.say(PlanKind::Warns, format!("it does not go on before this is over: {reason}"));
        }
    }

    fn abort_roll(&mut self, id: RollId) {
        let Some(roll) = self.before.rolls.roll(id).cloned() else { return };
        self.say(PlanKind::Ends, "no node is touched any more");
        let turn = roll.in_turn().and_then(|node| Some((node, roll.nodes.get(node)?)));
        match turn.filter(|(_, row)| row.step(StepName::Cordon).is_some()) {
            Some((node, row)) => {
                match self.before.rolls.ledger.contains_key(node) {
                    true => self.say(
                        PlanKind::Warns,
                        format!("{node} stays as it is, cordoned by the roll: uncordon {node} gives it back"),
                    ),
                    false => {
                        self.say(PlanKind::Stays, format!("{node} stays as it is; the roll holds no cordon of it"))
                    }
                }
                if row.step(StepName::Boot).is_some_and(|boot| !boot.is_over()) {
                    self.say(PlanKind::Warns, format!("its boot is under way and is let to its end on {node}"));
                }
            }
            None => self.say(PlanKind::Stays, "no node is cordoned by it"),
        }
        let soak = roll.spec.soak_seconds;
        self.say(PlanKind::Stays, format!("rolled nodes stay on {} and are probed for {soak} yet", roll.revision));
    }
}
