//! The accounts that `serve` serves: those its tokens file names, from the start or from the moment it is read again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::host::ServerHost;
use super::releases::{ReleaseArgs, Releases, follower};
use super::shortening::{Keeping, shortening};
use crate::control::service::{Service, Settings};
use crate::domain::ids::AccountId;
use crate::server::tokens::Tokens;

/// Makes the service of an account that somebody has a token of, once each.
pub struct Accounts {
    host: Arc<ServerHost>,
    releases: Releases,
    following: ReleaseArgs,
    tick_every: Duration,
    keeping: Option<Keeping>,
    known: BTreeSet<String>,
    /// What drives them; each ends once its account is stopped.
    pub loops: JoinSet<&'static str>,
}

impl Accounts {
    /// None yet.
    pub fn new(
        host: Arc<ServerHost>,
        (releases, following): (Releases, ReleaseArgs),
        tick_every: Duration,
        keeping: Option<Keeping>,
    ) -> Self {
        Self { host, releases, following, tick_every, keeping, known: BTreeSet::new(), loops: JoinSet::new() }
    }

    /// The services of accounts that are new, by their names, with their loops under way. An account whose last token is
    /// gone is served on: its rollout does not stop because nobody may look.
    pub fn adopt(&mut self, tokens: &Tokens) -> Vec<(String, Service<ServerHost>)> {
        let names = tokens.accounts();
        let new: Vec<String> = names.into_iter().filter(|name| self.known.insert(name.clone())).collect();
        new.into_iter().map(|name| (name.clone(), self.service(&name))).collect()
    }

    fn service(&mut self, name: &str) -> Service<ServerHost> {
        let settings = Settings { tick_every: self.tick_every, ..Settings::default() };
        let (service, loops) = Service::new(Arc::clone(&self.host), AccountId::named(name), settings);
        let more = [follower(&self.releases, &self.following, &service), shortening(self.keeping, &service)];
        for each in loops.into_iter().chain(more.into_iter().flatten()) {
            self.loops.spawn(async move {
                each.future.await;
                each.name
            });
        }
        service
    }
}
