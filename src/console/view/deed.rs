//! A deed in full: what came of it, what was planned in that moment, and its place in the chain of the audit.

use super::super::audited::{effects, link};
use super::super::glyph::Glyph;
use super::super::shelf::entry;
use super::super::snapshot::Snapshot;
use super::super::theme::Role;
use super::super::words;
use super::detail::{Text, fact, item};
use super::pen::{Pen, piece};
use crate::domain::audit::{Fate, Link};
use crate::domain::change::Cause;
use crate::domain::ids::Revision;
use crate::domain::release::Digest;

/// Digits of a seal that are shown.
const SEAL_SHOWN: usize = 12;

/// Everything that is kept of a deed.
pub(super) fn facts(picture: &Snapshot, revision: Revision, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let Some(entry) = entry(picture, revision) else { return Vec::new() };
    let mut lines = Vec::new();
    if let Cause::Verb { name, reason, key, .. } = &entry.cause {
        lines.push(fact("verb", Role::Text, name.clone()));
        lines.push(fact("by", Role::Text, words::author(entry)));
        lines.push(fact("reason", Role::Text, reason.clone().unwrap_or_else(|| "none was given".to_owned())));
        lines.extend(key.iter().map(|key| fact("key", Role::Dim, key.clone())));
    }
    let Some(link) = link(entry) else {
        lines.push(fact("audit", Role::Dim, "from before there was an audit"));
        return lines;
    };
    let (role, outcome) = match &link.fate {
        Fate::Done => (Role::Done, "done".to_owned()),
        Fate::Refused { code, .. } => (Role::Failed, format!("refused ({code})")),
    };
    lines.push(fact("outcome", role, outcome));
    lines.extend(chain(link));
    let planned = link.plan.iter().flat_map(|line| item(Glyph::Dot, Role::Text, line, width, pen)).collect();
    lines.extend(section("THE PLAN OF THAT MOMENT", planned));
    lines.extend(section("WHAT IT CHANGED", changed(picture, revision, link, width, pen)));
    lines
}

/// Its place in the chain, and what it hangs on.
fn chain(link: &Link) -> [Text; 2] {
    let before = link.before.as_ref().map_or("nothing: it is the first".to_owned(), short);
    [
        fact("audit", Role::Text, format!("link {}, seal {}", link.number, short(&link.seal))),
        fact("hangs on", Role::Dim, before),
    ]
}

fn short(seal: &Digest) -> String {
    seal.0.chars().take(SEAL_SHOWN).collect()
}

fn changed(picture: &Snapshot, revision: Revision, link: &Link, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let kept = effects(picture, revision, link);
    let missing = link.changes.saturating_sub(u64::try_from(kept.len()).unwrap_or(u64::MAX));
    let said = kept.iter().map(|entry| words::say(entry, &picture.world));
    let mut lines: Vec<Text> = said.flat_map(|said| item(said.glyph, Role::Text, &said.text, width, pen)).collect();
    if missing > 0 {
        lines.push(vec![piece(Role::Dim, format!("{missing} more, which are no longer kept here"))]);
    }
    lines
}

/// A heading with what stands under it; nothing where nothing does.
pub(super) fn section(heading: &'static str, lines: Vec<Text>) -> Vec<Text> {
    if lines.is_empty() {
        return lines;
    }
    [Text::new(), vec![piece(Role::Heading, heading)]].into_iter().chain(lines).collect()
}
