//! Starters nobody watches: a commit that starts at once or never, a tag that waits its turn. Both yield (R100, R169).

use jiff::Timestamp;

use super::super::change::Change;
use super::super::ids::{ReleaseId, RolloutId};
use super::super::refusal::Refusal;
use super::super::verdict::Reply;
use super::super::world::World;
use super::draft::Draft;
use super::start::begin;

/// A commit on the configured ref: started unprotected if nothing runs; if something runs it is dropped for good. One
/// that was seen before, by this process or by another, is no news.
pub(super) fn commit(draft: &mut Draft<'_>, id: RolloutId, release: ReleaseId) -> Reply {
    let world = draft.world();
    let Some(built) = world.releases.get(&release).cloned() else {
        return Reply::Refused(Refusal::NoRelease(release));
    };
    if !world.account.auto_deploy || !see(draft, &built.git_ref, &built.commit) {
        return Reply::Done;
    }
    match built.yanked.is_some() || draft.world().running().is_some() {
        true => Reply::Done,
        false => begin(draft, id, release, false, None),
    }
}

/// The commit that is there when somebody begins to follow the branch is not started.
pub(super) fn found(draft: &mut Draft<'_>, git_ref: &str, commit: &str) -> Reply {
    if draft.world().account.auto_deploy {
        see(draft, git_ref, commit);
    }
    Reply::Done
}

/// Records a commit; false where it is the one that was seen last.
fn see(draft: &mut Draft<'_>, git_ref: &str, commit: &str) -> bool {
    let known = draft.world().seen_commit.as_ref();
    let is_news = known.is_none_or(|seen| seen.commit != commit || seen.git_ref != git_ref);
    if is_news {
        draft.push(Change::CommitSeen { git_ref: git_ref.to_owned(), commit: commit.to_owned() });
    }
    is_news
}

/// A tag arrived: kept, so that what starts next can be seen. Whether it ever starts, the sequencer decides.
/// One that is older than the newest is no news: it shows up where a newer one was deleted.
pub(super) fn tag(draft: &mut Draft<'_>, release: ReleaseId, made_at: Option<Timestamp>) -> Reply {
    if !draft.world().releases.contains_key(&release) {
        return Reply::Refused(Refusal::NoRelease(release));
    }
    let is_older = made_at.is_some_and(|at| draft.world().newest_tag_at.is_some_and(|newest| at < newest));
    if !is_older && !draft.world().tags.contains(&release) {
        draft.push(Change::TagArrived { release, made_at });
    }
    Reply::Done
}

/// A pass in which nothing runs starts the tag that waits (R180).
pub(super) fn sequence(draft: &mut Draft<'_>, fresh: RolloutId) -> Reply {
    match next_unattended(draft.world()) {
        Some(release) => begin(draft, fresh, release, false, None),
        None => Reply::Done,
    }
}

/// What an unattended start would pick as soon as nothing runs: the newest tag that matches and was not yanked,
/// unless it or a newer one ran already (R169).
pub fn next_unattended(world: &World) -> Option<ReleaseId> {
    if !world.account.track_config_tags {
        return None;
    }
    let pattern = world.account.config_tag_pattern.as_deref().unwrap_or("*");
    let ran = |release: &ReleaseId| world.rollouts.iter().any(|rollout| rollout.release == *release);
    let newer = world.tags.iter().rev().take_while(|release| !ran(release));
    let mut fit = newer
        .filter_map(|id| world.releases.get(id))
        .filter(|release| release.yanked.is_none() && wildmatch::WildMatch::new(pattern).matches(&release.git_ref));
    fit.next().map(|release| release.id)
}
