//! The cluster an account's things are in. Of any other one nothing is read but which one it is: a control plane that is
//! started with the wrong context would make every server anew over there.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ends::short;
use super::sight::{ClusterIdentity, Sight};

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
        let Some(why) = home.and_then(|home| home.told_apart(self.identity.as_ref())) else { return self };
        let mut strange = Self { identity: self.identity, deleter: self.deleter, ..Self::default() };
        strange.lose(&why);
        strange
    }
}
