//! The account and its two switches (R118-R120).

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::NoQuery;
use super::failure::Answer;
use crate::control::host::Host;
use crate::wire::account::{AccountBody, AccountConfig, AccountPatch};

/// `GET /api/config/account`.
pub(super) async fn show<H: Host, B: Builder>(reader: Reader<H, B>, _: NoQuery) -> Answer {
    let (account, source) = (&reader.account, reader.shared.setup.builder.source());
    let (uuid, look) = (account.service.account(), reader.look());
    let shown = AccountBody::of(uuid, &account.name, &look.account, source.as_deref());
    Ok(body(StatusCode::OK, &shown.followed(&look, reader.shared.setup.builder.trouble(uuid))))
}

/// `PATCH /api/config/account`.
pub(super) async fn change<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let patch = AccountPatch::parse(&errand.bytes)?;
    let verb = patch.verb();
    errand.give(patch.reason, verb).await
}

/// `POST /api/account/config`: what only an owner configures.
pub(super) async fn configure<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    errand.owned()?;
    let config = AccountConfig::parse(&errand.bytes)?;
    let verb = config.verb();
    errand.give(config.reason, verb).await
}
