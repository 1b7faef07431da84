//! Deployments of a server told anew from their entries, newest first: what the World no longer keeps is read from the
//! journal (K7).

use std::collections::BTreeMap;

use super::super::change::{Change, Entry};
use super::super::ids::{DeploymentId, ServerId};
use super::change::KuraChange;
use super::deployment::Deployment;
use super::estate::Estate;
use super::server::Server;

/// Reads backwards. A row is whole once the entry that opened it was reached.
#[derive(Debug, Clone)]
pub struct PastDeployments {
    server: ServerId,
    /// What became of rows whose opening was not reached yet, newest first.
    later: BTreeMap<DeploymentId, Vec<Entry>>,
}

impl PastDeployments {
    /// Of this server; nothing was read yet.
    pub fn of(server: ServerId) -> Self {
        Self { server, later: BTreeMap::new() }
    }

    /// Takes the entry in front of the one before; the row it opened.
    pub fn take(&mut self, entry: Entry) -> Option<Deployment> {
        let Change::Kura(change) = &entry.change else { return None };
        if change.server() != Some(self.server) {
            return None;
        }
        match &**change {
            KuraChange::DeploymentOpened { deployment, .. } => {
                let id = deployment.id;
                self.whole(id, entry)
            }
            KuraChange::DeploymentStarted { deployment, .. }
            | KuraChange::DeploymentClosed { deployment, .. }
            | KuraChange::ManifestApplied { deployment: Some(deployment), .. } => {
                self.later.entry(*deployment).or_default().push(entry);
                None
            }
            _ => None,
        }
    }

    /// The end of a row was read and its beginning was not: whoever stops here does not know it.
    pub fn is_torn(&self) -> bool {
        !self.later.is_empty()
    }

    /// Folded as everything is, alone in an estate of its own.
    fn whole(&mut self, id: DeploymentId, opened: Entry) -> Option<Deployment> {
        let mut alone = Estate::default();
        alone.servers.insert(self.server, Server::new(self.server, "", "", opened.at));
        let later = self.later.remove(&id).unwrap_or_default();
        for entry in std::iter::once(&opened).chain(later.iter().rev()) {
            if let Change::Kura(change) = &entry.change {
                alone.apply(entry.at, change);
            }
        }
        alone.servers.get(&self.server)?.deployment(id).cloned()
    }
}
