//! A verb that comes again under the same key was done already: its first answer is in the world, wherever it comes to.

use jiff::Timestamp;

use crate::domain::input::Order;
use crate::domain::keys::{request_of, used};
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// What an order is to what was done before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repetition {
    /// Its key is new, or left nothing behind and may as well be decided again.
    New,
    /// It was done: this was its answer.
    Done(Reply),
    /// Its key was used by the same person for something else.
    Reused,
}

/// Compares an order with what was done under its key, so that a lost answer and a second try do not make a reset out
/// of a start. Keys are facts of the world: a restart and another process know them too.
pub(super) fn repetition(order: &Order, world: &World, now: Timestamp) -> Repetition {
    let known = order.key.as_deref().and_then(|key| used(&world.keys, &order.by, key, now));
    match known {
        None => Repetition::New,
        Some(used) if used.request.as_ref().is_none_or(|request| *request == request_of(order)) => {
            Repetition::Done(used.answer.reply())
        }
        Some(_) => Repetition::Reused,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ports::Clock;
    use super::super::tests::bed::{Bed, cap, keyed, machine, pause, start, verb};
    use super::*;
    use crate::domain::change::Level;
    use crate::domain::ids::{MachineId, RolloutId};
    use crate::domain::input::{Input, Verb};

    fn order(input: Input) -> Order {
        match keyed(input, "k1") {
            Input::Verb(order) => order,
            other => panic!("not an order: {other:?}"),
        }
    }

    fn compare(bed: &Bed, order: &Order) -> Repetition {
        repetition(order, &bed.world(), bed.clock.now())
    }

    #[test]
    fn a_key_is_known_by_its_person_and_what_it_was_used_for() {
        let bed = Bed::running();
        bed.process("a").one(keyed(start("r2", "v1"), "k1")).unwrap();
        let again = order(start("r3", "v1"));
        assert_eq!(compare(&bed, &again), Repetition::Done(Reply::Reset(RolloutId::named("r1"))));
        assert_eq!(compare(&bed, &order(start("r3", "v2"))), Repetition::Reused);
        assert_eq!(compare(&bed, &order(pause("ash"))), Repetition::Reused);
        let reasoned = Order { reason: Some("another".to_owned()), ..again.clone() };
        assert_eq!(compare(&bed, &reasoned), Repetition::Reused);
        assert_eq!(compare(&bed, &Order { by: "op-b".to_owned(), ..again.clone() }), Repetition::New);
        assert_eq!(compare(&bed, &Order { key: Some("k2".to_owned()), ..again.clone() }), Repetition::New);
        assert_eq!(compare(&bed, &Order { key: None, ..again.clone() }), Repetition::New);
        bed.clock.pass(24 * 3_600 + 1);
        assert_eq!(compare(&bed, &again), Repetition::New, "a day later the key is free again");
    }

    #[test]
    fn the_same_verb_with_another_value_is_another_request() {
        let bed = Bed::new();
        bed.process("a").one(keyed(cap(2), "k1")).unwrap();
        assert_eq!(compare(&bed, &order(cap(2))), Repetition::Done(Reply::Done));
        assert_eq!(compare(&bed, &order(cap(3))), Repetition::Reused);
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
            verb(Verb::AcceptClock),
        ];
        let bed = Bed::running();
        let a = bed.process("a");
        for (n, input) in inputs.into_iter().enumerate() {
            let input = keyed(input, &format!("k{n}"));
            let first = a.one(input.clone());
            let revision = bed.world().revision;
            assert_eq!(a.one(input.clone()), first, "{input:?}");
            assert_eq!(bed.process("b").one(input.clone()), first, "a process that was just started: {input:?}");
            assert_eq!(bed.world().revision, revision, "{input:?}");
        }
    }
}
