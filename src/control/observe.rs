//! Observed: what the world outside looks like at this moment, put together for one turn or one reader.

use std::sync::Arc;

use jiff::Timestamp;

use super::host::Host;
use super::ports::{Clock, Presence, Results};
use crate::domain::ids::AccountId;
use crate::domain::observed::Observed;

/// Puts Observed together. Cheap to clone.
pub struct Observer<H> {
    host: Arc<H>,
    account: AccountId,
    listening_since: Timestamp,
}

impl<H> Clone for Observer<H> {
    fn clone(&self) -> Self {
        Self { host: Arc::clone(&self.host), account: self.account, listening_since: self.listening_since }
    }
}

impl<H: Host> Observer<H> {
    /// An observer that listens from now on: before that nobody can be called offline (R138).
    pub fn new(host: Arc<H>, account: AccountId) -> Self {
        let listening_since = host.clock().now();
        Self { host, account, listening_since }
    }

    /// What can be seen now. No cluster is connected, so there are no nodes.
    pub fn observe(&self) -> Observed {
        Observed {
            last_poll: self.host.presence().seen(self.account),
            telemetry: self.host.results().telemetry(),
            ..Observed::starting_at(self.listening_since)
        }
    }
}
