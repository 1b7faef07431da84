//! Carrying on without the control plane, in words: where this console stands, what the seat looks like, and what its own
//! reconciler would do first.

use jiff::Timestamp;

use super::snapshot::Snapshot;
use super::words;
use crate::domain::explain::Explanation;
use crate::domain::fallback::{AgentRoutes, Fallback, FirstTick, Rung, SeatSeen, first_tick};
use crate::domain::plan::{Plan, PlanKind, PlanLine};
use crate::domain::span::Seconds;

/// Changes, and writes, of a first tick that are told one by one; the others are counted.
const TOLD_MAX: usize = 6;

/// Where this console stands, in one sentence.
pub(super) fn standing(fallback: &Fallback) -> String {
    match &fallback.rung {
        Rung::Attached => match &fallback.trouble {
            Some(why) => format!("the control plane answers; without it this console could not carry on: {why}"),
            None if !fallback.is_looked_at => {
                "the control plane answers; whether this console could carry on is being looked at".to_owned()
            }
            None => "the control plane answers; without it this console could carry on".to_owned(),
        },
        Rung::Lost => match (&fallback.trouble, &fallback.over) {
            (Some(why), _) => format!("the control plane is silent, and this console cannot carry on: {why}"),
            (None, _) => "the control plane is silent: the journal is about to be read from here".to_owned(),
        },
        Rung::StandingBy(_) => "standing by: the journal is read from here, and nobody here ticks".to_owned(),
        Rung::Waiting(_) => "this console takes the seat as soon as nobody lives in it".to_owned(),
        Rung::Seated(epoch) => format!("the seat is here, epoch {epoch}: this console reconciles"),
        Rung::HandingBack(_) => "the control plane is back: the seat is handed to it".to_owned(),
    }
}

/// The same with what to do about it.
pub(super) fn explain(fallback: &Fallback) -> Explanation {
    let next = match &fallback.rung {
        Rung::StandingBy(seen) if seen.is_free => "F shows what the first tick would do, and how to take the seat",
        Rung::StandingBy(_) => "F shows who has the seat; it can be waited for from there",
        Rung::Waiting(_) | Rung::Seated(_) => {
            "F leaves the seat again; when the control plane is back it gets it by itself"
        }
        Rung::Lost if fallback.trouble.is_some() => {
            "bring the control plane back, or start a console that can carry on"
        }
        Rung::Attached | Rung::Lost | Rung::HandingBack(_) => "wait: this takes seconds",
    };
    Explanation {
        sentence: standing(fallback),
        since: fallback.silence.as_ref().map(|silence| silence.since),
        next: vec![next.to_owned()],
        verify: vec!["the header says who has the seat, and the last tick is younger than 90 s".to_owned()],
        ..Explanation::default()
    }
}

/// The seat with its ages at `now`.
pub(super) fn seat(seen: &SeatSeen, now: Timestamp) -> String {
    match (seen.quiet_since, seen.is_free, &seen.unread) {
        (Some(since), false, None) => {
            format!("{seen}, and was heard of {} ago", Seconds::between(since, now))
        }
        (Some(since), true, None) => format!("{seen}, and is silent for {}", Seconds::between(since, now)),
        _ => seen.to_string(),
    }
}

/// Why the seat cannot be taken from here now; none where it can.
pub(super) fn untakeable(picture: &Snapshot) -> Option<String> {
    let Some(fallback) = &picture.fallback else {
        return Some("this console has no fallback: it was not started to attach".to_owned());
    };
    match &fallback.rung {
        Rung::StandingBy(_) => fallback.trouble.clone(),
        Rung::Attached => Some("the control plane answers: the seat stays with it".to_owned()),
        _ => Some(standing(fallback)),
    }
}

/// Why the seat cannot be left from here now; none where it can.
pub(super) fn unleavable(picture: &Snapshot) -> Option<String> {
    match picture.fallback.as_ref().map(|fallback| &fallback.rung) {
        Some(Rung::Waiting(_) | Rung::Seated(_)) => None,
        _ => Some("the seat is not here".to_owned()),
    }
}

/// What follows from taking the seat.
pub(super) fn taking(picture: &Snapshot, now: Timestamp) -> Plan {
    let mut lines = Vec::new();
    let Some(fallback) = &picture.fallback else { return Plan::default() };
    if let Some(seen) = fallback.rung.seat() {
        let kind = if seen.is_free { PlanKind::Starts } else { PlanKind::Warns };
        lines.push(line(kind, seat(seen, now)));
        if !seen.is_free {
            lines.push(line(
                PlanKind::Stays,
                "who lives is not pushed out: it is taken 15s after the last sign of life",
            ));
        }
    }
    lines.extend(first(picture, fallback, now));
    lines.push(line(PlanKind::Stays, "when the control plane answers again the seat is handed to it"));
    Plan { revision: picture.world.revision, lines, ..Plan::default() }
}

/// What follows from leaving it.
pub(super) fn leaving(picture: &Snapshot) -> Plan {
    let lines = vec![
        line(PlanKind::Ends, "nobody ticks: nothing promotes, and no stall is noticed, until somebody takes the seat"),
        line(PlanKind::Stays, "slots, queues and holds stay as they are; verbs are kept for whoever ticks next"),
    ];
    Plan { revision: picture.world.revision, lines, ..Plan::default() }
}

/// What the first tick would do, by what is seen now.
pub(super) fn first(picture: &Snapshot, fallback: &Fallback, now: Timestamp) -> Vec<PlanLine> {
    let mut lines = unheard(picture, fallback);
    let tick = first_tick(&picture.world, &picture.observed, "this console", fallback.agents.are_served(), now);
    if tick.entries.is_empty() && tick.steps.is_empty() {
        lines.push(line(PlanKind::Stays, "its first tick would change nothing"));
        return lines;
    }
    lines.extend(told(changes(&tick), "changes"));
    lines.extend(told(writes(&tick), "writes to the cluster"));
    lines
}

/// What stands still although somebody ticks.
fn unheard(picture: &Snapshot, fallback: &Fallback) -> Vec<PlanLine> {
    let mut lines = Vec::new();
    match &fallback.agents {
        AgentRoutes::At(address) => lines.push(line(PlanKind::Starts, format!("agents are served at {address}"))),
        AgentRoutes::Refused(why) => {
            let text = format!("no agent endpoint: no stall timer ages, nothing promotes: {why}");
            lines.push(line(PlanKind::Warns, text));
        }
        AgentRoutes::Nowhere => {
            let text = "no agent endpoint: no stall timer ages, nothing promotes (--agent-listen serves agents)";
            lines.push(line(PlanKind::Warns, text));
        }
    }
    if picture.observed.cluster.is_none() {
        let text = "no cluster is connected from here: Kura servers and fleet rolls stand still (--context names one)";
        lines.push(line(PlanKind::Stays, text));
    }
    lines
}

fn changes(tick: &FirstTick) -> Vec<String> {
    tick.entries
        .iter()
        .filter(|entry| !words::is_silent(entry))
        .map(|entry| words::say(entry, &tick.after).text)
        .collect()
}

fn writes(tick: &FirstTick) -> Vec<String> {
    tick.steps.iter().map(|step| format!("{} {}", step.deed.verb(), step.object)).collect()
}

fn told(all: Vec<String>, what: &str) -> Vec<PlanLine> {
    let rest = all.len().saturating_sub(TOLD_MAX);
    let mut lines: Vec<PlanLine> =
        all.into_iter().take(TOLD_MAX).map(|text| line(PlanKind::Starts, format!("first: {text}"))).collect();
    if rest > 0 {
        lines.push(line(PlanKind::Starts, format!("and {rest} more {what}")));
    }
    lines
}

fn line(kind: PlanKind, text: impl Into<String>) -> PlanLine {
    PlanLine { kind, text: text.into() }
}
