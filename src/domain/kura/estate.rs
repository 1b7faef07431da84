//! The estate: every fact about Kura servers of one account.

use imbl::{OrdMap, Vector};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::ids::ServerId;
use super::home::Home;
use super::object::ObjectRef;
use super::rested::Rested;
use super::server::{Server, ServerStatus};
use super::tag::{RuntimeTag, is_newer, newest};

/// Servers an account may have.
pub const SERVERS_MAX: usize = 20_000;

/// Released tags the World keeps; the ones released longest ago are forgotten first.
pub const RUNTIME_TAGS_KEPT: usize = 500;

/// Things a person asked to be taken away that may wait at the same time.
pub const ASKED_MAX: usize = 200;

/// What a person wants taken away. Done by the next pass, under the version that pass sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// From which object, or the object itself.
    pub object: ObjectRef,
    /// Which object of that name: another one is left alone.
    pub uid: String,
    /// The finalizer; none = the object is to be deleted.
    pub finalizer: Option<String>,
    /// Who asked.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// Everything about Kura servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Estate {
    /// Released tags in order of release.
    pub tags: Vector<RuntimeTag>,
    /// Servers.
    pub servers: OrdMap<ServerId, Server>,
    /// Servers that were ever added.
    pub added: u64,
    /// What waits to be taken away.
    pub asked: Vector<Asked>,
    /// The cluster all of it is in; none until a tick saw one that says which one it is.
    pub home: Option<Home>,
    /// Whom the next pass need not look at.
    #[serde(skip)]
    pub rested: Rested,
}

impl Estate {
    /// Nothing was ever said about a Kura server.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What servers are brought to (K8).
    pub fn target(&self) -> Option<&str> {
        newest(&self.tags).map(|newest| newest.tag.as_str())
    }

    /// The tag a server is brought to: the one a person holds it at, else the newest, unless it is beyond that already.
    pub fn target_of<'a>(&'a self, server: &'a Server) -> Option<&'a str> {
        let held = server.pin.as_ref().map(|pin| pin.tag.as_str());
        let (newest, wanted) = (self.target(), server.wanted_tag());
        let is_ahead = |newest: &&str| wanted.is_none_or(|wanted| is_newer(&self.tags, newest, wanted));
        held.or(newest.filter(is_ahead)).or(wanted)
    }

    /// The finalizer that waits to be taken off an object of this name; of several the one that was asked for last.
    pub fn stripping(&self, name: &str) -> Option<&str> {
        let theirs = self.asked.iter().rev().filter(|asked| asked.object.name == name);
        theirs.filter_map(|asked| asked.finalizer.as_deref()).next()
    }

    /// What a person calls a server.
    pub fn server_name(&self, id: ServerId) -> String {
        self.servers.get(&id).map_or_else(|| "(gone)".to_owned(), Server::name)
    }

    /// The server an instance belongs to; one that is destroyed claims nothing.
    pub fn server_of(&self, instance: &str) -> Option<&Server> {
        let claims = |server: &&Server| server.instance_name == instance && server.status != ServerStatus::Destroyed;
        self.servers.values().find(claims)
    }

    /// It was released here, or a server runs it or was to.
    pub fn knows_tag(&self, tag: &str) -> bool {
        let of_server = |server: &Server| {
            server.current_image_tag.as_deref() == Some(tag)
                || server.deployments.iter().any(|row| row.image_tag == tag)
        };
        self.tags.iter().any(|known| known.tag == tag) || self.servers.values().any(of_server)
    }
}
