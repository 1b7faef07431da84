//! What every route stands on: the accounts this process serves, and whom it lets in.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

use super::build::Builder;
use super::feed::Feed;
use super::metrics::Metrics;
use super::places::Places;
use super::rate::Rates;
use super::tokens::Tokens;
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::control::service::Service;
use crate::control::stop::Stop;
use crate::domain::ids::AccountId;
use crate::wire::problem::{Problem, ProblemKind};

/// Change streams that may be open at a time.
pub const STREAMS_MAX: usize = 1_000;

/// Those of them that one token may have.
pub const STREAMS_EACH: usize = 200;

/// Worlds that may be written out at a time; further readers wait.
pub const WORLDS_AT_ONCE: usize = 4;

/// Answers that may read back far in a journal at a time; further readers wait.
pub const PAST_AT_ONCE: usize = 2;

/// One account.
pub struct Account<H: Host> {
    /// Its name.
    pub name: String,
    /// Its loop.
    pub service: Service<H>,
    /// Its change stream.
    pub(super) feed: Feed,
}

/// What the process is told when it starts.
pub struct Setup<B> {
    /// Who may come in, as the file says now.
    pub tokens: watch::Receiver<Arc<Tokens>>,
    /// How often a token may ask.
    pub rates: Rates,
    /// Where releases are built from.
    pub builder: B,
    /// Once it is asked, nothing is held open any more.
    pub stop: Stop,
    /// The period of the tick.
    pub tick_every: Duration,
}

/// Everything of one process.
pub struct Shared<H: Host, B> {
    host: Arc<H>,
    accounts: RwLock<BTreeMap<AccountId, Arc<Account<H>>>>,
    /// Once it is asked the process is about to stop: it is not ready any more, and serves on until `Setup::stop`.
    pub leaving: Stop,
    pub(super) setup: Setup<B>,
    pub(super) metrics: Metrics,
    pub(super) streams: Places,
    pub(super) worlds: Semaphore,
    pub(super) past: Semaphore,
}

impl<H: Host, B: Builder> Shared<H, B> {
    /// Puts it together, on the runtime this is called in; `services` by the names of their accounts, all of them on
    /// `host`.
    pub fn new(host: Arc<H>, services: Vec<(String, Service<H>)>, setup: Setup<B>) -> Arc<Self> {
        let shared = Arc::new(Self {
            host,
            accounts: RwLock::default(),
            leaving: Stop::default(),
            setup,
            metrics: Metrics::default(),
            streams: Places::default(),
            worlds: Semaphore::new(WORLDS_AT_ONCE),
            past: Semaphore::new(PAST_AT_ONCE),
        });
        services.into_iter().for_each(|(name, service)| shared.serve_account(name, service));
        shared
    }

    /// Serves one more account from now on, and feeds its change streams. Whoever drives the loops of its service is the
    /// caller's business.
    pub fn serve_account(&self, name: String, service: Service<H>) {
        let (id, feed) = (service.account(), Feed::new(self.fresh().simple().to_string()));
        tokio::spawn(feed.clone().run(service.clone(), self.metrics.clone()));
        tokio::spawn(feed.clone().show_cluster(service.clone()));
        let account = Arc::new(Account { name, service, feed });
        self.accounts.write().unwrap_or_else(PoisonError::into_inner).insert(id, account);
    }

    /// What time it is here, for spans: no clock that is set or accepted moves it.
    pub(super) fn steady(&self) -> Timestamp {
        self.host.clock().steady()
    }

    /// A new identity.
    pub(super) fn fresh(&self) -> Uuid {
        self.host.fresh()
    }

    /// Every account, by its id.
    pub fn accounts(&self) -> Vec<Arc<Account<H>>> {
        self.accounts.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The account of a token; 503 where this process does not serve it.
    pub(super) fn account(&self, account: AccountId) -> Result<Arc<Account<H>>, Problem> {
        let found = self.accounts.read().unwrap_or_else(PoisonError::into_inner).get(&account).cloned();
        found.ok_or_else(|| {
            Problem::new(ProblemKind::Unavailable, "not_served", "this process does not serve the account")
                .hint("it serves those its tokens file names")
        })
    }
}
