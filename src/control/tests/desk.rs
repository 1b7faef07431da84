//! The agents' desk: what is held, what is news, what a report survives.

use std::time::Duration;

use super::bed::{Bed, CONTENT, account, edition, pause, result, start};
use super::driver::{Driver, TestClock};
use super::store::TestHost;
use crate::control::desk::{DeskError, HELD_AT_MOST, POLL_AFTER_NEWS};
use crate::control::nudges::POLLS_HELD_PER_MACHINE;
use crate::control::ports::Clock;
use crate::control::render::{AsPublished, Renderer};
use crate::control::service::{Service, Settings};
use crate::control::time::until;
use crate::domain::ids::MachineId;
use crate::domain::input::Rendered;
use crate::domain::observed::{POLL_AFTER, Telemetry};
use crate::domain::refusal::Refusal;
use crate::domain::release::{Outcome, Release};
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

const WAIT: Duration = Duration::from_secs(25);

fn id(name: &str) -> MachineId {
    MachineId::named(name)
}

/// A desk on a world in which v1 runs, without a reconciler.
fn open<R: Renderer>(bed: &Bed, renderer: R) -> (Service<TestHost, R>, Driver) {
    let settings = Settings { stands: false, ..Settings::default() };
    let (service, loops) = Service::with_renderer(bed.host("a"), account(), settings, renderer);
    let mut driver = Driver::new(&bed.clock);
    loops.into_iter().for_each(|l| driver.add(l.future));
    driver.run(1);
    (service, driver)
}

#[test]
fn news_is_answered_at_once_with_its_content() {
    // R18
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    let began = bed.clock.now();
    let answer = driver.until(service.desk.poll(id("ash"), None, WAIT)).unwrap();
    let handout = answer.assignment.unwrap();
    assert_eq!((&*handout.content, handout.timeout_seconds), (CONTENT, Seconds(600)));
    assert_eq!((bed.clock.now(), answer.poll_after), (began, POLL_AFTER_NEWS));
    assert_eq!(bed.holders(), ["ash"]);
    let have = Some(handout.edition);
    driver.until(service.desk.poll(id("ash"), have, Duration::ZERO)).unwrap();
    assert_eq!(bed.store.lock().fetched, 1, "a content is read once");
}

#[test]
fn a_poll_without_news_is_held_for_as_long_as_it_may_wait() {
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    let began = bed.clock.now();
    let answer = driver.until(service.desk.poll(id("birch"), None, WAIT)).unwrap();
    assert_eq!((answer.assignment, answer.poll_after), (None, Seconds(0)));
    assert_eq!(until(bed.clock.now(), began), WAIT);
    let at_once = driver.until(service.desk.poll(id("birch"), None, Duration::ZERO)).unwrap();
    assert_eq!(at_once.poll_after, POLL_AFTER);
    let began = bed.clock.now();
    driver.until(service.desk.poll(id("birch"), None, Duration::from_secs(3_600))).unwrap();
    assert_eq!(until(bed.clock.now(), began), HELD_AT_MOST);
}

#[test]
fn a_held_poll_lasts_no_longer_where_the_clock_is_set() {
    // R168
    for seconds in [7_200, -7_200] {
        let bed = Bed::running();
        let (service, mut driver) = open(&bed, AsPublished);
        let began = bed.clock.steady();
        let desk = service.desk.clone();
        let both = async {
            tokio::join!(desk.poll(id("birch"), None, WAIT), async {
                bed.clock.sleep(Duration::from_secs(5)).await;
                bed.clock.set_wall(seconds);
                // an order that frees nothing wakes the poll, which is held on
                service.door.ask(pause("birch")).await
            })
        };
        let (answer, paused) = driver.until(both);
        assert!(paused.is_ok() && answer.unwrap().assignment.is_none());
        assert_eq!(until(bed.clock.steady(), began), WAIT, "clock set by {seconds} s");
    }
}

#[test]
fn a_freed_slot_reaches_the_next_in_line_while_its_poll_is_held() {
    // R38
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    driver.until(service.desk.poll(id("ash"), None, WAIT)).unwrap();
    let began = bed.clock.now();
    let desk = service.desk.clone();
    let both = async {
        tokio::join!(desk.poll(id("birch"), None, WAIT), async {
            bed.clock.sleep(Duration::from_secs(7)).await;
            service.door.ask(pause("ash")).await
        })
    };
    let (answer, paused) = driver.until(both);
    assert!(paused.is_ok() && answer.unwrap().assignment.is_some());
    assert_eq!(until(bed.clock.now(), began), Duration::from_secs(7));
    assert_eq!(bed.holders(), ["birch"]);
}

#[test]
fn a_nudge_between_the_question_and_the_wait_is_not_lost() {
    // R38
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    driver.until(service.desk.poll(id("ash"), None, WAIT)).unwrap();
    let began = bed.clock.now();
    // both are decided in one turn: the poll first, and the pause before anybody hears of either
    let both = async { tokio::join!(service.desk.poll(id("birch"), None, WAIT), service.door.ask(pause("ash"))) };
    let (answer, paused) = driver.until(both);
    assert!(paused.is_ok() && answer.unwrap().assignment.is_some());
    assert_eq!(bed.clock.now(), began);
}

#[test]
fn a_withdrawn_run_is_cancelled_while_its_poll_is_held() {
    // R22, R25
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    let handout = driver.until(service.desk.poll(id("ash"), None, WAIT)).unwrap().assignment.unwrap();
    let began = bed.clock.now();
    let held = async {
        tokio::join!(service.desk.poll(id("ash"), Some(handout.edition), WAIT), async {
            bed.clock.sleep(Duration::from_secs(7)).await;
            service.door.ask(pause("ash")).await
        })
    };
    let (answer, _) = driver.until(held);
    let answer = answer.unwrap();
    assert!(answer.cancel && answer.assignment.is_none());
    assert_eq!(until(bed.clock.now(), began), Duration::from_secs(7), "not only at the end of the wait");
}

#[test]
fn a_stop_lets_held_polls_go() {
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    let began = bed.clock.now();
    let held = async {
        tokio::join!(service.desk.poll(id("birch"), None, WAIT), async {
            bed.clock.sleep(Duration::from_secs(2)).await;
            service.stop.ask();
        })
    };
    assert!(driver.until(held).0.is_ok());
    assert_eq!(until(bed.clock.now(), began), Duration::from_secs(2));
}

#[test]
fn a_poll_is_a_sign_of_life_of_known_machines_only() {
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    driver.until(service.desk.poll(id("cedar"), None, Duration::ZERO)).unwrap();
    let stranger = driver.until(service.desk.poll(id("stranger"), None, WAIT));
    assert_eq!(stranger, Err(DeskError::Refused(Refusal::NoMachine(id("stranger")))));
    let seen: Vec<MachineId> = service.observer.observe(&service.door.world()).last_poll.keys().copied().collect();
    assert_eq!(seen, [id("cedar")]);
}

#[test]
fn an_outage_of_the_results_loses_a_row_and_no_decision() {
    // R145
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    driver.until(service.desk.poll(id("ash"), None, WAIT)).unwrap();
    bed.store.lock().telemetry = Telemetry::Unreadable;
    let report = result(&bed.world(), "ash", Outcome::Success);
    assert_eq!(driver.until(service.desk.report(report)), Ok(Reply::Done));
    assert!(bed.holders().is_empty() && bed.store.lock().results.is_empty());
    bed.store.lock().telemetry = Telemetry::Readable;
    let report = result(&bed.world(), "ash", Outcome::Success);
    driver.until(service.desk.report(report)).unwrap();
    assert_eq!(bed.store.lock().results.len(), 1);
}

#[test]
fn a_report_that_was_not_decided_is_not_filed() {
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    let stranger = result(&bed.world(), "stranger", Outcome::Success);
    assert!(matches!(driver.until(service.desk.report(stranger)), Err(DeskError::Refused(_))));
    driver.until(service.desk.poll(id("ash"), None, WAIT)).unwrap();
    bed.store.lock().is_down = true;
    let report = result(&World::clone(&service.door.world()), "ash", Outcome::Success);
    assert!(matches!(driver.until(service.desk.report(report)), Err(DeskError::Door(_))));
    assert!(bed.store.lock().results.is_empty(), "the agent reports again");
}

#[test]
fn a_rebuilt_machine_has_nothing_of_its_past() {
    // R152
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    driver.until(service.desk.poll(id("ash"), None, WAIT)).unwrap();
    driver.until(service.desk.rebuilt(id("ash"), Some("1.34.1".to_owned()))).unwrap();
    assert!(bed.holders().is_empty());
    assert_eq!(bed.world().machines[&id("ash")].version.as_deref(), Some("1.34.1"));
}

/// Cannot render ash; everybody else gets what was published.
struct LacksAVariable;

impl Renderer for LacksAVariable {
    async fn render(&self, world: &World, release: &Release, machine: MachineId) -> Rendered {
        match world.hostname(machine) {
            "ash" => Rendered::Missing(vec!["K8S_VIP".to_owned()]),
            _ => Rendered::Content(release.content.clone()),
        }
    }
}

#[test]
fn a_machine_that_cannot_be_rendered_gets_nothing_and_the_world_says_why() {
    // R148
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, LacksAVariable);
    let answer = driver.until(service.desk.poll(id("ash"), None, Duration::ZERO)).unwrap();
    assert_eq!(answer.assignment, None);
    assert_eq!(bed.world().machines[&id("ash")].render_error.as_ref().unwrap().missing, ["K8S_VIP"]);
}

/// Takes long enough for a start to get between rendering and asking.
struct Slow(TestClock);

impl Renderer for Slow {
    async fn render(&self, _world: &World, release: &Release, _machine: MachineId) -> Rendered {
        self.0.sleep(Duration::from_secs(3)).await;
        Rendered::Content(release.content.clone())
    }
}

#[test]
fn a_poll_that_a_start_outran_is_rendered_again() {
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, Slow(bed.clock.clone()));
    let both = async {
        tokio::join!(service.desk.poll(id("ash"), None, WAIT), async {
            bed.clock.sleep(Duration::from_secs(1)).await;
            service.door.ask(start("r2", "v2")).await
        })
    };
    let handout = driver.until(both).0.unwrap().assignment.unwrap();
    assert_eq!(handout.edition, edition("v2", bed.world().running().unwrap().generation));
}

#[test]
fn a_content_that_is_gone_is_an_error_and_the_lease_stays() {
    let bed = Bed::running();
    bed.store.lock().contents.clear();
    let (service, mut driver) = open(&bed, AsPublished);
    let answer = driver.until(service.desk.poll(id("ash"), None, WAIT));
    assert!(matches!(answer, Err(DeskError::Gone(_))), "{answer:?}");
    assert_eq!(bed.holders(), ["ash"]);
}

#[test]
fn too_many_polls_of_one_machine_are_not_held() {
    let bed = Bed::running();
    let (service, mut driver) = open(&bed, AsPublished);
    let many = POLLS_HELD_PER_MACHINE + 1;
    let polls: Vec<_> = (0..many).map(|_| service.desk.poll(id("birch"), None, WAIT)).collect();
    let began = bed.clock.now();
    let (first, rest) = driver.until(async {
        let mut polls: Vec<_> = polls.into_iter().map(Box::pin).collect();
        let (first, _, rest) = futures_util::future::select_all(polls.drain(..)).await;
        (first, rest)
    });
    assert!(first.is_ok());
    assert_eq!((bed.clock.now(), rest.len()), (began, many - 1));
}
