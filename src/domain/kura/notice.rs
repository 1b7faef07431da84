//! What the cluster says of its objects in passing: its events, as far as they explain a Kura server. They come and go by
//! themselves, and nothing is decided on them.

use std::collections::BTreeMap;

use imbl::OrdMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::span::Seconds;
use super::object::{ObjectKind, ObjectRef};
use super::sight::Sight;
use super::workload::Progress;

/// Notices that are kept of one object; the last ones count.
pub const NOTICES_PER_OBJECT: usize = 4;

/// Notices that are kept in all.
pub const NOTICES_MAX: usize = 4_000;

/// A notice that was not given again for this long explains nothing any more. Who goes on trying says so more often.
pub const NOTICE_GOOD_FOR: Seconds = Seconds(15 * 60);

/// The reason of a notice by which a workload reports how far its bootstrap is (I11).
pub const PROGRESS: &str = "BootstrapProgress";

/// Kinds whose notices explain a Kura server.
pub const EXPLAINING: &[ObjectKind] = &[
    ObjectKind::KuraInstance,
    ObjectKind::KuraGateway,
    ObjectKind::StatefulSet,
    ObjectKind::Pod,
    ObjectKind::PersistentVolumeClaim,
    ObjectKind::Service,
    ObjectKind::Ingress,
    ObjectKind::Certificate,
];

/// Reasons that name a cause, in texts that stay the same from one time to the next.
const CAUSES: &[&str] = &[
    "Failed",
    "FailedAttachVolume",
    "FailedBinding",
    "FailedCreate",
    "FailedMount",
    "FailedScheduling",
    "ProvisioningFailed",
    "SyncLoadBalancerFailed",
];

/// One thing that was said of one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Of which.
    pub about: ObjectRef,
    /// In one word.
    pub reason: String,
    /// In a sentence.
    pub text: String,
    /// It is a warning.
    pub warns: bool,
    /// When it was said first.
    pub first_at: Timestamp,
    /// When it was said last.
    pub last_at: Timestamp,
}

/// What a notice is filed under: those about one object side by side, so that a few are found among thousands.
pub fn key(kind: &str, object: &str, notice: &str) -> String {
    format!("{kind}/{object}/{notice}")
}

/// Drops what is more than is kept: of each object the oldest, then the oldest of all.
pub fn bound(rows: &mut OrdMap<String, Notice>) {
    let mut of_object: BTreeMap<&ObjectRef, Vec<(Timestamp, &String)>> = BTreeMap::new();
    for (name, notice) in rows.iter() {
        of_object.entry(&notice.about).or_default().push((notice.last_at, name));
    }
    let mut kept = Vec::new();
    for mut notices in of_object.into_values() {
        notices.sort();
        kept.extend(notices.into_iter().rev().take(NOTICES_PER_OBJECT));
    }
    if kept.len() == rows.len() && kept.len() <= NOTICES_MAX {
        return;
    }
    kept.sort();
    let kept: Vec<String> = kept.into_iter().rev().take(NOTICES_MAX).map(|(_, name)| name.clone()).collect();
    *rows = kept.into_iter().filter_map(|name| Some((name.clone(), rows.get(&name)?.clone()))).collect();
}

/// Why an object does not get on, in the words of whoever tried: of what was said lately, what says most.
pub fn cause(sight: &Sight, kind: ObjectKind, name: &str, now: Timestamp) -> Option<String> {
    let lately = |notice: &&Notice| now < NOTICE_GOOD_FOR.after(notice.last_at);
    let causes = about(sight, kind, name).filter(|notice| notice.warns && CAUSES.contains(&notice.reason.as_str()));
    let best = causes.filter(lately).max_by_key(|notice| (notice.text.len(), &notice.text))?;
    Some(format!("{}: {}", best.reason, best.text))
}

/// How far the bootstrap of an instance is, as it or one of its pods said last (I11). A text that is said again does not
/// move.
pub fn progress(sight: &Sight, instance: &str) -> Option<Progress> {
    let said = |kind: ObjectKind, name: &str| {
        let all = about(sight, kind, name).filter(|notice| notice.reason == PROGRESS);
        all.map(|notice| Progress { text: notice.text.clone(), at: notice.first_at }).collect::<Vec<_>>()
    };
    let of_pods = sight.pods_of(instance).flat_map(|pod| said(ObjectKind::Pod, &pod.stamp.name));
    let reported = sight.instances.get(instance).and_then(|live| live.progress.clone());
    reported
        .into_iter()
        .chain(said(ObjectKind::KuraInstance, instance))
        .chain(of_pods)
        .max_by(|one, other| (one.at, &one.text).cmp(&(other.at, &other.text)))
}

fn about<'a>(sight: &'a Sight, kind: ObjectKind, name: &str) -> impl Iterator<Item = &'a Notice> {
    let first = key(kind.name(), name, "");
    let rows = sight.notices.rows.range(first.clone()..);
    rows.take_while(move |(key, _)| key.starts_with(&first)).map(|(_, notice)| notice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::kura::source::Source;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn notice(pod: &str, reason: &str, text: &str, second: i64) -> Notice {
        let about = ObjectRef::new(ObjectKind::Pod, pod);
        let (reason, text) = (reason.to_owned(), text.to_owned());
        Notice { about, reason, text, warns: true, first_at: at(second), last_at: at(second) }
    }

    fn sight(notices: Vec<Notice>) -> Sight {
        let filed = |(n, notice): (usize, Notice)| {
            (key(notice.about.kind.name(), &notice.about.name, &format!("e{n:05}")), notice)
        };
        let rows = notices.into_iter().enumerate().map(filed);
        Sight { notices: Source::live(rows, at(0)), ..Sight::default() }
    }

    #[test]
    fn of_each_object_the_last_few_are_kept() {
        let notices = (0..10).flat_map(|n| [notice("a", "Failed", "x", n), notice("b", "Failed", "x", n)]);
        let mut rows = sight(notices.collect()).notices.rows;
        bound(&mut rows);
        let mut kept: Vec<(&str, i64)> =
            rows.values().map(|one| (one.about.name.as_str(), one.last_at.as_second())).collect();
        kept.sort_unstable();
        assert_eq!(kept, [("a", 6), ("a", 7), ("a", 8), ("a", 9), ("b", 6), ("b", 7), ("b", 8), ("b", 9)]);
    }

    #[test]
    fn of_all_objects_no_more_than_a_limit_is_kept() {
        let many = i64::try_from(NOTICES_MAX).unwrap() + 100;
        let mut rows = sight((0..many).map(|n| notice(&format!("p{n}"), "Failed", "x", n)).collect()).notices.rows;
        bound(&mut rows);
        assert_eq!(rows.len(), NOTICES_MAX);
        assert_eq!(rows.values().map(|one| one.last_at.as_second()).min(), Some(100), "the oldest go");
    }

    #[test]
    fn what_says_most_is_the_cause_while_it_is_said() {
        let notices = vec![
            notice("a", "Failed", "Error: ErrImagePull", 60),
            notice("a", "Failed", "Failed to pull image kura:0.20.0: not found", 30),
            notice("ab", "Failed", "Failed to pull image of another pod whose name begins with the same letters", 60),
            notice("a", "Unhealthy", "Readiness probe failed: a sentence that is different every time it is said", 60),
        ];
        let told = |now| cause(&sight(notices.clone()), ObjectKind::Pod, "a", at(now));
        assert_eq!(told(60).as_deref(), Some("Failed: Failed to pull image kura:0.20.0: not found"));
        assert_eq!(told(60 + 15 * 60), None, "nobody tries any more");
    }

    #[test]
    fn progress_is_what_was_said_last_and_does_not_move_by_being_said_again() {
        // I11
        let mut again = notice("kura-acme-eu-0", PROGRESS, "43 % of 1.2 TB", 100);
        again.about = ObjectRef::new(ObjectKind::KuraInstance, "kura-acme-eu");
        again.last_at = at(9_000);
        let mut old = again.clone();
        (old.text, old.first_at) = ("12 % of 1.2 TB".to_owned(), at(50));
        let told = progress(&sight(vec![again, old]), "kura-acme-eu").unwrap();
        assert_eq!((told.text.as_str(), told.at), ("43 % of 1.2 TB", at(100)));
    }
}
