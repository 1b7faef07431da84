//! Releases come into being once and are never edited (R4).

use super::super::change::Change;
use super::super::input::Verb;
use super::super::refusal::Refusal;
use super::super::release::Release;
use super::super::verdict::Reply;
use super::super::world::CATALOG_MAX;
use super::draft::Draft;
use super::text::{check_label, check_name, check_note, check_reference, check_span};

pub(super) fn publish(draft: &mut Draft<'_>, verb: &Verb) -> Reply {
    let Verb::PublishRelease { id, git_ref, commit, engine, timeout_seconds, notes, target_version, content, contract } =
        verb
    else {
        return Reply::Done;
    };
    if draft.world().releases.len() >= CATALOG_MAX {
        return Reply::Refused(Refusal::Full { what: "releases", limit: CATALOG_MAX });
    }
    if let Err(refusal) = check_texts(git_ref, engine, notes, target_version.as_deref()) {
        return Reply::Refused(refusal);
    }
    if let Err(refusal) = check_span("timeout_seconds", *timeout_seconds) {
        return Reply::Refused(refusal);
    }
    draft.push(Change::ReleasePublished {
        release: Release {
            id: *id,
            git_ref: git_ref.clone(),
            commit: commit.clone(),
            engine: engine.clone(),
            timeout_seconds: *timeout_seconds,
            notes: notes.clone(),
            target_version: target_version.clone(),
            content: content.clone(),
            contract: contract.clone(),
            created_at: draft.now,
            yanked: None,
        },
    });
    Reply::Release(*id)
}

fn check_texts(git_ref: &str, engine: &str, notes: &str, target: Option<&str>) -> Result<(), Refusal> {
    check_reference("git_ref", git_ref)?;
    check_name("engine", engine)?;
    check_note("notes", notes)?;
    target.map_or(Ok(()), |target| check_label("target_version", target))
}
