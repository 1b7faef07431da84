//! Answers in words: one table from an order and its reply to the sentence a person reads.

use super::door::DoorError;
use super::link::Answer;
use crate::domain::change::Level;
use crate::domain::fleet::Account;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::Verb;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// The answer to an order whose reply is known; `world` is any world that knows the names, such as the one on screen.
pub fn to_reply(world: &World, verb: &Verb, reply: &Reply) -> Answer {
    match reply {
        Reply::Refused(refusal) => Answer::Refused { sentence: refusal.to_string(), hints: refusal.hints() },
        reply => Answer::Done { sentence: done(world, verb, reply) },
    }
}

/// The answer to an order that got no reply.
pub fn to_error(error: &DoorError) -> Answer {
    let why = error.to_string();
    match error {
        DoorError::Unknown(_) => Answer::Unknown { why },
        DoorError::KeyReused => {
            Answer::Refused { sentence: why, hints: vec!["give the order a key of its own".to_owned()] }
        }
        DoorError::Busy | DoorError::Journal(_) | DoorError::Deposed | DoorError::Stopped => Answer::Unsent { why },
    }
}

/// One sentence that says what is true now.
fn done(world: &World, verb: &Verb, reply: &Reply) -> String {
    match verb {
        Verb::PatchAccount { auto_deploy, track_config_tags } => switches(world, *auto_deploy, *track_config_tags),
        Verb::CreateEnvironment { slug, .. } => format!("environment {slug} exists"),
        Verb::PatchEnvironment { environment, .. } => {
            format!("environment {} is changed", world.environment_slug(*environment))
        }
        Verb::CreateRing { slug, .. } => format!("ring {slug} exists"),
        Verb::PatchRing { ring, .. } => format!("ring {} is changed", world.ring_slug(*ring)),
        Verb::Pause(level) => format!("{} is paused", name(world, *level)),
        Verb::Unpause(level) => format!("{} is no longer paused", name(world, *level)),
        Verb::AddMachine { hostname, .. } => format!("{hostname} joined the fleet"),
        Verb::AssignMachine { machine, environment, ring, .. } => assigned(world, *machine, *environment, *ring),
        Verb::RemoveMachine { machine } => format!("{} left the fleet", world.hostname(*machine)),
        Verb::PublishRelease { git_ref, .. } => format!("release {git_ref} is published"),
        Verb::Yank { release } => format!("{} is yanked and cannot be started again", world.release_name(*release)),
        Verb::Start { release, .. } => started(world, *release, reply),
        Verb::AcceptClock => "the clock is accepted".to_owned(),
        Verb::Halt { rollout } => halted(world, *rollout),
    }
}

fn started(world: &World, release: ReleaseId, reply: &Reply) -> String {
    let name = world.release_name(release);
    match reply {
        Reply::Reset(_) => format!("the rollout of {name} was reset: it begins again at the lowest environment"),
        _ => format!("the rollout of {name} is running"),
    }
}

fn halted(world: &World, rollout: RolloutId) -> String {
    match world.rollout(rollout) {
        Some(rollout) => format!("the rollout of {} is halted", world.release_name(rollout.release)),
        None => format!("rollout {} is halted", rollout.short()),
    }
}

fn name(world: &World, level: Level) -> String {
    match level {
        Level::Machine(machine) => world.hostname(machine).to_owned(),
        Level::Ring(ring) => format!("ring {}", world.ring_slug(ring)),
        Level::Environment(environment) => format!("environment {}", world.environment_slug(environment)),
    }
}

fn assigned(
    world: &World,
    machine: MachineId,
    environment: Option<Option<EnvironmentId>>,
    ring: Option<Option<RingId>>,
) -> String {
    let environment = environment.map(|e| e.map_or("no environment", |e| world.environment_slug(e)).to_owned());
    let ring = ring.map(|r| r.map_or("no ring".to_owned(), |r| format!("ring {}", world.ring_slug(r))));
    let places: Vec<String> = environment.into_iter().chain(ring).collect();
    match places.as_slice() {
        [] => format!("{} is changed", world.hostname(machine)),
        places => format!("{} is in {} now", world.hostname(machine), places.join(" and ")),
    }
}

fn switches(world: &World, auto_deploy: Option<bool>, track_config_tags: Option<bool>) -> String {
    let Account { auto_deploy: deploys, track_config_tags: tracks, .. } = &world.account;
    let on = |wanted: Option<bool>, known: &bool| if wanted.unwrap_or(*known) { "on" } else { "off" };
    format!("auto deploy is {}, tag tracking is {}", on(auto_deploy, deploys), on(track_config_tags, tracks))
}
