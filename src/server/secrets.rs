//! Secrets: their names for every reader, their values from owners and never back.

use axum::http::StatusCode;
use jiff::Timestamp;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Query, Word};
use super::failure::Answer;
use super::shared::Account;
use crate::control::door::DoorError;
use crate::control::host::Host;
use crate::control::ports::{JournalError, Vault};
use crate::control::trouble::sentence;
use crate::domain::decide::check_secret_name;
use crate::domain::ids::{AccountId, SecretVersion};
use crate::domain::input::Verb;
use crate::domain::world::SecretMark;
use crate::wire::call::UNKNOWN_OUTCOME;
use crate::wire::problem::ProblemKind;
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
    let verb = Verb::SetSecret { name: name.clone(), version };
    if errand.dry_run {
        return errand.give(reason, verb).await;
    }
    let (shared, account) = (errand.account.clone(), errand.account.service.account());
    let vault = shared.service.host().vault();
    let before = mark(&shared, &name);
    match errand.repeated(reason.clone(), verb.clone()) {
        Some(Ok(_)) if is_another(vault, account, errand.done_at(), before.as_ref(), &value).await? => {
            return Err(DoorError::KeyReused.into());
        }
        Some(answer) => return answer,
        None => errand.check(reason.clone(), verb.clone())?,
    }
    vault.keep_secret(account, version, value).await?;
    let answer = errand.give(reason, verb).await;
    let is_settled = answer
        .as_ref()
        .err()
        .is_none_or(|failure| failure.0.code != UNKNOWN_OUTCOME && failure.0.kind != ProblemKind::Internal);
    if let Some(dropped) = unneeded(version, before.as_ref(), mark(&shared, &name).as_ref(), is_settled)
        && let Err(error) = vault.drop_secret(account, dropped).await
    {
        tracing::warn!(why = %sentence(&error), "a version of a secret that nothing refers to could not be dropped");
    }
    answer
}

/// Whether another value was set under the same key, which no journal knows. It can be told as long as that one counts.
async fn is_another<V: Vault>(
    vault: &V,
    account: AccountId,
    done_at: Option<Timestamp>,
    mark: Option<&SecretMark>,
    value: &str,
) -> Result<bool, JournalError> {
    let Some(mark) = mark.filter(|mark| Some(mark.at) == done_at) else { return Ok(false) };
    Ok(vault.secret(account, mark.version).await?.is_some_and(|kept| kept != value))
}

fn mark<H: Host>(account: &Account<H>, name: &str) -> Option<SecretMark> {
    account.service.door.world().secrets.get(name).cloned()
}

/// What nothing refers to after this: the new version where nothing was recorded, else the one before the one before
/// it. Where others set it at the same time, or the outcome is not known, nothing is dropped.
fn unneeded(
    version: SecretVersion,
    before: Option<&SecretMark>,
    after: Option<&SecretMark>,
    is_settled: bool,
) -> Option<SecretVersion> {
    if after == before {
        return is_settled.then_some(version);
    }
    let (before, after) = (before?, after?);
    let followed = after.version == version && after.previous == Some(before.version);
    before.previous.filter(|_| followed)
}
