//! Secrets: their names for every reader, their values from owners and never back.

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Query, Word};
use super::failure::Answer;
use super::shared::Account;
use crate::control::host::Host;
use crate::control::ports::Vault;
use crate::domain::decide::check_secret_name;
use crate::domain::ids::SecretVersion;
use crate::domain::input::Verb;
use crate::domain::world::SecretMark;
use crate::wire::secret::{SecretBody, SecretSet};

/// `GET /api/secrets/?limit=&after=NAME`, by name.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query) -> Answer {
    let (limit, after) = (query.limit()?, query.take("after")?.unwrap_or_default());
    query.end()?;
    let look = reader.look();
    let later = look.secrets.iter().filter(|(name, _)| after.is_empty() || **name > after);
    let shown: Vec<SecretBody> = later.take(limit).map(|(name, mark)| SecretBody::of(name, mark)).collect();
    Ok(body(StatusCode::OK, &shown))
}

/// `PUT /api/secrets/{name}`: kept first, recorded second, so that whoever hears of it can render it.
pub(super) async fn set<H: Host, B: Builder>(Word(name): Word, errand: Errand<H, B>) -> Answer {
    errand.owned()?;
    check_secret_name(&name)?;
    let SecretSet { value, reason } = SecretSet::parse(&errand.bytes)?;
    let version = SecretVersion(errand.shared.fresh());
    if errand.dry_run {
        return errand.give(reason, Verb::SetSecret { name, version }).await;
    }
    let (shared, account) = (errand.account.clone(), errand.account.service.account());
    let vault = shared.service.host().vault();
    let before = mark(&shared, &name);
    vault.keep_secret(account, version, value).await?;
    let answer = errand.give(reason, Verb::SetSecret { name: name.clone(), version }).await;
    if let Some(dropped) = unneeded(version, before.as_ref(), mark(&shared, &name).as_ref(), answer.is_ok()) {
        vault.drop_secret(account, dropped).await?;
    }
    answer
}

fn mark<H: Host>(account: &Account<H>, name: &str) -> Option<SecretMark> {
    account.service.door.world().secrets.get(name).cloned()
}

/// What nothing refers to after this: the new version where it was given before under its key, else the one before the
/// one before it. Where others set it at the same time, or the outcome is not known, nothing is dropped.
fn unneeded(
    version: SecretVersion,
    before: Option<&SecretMark>,
    after: Option<&SecretMark>,
    is_decided: bool,
) -> Option<SecretVersion> {
    let (before, after) = (before?, after?);
    if after == before {
        return is_decided.then_some(version);
    }
    let followed = after.version == version && after.previous == Some(before.version);
    before.previous.filter(|_| followed)
}
