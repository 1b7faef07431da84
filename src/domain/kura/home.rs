//! The cluster an account's things are in. Of any other one nothing is read but which one it is: a control plane that is
//! started with the wrong context would make every server anew over there.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ends::short;
use super::sight::{ClusterIdentity, Sight};
use super::source::{Contact, Source};
use crate::domain::roll::sight::FleetSight;

/// The cluster everything of an account is deployed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    /// Its uid.
    pub uid: String,
    /// Since when: the first tick that saw it, or a person who accepted it.
    pub since: Timestamp,
}

impl Home {
    /// Why nothing may be read of what is seen: it is another cluster. None where it is this one, or does not say which
    /// one it is.
    pub fn told_apart(&self, seen: Option<&ClusterIdentity>) -> Option<String> {
        let uid = seen?.uid.as_ref().filter(|uid| **uid != self.uid)?;
        let (this, own, since) = (short(uid), short(&self.uid), self.since);
        Some(format!(
            "this is cluster {this}, and everything here is in {own} since {since:.0}: connect to that one again, or \
             say `kura-console accept-cluster {uid}`"
        ))
    }
}

impl Sight {
    /// Itself where it is of the cluster that the account's things are in, or where that cannot be told.
    #[must_use]
    pub fn at_home(self, home: Option<&Home>) -> Self {
        match home.and_then(|home| home.told_apart(self.identity.as_ref())) {
            Some(why) => Self { identity: self.identity, deleter: self.deleter, ..strange(&why) },
            None => self,
        }
    }
}

/// Nothing is read of any kind, and that is why.
fn strange(why: &str) -> Sight {
    fn none<T: Clone>(why: &str) -> Source<T> {
        Source { contact: contact(why), ..Source::default() }
    }
    fn contact(why: &str) -> Contact {
        Contact::Lost { as_of: None, why: why.to_owned() }
    }
    Sight {
        instances: none(why),
        gateways: none(why),
        sets: none(why),
        pods: none(why),
        claims: none(why),
        volumes: none(why),
        ingresses: none(why),
        classes: none(why),
        certificates: none(why),
        services: none(why),
        notices: none(why),
        nodes: contact(why),
        fleet: FleetSight { nodes: none(why), pods: none(why), jobs: none(why), ..FleetSight::default() },
        ..Sight::default()
    }
}
