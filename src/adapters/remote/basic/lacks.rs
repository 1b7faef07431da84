//! What is not known where only a status is told, in sentences for people. Pure.

use super::reading::{Catalog, Progress};
use crate::domain::glimpse::Glimpse;

/// What every control plane lacks that has only the runbook's endpoints.
pub const ALWAYS: [&str; 5] = [
    "no change stream: the status is read again every 5 s, and what happens in between is not seen",
    "no plans: the control plane cannot rehearse a verb, so what would follow is not known",
    "no If-Match: that somebody else acted meanwhile is not noticed",
    "no idempotency keys: a verb whose answer is lost is never sent again; the status is read, then you decide",
    "no audit: who did what before is not told, and what you do is written down on this machine only",
];

/// The glimpse of one reading, without what is told by name only.
pub(super) fn glimpse(catalog: &Catalog, progress: Option<&Progress>) -> Glimpse {
    let status = progress.map(|progress| &progress.status);
    let rows = status.map_or(&[][..], |status| &status.machines);
    let tells_times = rows.iter().filter(|row| row.holds_slot).all(|row| row.held_since.is_some());
    let mut lacks: Vec<String> = Vec::new();
    lacks.extend(unseen(progress));
    lacks.extend(ALWAYS.map(str::to_owned));
    lacks.extend(unlisted(catalog).map(|(what, so)| format!("{what} are not listed: {so}")));
    if rows.iter().all(|row| row.last_seen_at.is_none()) {
        lacks.push("whether a machine is online is not told".to_owned());
    }
    if rows.iter().any(|row| row.holds_slot) && !tells_times {
        lacks.push("since when slots are held is not told: ages begin where this console first saw them".to_owned());
    }
    let settling = status.map_or(0, |status| status.settling);
    if settling > 0 && rows.iter().all(|row| row.settles_at.is_none()) {
        lacks.push(format!("{settling} settling, and which is not told: fewer slots are free than it looks"));
    }
    if let Some(total) = status.and_then(|status| status.total).filter(|total| *total > rows.len()) {
        lacks.push(format!("{} of {total} machines are told; the others are not on show", rows.len()));
    }
    let stall_reason = status.and_then(|status| status.stall_reason.clone()).filter(|reason| !reason.is_empty());
    let tells_start = progress.is_some_and(|progress| progress.rollout.started_at.is_some());
    Glimpse { stall_reason, settling, tells_times, tells_start, lacks, ..Glimpse::default() }
}

/// What is said where there is no rollout to look at, or whether it runs is not told.
fn unseen(progress: Option<&Progress>) -> Option<String> {
    let Some(Progress { rollout, status }) = progress else {
        return Some("no rollout is on show: name the one to look at with --rollout UUID".to_owned());
    };
    let untold = status.status.is_none() && rollout.status.is_none();
    untold.then(|| "whether the rollout still runs is not told: it is shown as if it did".to_owned())
}

/// Lists that are not offered, and what follows.
fn unlisted(catalog: &Catalog) -> impl Iterator<Item = (&'static str, &'static str)> {
    let by_uuid = "their verbs need the uuid, by kura-console VERB";
    [
        (catalog.rollouts.is_none(), "rollouts", "the one on show is the one that was named or started here"),
        (catalog.releases.is_none(), "releases", "to start one, kura-console start with its uuid"),
        (catalog.environments.is_none(), "environments", by_uuid),
        (catalog.rings.is_none(), "rings", "caps and brakes are guessed, and their verbs need the uuid"),
    ]
    .into_iter()
    .filter_map(|(missing, what, so)| missing.then_some((what, so)))
}
