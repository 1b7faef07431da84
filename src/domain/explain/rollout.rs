//! The rollout: why its cursor stands where it stands.

use jiff::Timestamp;

use super::super::hold::{Hold, HoldKind, hold};
use super::super::observed::Observed;
use super::super::rollout::{Ending, Rollout};
use super::super::rows::LaneView;
use super::super::world::World;
use super::ring::working;
use super::sentence::Explanation;

pub(super) fn explain(world: &World, observed: &Observed, now: Timestamp) -> Explanation {
    let Some(rollout) = world.current() else {
        return Explanation::of("no rollout was ever started").next(&["build a release and start it, protected"]);
    };
    if let Some(ending) = &rollout.ending {
        return ended(world, rollout, ending);
    }
    if let Some(hold) = hold(world, observed, rollout, now) {
        return held(hold);
    }
    advancing(world, observed, rollout, now)
}

fn ended(world: &World, rollout: &Rollout, ending: &Ending) -> Explanation {
    let release = world.release_name(rollout.release);
    let said = match ending {
        Ending::Completed => Explanation::of(format!("{release} is completed: {}", left_behind(world)))
            .next(&["start the same release again for machines that were rebuilt or came late"]),
        Ending::Halted { reason } => Explanation::of(format!("{release} is halted: {reason}"))
            .next(&["check the interrupted nodes for a cordon", "start the release again, or a hotfix"]),
        Ending::Superseded { by } => Explanation::of(format!("{release} was superseded by rollout {}", by.short()))
            .next(&["find out who started the other one", "check the interrupted nodes for a cordon"]),
    };
    let put_back = world.switched_off.iter().map(|before| {
        let switches = before.missing(&world.account).join(" and ");
        format!("after the verification put back {switches}, which {} turned off", before.by)
    });
    let put_back: Vec<String> = put_back.collect();
    said.since(rollout.ended_at).next(&put_back.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Stragglers do not block a completion; its summary lists them (R86).
fn left_behind(world: &World) -> String {
    let behind = world.lanes().iter().flat_map(|(_, lane)| lane.unfinished.iter().chain(&lane.skipped));
    let mut names: Vec<&str> = behind.map(|id| world.hostname(*id)).collect();
    names.sort_unstable();
    match names.len() {
        0 => "every machine in scope is done".to_owned(),
        1 => format!("{} is not done, and nothing is served any more", names[0]),
        2 | 3 => format!("{} are not done, and nothing is served any more", names.join(", ")),
        n => format!("{} and {} more are not done, and nothing is served any more", names[..3].join(", "), n - 3),
    }
}

fn held(hold: Hold) -> Explanation {
    let next: &[&str] = match hold.kind {
        HoldKind::Telemetry => &["fix the results store: the queue resumes by itself", "do not reset"],
        HoldKind::Clock => &["check the time of the control plane's host", "accept the clock"],
        HoldKind::NoAgents => &["serve agents here too (--agent-listen)", "or give the seat back to the control plane"],
        HoldKind::PausedEnvironment => &["check the holder's node for a cordon", "unpause the environment"],
        HoldKind::PausedRing => &["check the holder's node for a cordon", "unpause the ring"],
        HoldKind::Halted => &["read the failing state", "fix the machine, or pause it to skip it", "then reset"],
        HoldKind::NothingGateable => &["add or unpause machines", "or take the environment out of the path"],
        HoldKind::Failing => &["read the failing state of its last result", "fix it, then reset"],
        HoldKind::PausedBeforeApply => &["unpause it", "or unassign its environment to finish without it"],
        HoldKind::Ladder => &["let the ladder of the ring end at 100 %"],
        HoldKind::Settle => &["wait: it ends by itself"],
        HoldKind::HolderInPromotedEnv => &["wait for it, or pause it"],
    };
    Explanation::of(hold.sentence).on(&hold.on).since(hold.since).next(next)
}

/// Nothing holds it: whom the cursor's environment waits for.
fn advancing(world: &World, observed: &Observed, rollout: &Rollout, now: Timestamp) -> Explanation {
    let Some(environment) = world.cursor_environment(rollout) else {
        return Explanation::of("no environment is in the promotion path")
            .next(&["give an environment a promotion_order"]);
    };
    let keys = world.lanes().of_environment(environment.id).map(|(key, _)| *key);
    let views = keys.filter_map(|key| LaneView::of(world, rollout, key, now));
    let busy: Vec<LaneView<'_>> = views.filter(|view| !view.lane.unfinished.is_empty()).collect();
    match busy.first() {
        Some(view) => working(world, observed, view, now),
        None => Explanation::of(format!("{} is done and is passed at the next tick", environment.slug))
            .on(&environment.slug)
            .next(&["wait: at most one tick"]),
    }
}
