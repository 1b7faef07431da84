//! The rules of fleet rolls read as they are written: what a fact may be, given the rolls right before it.

use jiff::Timestamp;

use crate::domain::change::{Cause, Entry};
use crate::domain::roll::change::RollChange;
use crate::domain::roll::fleet_roll::{Ending, Roll};
use crate::domain::roll::node::{NodeRoll, PROBES_KEPT, StepEnding, StepName, StepState, Verdict};
use crate::domain::roll::rolls::Rolls;

/// Steps of a node in the order in which they come.
const ORDER: [StepName; 7] = [
    StepName::Stage,
    StepName::Cordon,
    StepName::Drain,
    StepName::Boot,
    StepName::Verify,
    StepName::Uncordon,
    StepName::Green,
];

/// What a verdict may not say about rolls.
pub(super) fn unsound(rolls: &Rolls, entry: &Entry, change: &RollChange) -> Option<String> {
    if let RollChange::Started { roll } = change {
        let name = roll.name();
        let twin = rolls.rolls.iter().any(|known| known.is_live() && known.name() == name);
        return twin.then(|| format!("F53: a second roll of {name} began"));
    }
    let roll = rolls.roll(change.roll()?)?;
    if !roll.is_live() && goes_on(change) {
        return Some(format!("F60: the roll of {} was over, and went on: {change:?}", roll.name()));
    }
    match change {
        RollChange::TurnBegan { node, .. } => untimely_turn(rolls, roll, node),
        RollChange::StepBegan { node, step, .. } => untimely_step(rolls, roll, node, *step),
        RollChange::StepEnded { node, step: StepName::Green, ending: StepEnding::Done, .. } => {
            unproven(roll, node, entry.at)
        }
        RollChange::Found { node, passive: false, started_at, .. } => {
            let back = roll.nodes.get(node).and_then(NodeRoll::back_since);
            let early = back.is_none_or(|back| *started_at < back);
            early.then(|| format!("F8: {node} was judged by a probe from before it was back"))
        }
        RollChange::GateReached { gate, .. } => untimely_gate(roll, gate),
        RollChange::GateApproved { gate, by, .. } => {
            let waits = roll.gate.as_ref().is_some_and(|waiting| waiting.gate == *gate);
            let asked = matches!(&entry.cause, Cause::Verb { name, .. } if name == "approve") && entry.by == *by;
            (!waits || !asked).then(|| format!("F54: {gate} of {} was opened and nobody asked for that", roll.name()))
        }
        RollChange::SoakBegan { .. } => {
            let open = roll.nodes.iter().find(|(_, node)| !is_green(node)).map(|(name, _)| name)?;
            Some(format!("F55: {} soaks, and {open} is not green", roll.name()))
        }
        RollChange::Ended { ending, .. } => untimely_end(roll, entry, ending),
        _ => None,
    }
}

/// Nothing of that kind happens to a roll that has ended.
fn goes_on(change: &RollChange) -> bool {
    use RollChange as C;
    !matches!(change, C::Found { .. } | C::WriteTroubled { .. } | C::CordonTaken { .. } | C::CordonEnded { .. })
}

fn is_green(node: &NodeRoll) -> bool {
    node.is_past(StepName::Green)
}

/// Whose cordon was begun, and who is not green yet.
fn is_between(node: &NodeRoll) -> bool {
    node.step(StepName::Cordon).is_some() && !is_green(node)
}

fn found_broken(rolls: &Rolls) -> Option<&str> {
    let live = rolls.rolls.iter().filter(|roll| roll.is_live());
    let mut nodes = live.flat_map(|roll| roll.nodes.iter().map(move |(name, node)| (roll, name, node)));
    let taken = |roll: &Roll, name: &str| {
        let since = roll.nodes.get(name).and_then(|node| node.step(StepName::Cordon)).map(|row| row.started_at);
        let other = rolls.rolls.iter().filter(|other| other.id != roll.id);
        let mut other = other.filter_map(|other| other.nodes.get(name)?.step(StepName::Cordon));
        other.any(|row| Some(row.started_at) >= since)
    };
    nodes
        .find(|(roll, name, node)| {
            let broken = node.findings.last().is_some_and(|finding| finding.verdict == Verdict::Broken);
            broken && node.back_since().is_some() && !taken(roll, name)
        })
        .map(|(_, name, _)| name.as_str())
}

/// One node at a time, behind every gate, after everybody before it is proven (F8, F20, F23, F28).
fn untimely_turn(rolls: &Rolls, roll: &Roll, node: &str) -> Option<String> {
    let mut between = rolls.rolls.iter().filter(|roll| roll.is_live()).flat_map(|roll| roll.nodes.iter());
    if let Some((other, _)) = between.find(|(_, row)| is_between(row)) {
        return Some(format!("F23: the turn of {node} came, and {other} is between its cordon and green"));
    }
    if let Some(other) = rolls.rolls.iter().filter(|other| other.is_live()).find_map(|other| open_turn(other)) {
        return Some(format!("F50: the turn of {node} came in that of {other}"));
    }
    if let Some(broken) = found_broken(rolls) {
        return Some(format!("F13: the turn of {node} came, and {broken} is broken"));
    }
    let canary = roll.spec.canary.as_deref();
    let shut = canary.is_some_and(|canary| canary != node) && roll.approvals.len() < roll.spec.gates.len();
    let first = canary.is_some_and(|canary| canary != node && !roll.nodes.get(canary).is_some_and(is_green));
    let faults = [
        (roll.gate.is_some() || shut, "F20: a gate is shut"),
        (first, "F28: the canary goes first"),
        (roll.soaking_since.is_some(), "F55: it soaks"),
        (roll.turns.iter().any(|turn| turn.node == node), "F23: it had its turn"),
    ];
    let why = faults.into_iter().find(|(broken, _)| *broken).map(|(_, why)| why)?;
    Some(format!("{why}, and the turn of {node} came"))
}

/// The node whose turn came last, unless it is green.
fn open_turn(roll: &Roll) -> Option<&str> {
    let last = roll.turns.last()?;
    roll.nodes.get(&last.node).is_some_and(|node| !is_green(node)).then_some(last.node.as_str())
}

/// Steps come in order, in the turn of their node; a stage before its cordon, and a few at a time (F15, F21, F22, F46).
fn untimely_step(rolls: &Rolls, roll: &Roll, name: &str, step: StepName) -> Option<String> {
    let node = roll.nodes.get(name)?;
    let mine = open_turn(roll) == Some(name);
    if step == StepName::Stage {
        let runs = |node: &&NodeRoll| node.step(StepName::Stage).is_some_and(|row| row.state == StepState::Running);
        let running = roll.nodes.values().filter(runs).count() as u64;
        let faults = [
            (node.step(StepName::Cordon).is_some(), "F46: it is past its cordon"),
            (!mine && running >= u64::from(roll.spec.stage_parallelism), "F22: as many as may run do"),
        ];
        let why = faults.into_iter().find(|(broken, _)| *broken).map(|(_, why)| why)?;
        return Some(format!("{why}, and {name} is staged"));
    }
    if !mine {
        return Some(format!("F50: {} of {name} began out of its turn", step.word()));
    }
    let before = ORDER.into_iter().take_while(|known| *known != step);
    if let Some(open) = before.into_iter().find(|known| !node.is_past(*known)) {
        return Some(format!("F15: {} of {name} began, and {} is not over", step.word(), open.word()));
    }
    let harmful = matches!(step, StepName::Cordon | StepName::Boot);
    let faults = [
        (
            step == StepName::Cordon && roll.digest.is_some() && roll.digest != node.staged,
            "F21: another digest is staged",
        ),
        (harmful && roll.gate.is_some(), "F20: a gate waits"),
        (harmful && found_broken(rolls).is_some(), "F13: a rolled node is broken"),
    ];
    let why = faults.into_iter().find(|(broken, _)| *broken).map(|(_, why)| why)?;
    Some(format!("{why}, and {} of {name} began", step.word()))
}

/// Green is who ran a probe since it is back, and has been back long enough (F8, F14, F48).
fn unproven(roll: &Roll, name: &str, at: Timestamp) -> Option<String> {
    let node = roll.nodes.get(name)?;
    let back = node.back_since();
    let ran = back.is_some_and(|back| {
        let proof = |finding: &crate::domain::roll::node::Finding| {
            !finding.passive && finding.verdict == Verdict::Proven && finding.started_at >= back
        };
        node.findings.len() >= PROBES_KEPT || node.findings.iter().any(proof)
    });
    let settled = back.is_some_and(|back| roll.spec.settle(name).after(back) <= at);
    let broken = node.findings.last().is_some_and(|finding| finding.verdict == Verdict::Broken);
    let faults = [
        (!ran, "F48: no probe of it ran"),
        (!settled, "F14: it has not been back long enough"),
        (broken, "F13: it is broken"),
    ];
    let why = faults.into_iter().find(|(fault, _)| *fault).map(|(_, why)| why)?;
    Some(format!("{why}, and {name} is green"))
}

/// The next one, once, behind a green canary (F20, F37).
fn untimely_gate(roll: &Roll, gate: &str) -> Option<String> {
    let next = roll.spec.gates.get(roll.approvals.len()).is_some_and(|next| next == gate);
    let canary = roll.spec.canary.as_ref().and_then(|canary| roll.nodes.get(canary)).is_some_and(is_green);
    let sound = next && canary && roll.gate.is_none();
    (!sound).then(|| format!("F37: {gate} of {} waits, and it is not its turn", roll.name()))
}

fn untimely_end(roll: &Roll, entry: &Entry, ending: &Ending) -> Option<String> {
    let (name, touched) = (roll.name(), roll.nodes.values().any(|node| node.step(StepName::Cordon).is_some()));
    let soaked = roll.soaking_since.is_some_and(|since| roll.spec.soak_seconds.after(since) <= entry.at);
    let by_hand = matches!(entry.cause, Cause::Verb { .. });
    let fault = match ending {
        Ending::Succeeded => (!soaked).then_some("F55: it did not soak to the end, and succeeded"),
        Ending::Failed { .. } => by_hand.then_some("F60: a person made it fail"),
        Ending::Aborted { .. } => (!by_hand).then_some("F60: nobody aborted it"),
        Ending::Denied { .. } => (!by_hand || roll.gate.is_none()).then_some("F20: nobody denied a gate of it"),
        Ending::Displaced { .. } => {
            (touched && roll.gate.is_none()).then_some("F53: it was displaced in a node's turn")
        }
    };
    fault.map(|why| format!("{why} ({name})"))
}

/// What must be true at any instant.
pub(super) fn unsteady(rolls: &Rolls) -> Option<String> {
    for roll in rolls.rolls.iter().filter(|roll| roll.is_live()) {
        let name = roll.name();
        let between = roll.nodes.values().filter(|node| is_between(node)).count();
        let limit = u64::from(roll.spec.stage_parallelism) + 1;
        let runs = |node: &&NodeRoll| node.step(StepName::Stage).is_some_and(|row| row.state == StepState::Running);
        let faults = [
            (between > 1, "F23: several nodes are between their cordon and green"),
            (between == 1 && roll.gate.is_some(), "F20: a gate waits in a node's turn"),
            (roll.nodes.values().filter(runs).count() as u64 > limit, "F22: too many stages run"),
        ];
        if let Some((_, why)) = faults.into_iter().find(|(broken, _)| *broken) {
            return Some(format!("{why} ({name})"));
        }
    }
    None
}
