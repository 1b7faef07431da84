//! The change stream of one reader: what was missed, everybody's presence, then the feed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use futures_util::stream::unfold;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::timeout;

use super::admit::Reader;
use super::build::Builder;
use super::extract::{Query, single};
use super::failure::{Answer, Failure};
use super::feed::{Piece, entries_between, everybody};
use super::places::Place;
use super::shared::Account;
use super::tokens::{Fingerprint, Tokens};
use crate::control::host::Host;
use crate::control::publish::Published;
use crate::control::stop::Stop;
use crate::domain::change::Entry;
use crate::domain::ids::Revision;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::stream::{HEARTBEAT_FRAME, HEARTBEAT_SECONDS, change_frame, presence_frame};

/// Frames on their way to one reader.
const FRAMES_BUFFERED: usize = 64;

/// How long a reader may take none of them; then it is cut off.
const SLOW_LIMIT: Duration = Duration::from_secs(10);

/// What readers that come back send of their own accord.
const LAST_ID_HEADER: &str = "last-event-id";

/// Entries a stream may begin with; a reader that missed more is quicker in loading the world.
const BACKLOG_MAX: Revision = 100_000;

/// `GET /api/changes?after=R&cluster=EDITION`; what is seen of the cluster comes to those only who say which edition of
/// it they hold, if only none. The header `Last-Event-ID` goes before the query, as reconnecting readers send it.
pub(super) async fn follow<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query, headers: HeaderMap) -> Answer {
    let Reader { account, shared, caller, .. } = reader;
    let (asked, edition) = (query.number("after")?, query.take("cluster")?);
    query.end()?;
    let resumed = resumed(&headers)?;
    let place = shared.streams.take(caller.token)?;
    // Listen first and look afterwards: what happens between the two comes twice, and is sent once.
    let pieces = account.feed.listen();
    let published = account.service.door.published().borrow().clone();
    let after = resumed.or(asked).unwrap_or(published.world.revision);
    let missed = missed(&account, &published, after).await?;
    let mut first = first_frames(&account, &published, &missed)?;
    let cluster = edition.map(|edition| account.feed.cluster.resume(&edition)).transpose().map_err(unwritable)?;
    first.extend(cluster.iter().filter_map(|(_, whole)| whole.clone()));
    let (sender, receiver) = mpsc::channel(FRAMES_BUFFERED);
    let sent = missed.last().map_or(after, |entry| entry.revision);
    let (stop, tokens) = (shared.setup.stop.clone(), shared.setup.tokens.clone());
    let bearer = Bearer { tokens, token: caller.token };
    let shown = cluster.map(|(count, _)| count);
    tokio::spawn(pump(Pump { pieces, sender, sent, shown, stop, bearer, patience: SLOW_LIMIT, place }, first));
    let frames = unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|frame: Bytes| (Ok::<_, Infallible>(frame), receiver))
    });
    let head = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    Ok((StatusCode::OK, head, Body::from_stream(frames)).into_response())
}

/// The revision after which a reader goes on. One that cannot be read must not pass for none: the gap would be silent.
fn resumed(headers: &HeaderMap) -> Answer<Option<Revision>> {
    let Some(text) = single(headers, LAST_ID_HEADER)? else { return Ok(None) };
    let malformed = || {
        let problem = Problem::new(ProblemKind::Malformed, "bad_last_event_id", "Last-Event-ID is no revision");
        Failure(problem.field(LAST_ID_HEADER).hint("send the id of the last change that came, a whole number, or none"))
    };
    text.trim().parse().map(Some).map_err(|_| malformed())
}

/// What the reader has not seen; 410 where that is not kept any more, or was never true here.
async fn missed<H: Host>(account: &Account<H>, published: &Published, after: Revision) -> Answer<Vec<Entry>> {
    let head = published.world.revision;
    if after > head {
        return Err(gone(format!("the journal is at revision {head}, not yet at {after}")));
    }
    if head - after > BACKLOG_MAX {
        return Err(gone(format!("more than {BACKLOG_MAX} changes came after revision {after}")));
    }
    match published.entries_after(after) {
        Some(entries) => Ok(entries),
        None => entries_between(&account.service, after, head).await.map_err(gone),
    }
}

fn first_frames<H: Host>(account: &Account<H>, published: &Published, missed: &[Entry]) -> Answer<Vec<Bytes>> {
    let frames: Result<Vec<String>, serde_json::Error> =
        missed.iter().map(change_frame).chain([presence_frame(&everybody(&account.service, published))]).collect();
    Ok(frames.map_err(unwritable)?.into_iter().map(Bytes::from).collect())
}

#[allow(clippy::needless_pass_by_value)]
fn unwritable(error: serde_json::Error) -> Failure {
    Failure(Problem::new(ProblemKind::Internal, "stream", format!("the stream cannot be written out: {error}")))
}

/// Brings the feed to one reader.
struct Pump {
    pieces: broadcast::Receiver<Piece>,
    sender: mpsc::Sender<Bytes>,
    /// The last change that is sent.
    sent: Revision,
    /// The last edition of the cluster that is sent; none where nobody asked for it.
    shown: Option<u64>,
    stop: Stop,
    bearer: Bearer,
    /// How long the reader may take nothing.
    patience: Duration,
    /// Its place among all streams.
    place: Place,
}

/// Runs until the reader goes away, is too slow, or the process stops. Its end is the end of the stream.
async fn pump(mut pump: Pump, first: Vec<Bytes>) {
    for frame in first {
        if pump.send(frame).await.is_err() {
            return;
        }
    }
    let (stop, mut bearer) = (pump.stop.clone(), pump.bearer.clone());
    let heartbeat = Duration::from_secs(HEARTBEAT_SECONDS);
    loop {
        let gone = pump.sender.clone();
        let piece = tokio::select! {
            biased;
            () = stop.asked() => break,
            () = gone.closed() => break,
            () = bearer.revoked() => break,
            piece = timeout(heartbeat, pump.pieces.recv()) => piece,
        };
        let sent = match piece {
            Err(_) => pump.send(Bytes::from_static(HEARTBEAT_FRAME.as_bytes())).await,
            Ok(Ok(piece)) => pump.pass_on(piece).await,
            Ok(Err(RecvError::Lagged(_) | RecvError::Closed)) => break,
        };
        if sent.is_err() {
            break;
        }
    }
    drop(pump.place);
}

/// Whose stream it is.
#[derive(Clone)]
struct Bearer {
    tokens: watch::Receiver<Arc<Tokens>>,
    token: Fingerprint,
}

impl Bearer {
    /// Returns once the token is not let in any more.
    async fn revoked(&mut self) {
        let token = self.token;
        if self.tokens.wait_for(|tokens| !tokens.knows(&token)).await.is_err() {
            // Nobody changes the list any more.
            std::future::pending().await
        }
    }
}

/// The stream is over.
struct Over;

impl Pump {
    async fn pass_on(&mut self, piece: Piece) -> Result<(), Over> {
        match piece {
            Piece::Presence(frame) => self.send(frame).await,
            Piece::Change(revision, _) if revision <= self.sent => Ok(()),
            Piece::Change(revision, frame) if revision == self.sent + 1 => {
                self.sent = revision;
                self.send(frame).await
            }
            Piece::Cluster(count, frame) => self.show(count, frame).await,
            Piece::Change(..) | Piece::Rewound => Err(Over),
        }
    }

    async fn show(&mut self, count: u64, frame: Bytes) -> Result<(), Over> {
        match self.shown {
            Some(shown) if count == shown + 1 => {
                self.shown = Some(count);
                self.send(frame).await
            }
            Some(shown) if count > shown => Err(Over),
            _ => Ok(()),
        }
    }

    /// A reader that takes nothing for `patience` is cut off: it resumes by revision, and slows nobody down.
    async fn send(&self, frame: Bytes) -> Result<(), Over> {
        self.sender.send_timeout(frame, self.patience).await.map_err(|_| Over)
    }
}

fn gone(why: String) -> Failure {
    Failure(Problem::new(ProblemKind::Gone, "compacted", why).hint("load the world again: GET /api/world"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::feed::FRAMES_KEPT;
    use crate::server::places::Places;
    use crate::server::tokens::{NewToken, TokenRole, fingerprint};

    struct Reader {
        pieces: broadcast::Sender<Piece>,
        frames: mpsc::Receiver<Bytes>,
        places: Places,
        stop: Stop,
        listed: watch::Sender<Arc<Tokens>>,
        running: tokio::task::JoinHandle<()>,
    }

    /// A reader that is at revision 10, with room for `room` frames.
    fn reader(room: usize, patience: Duration) -> Reader {
        let (pieces, listening) = broadcast::channel(FRAMES_KEPT);
        let (sender, frames) = mpsc::channel(room);
        let places = Places::default();
        let place = places.take(fingerprint("ann")).unwrap();
        let stop = Stop::default();
        let token = NewToken::make("ann", TokenRole::Viewer, "default");
        let known = Tokens::of(vec![(1, token.entry.clone())]).unwrap();
        let (listed, tokens) = watch::channel(Arc::new(known));
        let bearer = Bearer { tokens, token: fingerprint(&token.secret) };
        let pump =
            Pump { pieces: listening, sender, sent: 10, shown: None, stop: stop.clone(), bearer, patience, place };
        let running = tokio::spawn(super::pump(pump, vec![Bytes::from_static(b"first")]));
        Reader { pieces, frames, places, stop, listed, running }
    }

    fn change(revision: Revision) -> Piece {
        Piece::Change(revision, Bytes::from(revision.to_string()))
    }

    async fn text(reader: &mut Reader) -> String {
        String::from_utf8(reader.frames.recv().await.expect("a frame").to_vec()).unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn changes_come_once_and_in_order() {
        let mut reader = reader(8, LONG);
        for revision in [9, 10, 11, 11, 12] {
            reader.pieces.send(change(revision)).unwrap();
        }
        reader.pieces.send(Piece::Presence(Bytes::from_static(b"seen"))).unwrap();
        for expected in ["first", "11", "12", "seen"] {
            assert_eq!(text(&mut reader).await, expected);
        }
    }

    #[tokio::test]
    async fn a_gap_or_a_journal_that_went_back_ends_the_stream() {
        for piece in [change(12), Piece::Rewound] {
            let mut reader = reader(8, LONG);
            assert_eq!(text(&mut reader).await, "first");
            reader.pieces.send(piece).unwrap();
            assert_eq!(reader.frames.recv().await, None);
        }
    }

    #[tokio::test]
    async fn a_reader_that_takes_nothing_is_cut_off_and_gives_its_place_back() {
        let mut reader = reader(1, Duration::from_millis(20));
        reader.pieces.send(change(11)).unwrap();
        (&mut reader.running).await.unwrap();
        assert_eq!(reader.places.open(), 0);
    }

    #[tokio::test]
    async fn a_reader_that_falls_behind_the_feed_is_cut_off() {
        let mut reader = reader(1, LONG);
        for revision in 0..=u64::try_from(FRAMES_KEPT).unwrap() {
            reader.pieces.send(change(11 + revision)).unwrap();
        }
        assert_eq!(text(&mut reader).await, "first");
        assert_eq!(reader.frames.recv().await, None);
    }

    #[tokio::test]
    async fn a_token_that_is_revoked_loses_its_stream() {
        let mut reader = reader(8, LONG);
        let other = NewToken::make("bob", TokenRole::Viewer, "default");
        reader.listed.send_replace(Arc::new(Tokens::of(vec![(1, other.entry)]).unwrap()));
        (&mut reader.running).await.unwrap();
        assert_eq!(reader.places.open(), 0);
    }

    #[tokio::test]
    async fn readers_that_go_away_and_processes_that_stop_end_a_stream() {
        let gone = reader(8, LONG);
        drop(gone.frames);
        gone.running.await.unwrap();
        let stopped = reader(8, LONG);
        stopped.stop.ask();
        stopped.running.await.unwrap();
    }
}
