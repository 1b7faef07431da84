//! What a person can do about Kura servers.

use serde::{Deserialize, Serialize};

use super::super::ids::ServerId;
use super::server::{MovePhase, ServerSpec};

/// A verb. New identities arrive in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KuraVerb {
    /// Release a version; the scheduler does the rest (K8, K9).
    ReleaseTag {
        /// Its image tag.
        tag: String,
    },
    /// Add a server; the scheduler brings it to the newest tag.
    AddServer {
        /// Its identity.
        id: ServerId,
        /// Handle of its tenant.
        tenant: String,
        /// Id of its tenant; the handle where it is left out.
        tenant_id: Option<String>,
        /// Where it is to serve.
        region: String,
        /// The cluster it is to run in; the region where it is left out.
        cluster_id: Option<String>,
        /// What is configured.
        spec: Box<ServerSpec>,
    },
    /// Configure a server otherwise; it converges as with any drift (K34).
    ConfigureServer {
        /// Which.
        server: ServerId,
        /// All of it.
        spec: Box<ServerSpec>,
    },
    /// Say that a move begins or ends (K13).
    MoveServer {
        /// Which.
        server: ServerId,
        /// From now on.
        phase: MovePhase,
    },
    /// Bring a server to a tag (K24, K25).
    Deploy {
        /// Which.
        server: ServerId,
        /// Where.
        tag: String,
        /// Apply even if everything agrees; displaces any open deployment.
        force: bool,
    },
    /// A forced row of the tag the server is brought to (K24).
    ForceReapply {
        /// Which.
        server: ServerId,
    },
    /// Take a server down with everything only it used (K51).
    DestroyServer {
        /// Which.
        server: ServerId,
    },
    /// Delete a gateway nobody uses (K42).
    DeleteGateway {
        /// Its name.
        name: String,
    },
    /// Take a finalizer off something that is stuck in its deletion (K44).
    StripFinalizer {
        /// Of a gateway or an instance.
        name: String,
        /// Which finalizer; none = the only one there is.
        finalizer: Option<String>,
    },
    /// Delete an instance that no server claims (K45).
    DeleteOrphan {
        /// Its name.
        name: String,
    },
    /// Have everything in the cluster that is seen now, which is not the one that it was in.
    AcceptCluster {
        /// Its uid.
        uid: String,
    },
}

impl KuraVerb {
    /// Its name in the command table, the audit and the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ReleaseTag { .. } => "release-tag",
            Self::AddServer { .. } => "add-server",
            Self::ConfigureServer { .. } => "configure-server",
            Self::MoveServer { .. } => "move-server",
            Self::Deploy { .. } => "deploy",
            Self::ForceReapply { .. } => "force-reapply",
            Self::DestroyServer { .. } => "destroy-server",
            Self::DeleteGateway { .. } => "delete-gateway",
            Self::StripFinalizer { .. } => "strip-finalizer",
            Self::DeleteOrphan { .. } => "delete-orphan",
            Self::AcceptCluster { .. } => "accept-cluster",
        }
    }

    /// The server it is given to.
    pub fn server(&self) -> Option<ServerId> {
        match self {
            Self::ConfigureServer { server, .. }
            | Self::MoveServer { server, .. }
            | Self::Deploy { server, .. }
            | Self::ForceReapply { server }
            | Self::DestroyServer { server } => Some(*server),
            _ => None,
        }
    }
}
