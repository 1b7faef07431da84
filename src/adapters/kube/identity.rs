//! Which cluster it really is, whatever its address or its name in a kubeconfig (A19).

use kube::Client;
use kube::core::Request;
use kube::core::params::GetParams;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::connection::Connection;
use super::fault::ClusterFault;
use crate::control::ports::Clock;

/// The namespace every cluster has for as long as it lives.
const ANCHOR: &str = "kube-system";

/// What tells a cluster from every other one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The uid of its `kube-system` namespace; none where these credentials may not read it.
    pub uid: Option<String>,
    /// What it runs, such as `v1.34.2`.
    pub version: String,
    /// The minor version; 0 where it is no number.
    pub minor: u32,
}

#[derive(Deserialize)]
struct Version {
    #[serde(rename = "gitVersion")]
    git_version: String,
    minor: String,
}

#[derive(Deserialize)]
struct Namespace {
    metadata: Uid,
}

#[derive(Deserialize)]
struct Uid {
    uid: String,
}

impl Identity {
    /// Asks.
    pub async fn ask<C: Clock>(connection: &Connection<C>) -> Result<Self, ClusterFault> {
        let version: Version = read(connection, "", "version").await?;
        let uid = match read::<Namespace, C>(connection, "/api/v1/namespaces", ANCHOR).await {
            Ok(namespace) => Some(namespace.metadata.uid),
            Err(ClusterFault::Forbidden { .. } | ClusterFault::Missing { .. }) => None,
            Err(fault) => return Err(fault),
        };
        let minor = version.minor.trim_end_matches('+').parse().unwrap_or(0);
        Ok(Self { uid, version: version.git_version, minor })
    }
}

async fn read<T: DeserializeOwned, C: Clock>(
    connection: &Connection<C>,
    path: &'static str,
    name: &'static str,
) -> Result<T, ClusterFault> {
    let read = |client: Client| async move {
        let request = Request::new(path).get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
        client.request(request).await
    };
    connection.ask(read).await
}
