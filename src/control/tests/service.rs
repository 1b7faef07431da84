//! A whole service in virtual time: the seat, ticks, a journal that goes away, snapshots, the local link.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::SignedDuration;

use super::bed::{Bed, account, pause, poll, result, verb};
use super::driver::Driver;
use super::store::TestHost;
use crate::control::door::DoorError;
use crate::control::link::{Answer, Link};
use crate::control::local::{Introduction, LocalLink};
use crate::control::picture::{Freshness, Role};
use crate::control::ports::Clock;
use crate::control::service::{Service, Settings};
use crate::control::upkeep::SNAPSHOT_EVERY;
use crate::domain::change::Level;
use crate::domain::ids::{MachineId, RolloutId};
use crate::domain::input::{Input, Order, Verb};
use crate::domain::release::Outcome;
use crate::domain::verdict::Reply;

/// A service of its own on the shared stores, with everything that drives it.
struct Running {
    service: Service<TestHost>,
    driver: Driver,
}

fn start(bed: &Bed, name: &str) -> Running {
    start_with(bed, name, Settings::default())
}

fn start_with(bed: &Bed, name: &str, settings: Settings) -> Running {
    let (service, loops) = Service::new(bed.host(name), account(), settings);
    let mut driver = Driver::new(&bed.clock);
    loops.into_iter().for_each(|l| driver.add(l.future));
    Running { service, driver }
}

fn introduction() -> Introduction {
    Introduction { endpoint: "demo".to_owned(), account: "acme".to_owned(), role: Role::Operator }
}

impl Running {
    fn epoch(&self) -> Option<u64> {
        *self.service.held.epochs().borrow()
    }

    fn last_tick(&self) -> Option<jiff::Timestamp> {
        self.service.door.published().borrow().last_tick
    }
}

/// Lets both live for so many seconds of the same time.
fn together(one: &mut Running, other: &mut Running, bed: &Bed, seconds: i64) {
    for _ in 0..seconds {
        let before = bed.clock.now();
        one.driver.run(1);
        bed.clock.set(before);
        other.driver.run(1);
    }
}

#[test]
fn an_empty_seat_is_taken_and_the_first_tick_comes_one_period_later() {
    // R9
    let bed = Bed::running();
    let mut a = start(&bed, "a");
    let began = bed.clock.now();
    a.driver.run(59);
    assert_eq!((a.epoch(), a.last_tick()), (Some(1), None));
    a.driver.run(1);
    assert_eq!(a.last_tick(), Some(began + SignedDuration::from_secs(60)));
    a.driver.run(60);
    assert_eq!(a.last_tick(), Some(began + SignedDuration::from_secs(120)));
}

#[test]
fn one_of_two_holds_the_seat_and_the_other_stands_by_until_it_dies() {
    let bed = Bed::running();
    let (mut a, mut b) = (start(&bed, "a"), start(&bed, "b"));
    together(&mut a, &mut b, &bed, 300);
    assert_eq!((a.epoch(), b.epoch()), (Some(1), None));
    assert_eq!(b.last_tick(), None);
    a.driver.crash();
    b.driver.run(14);
    assert_eq!(b.epoch(), None, "dead for less than the expiry");
    b.driver.run(8);
    assert_eq!(b.epoch(), Some(2));
    assert_eq!(bed.world().seat.holder.as_deref(), Some("b"));
}

#[test]
fn a_seat_that_is_released_is_taken_without_waiting_for_the_expiry() {
    let bed = Bed::running();
    let (mut a, mut b) = (start(&bed, "a"), start(&bed, "b"));
    together(&mut a, &mut b, &bed, 60);
    a.service.stop.ask();
    a.driver.run(0);
    assert_eq!((a.driver.alive(), a.epoch()), (0, None), "every loop has come to its end");
    b.driver.run(3);
    assert_eq!(b.epoch(), Some(2));
}

#[test]
fn a_frozen_holder_that_thaws_steps_down_and_its_tick_changes_nothing() {
    let bed = Bed::running();
    let (mut a, mut b) = (start(&bed, "a"), start(&bed, "b"));
    together(&mut a, &mut b, &bed, 50);
    a.driver.until(a.service.door.ask(poll("ash"))).unwrap();
    b.driver.run(30);
    assert_eq!((a.epoch(), b.epoch()), (Some(1), Some(2)), "a sleeps and still believes");
    let before = bed.world().revision;
    a.driver.run(0);
    assert_eq!(a.epoch(), None);
    together(&mut a, &mut b, &bed, 100);
    assert_eq!((a.epoch(), b.epoch()), (None, Some(2)));
    assert_eq!(bed.world().revision, before);
}

#[test]
fn a_clock_that_is_set_moves_neither_the_ticks_nor_the_seat() {
    // R9, R168
    for seconds in [7_200, -7_200] {
        let bed = Bed::running();
        let (mut a, mut b) = (start(&bed, "a"), start(&bed, "b"));
        let live = |a: &mut Running, b: &mut Running, seconds| {
            for _ in 0..seconds {
                let before = bed.clock.steady();
                a.driver.run(1);
                bed.clock.set(before);
                b.driver.run(1);
            }
        };
        live(&mut a, &mut b, 90);
        let ticked = a.last_tick();
        bed.clock.set_wall(seconds);
        live(&mut a, &mut b, 40);
        assert_ne!(a.last_tick(), ticked, "the next tick comes when it would have come, clock set by {seconds} s");
        bed.clock.set_wall(-seconds);
        live(&mut a, &mut b, 60);
        let next = bed.clock.steady() - SignedDuration::from_secs(10);
        assert!(a.last_tick() >= Some(next), "so does the one after it, clock set by {seconds} s and back");
        assert_eq!((a.epoch(), b.epoch()), (Some(1), None), "clock set by {seconds} s");
    }
}

#[test]
fn a_tick_that_hears_that_it_is_deposed_ends_the_seat() {
    let bed = Bed::running();
    let mut a = start(&bed, "a");
    a.driver.run(1);
    a.driver.until(a.service.door.ask(poll("ash"))).unwrap();
    a.driver.run(1_800);
    assert_eq!(a.epoch(), Some(1));
    // Only the head of the journal knows yet: the entry is not to be seen.
    bed.store.lock().epoch = 2;
    let before = bed.world().revision;
    a.driver.run(60);
    assert_eq!((a.epoch(), bed.world().revision), (None, before));
}

#[test]
fn a_holder_whose_signs_of_life_fail_steps_down_before_anybody_may_follow() {
    let bed = Bed::running();
    let mut a = start(&bed, "a");
    a.driver.run(61);
    let last = bed.store.lock().beat.clone();
    bed.store.lock().is_cut_off = true;
    a.driver.run(9);
    assert_eq!(a.epoch(), Some(1));
    a.driver.run(6);
    assert_eq!(a.epoch(), None, "15 s after its last beat");
    a.driver.run(120);
    assert_eq!(a.epoch(), None, "a beat that cannot be read proves nobody dead");
    assert_eq!(bed.store.lock().beat, last);
    bed.store.lock().is_cut_off = false;
    a.driver.run(20);
    assert_eq!(a.epoch(), Some(2), "it stands again");
}

#[test]
fn a_service_whose_journal_is_away_says_so_and_comes_back_by_itself() {
    let bed = Bed::running();
    bed.store.lock().is_down = true;
    let mut a = start(&bed, "a");
    let refused = a.driver.until(a.service.door.ask(pause("ash")));
    assert_eq!(refused, Err(DoorError::Journal("the journal could not load: disk full".to_owned())));
    assert!(!a.service.door.published().borrow().is_loaded());
    bed.store.lock().is_down = false;
    a.driver.run(15);
    assert_eq!(a.driver.until(a.service.door.ask(pause("ash"))), Ok(Reply::Done));
    bed.store.lock().is_down = true;
    let failed = a.driver.until(a.service.door.ask(pause("birch")));
    assert!(matches!(failed, Err(DoorError::Unknown(_))), "{failed:?}");
    let journal = || a.service.door.published().borrow().journal.clone();
    assert!(matches!(journal(), Freshness::Lost { .. }));
    bed.store.lock().is_down = false;
    assert_eq!(a.driver.until(a.service.door.ask(pause("birch"))), Ok(Reply::Done));
    assert!(matches!(a.service.door.published().borrow().journal, Freshness::Live(_)));
}

#[test]
fn what_another_process_appends_is_published_without_being_asked_for() {
    let bed = Bed::running();
    let (mut a, mut b) = (start(&bed, "a"), start(&bed, "b"));
    together(&mut a, &mut b, &bed, 2);
    a.driver.until(a.service.door.ask(pause("ash"))).unwrap();
    b.driver.run(0);
    assert_eq!(*b.service.door.world(), bed.world());
}

#[test]
fn a_process_that_is_never_idle_still_sees_what_others_append() {
    let bed = Bed::running();
    let mut b = start_with(&bed, "b", Settings { stands: false, ..Settings::default() });
    b.driver.run(1);
    let (target, asked) = (bed.world().revision + 2, Arc::new(AtomicUsize::new(0)));
    let rival = Arc::new(bed.process("a"));
    for _ in 0..2 {
        let (door, asked, rival) = (b.service.door.clone(), Arc::clone(&asked), Arc::clone(&rival));
        b.driver.add(async move {
            for _ in 0..500 {
                // cedar is not the first in line: its polls change nothing, so no append ever looks at the journal
                door.ask(poll("cedar")).await.unwrap();
                if asked.fetch_add(1, Ordering::SeqCst) == 100 {
                    rival.one(pause("ash")).unwrap();
                }
            }
        });
    }
    let (mut published, seen) = (b.service.door.published(), Arc::new(OnceLock::new()));
    let (counted, told) = (Arc::clone(&asked), Arc::clone(&seen));
    b.driver.add(async move {
        published.wait_for(|p| p.world.revision == target).await.map(drop).unwrap();
        told.set(counted.load(Ordering::SeqCst)).unwrap();
    });
    b.driver.run(0);
    assert_eq!(asked.load(Ordering::SeqCst), 1_000);
    assert!(seen.get().is_some_and(|count| *count < 150), "appended after 100 polls, seen after {seen:?} of 1000");
}

#[test]
fn a_stop_answers_what_was_asked_before_and_keeps_a_snapshot() {
    let bed = Bed::running();
    let mut a = start(&bed, "a");
    a.driver.run(1);
    let door = a.service.door.clone();
    let asked = async {
        let (before, ()) = tokio::join!(door.ask(pause("ash")), async { a.service.stop.ask() });
        (before, door.ask(pause("birch")).await)
    };
    assert_eq!(a.driver.until(asked), (Ok(Reply::Done), Err(DoorError::Stopped)));
    a.driver.run(0);
    assert_eq!(a.driver.alive(), 0);
    let last = bed.world().revision;
    assert_eq!(bed.store.lock().snapshots, [last]);
}

#[test]
fn a_snapshot_is_kept_every_so_many_entries() {
    let bed = Bed::running();
    let mut a = start_with(&bed, "a", Settings { stands: false, ..Settings::default() });
    a.driver.run(1);
    let first = bed.world().revision;
    let ash = Level::Machine(MachineId::named("ash"));
    // each verb leaves a change and its link of the audit
    for _ in 0..SNAPSHOT_EVERY / 4 {
        for order in [Verb::Pause(ash), Verb::Unpause(ash)] {
            a.driver.until(a.service.door.ask(verb(order))).unwrap();
        }
    }
    a.driver.run(0);
    assert_eq!(bed.store.lock().snapshots, [first + SNAPSHOT_EVERY]);
}

#[test]
fn a_local_link_shows_the_newest_world_and_answers_in_sentences() {
    let bed = Bed::running();
    let mut a = start(&bed, "a");
    let (link, pictures) = a.service.link(introduction());
    assert_eq!(link.pictures().borrow().api, Freshness::Connecting);
    a.driver.add(pictures.future);
    a.driver.run(5);
    let order = |verb| Order { verb, by: "op-a".to_owned(), reason: None, key: None };
    let ash = Level::Machine(MachineId::named("ash"));
    let answer = a.driver.until(link.order(order(Verb::Pause(ash)), None));
    assert_eq!(answer, Answer::Done { sentence: "ash is paused".to_owned() });
    a.driver.run(0);
    let picture = link.pictures().borrow().clone();
    assert_eq!(*picture.world, bed.world());
    assert_eq!(picture.tail.last().map(|entry| entry.revision), Some(bed.world().revision));
    assert_eq!(picture.seat.holder.as_deref(), Some("a"));
    assert_eq!(picture.api, Freshness::Live(bed.clock.now()));
    let unknown = Level::Machine(MachineId::named("nobody"));
    let answer = a.driver.until(link.order(order(Verb::Pause(unknown)), None));
    assert!(matches!(answer, Answer::Refused { .. }), "{answer:?}");
}

#[test]
fn a_local_link_reads_the_results_of_a_machine_in_a_rollout() {
    let bed = Bed::running();
    let mut a = start(&bed, "a");
    a.driver.run(1);
    let (link, _) = a.service.link(introduction());
    for name in ["ash", "birch", "ash"] {
        a.driver.until(a.service.desk.report(result(&bed.world(), name, Outcome::Failed))).unwrap();
    }
    let read = |rollout: &str| link.results(RolloutId::named(rollout), MachineId::named("ash"));
    assert_eq!(a.driver.until(read("r1")).map(|rows| rows.len()), Ok(2));
    assert!(a.driver.until(read("r0")).is_err_and(|why| why.contains("no longer kept")));
}

#[test]
fn presence_reaches_a_picture_within_a_second_and_not_more_often() {
    let bed = Bed::running();
    let mut a = start(&bed, "a");
    let (link, pictures) = a.service.link(introduction());
    a.driver.add(pictures.future);
    a.driver.run(5);
    let desk = a.service.desk.clone();
    // cedar is not the first in line: its poll changes no fact
    a.driver.until(desk.poll(MachineId::named("cedar"), None, Duration::ZERO)).unwrap();
    let seen = |link: &LocalLink<TestHost>| link.pictures().borrow().observed.last_seen(MachineId::named("cedar"));
    a.driver.run(0);
    assert_eq!(seen(&link), None);
    a.driver.run(1);
    assert!(seen(&link).is_some());
}

#[test]
fn a_process_that_does_not_stand_never_ticks() {
    let bed = Bed::running();
    let mut a = start_with(&bed, "a", Settings { stands: false, ..Settings::default() });
    a.driver.run(600);
    assert_eq!(bed.world().seat.holder, None);
    assert_eq!(a.driver.until(a.service.door.ask(tick())), Err(DoorError::Deposed));
}

fn tick() -> Input {
    Input::Tick { fresh: RolloutId::named("fresh") }
}
