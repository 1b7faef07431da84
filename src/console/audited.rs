//! Deeds: everything people asked for, once each, done or refused, as the audit has it.

use super::glyph::Glyph;
use super::shelf::Face;
use super::snapshot::Snapshot;
use super::theme::Role;
use super::words;
use crate::domain::audit::{Fate, Link};
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::ids::Revision;

/// The telling entry of every deed that is known, oldest first: its link of the audit; from before there was an audit,
/// the change that tells it best.
pub(super) fn deeds(picture: &Snapshot) -> Vec<&Entry> {
    let mut links: Vec<&Entry> = picture.past.links().collect();
    let mut without: Vec<&Entry> = Vec::new();
    let mut covered = 0;
    for entry in picture.tail.iter().rev().filter(|entry| matches!(entry.cause, Cause::Verb { .. })) {
        match link(entry) {
            Some(link) => {
                covered = link.changes;
                links.push(entry);
            }
            None if covered > 0 => covered -= 1,
            None => without.push(entry),
        }
    }
    links.extend(told(without.into_iter().rev()));
    links.sort_by_key(|entry| entry.revision);
    links
}

/// The best of the changes of each deed that has no link.
fn told<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<&'a Entry> {
    let mut deeds: Vec<&Entry> = Vec::new();
    let mut before: Option<&Entry> = None;
    for entry in entries {
        let same = before.is_some_and(|b| (b.at, &b.by, &b.cause) == (entry.at, &entry.by, &entry.cause));
        before = Some(entry);
        match deeds.last_mut().filter(|told| same && (tells(told) > 1 || tells(entry) > 1)) {
            Some(told) if tells(entry) < tells(told) => *told = entry,
            Some(_) => {}
            None => deeds.push(entry),
        }
    }
    deeds
}

/// How well a change tells what was done; 0 and 1 stand for a deed, the others follow from one.
fn tells(entry: &Entry) -> u8 {
    match entry.change {
        Change::RolloutStarted { .. } | Change::RolloutReset { .. } | Change::ReleaseYanked { .. } => 0,
        Change::RolloutEnded { .. } => 2,
        Change::LeaseEnded { .. } | Change::CursorMoved { .. } | Change::LeaseGranted { .. } => 3,
        _ => 1,
    }
}

/// The link of the audit an entry is.
pub(super) fn link(entry: &Entry) -> Option<&Link> {
    match &entry.change {
        Change::Audited { link } => Some(link),
        _ => None,
    }
}

/// What a deed changed: the entries its link stands right behind, as far as they are kept.
pub(super) fn effects<'a>(picture: &'a Snapshot, revision: Revision, link: &Link) -> Vec<&'a Entry> {
    let first = revision.saturating_sub(link.changes);
    picture.tail.iter().map(AsRef::as_ref).filter(|entry| (first..revision).contains(&entry.revision)).collect()
}

/// How a deed looks in a list.
pub(super) fn face(picture: &Snapshot, entry: &Entry) -> Face {
    let (verb, why) = match &entry.cause {
        Cause::Verb { name, reason, .. } => (name.as_str(), reason.as_ref().map(|reason| format!(" ({reason})"))),
        _ => ("", None),
    };
    let (look, said) = match link(entry) {
        Some(link) => audited(verb, link),
        None => {
            let said = words::say(entry, &picture.world);
            ((said.glyph, "done".to_owned(), said.role), format!("{verb}: {}", said.text))
        }
    };
    Face {
        look,
        name: words::author(entry),
        text: format!("{said}{}", why.unwrap_or_default()),
        who: words::author(entry),
        what: verb.to_owned(),
        at: entry.at,
    }
}

/// What was asked, in a few words; the kind of a thing is not said twice, and a start is told from what it displaces.
fn asked(verb: &str, targets: &[String]) -> String {
    let plain = |target: &String| {
        let named = target.split_once(' ').filter(|(kind, _)| verb.ends_with(&format!("-{kind}")));
        named.map_or_else(|| target.clone(), |(_, name)| name.to_owned())
    };
    match targets {
        [] => verb.to_owned(),
        [running, release] if verb == "start" => format!("{verb} {release} over {running}"),
        targets => format!("{verb} {}", targets.iter().map(plain).collect::<Vec<_>>().join(", ")),
    }
}

/// The outcome, and what was asked of whom.
fn audited(verb: &str, link: &Link) -> ((Glyph, String, Role), String) {
    let asked = asked(verb, &link.target);
    match &link.fate {
        Fate::Done if link.changes == 0 => {
            ((Glyph::Dot, "no change".to_owned(), Role::Dim), format!("{asked}: it was like that already"))
        }
        Fate::Done => ((Glyph::Done, "done".to_owned(), Role::Done), asked),
        Fate::Refused { detail, .. } => {
            ((Glyph::Failed, "REFUSED".to_owned(), Role::Failed), format!("{asked}: {detail}"))
        }
    }
}
