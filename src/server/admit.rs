//! Whom a route lets in, and into which account: readers and agents. Writes are admitted with their errand.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use jiff::Timestamp;

use super::build::Builder;
use super::caller::{Caller, Need};
use super::failure::Failure;
use super::shared::{Account, Shared};
use crate::control::host::Host;
use crate::control::picture::Role;
use crate::control::ports::Clock;
use crate::domain::ids::MachineId;
use crate::domain::observed::Observed;
use crate::domain::world::World;

/// A reader in its account.
pub(super) struct Reader<H: Host, B> {
    pub(super) shared: Arc<Shared<H, B>>,
    pub(super) account: Arc<Account<H>>,
    pub(super) caller: Caller,
    pub(super) role: Role,
}

impl<H: Host, B: Builder> FromRequestParts<Arc<Shared<H, B>>> for Reader<H, B> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared<H, B>>) -> Result<Self, Failure> {
        let caller = Caller::from_request_parts(parts, shared).await?;
        let role = caller.reader(Need::Look)?;
        Ok(Self { account: shared.account(caller.account)?, shared: Arc::clone(shared), caller, role })
    }
}

impl<H: Host, B> Reader<H, B> {
    /// One account at one moment.
    pub(super) fn look(&self) -> Look {
        self.account.look()
    }
}

/// Anybody whose token is known, agents included.
pub(super) struct Anybody<H: Host>(pub(super) Arc<Account<H>>);

impl<H: Host, B: Builder> FromRequestParts<Arc<Shared<H, B>>> for Anybody<H> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared<H, B>>) -> Result<Self, Failure> {
        let caller = Caller::from_request_parts(parts, shared).await?;
        Ok(Self(shared.account(caller.account)?))
    }
}

/// An agent, in its account and for the machine it speaks for.
pub(super) struct Agent<H: Host, B> {
    pub(super) shared: Arc<Shared<H, B>>,
    pub(super) account: Arc<Account<H>>,
    pub(super) machine: MachineId,
}

impl<H: Host, B: Builder> FromRequestParts<Arc<Shared<H, B>>> for Agent<H, B> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared<H, B>>) -> Result<Self, Failure> {
        let caller = Caller::from_request_parts(parts, shared).await?;
        let machine = caller.machine()?;
        Ok(Self { account: shared.account(caller.account)?, shared: Arc::clone(shared), machine })
    }
}

/// One account at one moment: facts, what is seen, and what time it is there.
pub(super) struct Look {
    pub(super) world: Arc<World>,
    pub(super) observed: Observed,
    pub(super) now: Timestamp,
}

impl<H: Host> Account<H> {
    /// One look at it.
    pub(super) fn look(&self) -> Look {
        let world = self.service.door.world();
        Look { observed: self.service.observer.observe(&world), now: self.service.host().clock().now(), world }
    }
}

impl Deref for Look {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}
