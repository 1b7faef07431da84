//! The change stream: folding it gives the world, whoever joins when; what is not kept is said to be gone.

use std::sync::Arc;

use kura_console::adapters::journal::memory::MemoryJournal;
use kura_console::adapters::remote::replica::Replica;
use kura_console::adapters::remote::stream::Parser;
use kura_console::control::ports::Clock;
use kura_console::server::shared::{STREAMS_EACH, STREAMS_MAX};
use kura_console::server::tokens::TokenRole;
use kura_console::wire::world::WorldBody;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::bed::{Bed, Keys, MemoryHost, tell, within};

async fn world(bed: &Bed<MemoryHost>) -> WorldBody {
    serde_json::from_value(bed.get("/api/world?tail=1000").await).expect("a world")
}

async fn open(bed: &Bed<MemoryHost>, after: u64) -> Response {
    let path = format!("/api/changes?after={after}");
    let opened =
        bed.request(Method::GET, &path).bearer_auth(bed.token(TokenRole::Viewer)).send().await.expect("a stream");
    assert_eq!(
        (opened.status().as_u16(), &opened.headers()["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    opened
}

/// Folds a stream into a replica until it is at `revision` and has seen `polls` machines.
async fn fold(replica: &mut Replica, mut stream: Response, revision: u64, polls: usize) {
    let mut parser = Parser::default();
    let folding = async {
        while replica.world.revision < revision || replica.observed.last_poll.len() < polls {
            let chunk = stream.chunk().await.expect("bytes").expect("the stream goes on");
            for frame in parser.push(&chunk).expect("frames") {
                assert_eq!(frame.id.is_some(), frame.event == "change", "only changes carry an id");
                replica.fold(&frame).expect("no gap");
            }
        }
    };
    assert!(within(folding).await.is_some(), "the stream never came to revision {revision}");
}

/// Something of everything.
async fn live(bed: &Bed<MemoryHost>) {
    let ring = json!({"name": "oak-ring", "max_in_flight": 1, "failure_count_threshold": 1});
    let fleet = bed.fleet(ring, &["ash", "birch", "cedar"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    let status = bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let first = status["machines"][0]["uuid"].as_str().unwrap();
    let assignment = bed.poll(first).await["assignment"].clone();
    bed.report(first, &assignment, "failed", "2026-07-01T10:00:00Z").await.expect(200);
    let other = bed.release("v2").await;
    bed.post("/api/config/rollouts/", json!({"config_release_uuid": other})).await.expect(409);
    bed.post(&format!("/api/config/rings/{}/pause", fleet.ring), json!({"reason": "look"})).await.expect(200);
    bed.call("PATCH", &format!("/api/provisioning/machines/{}", fleet.machines[1]), json!({"ring": null}))
        .await
        .expect(200);
    for machine in &fleet.machines {
        bed.poll(machine).await;
    }
}

#[tokio::test]
async fn folding_the_stream_gives_the_world() {
    let bed = Bed::start().await;
    let mut joined_early = Replica::load(world(&bed).await);
    let stream = open(&bed, joined_early.world.revision).await;
    live(&bed).await;
    let truth = world(&bed).await;
    fold(&mut joined_early, stream, truth.revision, 3).await;
    assert_eq!(*joined_early.world, truth.world);
    assert_eq!(joined_early.observed.last_poll, truth.observed.last_poll);
    assert_eq!(joined_early.observed.refused_start, truth.observed.refused_start);
    assert!(joined_early.observed.last_tick.is_some());
    let tail: Vec<_> = joined_early.tail.iter().map(|entry| entry.as_ref().clone()).collect();
    assert_eq!(tail, truth.tail);

    // Whoever was away in the middle goes on from where they were.
    let mut late = Replica::load(world(&bed).await);
    bed.post("/api/config/environments/", json!({"slug": "elm"})).await.expect(201);
    let from = late.world.revision;
    let truth = world(&bed).await;
    let stream = open(&bed, from).await;
    fold(&mut late, stream, truth.revision, 3).await;
    assert_eq!(*late.world, truth.world);
    bed.stop().await;
}

#[tokio::test]
async fn what_is_not_kept_any_more_or_never_was_is_gone() {
    let host = MemoryHost { journal: MemoryJournal::keeping(3), ..MemoryHost::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let bed = Bed::on(listener, Arc::new(host), Keys::make());
    for n in 0..4 {
        bed.post("/api/config/environments/", json!({"slug": format!("e{n}")})).await.expect(201);
    }
    let revision = world(&bed).await.revision;
    let request = bed.request(Method::GET, &format!("/api/changes?after={}", revision + 1));
    let ahead = tell(request.bearer_auth(bed.token(TokenRole::Viewer)).send().await.unwrap()).await.expect(410);
    assert!(ahead.body["hints"].to_string().contains("/api/world"));
    let keys = bed.keys.clone();
    let host = Arc::clone(&bed.host);
    bed.stop().await;
    // A process that starts later has nothing at hand but what the journal keeps.
    let bed = Bed::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), host, keys);
    let request = bed.request(Method::GET, "/api/changes?after=0").bearer_auth(bed.token(TokenRole::Viewer));
    tell(request.send().await.unwrap()).await.expect(410);
    bed.stop().await;
}

#[tokio::test]
async fn a_stream_resumes_by_the_header_browsers_send_and_ends_with_the_process() {
    let bed = Bed::start().await;
    for n in 0..3 {
        bed.post("/api/config/environments/", json!({"slug": format!("e{n}")})).await.expect(201);
    }
    let revision = world(&bed).await.revision;
    let request = bed.request(Method::GET, "/api/changes?after=0").bearer_auth(bed.token(TokenRole::Viewer));
    let request = request.header("last-event-id", (revision - 1).to_string());
    let mut stream = request.send().await.expect("a stream");
    let mut text = String::new();
    while !text.contains("presence") {
        text.push_str(&String::from_utf8_lossy(&stream.chunk().await.expect("bytes").expect("more")));
    }
    assert!(text.starts_with(&format!("id: {revision}\nevent: change\n")), "{text}");
    bed.stop().await;
    let ended = within(async { while stream.chunk().await.is_ok_and(|chunk| chunk.is_some()) {} }).await;
    assert!(ended.is_some(), "the stream outlives the process");
}

#[tokio::test]
async fn streams_beyond_the_limit_are_told_to_come_again() {
    let bed = Bed::start().await;
    bed.get("/api/seat").await;
    let readers: Vec<&str> = ["default", "other"]
        .iter()
        .flat_map(|account| [TokenRole::Viewer, TokenRole::Operator, TokenRole::Owner].map(|r| bed.keys.of(account, r)))
        .collect();
    let follow = |token: &str| bed.request(Method::GET, "/api/changes").bearer_auth(token).send();
    let mut open_streams = Vec::new();
    for token in &readers[..STREAMS_MAX / STREAMS_EACH] {
        for _ in 0..STREAMS_EACH {
            let opened = follow(token).await.expect("a stream");
            assert_eq!(opened.status(), 200);
            open_streams.push(opened);
        }
        let refused = tell(follow(token).await.unwrap()).await.expect(429);
        assert_eq!(
            (refused.text("code"), &refused.headers["retry-after"]),
            ("too_many_streams", &"1".parse().unwrap())
        );
        let own = open_streams.len() < STREAMS_MAX;
        assert_eq!(refused.text("detail").contains("this token"), own, "{}", refused.body);
    }
    let refused = tell(follow(readers[STREAMS_MAX / STREAMS_EACH]).await.unwrap()).await.expect(429);
    assert!(refused.text("detail").contains("1000"), "{}", refused.body);
    drop(open_streams);
    let free = async {
        loop {
            let request = bed.request(Method::GET, "/api/changes").bearer_auth(bed.token(TokenRole::Viewer));
            if request.send().await.expect("an answer").status() == 200 {
                return;
            }
            bed.host.clock.sleep(super::bed::TICK).await;
        }
    };
    assert!(within(free).await.is_some(), "readers that went away keep their places");
    bed.stop().await;
}

#[tokio::test]
async fn the_world_holds_no_token_and_no_content() {
    let bed = Bed::start().await;
    live(&bed).await;
    let text = bed.get("/api/world?tail=1000").await.to_string();
    for role in TokenRole::ALL {
        assert!(!text.contains(bed.token(role)));
    }
    assert!(!text.contains("content of v1"));
    assert_ne!(bed.get("/api/world").await["tail"], Value::Null);
    bed.stop().await;
}
