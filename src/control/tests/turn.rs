//! One turn: one lease per free slot, group commit, outrun, deposed, failed and lost appends.

use super::bed::{
    Bed, Process, account, cap, is_served, keyed, machine, pause, planned, poll, requests, start, success, verb,
};
use super::driver::now;
use super::store::Fault;
use crate::control::door::DoorError;
use crate::control::draft::REQUESTS_PER_BATCH;
use crate::control::host::Host;
use crate::control::picture::Freshness;
use crate::control::ports::{Clock, Journal};
use crate::control::turn::DECIDED_AT_MOST;
use crate::domain::change::{Change, Level};
use crate::domain::fleet::Account;
use crate::domain::ids::{MachineId, Revision, RolloutId};
use crate::domain::input::{Input, Verb};
use crate::domain::verdict::Reply;

fn switched(pattern: usize) -> Change {
    let account = Account { config_tag_pattern: Some(format!("v{pattern}.*")), ..Account::default() };
    Change::AccountChanged { account }
}

#[test]
fn one_free_slot_and_two_polls_in_one_batch_make_one_lease() {
    // R28
    let bed = Bed::running();
    let replies = bed.process("a").ask(vec![poll("ash"), poll("birch")]);
    assert!(is_served(&replies[0]) && !is_served(&replies[1]));
    assert_eq!(bed.holders(), ["ash"]);
    assert_eq!(bed.store.lock().batches, [1]);
}

#[test]
fn one_free_slot_and_two_polls_at_two_processes_make_one_lease() {
    // R28: b decides on a world in which the slot is free, and is outrun
    let bed = Bed::running();
    let (a, b) = (bed.process("a"), bed.process("b"));
    assert!(is_served(&a.one(poll("ash"))));
    assert!(b.published().world.machines[&MachineId::named("ash")].lease.is_none(), "b has not heard of it");
    assert!(!is_served(&b.one(poll("birch"))));
    assert_eq!(bed.holders(), ["ash"]);
}

#[test]
fn what_waits_is_decided_in_order_and_appended_in_one_piece() {
    let bed = Bed::new();
    let a = bed.process("a");
    let before = bed.world().revision;
    let replies = a.ask(vec![start("r1", "v1"), poll("ash"), pause("ash"), poll("birch"), start("r2", "v2")]);
    assert_eq!(replies[0], Ok(Reply::Started(RolloutId::named("r1"))));
    assert!(is_served(&replies[1]) && is_served(&replies[3]), "the pause freed the slot for the next in line");
    assert_eq!(replies[4], Ok(Reply::Started(RolloutId::named("r2"))));
    assert_eq!(bed.store.lock().batches.len(), 1);
    assert_eq!(*a.published().world, bed.world());
    let entries = a.published().entries_after(before).unwrap();
    assert_eq!(entries, bed.store.lock().entries[usize::try_from(before).unwrap()..]);
}

#[test]
fn what_changes_nothing_is_answered_without_an_append() {
    let bed = Bed::new();
    let a = bed.process("a");
    let before = bed.world().revision;
    let replies = a.ask(vec![poll("ash"), success(&bed.world(), "ash")]);
    assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    assert_eq!(bed.world().revision, before);
    assert!(bed.store.lock().batches.is_empty());
}

#[test]
fn a_verb_that_changes_nothing_leaves_its_link_and_nothing_else() {
    let bed = Bed::new();
    let before = bed.world();
    assert_eq!(bed.process("a").one(cap(1)), Ok(Reply::Done));
    let mut after = bed.world();
    assert_eq!((after.revision, after.audit.count), (before.revision + 1, before.audit.count + 1));
    (after.revision, after.at, after.audit) = (before.revision, before.at, before.audit.clone());
    assert_eq!(after, before);
}

#[test]
fn who_is_outrun_decides_again_on_the_newer_world() {
    let bed = Bed::running();
    let (a, b) = (bed.process("a"), bed.process("b"));
    a.one(start("r2", "v2")).unwrap();
    let replies = b.ask(vec![poll("ash"), pause("birch")]);
    assert_eq!(replies[0], Ok(Reply::RenderAgain), "the poll was rendered for a release that no longer runs");
    assert_eq!(replies[1], Ok(Reply::Done));
    assert_eq!(*b.published().world, bed.world());
    assert!(bed.world().machines[&MachineId::named("birch")].paused.is_some());
}

#[test]
fn who_is_outrun_again_and_again_is_told_that_it_is_busy() {
    let bed = Bed::running();
    let a = bed.process("a");
    (0..DECIDED_AT_MOST).for_each(|n| bed.store.fault(Fault::Rival(vec![switched(n)])));
    let replies = a.ask(vec![pause("birch"), poll("cedar")]);
    assert_eq!(replies[0], Err(DoorError::Busy));
    assert!(matches!(replies[1], Ok(Reply::Assignment { assignment: None, .. })), "it changes nothing");
    assert!(bed.world().machines[&MachineId::named("birch")].paused.is_none());
    assert!(bed.store.lock().faults.is_empty(), "it was tried {DECIDED_AT_MOST} times");
    assert_eq!(a.one(pause("birch")), Ok(Reply::Done), "the next try goes through");
}

/// A process that holds the seat in epoch 1, and a holder that is due to halt its ring.
fn about_to_tick(bed: &Bed) -> Process {
    let a = bed.process("a");
    assert_eq!(
        a.ask_under(vec![(Some(0), Input::TakeSeat { holder: "a".into(), agents: true })]),
        [Ok(Reply::Seated(1))]
    );
    assert!(is_served(&a.one(poll("ash"))));
    bed.clock.pass(1_800);
    a
}

fn halts(bed: &Bed) -> usize {
    bed.world().running().map_or(0, |rollout| rollout.halted_rings.len())
}

#[test]
fn a_tick_is_decided_under_its_epoch_and_published_even_where_it_changes_nothing() {
    // R49
    let bed = Bed::running();
    let a = about_to_tick(&bed);
    assert_eq!(a.ask_under(vec![(Some(1), tick())]), [Ok(Reply::Done)]);
    assert_eq!((halts(&bed), a.published().last_tick), (1, Some(a.turns.host.clock.now())));
    let before = bed.world().revision;
    bed.clock.pass(60);
    assert_eq!(a.ask_under(vec![(Some(1), tick())]), [Ok(Reply::Done)]);
    assert_eq!((bed.world().revision, a.published().last_tick), (before, Some(a.turns.host.clock.now())));
}

#[test]
fn a_tick_nudges_those_whose_window_closed_meanwhile() {
    // R38, R89
    let bed = Bed::running();
    let a = about_to_tick(&bed);
    a.one(success(&bed.world(), "ash")).unwrap();
    let mut waves = a.nudges.waves();
    let birch = MachineId::named("birch");
    bed.clock.pass(59);
    a.ask_under(vec![(Some(1), tick())]);
    assert!(waves.try_recv().is_err(), "the window is open");
    bed.clock.pass(1);
    a.ask_under(vec![(Some(1), tick())]);
    assert_eq!(waves.try_recv().unwrap().iter().copied().collect::<Vec<_>>(), [birch]);
}

#[test]
fn a_deposed_tick_appends_nothing_and_takes_no_verb_down_with_it() {
    let bed = Bed::running();
    let a = about_to_tick(&bed);
    let b = bed.process("b");
    assert_eq!(
        b.ask_under(vec![(Some(1), Input::TakeSeat { holder: "b".into(), agents: true })]),
        [Ok(Reply::Seated(2))]
    );
    let before = bed.world().revision;
    let replies = a.ask_under(vec![(Some(1), tick()), (None, pause("cedar")), (Some(1), tick())]);
    assert_eq!(replies, [Err(DoorError::Deposed), Ok(Reply::Done), Err(DoorError::Deposed)]);
    assert_eq!(
        (bed.world().revision, halts(&bed)),
        (before + 2, 0),
        "the pause with its link of the audit, and nothing else"
    );
    assert_eq!(a.published().last_tick, None);
}

#[test]
fn a_journal_that_says_deposed_is_believed_before_the_entry_that_says_so_is_seen() {
    let bed = Bed::running();
    let a = about_to_tick(&bed);
    bed.store.lock().epoch = 2;
    let replies = a.ask_under(vec![(Some(1), tick()), (None, pause("cedar"))]);
    assert_eq!(replies, [Err(DoorError::Deposed), Ok(Reply::Done)]);
    assert_eq!(halts(&bed), 0);
}

#[test]
fn a_tick_without_the_seat_is_not_decided() {
    let bed = Bed::running();
    assert_eq!(bed.process("a").one(tick()), Err(DoorError::Deposed));
    let late = vec![(Some(0), Input::TakeSeat { holder: "a".into(), agents: true })];
    assert_eq!(bed.process("a").ask_under(late.clone()), [Ok(Reply::Seated(1))]);
    assert_eq!(bed.process("b").ask_under(late), [Err(DoorError::Deposed)], "somebody was faster");
    assert_eq!(bed.world().seat.epoch, 1);
}

#[test]
fn a_lost_answer_after_the_commit_is_found_and_not_doubled() {
    let bed = Bed::running();
    let a = bed.process("a");
    bed.store.fault(Fault::LoseAnswer);
    let replies = a.ask(vec![start("r2", "v2"), poll("ash")]);
    assert_eq!(replies[0], Ok(Reply::Started(RolloutId::named("r2"))), "not a reset of what it started itself");
    assert_eq!(bed.store.lock().batches.len(), 1);
    assert_eq!(bed.world().rollouts.len(), 2);
    assert_eq!(*a.published().world, bed.world());
}

#[test]
fn an_append_that_failed_and_left_nothing_is_tried_once_more() {
    let bed = Bed::running();
    let a = bed.process("a");
    bed.store.fault(Fault::Fail);
    assert_eq!(a.one(pause("ash")), Ok(Reply::Done));
    bed.store.fault(Fault::Fail);
    bed.store.fault(Fault::Fail);
    let replies = a.ask(vec![pause("birch"), poll("ash")]);
    assert_eq!(replies[0], Err(DoorError::Journal("the journal could not append: disk full".to_owned())));
    assert!(replies[1].is_ok(), "what changes nothing needs no journal");
    assert!(bed.world().machines[&MachineId::named("birch")].paused.is_none());
    assert_eq!(a.one(pause("birch")), Ok(Reply::Done));
}

/// The world it is decided on may be an old one: what holds in it another process may have lifted since.
#[test]
fn a_person_is_not_told_that_nothing_had_to_be_done_while_the_journal_cannot_agree() {
    let bed = Bed::running();
    let (a, b) = (bed.process("a"), bed.process("b"));
    a.one(keyed(pause("birch"), "k1")).unwrap();
    b.one(pause("birch")).unwrap();
    a.one(verb(Verb::Unpause(Level::Machine(MachineId::named("birch"))))).unwrap();
    bed.store.lock().is_down = true;
    let replies = b.ask(vec![pause("birch"), keyed(pause("birch"), "k1")]);
    assert!(matches!(replies[0], Err(DoorError::Unknown(_))), "{:?}", replies[0]);
    assert_eq!(replies[1], Ok(Reply::Done), "what was done under its key stays done");
}

#[test]
fn where_nothing_can_be_read_after_a_failed_append_nobody_is_told_that_nothing_was_done() {
    let bed = Bed::running();
    let a = bed.process("a");
    bed.store.fault(Fault::LoseAnswerAndSight);
    let order = keyed(start("r2", "v2"), "k1");
    assert!(matches!(a.one(order.clone()), Err(DoorError::Unknown(_))));
    assert!(matches!(a.published().journal, Freshness::Lost { .. }));
    bed.store.lock().is_down = false;
    assert_eq!(a.one(order), Ok(Reply::Started(RolloutId::named("r2"))), "the same key is the same order");
    assert_eq!(bed.world().rollouts.len(), 2);
}

#[test]
fn a_verb_under_a_known_key_is_not_done_twice() {
    let bed = Bed::new();
    let a = bed.process("a");
    let order = keyed(start("r1", "v1"), "k1");
    let twice = a.ask(vec![order.clone(), order.clone()]);
    assert_eq!(twice, [Ok(Reply::Started(RolloutId::named("r1"))), Ok(Reply::Started(RolloutId::named("r1")))]);
    let another_process = bed.process("b").one(order.clone());
    assert_eq!(another_process, Ok(Reply::Started(RolloutId::named("r1"))));
    assert_eq!(a.one(start("r9", "v1")), Ok(Reply::Reset(RolloutId::named("r1"))), "without a key it is a reset");
}

/// What a process answers to inputs that were all planned at `revision`.
fn ask_planned(process: &Process, revision: Revision, inputs: Vec<Input>) -> Vec<Result<Reply, DoorError>> {
    let (waiting, answers) = requests(inputs.into_iter().map(|input| (None, input)).collect());
    let mut waiting = planned(waiting, revision);
    now(process.turns.decide_all(&mut waiting));
    answers.into_iter().map(|answer| now(answer).unwrap().map(|answered| answered.reply)).collect()
}

#[test]
fn of_two_orders_planned_on_one_revision_the_second_sees_what_the_first_moved_in_the_same_breath() {
    let bed = Bed::running();
    let (a, revision) = (bed.process("a"), bed.world().revision);
    let inputs = vec![pause("ash"), verb(Verb::RemoveMachine { machine: MachineId::named("ash") }), pause("cedar")];
    let replies = ask_planned(&a, revision, inputs);
    assert_eq!(replies[0], Ok(Reply::Done));
    assert!(matches!(&replies[1], Err(DoorError::Moved(stale)) if stale.moved.len() == 1), "{replies:?}");
    assert_eq!(replies[2], Ok(Reply::Done), "nothing of its own moved");
    assert!(bed.world().machines.contains_key(&MachineId::named("ash")));
}

#[test]
fn a_plan_that_was_outrun_is_compared_again_on_the_newer_world() {
    let bed = Bed::running();
    let (a, b, revision) = (bed.process("a"), bed.process("b"), bed.world().revision);
    assert!(is_served(&a.one(poll("ash"))), "b has not heard of it");
    let replies = ask_planned(&b, revision, vec![pause("ash")]);
    assert!(matches!(&replies[0], Err(DoorError::Moved(_))), "{replies:?}");
    assert_eq!(bed.holders(), ["ash"]);
    let halt = verb(Verb::Halt { rollout: RolloutId::named("r1") });
    assert_eq!(ask_planned(&b, revision, vec![halt]), [Ok(Reply::Done)], "stopping never asks");
}

#[test]
fn a_journal_that_was_compacted_or_went_back_is_loaded_again() {
    let bed = Bed::running();
    let a = bed.process("a");
    bed.process("b").ask(vec![pause("ash"), pause("birch")]);
    let revision = bed.world().revision;
    bed.store.lock().oldest = revision;
    assert_eq!(a.one(pause("cedar")), Ok(Reply::Done));
    assert_eq!(*a.published().world, bed.world());
    bed.store.lock().entries.pop();
    assert_eq!(a.one(verb(machine("dogwood", 4))), Ok(Reply::Machine(MachineId::named("dogwood"))));
    assert_eq!(*a.published().world, bed.world());
}

#[test]
fn a_look_that_is_older_than_the_last_turn_loads_nothing_and_wakes_nobody() {
    let bed = Bed::new();
    let a = bed.process("a");
    let seen = now(a.turns.host.journal().head(account())).unwrap();
    a.one(start("r1", "v1")).unwrap();
    let mut waves = a.nudges.waves();
    now(a.turns.reader.meet(seen)).unwrap();
    assert!(waves.try_recv().is_err(), "everybody was woken");
    assert_eq!(*a.published().world, bed.world());
}

#[test]
fn a_batch_is_bounded_and_everybody_is_answered_in_order() {
    let bed = Bed::new();
    let many = REQUESTS_PER_BATCH + 3;
    let names: Vec<String> = (0..many).map(|n| format!("m{n}")).collect();
    let replies = bed.process("a").ask(names.iter().map(|name| verb(machine(name, 5))).collect());
    for (name, reply) in names.iter().zip(replies) {
        assert_eq!(reply, Ok(Reply::Machine(MachineId::named(name))));
    }
    assert_eq!(bed.store.lock().batches, [2 * (many - 3), 2 * 3]);
}

#[test]
fn a_decision_is_never_made_before_the_last_one() {
    // R168
    let bed = Bed::running();
    let ahead = bed.process("a");
    ahead.one(pause("ash")).unwrap();
    let at = bed.world().at;
    bed.clock.pass(-600);
    ahead.one(pause("birch")).unwrap();
    assert_eq!(bed.world().machines[&MachineId::named("birch")].paused.as_ref().unwrap().at, at);
}

#[test]
fn those_whose_turn_it_is_are_nudged_by_changes_of_any_process() {
    // R38
    let bed = Bed::running();
    let (a, b) = (bed.process("a"), bed.process("b"));
    a.one(poll("ash")).unwrap();
    let (mut at_a, mut at_b) = (a.nudges.waves(), b.nudges.waves());
    a.one(pause("ash")).unwrap();
    assert!(at_a.try_recv().unwrap().contains(&MachineId::named("birch")));
    b.one(pause("cedar")).unwrap();
    assert!(at_b.try_recv().unwrap().contains(&MachineId::named("birch")), "folded from a");
}

fn tick() -> Input {
    Input::Tick { fresh: RolloutId::named("fresh") }
}
