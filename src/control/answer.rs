//! Answers in words: one table from an order and its reply to the sentence a person reads.

use super::door::{AHEAD_HINTS, DoorError};
use super::link::Answer;
use crate::domain::change::Level;
use crate::domain::fleet::Account;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId, ServerId};
use crate::domain::input::Verb;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::roll::verb::RollVerb;
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
        DoorError::Moved(_) => Answer::Moved { sentence: why },
        DoorError::KeyReused => {
            Answer::Refused { sentence: why, hints: vec!["give the order a key of its own".to_owned()] }
        }
        DoorError::Ahead(_) => Answer::Refused { sentence: why, hints: AHEAD_HINTS.map(str::to_owned).to_vec() },
        DoorError::Busy | DoorError::Journal(_) | DoorError::Deposed | DoorError::Stopped => Answer::Unsent { why },
    }
}

/// One sentence that says what is true now.
fn done(world: &World, verb: &Verb, reply: &Reply) -> String {
    match verb {
        Verb::PatchAccount { auto_deploy, track_config_tags } => switches(world, *auto_deploy, *track_config_tags),
        Verb::ConfigureAccount { .. } => "the account is configured".to_owned(),
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
        Verb::SetSecret { name, .. } => format!("the secret {name} is set"),
        Verb::Yank { release } => format!("{} is yanked and cannot be started again", world.release_name(*release)),
        Verb::Start { release, .. } => started(world, *release, reply),
        Verb::Kura(verb) => kura(world, verb),
        Verb::Roll(verb) => roll(world, verb),
        Verb::AcceptClock => "the clock is accepted".to_owned(),
        Verb::Halt { rollout } => halted(world, *rollout),
    }
}

fn roll(world: &World, verb: &RollVerb) -> String {
    let name = |id| world.rolls.name(id);
    match verb {
        RollVerb::Start { project, target, revision, .. } => {
            format!("revision {revision} rolls through {project}/{target}")
        }
        RollVerb::Approve { roll, gate, .. } => format!("the {gate} gate of {} is open", name(*roll)),
        RollVerb::Deny { roll, gate, .. } => {
            format!("the {gate} gate of {} stays shut, and the roll ends", name(*roll))
        }
        RollVerb::Abort { roll } => format!("the roll of {} is aborted: no node is touched any more", name(*roll)),
        RollVerb::Probe { node } => format!("{node} is probed by the next tick"),
        RollVerb::Uncordon { node } => format!("{node} is given back by the next tick"),
    }
}

fn kura(world: &World, verb: &KuraVerb) -> String {
    let name = |id: &ServerId| world.kura.server_name(*id);
    match verb {
        KuraVerb::ReleaseTag { tag } => format!("runtime tag {tag} is released"),
        KuraVerb::AddServer { tenant, region, .. } => format!("server {tenant}-{region} exists"),
        KuraVerb::ConfigureServer { server, .. } => format!("server {} is configured", name(server)),
        KuraVerb::MoveServer { server, phase } => format!("the move of {} is {}", name(server), phase.word()),
        KuraVerb::Deploy { server, tag, .. } => format!("the deployment of {tag} to {} is scheduled", name(server)),
        KuraVerb::ForceReapply { server } => format!("{} is applied again by the next tick", name(server)),
        KuraVerb::DestroyServer { server } => format!("{} is being taken down", name(server)),
        KuraVerb::DeleteGateway { name } => format!("gateway {name} is deleted by the next tick"),
        KuraVerb::StripFinalizer { name, finalizer } => {
            let finalizer = finalizer.as_deref().or(world.kura.stripping(name)).unwrap_or("its finalizer");
            format!("{finalizer} is taken off {name} by the next tick")
        }
        KuraVerb::DeleteOrphan { name } => format!("instance {name} is deleted by the next tick"),
        KuraVerb::AcceptCluster { uid } => format!("everything is in cluster {uid} from now on"),
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

#[cfg(test)]
mod tests {
    use super::super::tests::bed::{Bed, start};
    use super::*;
    use crate::domain::input::Input;

    fn said(bed: &Bed, verb: Verb) -> String {
        match to_reply(&bed.world(), &verb, &Reply::Done) {
            Answer::Done { sentence } => sentence,
            other => panic!("not done: {other:?}"),
        }
    }

    #[test]
    fn what_was_done_is_said_as_what_is_true_now() {
        let bed = Bed::running();
        let (ash, pine) = (MachineId::named("ash"), RingId::named("pine"));
        let (tier, v1) = (EnvironmentId::named("pine"), ReleaseId::named("v1"));
        let assign = |environment, ring| Verb::AssignMachine { machine: ash, environment, ring, node: None };
        let sentences = [
            said(&bed, Verb::Pause(Level::Ring(pine))),
            said(&bed, Verb::Unpause(Level::Environment(tier))),
            said(&bed, assign(Some(None), None)),
            said(&bed, assign(Some(Some(tier)), Some(Some(pine)))),
            said(&bed, assign(None, None)),
            said(&bed, Verb::Yank { release: v1 }),
            said(&bed, Verb::Halt { rollout: RolloutId::named("r1") }),
            said(&bed, Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None }),
        ];
        let expected = [
            "ring pine is paused",
            "environment pine is no longer paused",
            "ash is in no environment now",
            "ash is in pine and ring pine now",
            "ash is changed",
            "v1 is yanked and cannot be started again",
            "the rollout of v1 is halted",
            "auto deploy is on, tag tracking is off",
        ];
        assert_eq!(sentences, expected);
    }

    #[test]
    fn a_start_and_a_reset_are_told_apart() {
        let bed = Bed::running();
        let Input::Verb(order) = start("r2", "v1") else { panic!("a start is a verb") };
        let rollout = RolloutId::named("r1");
        let texts = [Reply::Started(rollout), Reply::Reset(rollout)].map(|r| to_reply(&bed.world(), &order.verb, &r));
        assert_eq!(texts[0], Answer::Done { sentence: "the rollout of v1 is running".to_owned() });
        assert!(matches!(&texts[1], Answer::Done { sentence } if sentence.contains("was reset")));
    }

    #[test]
    fn only_an_unknown_outcome_is_said_to_be_unknown() {
        assert!(matches!(to_error(&DoorError::Unknown("disk".to_owned())), Answer::Unknown { .. }));
        assert!(matches!(to_error(&DoorError::Journal("disk".to_owned())), Answer::Unsent { .. }));
        assert!(matches!(to_error(&DoorError::KeyReused), Answer::Refused { .. }));
    }
}
