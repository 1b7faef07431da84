//! Orders for a control plane that knows the runbook's verbs and no more: which those are, how they are sent, and
//! whether what is read afterwards shows that one was carried out. Pure.

use serde_json::Value;

use crate::domain::change::Level;
use crate::domain::fleet::Pause;
use crate::domain::glimpse::Glimpse;
use crate::domain::input::{Order, Verb};
use crate::domain::world::World;
use crate::wire::call::Call;

/// Fields the runbook does not show: a control plane of its kind may refuse them.
const OURS_ONLY: [&str; 3] = ["reason", "intent", "target_version"];

/// The request, with nothing in it that the runbook does not show.
pub fn call(order: &Order) -> Call {
    let mut call = Call::of(order);
    if let Value::Object(fields) = &mut call.body {
        OURS_ONLY.iter().for_each(|field| drop(fields.remove(*field)));
        fields.retain(|field, value| field != "force" || *value != Value::Bool(false));
    }
    call
}

/// Why a verb cannot be given here; none where it can.
pub fn unknown(verb: &Verb, glimpse: &Glimpse) -> Option<String> {
    match verb {
        Verb::PatchAccount { .. }
        | Verb::ConfigureAccount { .. }
        | Verb::CreateEnvironment { .. }
        | Verb::PatchEnvironment { .. }
        | Verb::CreateRing { .. }
        | Verb::PatchRing { .. }
        | Verb::Pause(_)
        | Verb::Unpause(_)
        | Verb::PublishRelease { .. }
        | Verb::Yank { .. }
        | Verb::Start { .. }
        | Verb::Halt { .. } => subject(verb).and_then(|id| glimpse.unreachable(id)).map(str::to_owned),
        other => Some(format!("{} is no verb of the runbook, and this control plane has no others", other.name())),
    }
}

/// What a verb is done to.
fn subject(verb: &Verb) -> Option<uuid::Uuid> {
    match verb {
        Verb::Pause(level) | Verb::Unpause(level) => Some(match level {
            Level::Machine(id) => id.0,
            Level::Ring(id) => id.0,
            Level::Environment(id) => id.0,
        }),
        Verb::PatchEnvironment { environment, .. } => Some(environment.0),
        Verb::PatchRing { ring, .. } => Some(ring.0),
        Verb::Yank { release } | Verb::Start { release, .. } => Some(release.0),
        Verb::Halt { rollout } => Some(rollout.0),
        _ => None,
    }
}

/// Whether a world that was read afterwards shows what the verb was to bring about; none where it could not show it.
pub fn shows(verb: &Verb, world: &World) -> Option<bool> {
    match verb {
        Verb::Pause(level) => pause(world, *level).map(|pause| pause.is_some()),
        Verb::Unpause(level) => pause(world, *level).map(|pause| pause.is_none()),
        Verb::Halt { rollout } => world.rollout(*rollout).map(|rollout| !rollout.is_running()),
        Verb::Yank { release } => world.releases.get(release).map(|release| release.yanked.is_some()),
        Verb::PatchAccount { auto_deploy, track_config_tags } => {
            let is = |wanted: Option<bool>, now: bool| wanted.is_none_or(|wanted| wanted == now);
            Some(is(*auto_deploy, world.account.auto_deploy) && is(*track_config_tags, world.account.track_config_tags))
        }
        Verb::PatchRing { ring, patch } => {
            let now = &world.rings.get(ring)?.settings;
            let is = |wanted: Option<u64>, now: u64| wanted.is_none_or(|wanted| wanted == now);
            Some(
                is(patch.max_in_flight.map(u64::from), now.max_in_flight.into())
                    && is(patch.min_settle_seconds.map(|span| span.0), now.min_settle_seconds.0)
                    && is(patch.stall_timeout_seconds.map(|span| span.0), now.stall_timeout_seconds.0)
                    && is(patch.failure_count_threshold.map(u64::from), now.failure_count_threshold.into()),
            )
        }
        Verb::PatchEnvironment { environment, promotion_order: Some(order), .. } => {
            world.environments.get(environment).map(|tier| tier.promotion_order == *order)
        }
        // A start and a reset leave nothing that could not have been there before.
        _ => None,
    }
}

/// The hold of something; the outer none where it is not on show.
fn pause(world: &World, level: Level) -> Option<Option<&Pause>> {
    match level {
        Level::Machine(id) => world.machines.get(&id).map(|machine| machine.paused.as_ref()),
        Level::Ring(id) => world.rings.get(&id).map(|ring| ring.paused.as_ref()),
        Level::Environment(id) => world.environments.get(&id).map(|tier| tier.paused.as_ref()),
    }
}
