//! Facts about fleet rolls in plain words: one sentence each, which is the line of the log as well.

use super::super::glyph::Glyph;
use super::super::theme::Role;
use crate::domain::ids::RollId;
use crate::domain::roll::change::{CordonEnd, RollChange};
use crate::domain::roll::fleet_roll::Ending;
use crate::domain::roll::node::{StepEnding, Verdict};
use crate::domain::world::World;

type Said = (Glyph, Role, String);

/// Says a fact.
pub(in super::super) fn say(change: &RollChange, world: &World) -> Said {
    let name = |id: &RollId| world.rolls.name(*id);
    match change {
        RollChange::Started { roll } => {
            (Glyph::Moving, Role::Moving, format!("{}: revision {} begins to roll", roll.name(), roll.revision))
        }
        RollChange::StepEnded { roll, node, step, ending } => {
            step_ended(&format!("{}: {node}: {}", name(roll), step.word()), ending)
        }
        RollChange::Found { node, verdict, reason, .. } => found(node, *verdict, reason),
        RollChange::Blocked { roll, reason: Some(reason) } => {
            (Glyph::Warning, Role::Warning, format!("{} is blocked: {reason}", name(roll)))
        }
        RollChange::Blocked { roll, reason: None } => {
            (Glyph::Dot, Role::Dim, format!("{} is not blocked any more", name(roll)))
        }
        RollChange::GateReached { roll, gate } => {
            (Glyph::Warning, Role::Warning, format!("{} waits at its {gate} gate for a person", name(roll)))
        }
        RollChange::GateApproved { roll, gate, by } => {
            (Glyph::Done, Role::Done, format!("{}: the {gate} gate was opened by {by}", name(roll)))
        }
        RollChange::Ended { roll, ending } => ended(&name(roll), ending),
        RollChange::WriteTroubled { roll, object, trouble: Some(trouble) } => {
            (Glyph::Errored, Role::Warning, format!("{}: {object}: {trouble}", name(roll)))
        }
        other => (Glyph::Dot, Role::Dim, plain(other, world)),
    }
}

fn step_ended(what: &str, ending: &StepEnding) -> Said {
    match ending {
        StepEnding::Done => (Glyph::Done, Role::Done, format!("{what} is done")),
        StepEnding::Staged { .. } => (Glyph::Done, Role::Done, format!("{what} is done, the image is there")),
        StepEnding::Skipped { why } => (Glyph::Dot, Role::Dim, format!("{what} is skipped: {why}")),
        StepEnding::Failed { why } => (Glyph::Failed, Role::Failed, format!("{what} failed: {why}")),
    }
}

fn found(node: &str, verdict: Verdict, reason: &str) -> Said {
    match verdict {
        Verdict::Proven => (Glyph::Done, Role::Dim, format!("{node} is proven: {reason}")),
        Verdict::Broken => (Glyph::Failed, Role::Failed, format!("{node} is broken: {reason}")),
        Verdict::NotProven => (Glyph::Warning, Role::Warning, reason.to_owned()),
    }
}

fn ended(name: &str, ending: &Ending) -> Said {
    let (glyph, role) = match ending {
        Ending::Succeeded => (Glyph::Done, Role::Done),
        Ending::Failed { .. } => (Glyph::Failed, Role::Failed),
        _ => (Glyph::Dot, Role::Warning),
    };
    let why = ending.reason().map_or_else(String::new, |reason| format!(": {reason}"));
    (glyph, role, format!("{name} {}{why}", ending.state().word()))
}

fn plain(change: &RollChange, world: &World) -> String {
    let name = |id: &RollId| world.rolls.name(*id);
    match change {
        RollChange::RegistrySeen { roll, node: Some(node) } => format!("{}: the registry is on {node}", name(roll)),
        RollChange::RegistrySeen { roll, node: None } => format!("{}: the registry is gone", name(roll)),
        RollChange::TurnBegan { roll, node } => format!("{}: it is the turn of {node}", name(roll)),
        RollChange::TurnPutBack { roll, node } => format!("{}: {node} is put back, untouched", name(roll)),
        RollChange::StepBegan { roll, node, step, .. } => format!("{}: {node}: {} begins", name(roll), step.word()),
        RollChange::CordonTaken { roll, node } => format!("{}: {node} is ours to give back", name(roll)),
        RollChange::CordonEnded { node, how: CordonEnd::GivenBack } => format!("{node} is given back"),
        RollChange::CordonEnded { node, how: CordonEnd::Lifted } => {
            format!("somebody else lifted the cordon of {node}")
        }
        RollChange::CordonEnded { node, how: CordonEnd::Theirs } => {
            format!("{node} stays cordoned: somebody else has set that since")
        }
        RollChange::CordonEnded { node, how: CordonEnd::Gone } => format!("{node} is gone, and its cordon with it"),
        RollChange::SoakBegan { roll } => {
            format!("{}: every node is green, they are looked at for a while", name(roll))
        }
        RollChange::ProbeAsked { node, by } => format!("{by} asked for a probe of {node}"),
        RollChange::UncordonAsked { node, by } => format!("{by} asked to give {node} back"),
        RollChange::WriteTroubled { roll, object, .. } => format!("{}: {object}: writes succeed again", name(roll)),
        _ => "a fleet roll changed".to_owned(),
    }
}
