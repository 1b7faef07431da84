//! The link itself: what it sees, what it sends, and what it says where it cannot know.

use std::time::Duration;

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::remote::basic::lacks::ALWAYS;
use kura_console::adapters::remote::endpoint::Endpoint;
use kura_console::adapters::remote::far_clock::FarClock;
use kura_console::adapters::remote::link::RemoteLink;
use kura_console::adapters::remote::token::Token;
use kura_console::control::link::{Answer, Link};
use kura_console::control::picture::{Freshness, Picture};
use kura_console::domain::change::Level;
use kura_console::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use kura_console::domain::input::{Intent, Order, Verb};
use kura_console::domain::release::Outcome;
use serde_json::json;

use super::stub::{
    ASH, BIRCH, CEDAR, ENVIRONMENT, Extent, Mishap, RELEASE, RING, ROLLOUT, Stub, desert, silence, stranger,
};

fn id(text: &str) -> uuid::Uuid {
    text.parse().unwrap()
}

fn ash() -> MachineId {
    MachineId(id(ASH))
}

fn rollout() -> RolloutId {
    RolloutId(id(ROLLOUT))
}

fn follow(url: &str, token: &str) -> RemoteLink {
    let token = Token::parse(token, "the test").unwrap();
    let clock = FarClock::of(SystemClock::start());
    RemoteLink::start(Endpoint::parse(url).unwrap(), &token, Some(rollout()), clock).unwrap()
}

async fn until(link: &RemoteLink, what: &str, holds: impl FnMut(&Picture) -> bool) -> Picture {
    let mut pictures = link.pictures();
    let seen = tokio::time::timeout(Duration::from_secs(20), pictures.wait_for(holds)).await;
    seen.unwrap_or_else(|_| panic!("waited for {what} in vain")).unwrap().clone()
}

async fn attached(extent: Extent) -> (Stub, RemoteLink, Picture) {
    let stub = Stub::start(extent);
    let link = follow(stub.url(), "k_test");
    let picture = until(&link, "a picture", |picture| matches!(picture.api, Freshness::Live(_))).await;
    (stub, link, picture)
}

fn order(verb: Verb) -> Order {
    Order { verb, by: "ann".to_owned(), reason: Some("disk swap".to_owned()), key: Some("k-1".to_owned()) }
}

fn skip() -> Order {
    order(Verb::Pause(Level::Machine(ash())))
}

#[tokio::test]
async fn a_status_is_a_picture_and_what_it_cannot_tell_is_said() {
    let (stub, link, picture) = attached(Extent::Listed).await;
    let glimpse = picture.glimpse.clone().expect("it is a basic link");
    assert!(ALWAYS.iter().all(|lack| glimpse.lacks.iter().any(|said| said == lack)), "{:?}", glimpse.lacks);
    let names: Vec<&str> = picture.world.machines.values().map(|machine| machine.hostname.as_str()).collect();
    assert_eq!(names, ["ash", "birch", "cedar"]);
    assert!(picture.world.machines[&ash()].lease.is_some());
    assert_eq!(picture.world.rings[&RingId(id(RING))].settings.stall_timeout_seconds.0, 5400);
    // It goes on by itself, and takes in what changed.
    stub.tell(|status| status["halted_rings"] = json!({"pine-cp": "ash has held its slot for 91 minutes"}));
    let halted = until(&link, "the halt", |picture| {
        picture.world.current().is_some_and(|rollout| !rollout.halted_rings.is_empty())
    })
    .await;
    let halt = &halted.world.current().unwrap().halted_rings[&RingId(id(RING))];
    assert_eq!((halt.machine, halt.reason.as_str()), (ash(), "ash has held its slot for 91 minutes"));
    assert!(stub.reads() >= 2 && stub.asked().is_empty(), "looking changes nothing");
}

#[tokio::test]
async fn an_order_has_nothing_in_it_that_the_runbook_does_not_show() {
    let (stub, link, picture) = attached(Extent::Listed).await;
    let revision = picture.world.revision;
    for (order, sentence) in [
        (skip(), "ash is paused"),
        (order(Verb::Pause(Level::Ring(RingId(id(RING))))), "ring pine-cp is paused"),
        (order(Verb::Pause(Level::Environment(EnvironmentId(id(ENVIRONMENT))))), "environment pine-cp is paused"),
        (order(Verb::Halt { rollout: rollout() }), "is halted"),
    ] {
        let answer = link.order(order, Some(revision)).await;
        assert!(matches!(&answer, Answer::Done { sentence: said } if said.contains(sentence)), "{answer:?}");
    }
    let release = ReleaseId(id(RELEASE));
    let start = Verb::Start {
        id: RolloutId(id(CEDAR)),
        release,
        protected: Some(true),
        force: false,
        intent: Some(Intent::Start),
    };
    assert!(matches!(link.order(order(start), Some(revision)).await, Answer::Done { .. }));
    let asked = stub.asked();
    assert_eq!(asked.last().unwrap().body, json!({"config_release_uuid": RELEASE, "protected": true}));
    for asked in &asked {
        let ours = ["if-match", "idempotency-key", "x-reason"];
        assert!(ours.iter().all(|name| !asked.headers.contains_key(*name)), "{asked:?}");
        assert!(!asked.path.contains("dry_run") && asked.body.get("reason").is_none(), "{asked:?}");
    }
}

#[tokio::test]
async fn after_a_lost_answer_the_status_is_read_and_the_order_is_not_sent_again() {
    let (stub, link, _) = attached(Extent::Listed).await;
    stub.next(Mishap::AnswerLost);
    let reads = stub.reads();
    let answer = link.order(skip(), None).await;
    let Answer::Done { sentence } = &answer else { panic!("the status shows it: {answer:?}") };
    assert!(sentence.contains("ash is paused") && sentence.contains("its answer was lost"), "{sentence}");
    assert!(stub.reads() > reads);
    assert_eq!(stub.asked().len(), 1, "it was sent once");

    stub.next(Mishap::OrderLost);
    let answer = link.order(order(Verb::Pause(Level::Machine(MachineId(id(BIRCH))))), None).await;
    assert!(matches!(&answer, Answer::Unseen { why } if why.contains("does not show it")), "{answer:?}");
    // A reset looks like what was there before, so nothing that is read can tell.
    stub.next(Mishap::AnswerLost);
    let release = ReleaseId(id(RELEASE));
    let reset = Verb::Start { id: rollout(), release, protected: None, force: false, intent: Some(Intent::Reset) };
    let answer = link.order(order(reset), None).await;
    assert!(matches!(&answer, Answer::Unseen { why } if why.contains("cannot tell")), "{answer:?}");
    assert_eq!(stub.asked().len(), 3, "each was sent once");
}

#[tokio::test]
async fn what_is_told_by_name_only_and_what_is_no_verb_there_is_never_sent() {
    let (stub, link, picture) = attached(Extent::Shown).await;
    let ring = *picture.world.rings.keys().next().unwrap();
    let remove = Verb::RemoveMachine { machine: ash() };
    for verb in [Verb::Pause(Level::Ring(ring)), remove, Verb::AcceptClock] {
        let answer = link.order(order(verb), None).await;
        assert!(matches!(answer, Answer::Refused { .. }), "{answer:?}");
    }
    assert_eq!(stub.asked(), []);
    let glimpse = picture.glimpse.unwrap();
    for told in ["rings are not listed", "environments are not listed", "whether the rollout still runs is not told"] {
        assert!(glimpse.lacks.iter().any(|lack| lack.contains(told)), "{told}: {:?}", glimpse.lacks);
    }
}

#[tokio::test]
async fn results_are_read_as_far_as_they_are_told() {
    let (_stub, link, _) = attached(Extent::Shown).await;
    let results = link.results(rollout(), ash()).await.unwrap();
    assert_eq!((results[0].outcome, results[0].failed_states[0].id.as_str()), (Outcome::Failed, "k8s_drain"));
}

#[tokio::test]
async fn basic_down_and_not_ours_are_three_things() {
    let refused = |picture: &Picture| match &picture.api {
        Freshness::Refused { why, hint } => Some(format!("{why}; {hint}")),
        _ => None,
    };
    for url in [stranger(), desert()] {
        let link = follow(&url, "k_test");
        let picture = until(&link, "a no", |picture| refused(picture).is_some()).await;
        let said = refused(&picture).unwrap();
        assert!(said.contains("this is no control plane") && said.contains("check the address"), "{said}");
    }
    let link = follow("http://127.0.0.1:9", "k_test");
    until(
        &link,
        "a loss",
        |picture| matches!(&picture.api, Freshness::Lost { why, .. } if why.contains("cannot be reached")),
    )
    .await;
    let stub = Stub::start(Extent::Shown);
    let picture = until(&follow(stub.url(), "k_other"), "a no", |picture| refused(picture).is_some()).await;
    assert!(refused(&picture).unwrap().contains("TOKEN"), "{:?}", picture.api);
    let silent = follow(&silence(), "k_test");
    assert_eq!(silent.pictures().borrow().api, Freshness::Connecting);
}

#[tokio::test]
async fn a_rollout_that_is_not_there_is_named() {
    let stub = Stub::start(Extent::Listed);
    let token = Token::parse("k_test", "the test").unwrap();
    let (endpoint, clock) = (Endpoint::parse(stub.url()).unwrap(), FarClock::of(SystemClock::start()));
    let other = Some(RolloutId(id(ASH)));
    let link = RemoteLink::start(endpoint.clone(), &token, other, clock.clone()).unwrap();
    until(&link, "a no", |picture| {
        matches!(&picture.api, Freshness::Refused { why, hint } if why.contains(ASH) && hint.contains("--rollout"))
    })
    .await;
    let link = RemoteLink::start(endpoint, &token, None, clock).unwrap();
    let picture = until(&link, "a picture", |picture| matches!(picture.api, Freshness::Live(_))).await;
    assert!(picture.world.current().is_none());
    assert!(picture.glimpse.unwrap().lacks[0].contains("--rollout UUID"));
}
