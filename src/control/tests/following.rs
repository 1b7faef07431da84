//! Following a repository in virtual time: who looks, when, and what comes of it.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::bed::{Bed, account, verb};
use super::driver::Driver;
use super::store::TestHost;
use crate::control::following::{BACK_OFF_MAX, Follower, Following, Origin, Tag, run_follower};
use crate::control::ports::Clock;
use crate::control::service::{Service, Settings};
use crate::domain::ids::AccountId;
use crate::domain::input::Verb;

/// A repository whose state a test writes down.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    tip: &'static str,
    is_away: bool,
    looks: Vec<jiff::Timestamp>,
    trouble: Option<String>,
    clock: Option<super::driver::TestClock>,
}

impl Origin for Fake {
    async fn refresh(&self) -> Result<(), String> {
        let mut written = self.0.lock().unwrap();
        let now = written.clock.as_ref().unwrap().now();
        written.looks.push(now);
        if written.is_away { Err("it is away".to_owned()) } else { Ok(()) }
    }

    async fn tip(&self, branch: &str) -> Result<Option<String>, String> {
        Ok((branch == "main").then(|| self.0.lock().unwrap().tip.to_owned()))
    }

    fn tags(&self) -> impl Future<Output = Result<Vec<Tag>, String>> + Send {
        ready(Ok(Vec::new()))
    }

    async fn content(&self, _git_ref: &str, commit: &str) -> Result<Vec<u8>, String> {
        Ok(format!("states of {commit}").into_bytes())
    }

    fn note(&self, _account: AccountId, trouble: Option<String>) {
        self.0.lock().unwrap().trouble = trouble;
    }
}

/// A service that follows.
fn start(bed: &Bed, name: &str, fake: &Fake) -> (Service<TestHost>, Driver) {
    fake.0.lock().unwrap().clock = Some(bed.clock.clone());
    let (service, loops) = Service::new(bed.host(name), account(), Settings::default());
    let mut driver = Driver::new(&bed.clock);
    loops.into_iter().for_each(|each| driver.add(each.future));
    let follower = Follower {
        host: bed.host(name),
        account: account(),
        door: service.door.clone(),
        held: service.held.clone(),
        stop: service.stop.clone(),
        origin: fake.clone(),
        following: Following { branch: "main".to_owned(), period: Duration::from_secs(60) },
    };
    driver.add(Box::pin(run_follower(follower)));
    (service, driver)
}

fn follow_commits(bed: &Bed) {
    let on = Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None };
    bed.process("setup").one(verb(on)).unwrap();
}

#[test]
fn only_the_holder_of_the_seat_looks_and_a_new_commit_starts_once() {
    // R100, R169
    let bed = Bed::new();
    let fake = Fake::default();
    fake.0.lock().unwrap().tip = "aa";
    let (a, mut driver_of_a) = start(&bed, "a", &fake);
    driver_of_a.run(120);
    assert!(fake.0.lock().unwrap().looks.is_empty(), "nobody wants it");
    follow_commits(&bed);
    driver_of_a.run(5);
    assert_eq!(bed.world().seen_commit.unwrap().commit, "aa", "it looks as soon as somebody wants it");
    let (_b, mut driver_of_b) = start(&bed, "b", &fake);
    fake.0.lock().unwrap().tip = "bb";
    for _ in 0..200 {
        let before = bed.clock.now();
        driver_of_b.run(1);
        bed.clock.set(before);
        driver_of_a.run(1);
    }
    let world = bed.world();
    assert_eq!((world.rollouts.len(), world.seen_commit.as_ref().unwrap().commit.as_str()), (1, "bb"));
    assert_eq!(world.releases.values().filter(|release| release.git_ref == "main").count(), 1);
    let looks = fake.0.lock().unwrap().looks.len();
    assert!((4..=6).contains(&looks), "one process looks about once a minute, not {looks} times");
    a.stop.ask();
    driver_of_a.run(0);
    assert_eq!(driver_of_a.alive(), 0);
}

#[test]
fn looks_that_fail_come_further_apart_up_to_a_limit_and_say_why() {
    let bed = Bed::new();
    let fake = Fake::default();
    fake.0.lock().unwrap().is_away = true;
    follow_commits(&bed);
    let (_a, mut driver) = start(&bed, "a", &fake);
    driver.run(3 * 3_600);
    let written = fake.0.lock().unwrap();
    assert_eq!(written.trouble.as_deref(), Some("it is away"));
    let pauses: Vec<i64> = written.looks.windows(2).map(|two| two[1].duration_since(two[0]).as_secs()).collect();
    let limit = i64::try_from(BACK_OFF_MAX.as_secs()).unwrap();
    assert!((108..=133).contains(&pauses[0]) && pauses[1] > 200, "{pauses:?}");
    assert!(pauses.iter().all(|pause| *pause <= limit * 11 / 10 + 1), "{pauses:?}");
    assert!(pauses.len() < 16, "{pauses:?}");
}
