//! A verb that comes again under the same key was done already: its first answer is read from what it left behind.

use jiff::Timestamp;

use crate::domain::change::{Cause, Change, Entry};
use crate::domain::input::{Order, Verb};
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// How long a key is remembered, as far as its entries are still at hand.
pub const KEY_REMEMBERED: Seconds = Seconds(24 * 3_600);

/// What an order is to the entries at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repetition {
    /// Its key is new, or left nothing behind and may as well be decided again.
    New,
    /// It was done: this was its answer.
    Done(Reply),
    /// Its key was used by the same person for something else.
    Reused,
}

/// Compares an order with what `entries` say was done under its key, so that a lost answer and a second try do not
/// make a reset out of a start.
pub(super) fn repetition<'a>(
    order: &Order,
    world: &World,
    entries: impl Iterator<Item = &'a Entry>,
    now: Timestamp,
) -> Repetition {
    let Some(key) = order.key.as_deref() else { return Repetition::New };
    let oldest = KEY_REMEMBERED.before(now);
    let mine = entries.filter(|entry| entry.at >= oldest && entry.by == order.by && key_of(&entry.cause) == Some(key));
    let mut repetition = Repetition::New;
    for entry in mine {
        if repetition == Repetition::New {
            repetition = Repetition::Reused;
        }
        if is_effect(world, &order.verb, &entry.change) {
            return Repetition::Done(reply_of(&entry.change));
        }
    }
    repetition
}

fn key_of(cause: &Cause) -> Option<&str> {
    match cause {
        Cause::Verb { key, .. } => key.as_deref(),
        _ => None,
    }
}

/// True where the change is what the verb, given to the same thing, leaves behind.
fn is_effect(world: &World, verb: &Verb, change: &Change) -> bool {
    let ships = |rollout| world.rollout(rollout).map(|r| r.release);
    match (verb, change) {
        (Verb::PatchAccount { .. } | Verb::ConfigureAccount { .. }, Change::AccountChanged { .. }) => true,
        (Verb::CreateEnvironment { slug, .. }, Change::EnvironmentCreated { environment }) => environment.slug == *slug,
        (Verb::PatchEnvironment { environment: a, .. }, Change::EnvironmentChanged { environment: b, .. }) => a == b,
        (Verb::CreateRing { slug, .. }, Change::RingCreated { ring }) => ring.slug == *slug,
        (Verb::PatchRing { ring: a, .. }, Change::RingChanged { ring: b, .. }) => a == b,
        (Verb::Pause(a), Change::Paused { what: b, .. }) | (Verb::Unpause(a), Change::Unpaused { what: b }) => a == b,
        (Verb::AddMachine { hostname, .. }, Change::MachineAdded { machine }) => machine.hostname == *hostname,
        (Verb::AssignMachine { machine: a, .. }, Change::MachineAssigned { machine: b, .. })
        | (Verb::RemoveMachine { machine: a }, Change::MachineRemoved { machine: b }) => a == b,
        (Verb::PublishRelease { git_ref, .. }, Change::ReleasePublished { release }) => release.git_ref == *git_ref,
        (Verb::Yank { release: a }, Change::ReleaseYanked { release: b, .. })
        | (Verb::Start { release: a, .. }, Change::RolloutStarted { release: b, .. }) => a == b,
        (Verb::Start { release, .. }, Change::RolloutReset { rollout, .. }) => ships(*rollout) == Some(*release),
        (Verb::Halt { rollout: a }, Change::RolloutEnded { rollout: b, .. }) => a == b,
        _ => false,
    }
}

fn reply_of(change: &Change) -> Reply {
    match change {
        Change::RolloutStarted { rollout, .. } => Reply::Started(*rollout),
        Change::RolloutReset { rollout, .. } => Reply::Reset(*rollout),
        Change::EnvironmentCreated { environment } => Reply::Environment(environment.id),
        Change::RingCreated { ring } => Reply::Ring(ring.id),
        Change::MachineAdded { machine } => Reply::Machine(machine.id),
        Change::ReleasePublished { release } => Reply::Release(release.id),
        _ => Reply::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ports::Clock;
    use super::super::tests::bed::{Bed, cap, keyed, machine, pause, start, verb};
    use super::*;
    use crate::domain::change::Level;
    use crate::domain::ids::{MachineId, RolloutId};
    use crate::domain::input::Input;

    fn order(input: Input) -> Order {
        match keyed(input, "k1") {
            Input::Verb(order) => order,
            other => panic!("not an order: {other:?}"),
        }
    }

    fn compare(bed: &Bed, order: &Order) -> Repetition {
        repetition(order, &bed.world(), bed.store.lock().entries.iter(), bed.clock.now())
    }

    #[test]
    fn a_key_is_known_by_its_person_and_what_it_was_used_for() {
        let bed = Bed::running();
        bed.process("a").one(keyed(start("r2", "v1"), "k1")).unwrap();
        let again = order(start("r3", "v1"));
        assert_eq!(compare(&bed, &again), Repetition::Done(Reply::Reset(RolloutId::named("r1"))));
        assert_eq!(compare(&bed, &order(start("r3", "v2"))), Repetition::Reused);
        assert_eq!(compare(&bed, &order(pause("ash"))), Repetition::Reused);
        assert_eq!(compare(&bed, &Order { by: "op-b".to_owned(), ..again.clone() }), Repetition::New);
        assert_eq!(compare(&bed, &Order { key: Some("k2".to_owned()), ..again.clone() }), Repetition::New);
        assert_eq!(compare(&bed, &Order { key: None, ..again.clone() }), Repetition::New);
        bed.clock.pass(24 * 3_600 + 1);
        assert_eq!(compare(&bed, &again), Repetition::New, "a day later the key is free again");
    }

    #[test]
    fn every_verb_that_changes_something_is_known_again() {
        let ash = Level::Machine(MachineId::named("ash"));
        let assign =
            Verb::AssignMachine { machine: MachineId::named("birch"), environment: Some(None), ring: None, node: None };
        let inputs = [
            verb(machine("dogwood", 4)),
            cap(2),
            pause("ash"),
            verb(Verb::Unpause(ash)),
            verb(assign),
            verb(Verb::RemoveMachine { machine: MachineId::named("cedar") }),
            start("r9", "v2"),
            verb(Verb::Halt { rollout: RolloutId::named("r9") }),
            verb(Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None }),
        ];
        let bed = Bed::running();
        let a = bed.process("a");
        for (n, input) in inputs.into_iter().enumerate() {
            let input = keyed(input, &format!("k{n}"));
            let first = a.one(input.clone());
            let revision = bed.world().revision;
            assert_eq!(a.one(input.clone()), first, "{input:?}");
            assert_eq!(bed.world().revision, revision, "{input:?}");
        }
    }
}
