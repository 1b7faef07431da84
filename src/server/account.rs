//! The account and its two switches (R118-R120).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use super::build::Builder;
use super::caller::{Caller, Need};
use super::errand::{Errand, body};
use super::extract::{Body, NoQuery};
use super::failure::Answer;
use super::shared::{Shared, Tenant};
use crate::control::host::Host;
use crate::wire::account::{AccountBody, AccountPatch};

/// `GET /api/config/account`.
pub(super) async fn show<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    Ok(body(StatusCode::OK, &account(tenant, &shared.setup.builder)))
}

/// `PATCH /api/config/account`.
pub(super) async fn change<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let patch = AccountPatch::parse(&bytes)?;
    let verb = patch.verb();
    errand.answer(&shared, tenant, &caller, patch.reason, verb).await
}

fn account<H: Host>(tenant: &Tenant<H>, builder: &impl Builder) -> AccountBody {
    let world = tenant.service.door.world();
    AccountBody::of(tenant.service.account(), &tenant.name, &world.account, builder.source().as_deref())
}
