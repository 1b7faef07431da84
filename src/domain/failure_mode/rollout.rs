//! Modes of the rollout as a whole: telemetry, ticks, refused starts, an environment nobody can pass, a supersede.

use super::finding::{Finding, Scene};
use super::mode::FailureMode;
use crate::domain::change::LeaseEnd;
use crate::domain::fleet::Machine;
use crate::domain::hold::{HoldKind, by_whom, hold};
use crate::domain::ids::MachineId;
use crate::domain::rollout::Ending;
use crate::domain::span::Seconds;

/// Age of the last tick from which on one may say that nobody ticks: one period and a half (R171).
const TICK_IS_OLD: Seconds = Seconds(90);

/// How long a refused start stays on screen.
const REFUSAL_IS_SHOWN: Seconds = Seconds(900);

pub(super) fn findings(scene: Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    if scene.rollout.is_running() {
        found.extend(held(scene));
        found.extend(no_ticks(scene));
        found.extend(refused_start(scene));
        found.extend(paused_environment(scene));
    }
    found.extend(superseded(scene));
    found
}

/// FM-11, FM-13: what the hold of the cursor says by itself.
fn held(scene: Scene<'_>) -> Option<Finding> {
    let hold = hold(scene.world, scene.observed, scene.rollout, scene.now)?;
    let mode = match hold.kind {
        HoldKind::Telemetry => FailureMode::TelemetryOut,
        HoldKind::NothingGateable => FailureMode::NothingGateable,
        _ => return None,
    };
    Some(Finding { mode, machine: None, ring: None, sentence: hold.sentence, since: hold.since })
}

/// FM-D2: no promotion and no stall detection without a tick (R53, R88).
fn no_ticks(scene: Scene<'_>) -> Option<Finding> {
    let began = scene.rollout.reset_at.unwrap_or(scene.rollout.started_at).max(scene.observed.listening_since);
    let last = scene.observed.last_tick.unwrap_or(began).max(began);
    let age = Seconds::between(last, scene.now);
    (age > TICK_IS_OLD).then(|| Finding {
        mode: FailureMode::NoTicks,
        machine: None,
        ring: None,
        sentence: format!("nobody has ticked for {age}: nothing promotes and no stall is detected"),
        since: Some(last),
    })
}

/// FM-D6.
fn refused_start(scene: Scene<'_>) -> Option<Finding> {
    let refused = scene.observed.refused_start.as_ref()?;
    let recent = Seconds::between(refused.at, scene.now) < REFUSAL_IS_SHOWN;
    (recent && scene.rollout.protected && refused.at >= scene.rollout.started_at).then(|| Finding {
        mode: FailureMode::StartRefused,
        machine: None,
        ring: None,
        sentence: format!(
            "{} tried to start {}: refused, {} by {} is running and protected",
            refused.by,
            scene.world.release_name(refused.release),
            scene.world.release_name(scene.rollout.release),
            scene.rollout.started_by
        ),
        since: Some(refused.at),
    })
}

/// FM-9, the environment's half; only where the pause holds something up now.
fn paused_environment(scene: Scene<'_>) -> Option<Finding> {
    let environment = scene.world.cursor_environment(scene.rollout)?;
    let pause = environment.paused.as_ref()?;
    Some(Finding {
        mode: FailureMode::LinePaused,
        machine: None,
        ring: None,
        sentence: format!("environment {} is paused {}", environment.slug, by_whom(pause)),
        since: Some(pause.at),
    })
}

/// FM-7: the machines that another start took out of their arc, until they succeed again.
fn superseded(scene: Scene<'_>) -> Option<Finding> {
    let displaced = scene.world.rollouts.iter().rev().nth(1)?;
    let Some(Ending::Superseded { by }) = displaced.ending else { return None };
    let ids = scene.world.lanes().iter().flat_map(|(_, lane)| &lane.interrupted);
    let machines = ids.filter_map(|id| scene.world.machines.get(id));
    let interrupted: Vec<&Machine> = machines.filter(|m| was_superseded(m)).take(4).collect();
    let first: MachineId = interrupted.first()?.id;
    let names: Vec<&str> = interrupted.iter().take(3).map(|m| m.hostname.as_str()).collect();
    let more = if interrupted.len() > 3 { " and more" } else { "" };
    (by == scene.rollout.id).then(|| Finding {
        mode: FailureMode::Superseded,
        machine: Some(first),
        ring: None,
        sentence: format!(
            "{} displaced {}: {}{more} was interrupted in mid-arc and may be cordoned",
            scene.rollout.started_by,
            scene.world.release_name(displaced.release),
            names.join(", ")
        ),
        since: displaced.ended_at,
    })
}

fn was_superseded(machine: &Machine) -> bool {
    machine.interrupted.is_some_and(|i| i.cause == LeaseEnd::Superseded)
}
