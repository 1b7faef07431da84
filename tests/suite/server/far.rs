//! The remote link against a far end that misbehaves: silence, gaps, answers that never come, a clock of its own.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::StreamExt;
use futures_util::stream::{iter, once};
use jiff::{SignedDuration, Timestamp};
use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::remote::endpoint::Endpoint;
use kura_console::adapters::remote::far_clock::FarClock;
use kura_console::adapters::remote::link::RemoteLink;
use kura_console::adapters::remote::token::Token;
use kura_console::control::link::{Answer, Link};
use kura_console::control::picture::{Freshness, Picture};
use kura_console::control::ports::Clock;
use kura_console::domain::change::{Cause, Change, Entry};
use kura_console::domain::fleet::Account;
use kura_console::domain::ids::{AccountId, RolloutId};
use kura_console::domain::input::{Order, Verb};
use kura_console::domain::observed::Observed;
use kura_console::domain::world::World;
use kura_console::wire::process::SeatBody;
use kura_console::wire::stream::{HEARTBEAT_FRAME, change_frame};
use kura_console::wire::world::{AccountName, RoleWord, WorldBody};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::bed::within;

/// A clock on which waits pass a thousand times as fast; what it shows is our time.
#[derive(Clone)]
struct Hasty(SystemClock);

impl Clock for Hasty {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send {
        let clock = self.0;
        async move { clock.sleep(span / 1_000).await }
    }
}

/// How far the far end's clock is ahead.
const AHEAD: SignedDuration = SignedDuration::from_mins(7);

#[derive(Clone)]
struct FarEnd {
    loads: Arc<AtomicUsize>,
    streams: Arc<AtomicUsize>,
    /// What every stream sends before it falls silent.
    frames: Arc<Vec<String>>,
    clock: SystemClock,
}

async fn load(State(far): State<FarEnd>) -> axum::Json<WorldBody> {
    far.loads.fetch_add(1, Ordering::SeqCst);
    let now = far.clock.now() + AHEAD;
    axum::Json(WorldBody {
        revision: 0,
        world: World::default(),
        observed: Observed::starting_at(now),
        cluster_edition: None,
        tail: Vec::new(),
        seat: SeatBody::default(),
        journal: None,
        account: AccountName { uuid: AccountId::named("far"), name: "far".to_owned() },
        role: RoleWord::Operator,
        bearer: "test".to_owned(),
        now,
    })
}

async fn follow(State(far): State<FarEnd>) -> Response {
    far.streams.fetch_add(1, Ordering::SeqCst);
    let frames: Vec<Bytes> = far.frames.iter().cloned().map(Bytes::from).collect();
    let silence = once(pending::<Bytes>());
    let body = Body::from_stream(iter(frames).chain(silence).map(Ok::<_, Infallible>));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// A far end whose streams send `frames` and then nothing, ever.
async fn far_end(frames: Vec<String>) -> (FarEnd, String) {
    let far = FarEnd {
        loads: Arc::default(),
        streams: Arc::default(),
        frames: Arc::new(frames),
        clock: SystemClock::start(),
    };
    let routes = Router::new().route("/api/world", get(load)).route("/api/changes", get(follow));
    let routes = routes.route("/api/config/rollouts/{uuid}/halt", post(pending::<&'static str>));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = routes.with_state(far.clone());
    tokio::spawn(async move { axum::serve(listener, served).await });
    (far, url)
}

fn link(url: &str) -> (RemoteLink, FarClock<Hasty>) {
    let clock = FarClock::of(Hasty(SystemClock::start()));
    let token = Token::parse("kura_x", "a test").unwrap();
    (RemoteLink::start(Endpoint::parse(url).unwrap(), &token, None, clock.clone()).unwrap(), clock)
}

async fn until(link: &RemoteLink, holds: impl Fn(&Picture) -> bool) -> Picture {
    let mut pictures = link.pictures();
    let found = within(async { pictures.wait_for(|picture| holds(picture)).await.unwrap().clone() }).await;
    found.unwrap_or_else(|| panic!("never; the picture says {:?}", link.pictures().borrow().api))
}

async fn at_least(count: &AtomicUsize, wanted: usize) {
    let reached = async {
        while count.load(Ordering::SeqCst) < wanted {
            SystemClock::start().sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(within(reached).await.is_some(), "it happened {} times only", count.load(Ordering::SeqCst));
}

fn entry(revision: u64) -> String {
    let change = Change::AccountChanged { account: Account::default() };
    let at = Timestamp::UNIX_EPOCH;
    change_frame(&Entry { revision, at, by: "ann".to_owned(), cause: Cause::Tick, change }).unwrap()
}

#[tokio::test]
async fn a_stream_over_which_nothing_comes_is_lost_and_taken_up_where_it_was() {
    let (far, url) = far_end(vec![entry(1), HEARTBEAT_FRAME.to_owned()]).await;
    let (link, _) = link(&url);
    let lost = until(&link, |p| matches!(p.api, Freshness::Lost { .. })).await;
    assert!(matches!(&lost.api, Freshness::Lost { why, .. } if why.contains("40 s")), "{:?}", lost.api);
    assert_eq!(lost.world.revision, 1);
    at_least(&far.streams, 3).await;
    assert_eq!(far.loads.load(Ordering::SeqCst), 1, "what is known is not loaded again");
}

#[tokio::test]
async fn a_gap_makes_it_load_again() {
    let (far, url) = far_end(vec![entry(1), entry(3)]).await;
    let (link, _) = link(&url);
    at_least(&far.loads, 2).await;
    until(&link, |p| matches!(p.api, Freshness::Live(_))).await;
}

#[tokio::test]
async fn a_far_end_that_cannot_be_read_is_loaded_again_and_again() {
    let (far, url) = far_end(vec!["id: 1\nevent: change\ndata: {}\n\n".to_owned()]).await;
    let _link = link(&url);
    at_least(&far.loads, 3).await;
}

#[tokio::test]
async fn pictures_are_looked_at_by_the_far_ends_clock() {
    let (_far, url) = far_end(vec![HEARTBEAT_FRAME.to_owned()]).await;
    let (link, clock) = link(&url);
    let live = until(&link, |p| matches!(p.api, Freshness::Live(_))).await;
    let Freshness::Live(at) = live.api else { panic!("{:?}", live.api) };
    let ahead = at.duration_since(SystemClock::start().now());
    assert!((ahead - AHEAD).abs() < SignedDuration::from_secs(20), "{ahead:?}");
    assert!((clock.ahead() - AHEAD).abs() < SignedDuration::from_secs(20));
}

/// Takes connections, reads what comes, and hangs up without a word.
async fn rude() -> (Arc<AtomicUsize>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let posts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&posts);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 64 * 1024];
            let read = stream.read(&mut request).await.unwrap_or(0);
            if request[..read].starts_with(b"POST") {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            let _ = stream.shutdown().await;
        }
    });
    (posts, url)
}

#[tokio::test]
async fn an_order_whose_answer_is_lost_is_unknown_and_never_sent_twice() {
    let (posts, url) = rude().await;
    let (link, _) = link(&url);
    let verb = Verb::Halt { rollout: RolloutId::named("r1") };
    let order = Order { verb, by: "ann".to_owned(), reason: None, key: Some("k1".to_owned()) };
    let answer = link.order(order, None).await;
    assert!(matches!(answer, Answer::Unknown { .. }), "{answer:?}");
    // The follower keeps coming back meanwhile; the order must not.
    until(&link, |p| matches!(p.api, Freshness::Lost { .. })).await;
    assert_eq!(posts.load(Ordering::SeqCst), 1);
}
