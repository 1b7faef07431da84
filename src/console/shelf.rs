//! Shelves: the lists of what can be started and of what was done. Releases, and the history.

use jiff::Timestamp;

use super::audited;
use super::glyph::Glyph;
use super::pick::Pick;
use super::snapshot::Snapshot;
use super::sort::Sorting;
use super::theme::Role;
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::explain::Explanation;
use crate::domain::ids::{ReleaseId, Revision, RolloutId};
use crate::domain::preflight::{Check, Grade, Plan, preflight};
use crate::domain::release::Release;
use crate::domain::rollout::{Ending, Rollout};
use crate::domain::span::Seconds;

/// Machines that are named one by one; the others are counted.
const NAMED_MAX: usize = 4;

/// Something on a shelf, known by its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// What can be started, unless it was yanked.
    Release(ReleaseId),
    /// What was started, and how it ended.
    Rollout(RolloutId),
    /// What a person did, by the change that tells it best.
    Deed(Revision),
}

/// One shelf.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    /// What is on it and passes the filter, newest first.
    pub rows: Vec<Item>,
    /// Which of it is selected.
    pub pick: Pick<Item>,
    /// Words of which every row has to have all.
    pub filter: String,
    /// How it is sorted.
    pub sorting: Sorting,
}

/// How an item looks in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Face {
    /// Shape, word and colour.
    pub look: (Glyph, String, Role),
    /// What people call it, or who did it.
    pub name: String,
    /// What there is to say, in a line.
    pub text: String,
    /// Who stands behind it, as a filter finds it.
    pub who: String,
    /// What it is, as a filter finds it.
    pub what: String,
    /// When it came to be.
    pub at: Timestamp,
}

/// Every release, newest first; what runs stands above the others.
pub(super) fn releases(picture: &Snapshot, filter: &str) -> Vec<Item> {
    let running = picture.world.running().map(|rollout| rollout.release);
    let mut known: Vec<&Release> = picture.world.releases.values().collect();
    known.sort_by_key(|release| (Some(release.id) != running, std::cmp::Reverse(release.created_at), release.id));
    passing(picture, filter, known.into_iter().map(|release| Item::Release(release.id)))
}

/// Every rollout that is kept, then what people did, as far as changes are kept; newest first.
pub(super) fn history(picture: &Snapshot, filter: &str) -> Vec<Item> {
    let rollouts = picture.world.rollouts.iter().rev().map(|rollout| Item::Rollout(rollout.id));
    let deeds = audited::deeds(picture);
    passing(picture, filter, rollouts.chain(deeds.into_iter().rev().map(|entry| Item::Deed(entry.revision))))
}

/// Items that pass every word of a filter: `who=ann`, `what=pause`, `state=refused`, or text that is anywhere in the
/// row; `!` in front turns a word round.
fn passing(picture: &Snapshot, filter: &str, items: impl Iterator<Item = Item>) -> Vec<Item> {
    let wanted: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let passes = |item: &Item| {
        wanted.is_empty() || face(picture, *item).is_some_and(|face| wanted.iter().all(|word| face.passes(word)))
    };
    items.filter(passes).collect()
}

impl Face {
    fn passes(&self, word: &str) -> bool {
        if let Some(rest) = word.strip_prefix('!') {
            return rest.is_empty() || !self.passes(rest);
        }
        let has = |text: &str, part: &str| text.to_lowercase().contains(part);
        match word.split_once('=') {
            Some(("who", who)) => has(&self.who, who),
            Some(("what", what)) => has(&self.what, what),
            Some(("state", state)) => has(&self.look.1, state),
            _ => has(&self.look.1, word) || has(&self.name, word) || has(&self.text, word),
        }
    }
}

/// How an item looks; none where it is no longer kept.
pub(super) fn face(picture: &Snapshot, item: Item) -> Option<Face> {
    match item {
        Item::Release(id) => picture.world.releases.get(&id).map(|release| of_release(picture, release)),
        Item::Rollout(id) => picture.world.rollout(id).map(|rollout| of_rollout(picture, rollout)),
        Item::Deed(revision) => entry(picture, revision).map(|entry| audited::face(picture, entry)),
    }
}

pub(super) fn entry(picture: &Snapshot, revision: Revision) -> Option<&Entry> {
    let place = picture.tail.binary_search_by_key(&revision, |entry| entry.revision).ok();
    place.and_then(|place| picture.tail.get(place)).map(AsRef::as_ref).or_else(|| picture.past.link(revision))
}

fn of_release(picture: &Snapshot, release: &Release) -> Face {
    let on_it = on_it(picture, release.id);
    let on_it = match on_it.len() {
        0 => "nobody is on it".to_owned(),
        1 => format!("{} is on it", on_it[0]),
        n => format!("{n} machines are on it"),
    };
    let runs = picture.world.running().is_some_and(|rollout| rollout.release == release.id);
    let (look, text) = match &release.yanked {
        Some(yank) => {
            let why = yank.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            ((Glyph::Failed, "YANKED".to_owned(), Role::Failed), format!("by {}{why}; {on_it}", yank.by))
        }
        None if runs => ((Glyph::Moving, "running".to_owned(), Role::Moving), on_it),
        None => ((Glyph::Queued, "ready".to_owned(), Role::Queued), on_it),
    };
    Face {
        look,
        name: release.git_ref.clone(),
        text,
        who: release.yanked.as_ref().map(|yank| yank.by.clone()).unwrap_or_default(),
        what: "release".to_owned(),
        at: release.created_at,
    }
}

/// Host names of the machines that converged on a release and on no other since, sorted.
pub(super) fn on_it(picture: &Snapshot, release: ReleaseId) -> Vec<&str> {
    let machines = picture.world.machines.values();
    let on_it = machines.filter(|m| m.applied.is_some_and(|applied| applied.release == release));
    let mut names: Vec<&str> = on_it.map(|machine| machine.hostname.as_str()).collect();
    names.sort_unstable();
    names
}

fn of_rollout(picture: &Snapshot, rollout: &Rollout) -> Face {
    let look = match &rollout.ending {
        None => (Glyph::Moving, "running".to_owned(), Role::Moving),
        Some(Ending::Completed) => (Glyph::Done, "completed".to_owned(), Role::Done),
        Some(Ending::Halted { .. }) => (Glyph::Halted, "HALTED".to_owned(), Role::Halted),
        Some(Ending::Superseded { .. }) => (Glyph::Halted, "displaced".to_owned(), Role::Warning),
    };
    let mut parts = vec![format!("by {}", rollout.started_by)];
    parts.extend(displaced(picture, rollout));
    parts.extend(ended(picture, rollout));
    let name = picture.world.release_name(rollout.release).to_owned();
    Face {
        look,
        name,
        text: parts.join("; "),
        who: rollout.started_by.clone(),
        what: "rollout".to_owned(),
        at: rollout.started_at,
    }
}

/// What it took the account's slot from.
fn displaced(picture: &Snapshot, rollout: &Rollout) -> Option<String> {
    let by_it = |other: &&Rollout| matches!(other.ending, Some(Ending::Superseded { by }) if by == rollout.id);
    let other = picture.world.rollouts.iter().find(by_it)?;
    Some(format!("displaced {} of {}", picture.world.release_name(other.release), other.started_by))
}

/// How it ended, and by whom where a person did it.
fn ended(picture: &Snapshot, rollout: &Rollout) -> Option<String> {
    match rollout.ending.as_ref()? {
        Ending::Completed => Some("every environment is behind it".to_owned()),
        Ending::Halted { reason } => Some(match ended_by(picture, rollout) {
            Some(who) => format!("halted by {who}: {reason}"),
            None => format!("halted: {reason}"),
        }),
        Ending::Superseded { by } => Some(match picture.world.rollout(*by) {
            Some(by) => format!("displaced by {} of {}", picture.world.release_name(by.release), by.started_by),
            None => format!("displaced by rollout {}", by.short()),
        }),
    }
}

fn ended_by<'a>(picture: &'a Snapshot, rollout: &Rollout) -> Option<&'a str> {
    let ends = |entry: &&Entry| matches!(entry.change, Change::RolloutEnded { rollout: id, .. } if id == rollout.id);
    let entry = picture.tail.iter().map(AsRef::as_ref).find(ends)?;
    matches!(entry.cause, Cause::Verb { .. }).then_some(entry.by.as_str())
}

/// What an unprotected world would trip over if this release were started now, protected (R103, R167).
pub(super) fn rehearsal(picture: &Snapshot, release: ReleaseId, moment: Timestamp) -> Vec<Check> {
    let secrets: Vec<String> = picture.world.secrets.keys().cloned().collect();
    // A status alone does not tell their names, and none is not the same as none known.
    let secrets = picture.glimpse.is_none().then_some(secrets.as_slice());
    let plan = Plan { release, protected: true, secrets };
    preflight(&picture.world, &picture.observed, &plan, moment)
}

/// A check that did not pass, in a line.
pub(super) fn warning(check: &Check) -> String {
    let word = if check.grade == Grade::Fail { "fails" } else { "warns" };
    match &check.hint {
        Some(hint) => format!("{} {word}: {} ({hint})", check.id, check.sentence),
        None => format!("{} {word}: {}", check.id, check.sentence),
    }
}

/// Checks that did not pass, those that fail first.
pub(super) fn findings(checks: &[Check]) -> Vec<&Check> {
    let mut found: Vec<&Check> = checks.iter().filter(|check| check.grade != Grade::Pass).collect();
    found.sort_by_key(|check| std::cmp::Reverse(check.grade));
    found
}

/// What is said about an item.
pub(super) fn explain(picture: &Snapshot, item: Item, moment: Timestamp) -> Explanation {
    let Some(face) = face(picture, item) else {
        return Explanation { sentence: "it is no longer kept here".to_owned(), ..Explanation::default() };
    };
    match item {
        Item::Release(id) => release(picture, id, &face, moment),
        Item::Rollout(id) => rollout(picture, id, &face),
        Item::Deed(_) => deed(&face),
    }
}

fn deed(face: &Face) -> Explanation {
    let outcome = if face.what.is_empty() { String::new() } else { format!(", {}", face.look.1.to_lowercase()) };
    Explanation {
        sentence: format!("{}{outcome}: {}", face.name, face.text),
        since: Some(face.at),
        ..Explanation::default()
    }
}

fn release(picture: &Snapshot, id: ReleaseId, face: &Face, moment: Timestamp) -> Explanation {
    let on_it = on_it(picture, id);
    let named = on_it.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    let who = match on_it.len() {
        0 => "nobody is on it".to_owned(),
        n if n > NAMED_MAX => format!("{named} and {} more are on it", n - NAMED_MAX),
        _ => format!("on it: {named}"),
    };
    let yanked = picture.world.releases.get(&id).and_then(|release| release.yanked.as_ref());
    let sentence = match yanked {
        Some(yank) => {
            let why = yank.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{} was yanked by {}{why}; it cannot be started again; {who}", face.name, yank.by)
        }
        None if face.look.1 == "running" => format!("{} is running; {who}", face.name),
        None => format!("{} can be started, protected; {who}", face.name),
    };
    let checks = rehearsal(picture, id, moment);
    let found = findings(&checks);
    let next = match yanked {
        Some(_) => vec!["ship a hotfix release: there is no un-yank".to_owned()],
        None if face.look.1 == "running" => vec!["reset begins it again; done machines are passed over".to_owned()],
        None if found.is_empty() => vec![format!("all {} checks before a start pass", checks.len())],
        None => found.into_iter().map(warning).collect(),
    };
    Explanation { sentence, next, ..Explanation::default() }
}

fn rollout(picture: &Snapshot, id: RolloutId, face: &Face) -> Explanation {
    let Some(rollout) = picture.world.rollout(id) else { return Explanation::default() };
    let protected = if rollout.protected { ", protected" } else { ", not protected" };
    let lasted = rollout.ended_at.map(|at| format!("; it lasted {}", Seconds::between(rollout.started_at, at)));
    let sentence = format!("{} was started{protected}, {}{}", face.name, face.text, lasted.unwrap_or_default());
    let next: &[&str] = match &rollout.ending {
        None => &[],
        Some(Ending::Completed) => &["start its release again for machines that were rebuilt or came late"],
        Some(Ending::Halted { .. }) => {
            &["check the interrupted nodes for a cordon", "start its release again, or a hotfix"]
        }
        Some(Ending::Superseded { .. }) => {
            &["find out who started the other one", "check the interrupted nodes for a cordon"]
        }
    };
    let next = next.iter().map(|text| (*text).to_owned()).collect();
    Explanation { sentence, since: Some(rollout.started_at), next, ..Explanation::default() }
}
