//! Releases: list, build, withdraw.

use axum::http::StatusCode;
use uuid::Uuid;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Id, NoQuery, Page};
use super::failure::Answer;
use crate::control::host::Host;
use crate::control::ports::Vault;
use crate::control::render::content::ReleaseContent;
use crate::control::render::contract::contract;
use crate::control::render::prepared::Prepared;
use crate::domain::ids::ReleaseId;
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::domain::release::{Contract, Digest};
use crate::wire::body::parse;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::release::{BuildBody, ReleaseBody, ReleaseDetail, checks};

/// `GET /api/config/releases/`, newest first.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, page: Page) -> Answer {
    let look = reader.look();
    let mut releases: Vec<_> = look.releases.values().collect();
    releases.sort_by_key(|release| (std::cmp::Reverse(release.created_at), release.id));
    let shown = page.of(releases.into_iter(), |release| release.id.0);
    Ok(body(StatusCode::OK, &shown.into_iter().map(ReleaseBody::from).collect::<Vec<_>>()))
}

/// `GET /api/config/releases/{uuid}`, with what a lint reads off its states (R155-R164).
pub(super) async fn show<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, _: NoQuery) -> Answer {
    let (look, id) = (reader.look(), ReleaseId(id));
    let release = look.releases.get(&id).ok_or(Refusal::NoRelease(id))?;
    // A lint enforces nothing, so a content that cannot be read now hides no release.
    let content = reader.account.service.host().vault().fetch(&release.content).await.ok().flatten();
    let checks = content.map(|content| checks(&content)).unwrap_or_default();
    Ok(body(StatusCode::OK, &ReleaseDetail { release: ReleaseBody::from(release), checks }))
}

/// `POST /api/config/releases/build-from-git`: the only way a release comes into being (R4).
pub(super) async fn build<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let order: BuildBody = parse(&errand.bytes)?;
    if let Some(answer) = errand.repeated(order.reason.clone(), unbuilt(&order)) {
        return answer;
    }
    let built = errand.shared.setup.builder.build(&order.git_ref).await?;
    fillable(&built.content)?;
    let contract = contract(&built.content);
    // Kept first: a release that is published can be served. A rehearsal may keep it too: nothing refers to it.
    let content = errand.account.service.host().vault().keep(built.content).await?;
    let mut verb = unbuilt(&order);
    if let Verb::PublishRelease { id, commit, content: kept, contract: read, .. } = &mut verb {
        *id = ReleaseId(errand.shared.fresh());
        (*commit, *kept, *read) = (built.commit, content, contract);
    }
    errand.give(order.reason, verb).await
}

/// The release as it is ordered. What its reference is resolved to does not tell one request from another.
fn unbuilt(order: &BuildBody) -> Verb {
    let BuildBody { git_ref, engine, timeout_seconds, notes, target_version, reason: _ } = order.clone();
    let (id, commit, content) = (ReleaseId(Uuid::nil()), String::new(), Digest(String::new()));
    let contract = Contract::default();
    Verb::PublishRelease { id, git_ref, commit, engine, timeout_seconds, notes, target_version, content, contract }
}

/// Refuses a content with a lookup that nobody could ever fill.
fn fillable(content: &[u8]) -> Result<(), Problem> {
    let prepared = ReleaseContent::read(content).map(|content| Prepared::of(&content)).transpose();
    prepared.map(drop).map_err(|bad| {
        Problem::new(ProblemKind::Invalid, "bad_template", format!("the release cannot be rendered: {bad}"))
            .field("git_ref")
            .hint("docs/releases.md says what can be looked up; the engine's own expressions stay as they are")
    })
}

/// `POST /api/config/releases/{uuid}/yank` (R116).
pub(super) async fn yank<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Yank { release: ReleaseId(id) }).await
}
