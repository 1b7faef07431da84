//! Rolls as shown.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::RollId;
use crate::domain::kura::sight::NO_CLUSTER;
use crate::domain::observed::Observed;
use crate::domain::roll::fleet_roll::{Approval, Progress, Roll, RollState};
use crate::domain::roll::green::reported;
use crate::domain::roll::node::{Finding, StepName, StepRow, StepState, Verdict};
use crate::domain::roll::order::order;
use crate::domain::roll::sight::FleetSight;
use crate::domain::span::Seconds;

/// Where rolls are.
pub const PATH: &str = "/api/rolls/";

/// A step of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepBody {
    /// Of which node.
    pub node: String,
    /// Which.
    pub step: StepName,
    /// How it stands.
    pub state: StepState,
    /// When it was begun, the last time.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it took, or has taken until now.
    pub seconds: u64,
    /// How often it was begun.
    pub attempt: u32,
    /// Why it was skipped or failed.
    pub detail: Option<String>,
}

impl StepBody {
    fn of(node: &str, step: StepName, row: &StepRow, now: Timestamp) -> Self {
        Self {
            node: node.to_owned(),
            step,
            state: row.state,
            started_at: row.started_at,
            ended_at: row.ended_at,
            seconds: Seconds::between(row.started_at, row.ended_at.unwrap_or(now)).0,
            attempt: row.attempt,
            detail: row.detail.clone(),
        }
    }
}

/// A finding about the runtime of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeBody {
    /// Of which node.
    pub node: String,
    /// When it was judged.
    pub at: Timestamp,
    /// What it says.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// When it was begun.
    pub started_at: Timestamp,
    /// It is a look at what runs there, not a probe (F12).
    pub passive: bool,
}

impl ProbeBody {
    /// The body of one.
    pub fn of(node: &str, finding: &Finding) -> Self {
        Self {
            node: node.to_owned(),
            at: finding.at,
            verdict: finding.verdict,
            reason: finding.reason.clone(),
            started_at: finding.started_at,
            passive: finding.passive,
        }
    }
}

/// A roll (F32-F34). What does not apply is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RollBody {
    /// Identity.
    pub uuid: RollId,
    /// Whose.
    pub project: String,
    /// Which fleet.
    pub target: String,
    /// The image.
    pub image: String,
    /// Of which source.
    pub revision: String,
    /// Where it is.
    pub state: RollState,
    /// Why it stands still or stopped.
    pub reason: Option<String>,
    /// The gate that waits for a person.
    #[serde(rename = "awaitingGate")]
    pub awaiting_gate: Option<String>,
    /// Since when.
    #[serde(rename = "awaitingSince")]
    pub awaiting_since: Option<Timestamp>,
    /// Where it stands in its fleet.
    pub progress: Progress,
    /// The node that went first.
    pub canary: Option<String>,
    /// Every node in the order it goes.
    pub order: Vec<String>,
    /// Where the registry is.
    pub registry: Option<String>,
    /// Steps that were begun, by node in that order.
    pub steps: Vec<StepBody>,
    /// What was found of rolled nodes, oldest first.
    pub probes: Vec<ProbeBody>,
    /// Workloads of the node at its gate that do not run and that it does not wait for (F31).
    pub reported: Vec<String>,
    /// Gates that were opened.
    pub approvals: Vec<Approval>,
    /// What went wrong with writes.
    pub troubles: Vec<String>,
    /// Who began it.
    pub started_by: String,
    /// When.
    pub started_at: Timestamp,
    /// Since when every node is green.
    pub soaking_since: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What is not told here although it was asked for, and why; left out where all of it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

impl RollBody {
    /// The same with everything that was found of its nodes, oldest first (F57).
    #[must_use]
    pub fn whole(self, findings: &[(String, Finding)], incomplete: Option<String>) -> Self {
        let probes = findings.iter().map(|(node, finding)| ProbeBody::of(node, finding)).collect();
        Self { probes, incomplete, ..self }
    }

    /// The body of one.
    pub fn of(observed: &Observed, roll: &Roll, now: Timestamp) -> Self {
        let fleet = observed.cluster.as_ref().map(|sight| &sight.fleet);
        let selector = roll.spec.registry.as_ref().filter(|_| roll.is_live());
        let seen = fleet.zip(selector).and_then(|(fleet, registry)| fleet.registry_host(registry));
        let registry = seen.or(roll.registry.as_deref());
        let order: Vec<String> = order(roll, registry).into_iter().map(str::to_owned).collect();
        let turn = roll.in_turn();
        Self {
            uuid: roll.id,
            project: roll.project.clone(),
            target: roll.target.clone(),
            image: roll.image.clone(),
            revision: roll.revision.clone(),
            state: roll.state(),
            reason: roll.reason().or_else(|| unseen(roll, fleet, now)),
            awaiting_gate: roll.gate.as_ref().map(|gate| gate.gate.clone()),
            awaiting_since: roll.gate.as_ref().map(|gate| gate.since),
            progress: roll.progress(),
            canary: roll.spec.canary.clone(),
            steps: steps(roll, &order, now),
            probes: probes(roll),
            reported: turn.zip(fleet).map(|(node, fleet)| reported(roll, node, fleet)).unwrap_or_default(),
            order,
            registry: registry.map(str::to_owned),
            approvals: roll.approvals.iter().cloned().collect(),
            troubles: roll.troubles.iter().map(|(object, trouble)| format!("{object}: {trouble}")).collect(),
            started_by: roll.by.clone(),
            started_at: roll.started_at,
            soaking_since: roll.soaking_since,
            ended_at: roll.ended.as_ref().map(|ended| ended.at),
            incomplete: None,
        }
    }
}

/// Why nothing can be decided about a roll that goes on.
fn unseen(roll: &Roll, fleet: Option<&FleetSight>, now: Timestamp) -> Option<String> {
    let why = || fleet.map_or_else(|| Some(NO_CLUSTER.to_owned()), |fleet| fleet.trouble(now));
    roll.is_live().then(why).flatten().map(|why| format!("the fleet cannot be judged: {why}"))
}

fn steps(roll: &Roll, order: &[String], now: Timestamp) -> Vec<StepBody> {
    let of = |name: &String| {
        let rows = roll.nodes.get(name).map(|node| node.steps.clone()).unwrap_or_default();
        rows.into_iter().map(|(step, row)| StepBody::of(name, step, &row, now)).collect::<Vec<_>>()
    };
    order.iter().flat_map(of).collect()
}

fn probes(roll: &Roll) -> Vec<ProbeBody> {
    let of = |(name, node): (&String, &crate::domain::roll::node::NodeRoll)| {
        node.findings.iter().map(|finding| ProbeBody::of(name, finding)).collect::<Vec<_>>()
    };
    let mut all: Vec<ProbeBody> = roll.nodes.iter().flat_map(of).collect();
    all.sort_by_key(|probe| probe.at);
    all
}
