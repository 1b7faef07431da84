//! The feed of one account: every change and every sign of life, written out once for all streams.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Bytes;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use jiff::Timestamp;
use tokio::sync::broadcast;

use super::cluster_feed::ClusterShown;
use super::metrics::Metrics;
use crate::control::host::Host;
use crate::control::picture::Freshness;
use crate::control::ports::{Clock, Journal};
use crate::control::publish::Published;
use crate::control::service::Service;
use crate::control::trouble::sentence;
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision};
use crate::domain::observed::Observed;
use crate::wire::process::SeatBody;
use crate::wire::stream::{PresenceBody, Trouble, change_frame, presence_frame};

/// Frames a stream may be behind the feed; one that lags further is cut off and resumes by revision.
pub const FRAMES_KEPT: usize = 4_096;

/// Entries read from the journal at a time.
pub const READ_AT_ONCE: usize = 1_000;

/// How often presence is looked at.
pub const PRESENCE_EVERY: Duration = Duration::from_secs(1);

/// Polls that are told as soon as they are looked at. What a larger fleet says grows with machines times streams.
pub const CROWD: usize = 1_000;

/// How often the polls of more than that are told, where nothing else is news.
pub const CROWD_EVERY: Duration = Duration::from_secs(5);

/// One piece of a stream.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// An entry of the journal.
    Change(Revision, Bytes),
    /// What is seen and not kept.
    Presence(Bytes),
    /// What is seen of the cluster, and the count of the edition it leads to.
    Cluster(u64, Bytes),
    /// The journal went back: whoever follows has to load again.
    Rewound,
}

/// Where streams listen. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Feed {
    pieces: broadcast::Sender<Piece>,
    /// What was told of the cluster.
    pub(super) cluster: ClusterShown,
}

impl Feed {
    /// Nobody listens yet. `nonce` tells what this process says from what another one said.
    pub(super) fn new(nonce: String) -> Self {
        Self { pieces: broadcast::Sender::new(FRAMES_KEPT), cluster: ClusterShown::new(nonce) }
    }

    /// Everything from now on.
    pub(super) fn listen(&self) -> broadcast::Receiver<Piece> {
        self.pieces.subscribe()
    }

    /// Feeds the streams of an account until its loop has come to its end.
    pub(super) async fn run<H: Host>(self, service: Service<H>, metrics: Metrics) {
        if service.door.ready().await.is_err() {
            return;
        }
        let clock = service.host().clock();
        let mut published = service.door.published();
        let mut sent = published.borrow().world.revision;
        let mut shown = Shown::of(&service, &published.borrow());
        let mut shown_at = clock.steady();
        let mut told_at = shown_at;
        loop {
            let since = Duration::try_from(clock.steady().duration_since(shown_at)).unwrap_or_default();
            tokio::select! {
                biased;
                () = service.stop.asked() => return,
                changed = published.changed() => if changed.is_err() { return },
                () = clock.sleep(PRESENCE_EVERY.saturating_sub(since)) => {
                    let seen = Shown::of(&service, &published.borrow());
                    shown_at = clock.steady();
                    let told = Duration::try_from(shown_at.duration_since(told_at)).unwrap_or_default();
                    let presence = seen.since(&shown, clock.now());
                    let polls = presence.as_ref().map_or(0, |presence| presence.last_poll.len());
                    if !may_wait(polls, told) || !seen.is_like(&shown) {
                        if let Some(presence) = presence {
                            self.say(presence_frame(&presence).map(|frame| Piece::Presence(frame.into())));
                        }
                        (shown, told_at) = (seen, shown_at);
                    }
                }
            }
            let newest = published.borrow_and_update().clone();
            sent = self.changes(&service, &newest, sent, &metrics).await;
        }
    }

    /// Sends what is new since `sent`; returns what is sent now.
    async fn changes<H: Host>(
        &self,
        service: &Service<H>,
        newest: &Published,
        sent: Revision,
        metrics: &Metrics,
    ) -> Revision {
        let head = newest.world.revision;
        if head < sent {
            self.say(Ok(Piece::Rewound));
            return head;
        }
        let entries = match newest.entries_after(sent) {
            Some(entries) => entries,
            None => match entries_between(service, sent, head).await {
                Ok(entries) => entries,
                Err(why) => {
                    tracing::warn!(%why, "every change stream has to begin anew");
                    self.say(Ok(Piece::Rewound));
                    return head;
                }
            },
        };
        if !entries.is_empty() {
            metrics.committed(entries.len());
        }
        for entry in &entries {
            self.say(change_frame(entry).map(|frame| Piece::Change(entry.revision, frame.into())));
        }
        head
    }

    /// Nobody listening is no trouble; a piece that cannot be written out makes a gap, at which replicas load again.
    pub(super) fn say(&self, piece: Result<Piece, serde_json::Error>) {
        match piece {
            Ok(piece) => drop(self.pieces.send(piece)),
            Err(error) => tracing::error!(%error, "a piece of the change stream cannot be written out"),
        }
    }
}

/// Entries after `after` up to `head`, from the journal.
pub(super) async fn entries_between<H: Host>(
    service: &Service<H>,
    after: Revision,
    head: Revision,
) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let from = entries.last().map_or(after, |entry| entry.revision);
        if from >= head {
            return Ok(entries);
        }
        let read = service.host().journal().read(service.account(), from, READ_AT_ONCE).await;
        let read = read.map_err(|error| sentence(&error))?;
        if read.is_empty() {
            return Err(format!("entry {} is not in the journal", from + 1));
        }
        entries.extend(read.into_iter().filter(|entry| entry.revision <= head));
    }
}

/// What the streams were last shown of what is not kept.
struct Shown {
    observed: Observed,
    seat: SeatBody,
    journal: Option<Trouble>,
}

impl Shown {
    fn of<H: Host>(service: &Service<H>, published: &Published) -> Self {
        Self {
            observed: service.observer.observe(&published.world),
            seat: seat_body(published),
            journal: trouble(published),
        }
    }

    /// What is new since `before`; none = nothing.
    fn since(&self, before: &Self, now: Timestamp) -> Option<PresenceBody> {
        let last_poll = news(&before.observed.last_poll, &self.observed.last_poll);
        let same = last_poll.is_empty() && self.is_like(before);
        (!same).then(|| self.body(false, last_poll, now))
    }

    /// The same but for polls.
    fn is_like(&self, before: &Self) -> bool {
        let (now_seen, seen_before) = (&self.observed, &before.observed);
        self.seat == before.seat
            && self.journal == before.journal
            && now_seen.telemetry == seen_before.telemetry
            && now_seen.last_tick == seen_before.last_tick
            && now_seen.refused_start == seen_before.refused_start
            && now_seen.clock_suspect == seen_before.clock_suspect
    }

    fn body(&self, everybody: bool, last_poll: BTreeMap<MachineId, Timestamp>, now: Timestamp) -> PresenceBody {
        let Observed { listening_since, telemetry, last_tick, refused_start, clock_suspect, .. } =
            self.observed.clone();
        let (seat, journal) = (self.seat.clone(), self.journal.clone());
        PresenceBody {
            everybody,
            last_poll,
            listening_since,
            telemetry,
            last_tick,
            refused_start,
            clock_suspect,
            seat,
            journal,
            now,
        }
    }
}

/// The first presence of a stream: everybody's.
pub(super) fn everybody<H: Host>(service: &Service<H>, published: &Published) -> PresenceBody {
    let shown = Shown::of(service, published);
    let last_poll = shown.observed.last_poll.iter().map(|(machine, at)| (*machine, *at)).collect();
    shown.body(true, last_poll, service.host().clock().now())
}

/// Whether that many polls may wait to be told, so long after the last ones were.
fn may_wait(polls: usize, since_told: Duration) -> bool {
    polls > CROWD && since_told < CROWD_EVERY
}

/// Polls that are new; what the two maps share is not looked at.
fn news(before: &OrdMap<MachineId, Timestamp>, now: &OrdMap<MachineId, Timestamp>) -> BTreeMap<MachineId, Timestamp> {
    let new = |item| match item {
        DiffItem::Add(machine, at) | DiffItem::Update { new: (machine, at), .. } => Some((*machine, *at)),
        DiffItem::Remove(..) => None,
    };
    before.diff(now).filter_map(new).collect()
}

/// Who ticks.
pub(super) fn seat_body(published: &Published) -> SeatBody {
    SeatBody::of(&published.world.seat, published.last_tick)
}

/// How the journal stands; none = well.
pub(super) fn trouble(published: &Published) -> Option<Trouble> {
    match &published.journal {
        Freshness::Lost { since, why, .. } => Some(Trouble { since: *since, why: why.clone() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_polls_of_a_crowd_wait_and_not_for_long() {
        let second = Duration::from_secs(1);
        assert!(!may_wait(CROWD, second), "a fleet of this size is told at once");
        assert!(may_wait(CROWD + 1, second));
        assert!(!may_wait(CROWD + 1, CROWD_EVERY));
        assert!(
            CROWD_EVERY * 3 < Duration::from_secs(crate::wire::stream::SILENCE_SECONDS),
            "a stream is never silent over it"
        );
    }
}
