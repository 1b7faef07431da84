//! Facts about Kura servers that are kept. Variants and fields are only ever added.

use serde::{Deserialize, Serialize};

use super::super::ids::{DeploymentId, ServerId};
use super::deployment::{Closing, Deployment, WaitKind};
use super::estate::Asked;
use super::object::ObjectRef;
use super::server::{MovePhase, Pin, PodMark, Server, ServerSpec, ServerStatus};

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum KuraChange {
    /// A version was released (K8).
    TagReleased {
        /// Its image tag.
        tag: String,
    },
    /// A server was added.
    ServerAdded {
        /// As added.
        server: Box<Server>,
    },
    /// A server is configured otherwise.
    SpecChanged {
        /// Which.
        server: ServerId,
        /// From now on.
        spec: Box<ServerSpec>,
    },
    /// A move began or ended (K13).
    Moved {
        /// Which.
        server: ServerId,
        /// From now on.
        phase: MovePhase,
    },
    /// The projection of a server says something else (K2).
    StatusChanged {
        /// Which.
        server: ServerId,
        /// From now on.
        status: ServerStatus,
    },
    /// The controller reports another image (K1).
    ImageObserved {
        /// Of which server.
        server: ServerId,
        /// The tag it reports.
        tag: Option<String>,
    },
    /// A person chose an older tag, or something newer ended that (K25).
    Pinned {
        /// Which.
        server: ServerId,
        /// None = not any more.
        pin: Option<Pin>,
    },
    /// A deployment was scheduled (K9, K24).
    DeploymentOpened {
        /// For which server.
        server: ServerId,
        /// As scheduled.
        deployment: Box<Deployment>,
    },
    /// What a deployment wants is applied.
    DeploymentStarted {
        /// Of which server.
        server: ServerId,
        /// Which.
        deployment: DeploymentId,
        /// The revision that is there.
        revision: String,
    },
    /// A deployment waits for something else, or for nothing any more (K29).
    DeploymentWaits {
        /// Of which server.
        server: ServerId,
        /// Which.
        deployment: DeploymentId,
        /// The first broken link and what is wrong with it.
        wait: Option<(WaitKind, String)>,
    },
    /// A deployment ended (K5).
    DeploymentClosed {
        /// Of which server.
        server: ServerId,
        /// Which.
        deployment: DeploymentId,
        /// How.
        closing: Closing,
    },
    /// The cluster took the manifest of a server (K23).
    ManifestApplied {
        /// Of which server.
        server: ServerId,
        /// For which deployment; none = drift, or a missing object (K26, K34).
        deployment: Option<DeploymentId>,
        /// Its revision (K22).
        revision: String,
        /// Its image.
        image: String,
        /// The instance carried another image before (K35).
        new_image: bool,
        /// The version of the object it was written over; none = there was no such object.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        over: Option<String>,
    },
    /// The pods that roll together in an image change are known (K35).
    RollFixed {
        /// Of which server.
        server: ServerId,
        /// Where it leads.
        image: String,
        /// The set.
        pods: Vec<PodMark>,
    },
    /// A not-Ready pod was deleted (K35, K41).
    PodDeleted {
        /// Of which server.
        server: ServerId,
        /// Where the change leads.
        image: String,
        /// Which.
        pod: String,
        /// Which pod of that name.
        uid: String,
    },
    /// A foreign manager wrote a field back (K28).
    FieldWrittenBack {
        /// Of which server.
        server: ServerId,
        /// Which field.
        field: String,
        /// Who.
        manager: String,
        /// How often in a row; 0 = not any more, what a person forced stayed.
        times: u32,
    },
    /// A write did not succeed, or does again (K27, K39).
    WriteTroubled {
        /// For which server.
        server: ServerId,
        /// To which object.
        object: ObjectRef,
        /// What is wrong; none = nothing any more.
        trouble: Option<String>,
    },
    /// An unused gateway, or its class, was deleted (K43).
    Collected {
        /// Which.
        object: ObjectRef,
    },
    /// A person asked for something to be taken away (K44, K45).
    Asked {
        /// What.
        asked: Asked,
    },
    /// It is, or cannot be.
    AskedDone {
        /// From which object.
        object: ObjectRef,
        /// Which object of that name.
        uid: String,
        /// The finalizer that was to be taken off; none = whatever was asked for of this object is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finalizer: Option<String>,
        /// Why it could not be.
        trouble: Option<String>,
    },
    /// Everything is in this cluster from now on: the first that a tick saw, or one that a person accepted.
    ClusterAccepted {
        /// Its uid.
        uid: String,
    },
}

impl KuraChange {
    /// The server it is about.
    pub fn server(&self) -> Option<ServerId> {
        match self {
            Self::ServerAdded { server } => Some(server.id),
            Self::SpecChanged { server, .. }
            | Self::Moved { server, .. }
            | Self::StatusChanged { server, .. }
            | Self::ImageObserved { server, .. }
            | Self::Pinned { server, .. }
            | Self::DeploymentOpened { server, .. }
            | Self::DeploymentStarted { server, .. }
            | Self::DeploymentWaits { server, .. }
            | Self::DeploymentClosed { server, .. }
            | Self::ManifestApplied { server, .. }
            | Self::RollFixed { server, .. }
            | Self::PodDeleted { server, .. }
            | Self::FieldWrittenBack { server, .. }
            | Self::WriteTroubled { server, .. } => Some(*server),
            Self::TagReleased { .. }
            | Self::Collected { .. }
            | Self::Asked { .. }
            | Self::AskedDone { .. }
            | Self::ClusterAccepted { .. } => None,
        }
    }
}
