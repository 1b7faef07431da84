//! How much is asked before a verb is sent: it grows with the harm.

use super::aim::Deed;
use crate::domain::ids::RingId;
use crate::domain::input::{Intent, Verb};
use crate::domain::kura::tag::is_newer;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::world::World;
use crate::wire::plan::PlanBody;

/// Typed before a ring loses its cap.
pub const UNCAP: &str = "UNCAP";

/// What it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Friction {
    /// A key of its own; never any typing.
    Stop,
    /// Enter.
    Enter,
    /// The name of the thing.
    Name,
    /// `UNCAP`: everybody who is elected starts at once.
    Uncap,
}

/// What a verb takes in this world, by what its plan says. Every verb but a stop takes a reason as well.
pub fn friction(deed: &Deed, plan: &PlanBody, world: &World) -> Friction {
    let Deed::Verb(verb) = deed else { return Friction::Enter };
    match verb.as_ref() {
        verb if verb.is_stop() => Friction::Stop,
        Verb::PatchRing { ring, patch } if patch.max_in_flight == Some(0) && is_capped(world, *ring) => Friction::Uncap,
        // A start moves a fleet, force takes a rollout away from somebody, and what follows cannot be undone.
        Verb::Start { .. } | Verb::Yank { .. } | Verb::RemoveMachine { .. } => Friction::Name,
        Verb::Kura(verb) => of_kura(verb, world),
        Verb::Roll(verb) if verb.is_typed(&world.rolls) => Friction::Name,
        Verb::Roll(_) => Friction::Enter,
        _ if !plan.leases_ended.is_empty() || !plan.runs_cancelled.is_empty() => Friction::Name,
        _ => Friction::Enter,
    }
}

/// A release moves every server, an older tag holds its server back, and what is taken away does not come back (K25).
fn of_kura(verb: &KuraVerb, world: &World) -> Friction {
    let tags = &world.kura.tags;
    let is_older = |tag: &str| world.kura.target().is_some_and(|target| tag != target && !is_newer(tags, tag, target));
    match verb {
        KuraVerb::Deploy { tag, .. } if is_older(tag) => Friction::Name,
        KuraVerb::ReleaseTag { .. }
        | KuraVerb::DestroyServer { .. }
        | KuraVerb::DeleteGateway { .. }
        | KuraVerb::StripFinalizer { .. }
        | KuraVerb::DeleteOrphan { .. }
        | KuraVerb::AcceptCluster { .. } => Friction::Name,
        KuraVerb::AddServer { .. }
        | KuraVerb::ConfigureServer { .. }
        | KuraVerb::MoveServer { .. }
        | KuraVerb::Deploy { .. }
        | KuraVerb::ForceReapply { .. } => Friction::Enter,
    }
}

fn is_capped(world: &World, ring: RingId) -> bool {
    world.rings.get(&ring).is_some_and(|ring| ring.is_capped())
}

/// A start that begins something: the runbook is looked at before it.
pub fn is_start(deed: &Deed) -> bool {
    matches!(deed, Deed::Verb(verb) if matches!(**verb, Verb::Start { intent: Some(Intent::Start), .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::change::Level;
    use crate::domain::fleet::{Ring, RingSettings};
    use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RolloutId, ServerId};
    use crate::domain::input::RingPatch;
    use crate::domain::kura::tag::RuntimeTag;
    use crate::domain::span::Seconds;
    use crate::wire::plan::{LeaseBody, MachineName};

    fn plan() -> PlanBody {
        PlanBody::leaving(1, Seconds(60))
    }

    fn ending(plan: PlanBody) -> PlanBody {
        let (uuid, hostname) = (MachineId::named("ash"), "ash".to_owned());
        let lease = LeaseBody { uuid, hostname: hostname.clone(), ring: None, held_seconds: Seconds(5) };
        PlanBody { leases_ended: vec![lease], runs_cancelled: vec![MachineName { uuid, hostname }], ..plan }
    }

    fn capped(cap: u32) -> World {
        let (id, settings) = (RingId::named("oak"), RingSettings { max_in_flight: cap, ..RingSettings::named("oak") });
        let mut world = World::default();
        world.rings.insert(id, Ring { id, slug: "oak".to_owned(), settings, paused: None });
        world
    }

    fn released(tags: &[&str]) -> World {
        let mut world = World::default();
        let tag = |tag: &&str| RuntimeTag { tag: (*tag).to_owned(), released_at: jiff::Timestamp::UNIX_EPOCH };
        world.kura.tags = tags.iter().map(tag).collect();
        world
    }

    fn takes(verb: Verb, plan: &PlanBody, world: &World) -> Friction {
        friction(&Deed::Verb(Box::new(verb)), plan, world)
    }

    fn skip() -> Verb {
        Verb::Pause(Level::Machine(MachineId::named("ash")))
    }

    #[test]
    fn stopping_is_easy_whatever_ends() {
        let stops = [
            Verb::Halt { rollout: RolloutId::named("r") },
            Verb::Pause(Level::Ring(RingId::named("oak"))),
            Verb::Pause(Level::Environment(EnvironmentId::named("oak"))),
        ];
        for stop in stops {
            assert_eq!(takes(stop, &ending(plan()), &World::default()), Friction::Stop);
        }
    }

    #[test]
    fn a_pause_of_a_machine_is_asked_for_by_name_where_it_ends_a_lease() {
        assert_eq!(takes(skip(), &plan(), &World::default()), Friction::Enter);
        assert_eq!(takes(skip(), &ending(plan()), &World::default()), Friction::Name);
    }

    #[test]
    fn a_cap_that_is_taken_away_is_a_word_of_its_own() {
        let cap = |cap| {
            let patch = RingPatch { max_in_flight: Some(cap), ..RingPatch::default() };
            Verb::PatchRing { ring: RingId::named("oak"), patch }
        };
        assert_eq!(takes(cap(0), &ending(plan()), &capped(2)), Friction::Uncap);
        assert_eq!(takes(cap(0), &plan(), &capped(0)), Friction::Enter, "it has none already");
        assert_eq!(takes(cap(1), &plan(), &capped(2)), Friction::Enter);
    }

    #[test]
    fn what_cannot_be_undone_is_asked_for_by_name() {
        let (id, release) = (RolloutId::named("r"), ReleaseId::named("v1"));
        for intent in [Intent::Start, Intent::Reset] {
            let start = Verb::Start { id, release, protected: None, force: false, intent: Some(intent) };
            assert_eq!(takes(start, &plan(), &World::default()), Friction::Name);
        }
        assert_eq!(takes(Verb::Yank { release }, &plan(), &World::default()), Friction::Name);
        let machine = MachineId::named("ash");
        assert_eq!(takes(Verb::RemoveMachine { machine }, &plan(), &World::default()), Friction::Name);
        let kura = |verb| takes(Verb::Kura(verb), &plan(), &released(&["0.19.0", "0.20.0"]));
        let server = ServerId::named("acme");
        let deploy = |tag: &str| KuraVerb::Deploy { server, tag: tag.to_owned(), force: true };
        // K25
        assert_eq!(kura(deploy("0.19.0")), Friction::Name);
        assert_eq!(kura(deploy("sha-of-nobody-knows-when")), Friction::Name);
        assert_eq!((kura(deploy("0.20.0")), kura(deploy("0.21.0"))), (Friction::Enter, Friction::Enter));
        assert_eq!(kura(KuraVerb::ForceReapply { server }), Friction::Enter);
        assert_eq!(kura(KuraVerb::DestroyServer { server }), Friction::Name);
        assert_eq!(friction(&Deed::LeaveSeat, &plan(), &World::default()), Friction::Enter);
    }
}
