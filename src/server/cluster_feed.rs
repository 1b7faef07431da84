//! The feed of what is seen of the cluster: told to every stream that asks for it, as little and as soon as may be.
//! Editions are counted, so that a reader who holds one is told what came after it and no more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use jiff::Timestamp;

use crate::control::host::Host;
use crate::control::ports::{Clock, Cluster};
use crate::control::service::Service;
use crate::domain::observed::Observed;
use crate::wire::sight::{ClusterBody, ClusterPicture, Parts, cluster_frame};

use super::feed::{Feed, Piece};

/// How often the cluster is looked at where it tells nothing: what is known gets older, and says so.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often it is told that what is known is still so, where that is all there is to tell: well within the time after
/// which nothing may be decided on it (`STALE_AFTER`).
const STILL_SO_EVERY: Duration = Duration::from_secs(15);

/// Between two records, at the least: what changes in between is told once.
const REST_MIN: Duration = Duration::from_millis(50);

/// And at the most.
const REST_MAX: Duration = Duration::from_secs(2);

/// How long each row that was told makes the next record wait: no reader gets more than a thousand a second for long.
const REST_PER_ROW: Duration = Duration::from_millis(1);

/// What the streams of one account were told of the cluster. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct ClusterShown(Arc<Mutex<Shown>>);

#[derive(Debug, Default)]
struct Shown {
    /// Tells the editions of this process from those of another one.
    nonce: String,
    count: u64,
    picture: ClusterPicture,
    told_at: Option<Timestamp>,
    /// The record of all of it, once somebody asked.
    whole: Option<Bytes>,
}

impl ClusterShown {
    /// Nothing was told yet.
    pub(super) fn new(nonce: String) -> Self {
        Self(Arc::new(Mutex::new(Shown { nonce, ..Shown::default() })))
    }

    /// The edition of now, and what is in it.
    pub(super) fn now(&self) -> (String, ClusterPicture) {
        let shown = self.lock();
        (shown.edition(), shown.picture.clone())
    }

    /// Where a reader who holds `edition` goes on from: the count of the edition of now, and the record that leads there;
    /// none where nothing is missing.
    pub(super) fn resume(&self, edition: &str) -> Result<(u64, Option<Bytes>), serde_json::Error> {
        let mut shown = self.lock();
        if shown.count == 0 || edition == shown.edition() {
            return Ok((shown.count, None));
        }
        let whole = match &shown.whole {
            Some(whole) => whole.clone(),
            None => {
                let now = shown.told_at.unwrap_or_default();
                Bytes::from(cluster_frame(&shown.body(true, shown.picture.whole(), now))?)
            }
        };
        shown.whole = Some(whole.clone());
        Ok((shown.count, Some(whole)))
    }

    /// The next edition, if there is something to tell: its record, and how long to rest after it.
    fn step(&self, observed: &Observed, now: Timestamp) -> Option<(Result<Piece, serde_json::Error>, Duration)> {
        let picture = ClusterPicture::of(observed);
        let mut shown = self.lock();
        let (parts, weight) = match picture.since(&shown.picture) {
            None if shown.count == 0 => (Parts::default(), Default::default()),
            None => return None,
            Some((_, weight)) if !weight.is_news && shown.was_told_within(STILL_SO_EVERY, now) => return None,
            Some(told) => told,
        };
        *shown = Shown {
            nonce: std::mem::take(&mut shown.nonce),
            count: shown.count + 1,
            picture,
            told_at: Some(now),
            whole: None,
        };
        // Before the first one there was nothing that could be otherwise.
        let frame = cluster_frame(&shown.body(shown.count == 1, parts, now));
        let rows = u32::try_from(weight.rows).unwrap_or(u32::MAX);
        let rest = REST_PER_ROW.saturating_mul(rows).clamp(REST_MIN, REST_MAX);
        Some((frame.map(|frame| Piece::Cluster(shown.count, frame.into())), rest))
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn edition(&self) -> String {
        format!("{}-{}", self.nonce, self.count)
    }

    fn was_told_within(&self, span: Duration, now: Timestamp) -> bool {
        let since = self.told_at.and_then(|at| Duration::try_from(now.duration_since(at)).ok());
        since.is_some_and(|since| since < span)
    }

    fn body(&self, whole: bool, seen: Parts, now: Timestamp) -> ClusterBody {
        let sight = self.picture.sight.as_ref();
        ClusterBody {
            edition: self.edition(),
            whole,
            connected: sight.is_some(),
            identity: sight.and_then(|sight| sight.identity.clone()),
            deleter: sight.map(|sight| sight.deleter).unwrap_or_default(),
            seen,
            now,
        }
    }
}

impl Feed {
    /// Tells the streams of an account what is seen of the cluster, until its loop has come to its end.
    pub(super) async fn show_cluster<H: Host>(self, service: Service<H>) {
        let clock = service.host().clock();
        let mut sightings = service.host().cluster().sightings();
        loop {
            let told = self.cluster.step(&service.observer.observe(&service.door.world()), clock.now());
            let rest = match told {
                None => REST_MIN,
                Some((piece, rest)) => {
                    self.say(piece);
                    rest
                }
            };
            let look = async {
                clock.sleep(rest).await;
                tokio::select! {
                    () = sightings.next() => {}
                    () = clock.sleep(LOOK_EVERY) => {}
                }
            };
            tokio::select! {
                biased;
                () = service.stop.asked() => return,
                () = look => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::kura::sight::Sight;
    use crate::domain::kura::source::Contact;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_000_000 + millis).unwrap()
    }

    fn seen(instances: Contact) -> Observed {
        let mut sight = Sight::default();
        sight.instances.contact = instances;
        Observed { cluster: Some(sight), ..Observed::starting_at(at(0)) }
    }

    fn count(told: Option<(Result<Piece, serde_json::Error>, Duration)>) -> Option<u64> {
        told.map(|(piece, _)| match piece.unwrap() {
            Piece::Cluster(count, _) => count,
            piece => panic!("{piece:?}"),
        })
    }

    #[test]
    fn that_all_is_still_so_is_told_now_and_then_and_what_is_otherwise_at_once() {
        let shown = ClusterShown::new("n".to_owned());
        let live = |millis| seen(Contact::Live { as_of: at(millis) });
        assert_eq!(count(shown.step(&live(0), at(0))), Some(1));
        assert_eq!(count(shown.step(&live(900), at(1_000))), None);
        let lost = seen(Contact::Lost { as_of: Some(at(900)), why: "reset".to_owned() });
        assert_eq!(count(shown.step(&lost, at(2_000))), Some(2));
        assert_eq!(count(shown.step(&live(3_000), at(3_000))), Some(3));
        assert_eq!(count(shown.step(&live(17_900), at(17_900))), None);
        assert_eq!(count(shown.step(&live(18_000), at(18_000))), Some(4));
    }

    #[test]
    fn who_holds_the_edition_of_now_is_told_nothing_and_anybody_else_everything() {
        let shown = ClusterShown::new("n".to_owned());
        assert_eq!(shown.resume("").unwrap(), (0, None), "nobody has looked yet");
        shown.step(&seen(Contact::Live { as_of: at(0) }), at(0));
        let (edition, _) = shown.now();
        assert_eq!(shown.resume(&edition).unwrap(), (1, None));
        for other in ["", "another-1", "n-0"] {
            let (count, whole) = shown.resume(other).unwrap();
            assert!(count == 1 && String::from_utf8(whole.unwrap().to_vec()).unwrap().contains(r#""whole":true"#));
        }
    }
}
