//! The remote link: keeps its picture through an outage, comes back by itself, never guesses what became of an order.

use std::path::Path;
use std::sync::Arc;

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::remote::endpoint::Endpoint;
use kura_console::adapters::remote::far_clock::FarClock;
use kura_console::adapters::remote::link::RemoteLink;
use kura_console::adapters::remote::token::Token;
use kura_console::app::host::ServerHost;
use kura_console::control::link::{Answer, Link};
use kura_console::control::picture::{Freshness, Picture, Role};
use kura_console::domain::change::Level;
use kura_console::domain::ids::RingId;
use kura_console::domain::input::{Intent, Order, Verb};
use kura_console::server::tokens::TokenRole;
use serde_json::json;
use tokio::net::TcpListener;

use super::bed::{Bed, Keys, within};

async fn serve(path: &Path, address: &str, keys: &Keys) -> Bed<ServerHost> {
    let listener = TcpListener::bind(address).await.expect("the port is free");
    let host =
        ServerHost::without_cluster(path, SystemClock::start(), "serve@test:1".to_owned()).await.expect("a host");
    Bed::on(listener, Arc::new(host), keys.clone())
}

fn link(url: &str, token: &str) -> RemoteLink {
    let token = Token::parse(token, "a test").unwrap();
    RemoteLink::start(Endpoint::parse(url).unwrap(), &token, None, FarClock::of(SystemClock::start())).unwrap()
}

/// The first picture of which `holds` is true.
async fn until(link: &RemoteLink, what: &str, holds: impl Fn(&Picture) -> bool) -> Picture {
    let mut pictures = link.pictures();
    let found =
        within(async { pictures.wait_for(|picture| holds(picture)).await.expect("the link lives").clone() }).await;
    found.unwrap_or_else(|| panic!("never: {what}; the picture says {:?}", link.pictures().borrow().api))
}

fn is_live(picture: &Picture) -> bool {
    matches!(picture.api, Freshness::Live(_))
}

fn order(verb: Verb, key: &str) -> Order {
    Order { verb, by: "somebody else".to_owned(), reason: Some("test".to_owned()), key: Some(key.to_owned()) }
}

#[tokio::test]
async fn a_restart_on_the_same_file_is_seen_and_survived() {
    let folder = tempfile::tempdir().unwrap();
    let (path, keys) = (folder.path().join("kura.db"), Keys::make());
    let bed = serve(&path, "127.0.0.1:0", &keys).await;
    bed.fleet(json!({"name": "oak-ring", "max_in_flight": 1}), &["ash"]).await;
    let address = bed.url.trim_start_matches("http://").to_owned();
    let link = link(&bed.url, bed.token(TokenRole::Operator));
    let before = until(&link, "the first picture", is_live).await;
    assert_eq!((before.account.as_str(), before.role, before.world.machines.len()), ("default", Role::Operator, 1));
    assert_eq!(before.endpoint, bed.url);
    bed.host.close().await;
    bed.stop().await;
    let lost = until(&link, "it is lost", |p| matches!(p.api, Freshness::Lost { .. })).await;
    assert_eq!(lost.world, before.world, "the last picture stays");
    assert!(matches!(&lost.api, Freshness::Lost { retry_at: Some(_), .. }), "{:?}", lost.api);
    let unsent = link.order(order(Verb::Pause(Level::Ring(RingId::named("x"))), "k0"), None).await;
    assert!(matches!(unsent, Answer::Unsent { .. }), "{unsent:?}");

    let bed = serve(&path, &address, &keys).await;
    bed.post("/api/config/environments/", json!({"slug": "elm"})).await.expect(201);
    let after = until(&link, "it is back", |p| is_live(p) && p.world.environments.len() == 2).await;
    assert!(after.world.revision > before.world.revision);
    assert!(after.tail.iter().zip(after.tail.iter().skip(1)).all(|(a, b)| b.revision == a.revision + 1), "no gap");
    bed.stop().await;
}

#[tokio::test]
async fn orders_are_answered_in_words_and_done_once() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(json!({"name": "oak-ring", "max_in_flight": 1}), &["ash"]).await;
    let release = bed.release("v1").await;
    let link = link(&bed.url, bed.token(TokenRole::Operator));
    let picture = until(&link, "the first picture", |p| is_live(p) && p.world.releases.len() == 1).await;
    let ring = RingId(fleet.ring.parse().unwrap());
    let pause = order(Verb::Pause(Level::Ring(ring)), "k1");
    let done = Answer::Done { sentence: "ring oak-ring is paused".to_owned() };
    assert_eq!(link.order(pause.clone(), None).await, done);
    assert_eq!(link.order(pause, None).await, done, "the same key again");
    let seen = until(&link, "the pause arrives", |p| p.world.rings[&ring].paused.is_some()).await;
    let pauses =
        seen.tail.iter().filter(|entry| matches!(entry.change, kura_console::domain::change::Change::Paused { .. }));
    let pauses: Vec<_> = pauses.collect();
    assert_eq!((pauses.len(), pauses[0].by.as_str()), (1, "operator"), "the token says who it was");

    let release = picture.world.releases.keys().find(|id| id.to_string() == release).copied().unwrap();
    let start = |intent, key: &str| {
        let id = kura_console::domain::ids::RolloutId(uuid::Uuid::new_v4());
        order(Verb::Start { id, release, protected: Some(true), force: false, intent: Some(intent) }, key)
    };
    let started = link.order(start(Intent::Start, "k2"), None).await;
    assert_eq!(started, Answer::Done { sentence: "the rollout of v1 is running".to_owned() });
    let refused = link.order(start(Intent::Start, "k3"), None).await;
    assert!(matches!(&refused, Answer::Refused { hints, .. } if !hints.is_empty()), "{refused:?}");
    let reset = link.order(start(Intent::Reset, "k4"), None).await;
    assert!(matches!(&reset, Answer::Done { sentence } if sentence.contains("reset")), "{reset:?}");
    bed.stop().await;
}

#[tokio::test]
async fn a_wrong_token_is_refused_with_a_hint() {
    let bed = Bed::start().await;
    for token in ["kura_wrong", bed.token(TokenRole::Agent)] {
        let refused =
            until(&link(&bed.url, token), "it is refused", |p| matches!(p.api, Freshness::Refused { .. })).await;
        let Freshness::Refused { why, hint } = refused.api else { panic!("{:?}", refused.api) };
        assert!(!hint.is_empty() && !why.contains(token), "{why} {hint}");
    }
    let viewer = link(&bed.url, bed.token(TokenRole::Viewer));
    until(&viewer, "a viewer looks", is_live).await;
    let no = viewer.order(order(Verb::Pause(Level::Ring(RingId::named("x"))), "k"), None).await;
    assert!(matches!(no, Answer::Refused { .. }), "{no:?}");
    bed.stop().await;
}
