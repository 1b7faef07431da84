//! A fleet roll: what it waits for, what is in its way, or how it ended (F20, F28, F55).

use jiff::Timestamp;

use super::super::ids::RollId;
use super::super::kura::advice::Advice;
use super::super::kura::sight::NO_CLUSTER;
use super::super::observed::Observed;
use super::super::roll::advice::of_roll;
use super::super::roll::fleet_roll::{Ending, Roll, RollState};
use super::super::roll::node::{Standing, StepName};
use super::super::roll::order::remaining;
use super::super::roll::rolls::Rolls;
use super::super::world::World;
use super::sentence::Explanation;

pub(super) fn explain(world: &World, observed: &Observed, id: RollId, now: Timestamp) -> Explanation {
    let Some(roll) = world.rolls.roll(id) else { return Explanation::of("this roll is not kept any more") };
    let fleet = observed.cluster.as_ref().map(|sight| &sight.fleet);
    let said = match roll.state() {
        RollState::Awaiting => awaiting(roll),
        RollState::Blocked => blocked(roll),
        RollState::Soaking => soaking(roll),
        RollState::Rolling => rolling(roll, &world.rolls),
        _ => over(roll),
    };
    let said = doubted(troubled(said, roll), roll, observed, now);
    advised(said, of_roll(roll, &world.rolls, fleet, now))
}

/// For a person; what is in the way besides is told with it.
fn awaiting(roll: &Roll) -> Explanation {
    let Some(gate) = &roll.gate else { return Explanation::default() };
    let (name, revision) = (roll.name(), &roll.revision);
    let canary = roll.spec.canary.as_deref().unwrap_or("its canary");
    let left = remaining(roll, roll.registry.as_deref()).len();
    let follow = if left == 1 { "1 node follows".to_owned() } else { format!("{left} nodes follow") };
    let but = roll.blocked.as_ref().map_or_else(String::new, |blocked| format!("; but {}", blocked.reason));
    let said = format!(
        "{name} waits at its {} gate for a person: {canary} is green on {revision}, {follow} an approval{but}",
        gate.gate
    );
    Explanation::of(said).on(&gate.gate).since(Some(gate.since))
}

fn blocked(roll: &Roll) -> Explanation {
    let Some(blocked) = &roll.blocked else { return Explanation::default() };
    let said = format!("{} stands still: {}", roll.name(), blocked.reason);
    let on = roll.in_turn().unwrap_or("the fleet");
    Explanation::of(said).on(on).since(Some(blocked.since))
}

fn soaking(roll: &Roll) -> Explanation {
    let (name, revision, soak) = (roll.name(), &roll.revision, roll.spec.soak_seconds);
    let said = format!(
        "{name} soaks: every node is green on {revision} and is probed until {soak} are over; no node is touched"
    );
    Explanation::of(said).on("soak").since(roll.soaking_since)
}

fn rolling(roll: &Roll, rolls: &Rolls) -> Explanation {
    let (name, revision) = (roll.name(), &roll.revision);
    let Some(node) = roll.in_turn() else { return between(roll, rolls) };
    let row = roll.nodes.get(node);
    let step = match row.map(super::super::roll::node::NodeRoll::standing) {
        Some(Standing::Running(step) | Standing::Next(step)) => step,
        _ => StepName::Green,
    };
    let since = row.and_then(|row| row.step(step)).map(|row| row.started_at);
    Explanation::of(format!("{name} rolls {revision}: {node} {}", doing(step))).on(node).since(since)
}

/// What a node in turn is about.
fn doing(step: StepName) -> &'static str {
    match step {
        StepName::Stage => "pulls the image",
        StepName::Cordon => "is cordoned",
        StepName::Drain => "is drained, whatever budgets say",
        StepName::Boot => "is booted by the owner's Job",
        StepName::Verify => "has to come back Ready, on another boot",
        StepName::Uncordon => "is given back",
        StepName::Green => "has to be proven green by a probe",
    }
}

/// Nobody of it is in turn: another roll has the mutex, or the next tick picks (F23).
fn between(roll: &Roll, rolls: &Rolls) -> Explanation {
    let (name, revision) = (roll.name(), &roll.revision);
    let next = remaining(roll, roll.registry.as_deref()).first().map_or("its next node", |node| *node).to_owned();
    match rolls.in_turn().filter(|(other, _)| other.id != roll.id) {
        Some((other, node)) => {
            let said = format!("{name} waits to roll {next}: {node} of {} is in turn, one at a time", other.name());
            Explanation::of(said).on(node)
        }
        None => Explanation::of(format!("{name} rolls {revision}: {next} is next")).on(&next),
    }
}

fn over(roll: &Roll) -> Explanation {
    let (name, revision) = (roll.name(), &roll.revision);
    let Some(ended) = &roll.ended else { return Explanation::default() };
    let why = ended.ending.reason().unwrap_or_default();
    let said = match &ended.ending {
        Ending::Succeeded => format!("{name} is through: every node is green on {revision} and stayed so"),
        Ending::Failed { .. } => format!("{name} failed on its way to {revision}: {why}"),
        Ending::Aborted { .. } | Ending::Denied { .. } => {
            format!("{name} ended on its way to {revision}: {why}; no node is touched any more")
        }
        Ending::Displaced { .. } => format!("{name} of {revision} was {why}"),
    };
    Explanation::of(said).since(Some(ended.at))
}

/// Writes that do not succeed stand beside the sentence.
fn troubled(mut said: Explanation, roll: &Roll) -> Explanation {
    if let Some((object, trouble)) = roll.troubles.iter().next().filter(|_| roll.is_live()) {
        said.sentence += &format!("; {object} cannot be written: {trouble}");
    }
    said
}

/// Nothing is decided on what cannot be read, and that is said with its age.
fn doubted(mut said: Explanation, roll: &Roll, observed: &Observed, now: Timestamp) -> Explanation {
    let trouble = match &observed.cluster {
        None => Some(NO_CLUSTER.to_owned()),
        Some(sight) => sight.fleet.trouble(now),
    };
    if let Some(trouble) = trouble.filter(|_| roll.is_live()) {
        said.sentence += &format!("; the fleet cannot be judged now: {trouble}");
    }
    said
}

/// What to do, with its command, and what to look at once the first of it is done.
pub(super) fn advised(mut said: Explanation, advice: Vec<Advice>) -> Explanation {
    said.verify.extend(advice.iter().take(1).map(|first| first.verify.clone()));
    for one in advice {
        let command = one.command.map_or(String::new(), |command| format!(": {command}"));
        said.next.push(format!("{}{command}", one.action));
    }
    said
}
