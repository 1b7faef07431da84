//! Journals that several processes share, each with a wire in between that tests can cut.

use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::super::e2e::plane::Plane;
use super::super::envtest::cluster::Cluster;
use super::super::envtest::wire_cutter::WireCutter;
use super::super::journal::beds::Postgres;

/// A journal by its addresses.
pub(super) struct Ground {
    pub(super) runtime: Runtime,
    /// The straight way.
    pub(super) url: String,
    /// What has to stay there as long as the journal is needed.
    kept: Kept,
}

/// What is beneath it.
enum Kept {
    File(TempDir),
    Database,
    Cluster(Box<Cluster>),
}

fn runtime() -> Runtime {
    Runtime::new().expect("a runtime")
}

/// The port in an address of loopback.
fn port_of(url: &str) -> u16 {
    let (_, rest) = url.split_once("@127.0.0.1:").expect("a server on loopback");
    rest.split('/').next().and_then(|port| port.parse().ok()).expect("a port")
}

impl Ground {
    /// A file on a disk that two processes share.
    pub(super) fn file() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite:{}", folder.path().join("kura.db").display());
        Self { runtime: runtime(), url, kept: Kept::File(folder) }
    }

    /// A database; none where no server is named, which is said.
    pub(super) fn database() -> Option<Self> {
        let runtime = runtime();
        let url = runtime.block_on(Postgres::bed())?.url().to_owned();
        Some(Self { runtime, url, kept: Kept::Database })
    }

    /// A cluster of this test alone; none where there are no programs for it, which is said.
    pub(super) fn cluster(name: &str) -> Option<Self> {
        let runtime = runtime();
        let cluster = runtime.block_on(Cluster::start(name))?;
        let url = in_cluster(&cluster.admin_config());
        Some(Self { runtime, url, kept: Kept::Cluster(Box::new(cluster)) })
    }

    /// Another way to it, over a wire.
    pub(super) fn wire(&self) -> (WireCutter, String) {
        match &self.kept {
            Kept::File(_) => panic!("no wire leads to a file"),
            Kept::Database => {
                let port = port_of(&self.url);
                let wire = self.runtime.block_on(WireCutter::before(port));
                let url = self.url.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{}", wire.port));
                (wire, url)
            }
            Kept::Cluster(cluster) => {
                let wire = self.runtime.block_on(WireCutter::before(cluster.port()));
                let url = in_cluster(&cluster.admin_config_through(wire.port));
                (wire, url)
            }
        }
    }

    /// The cluster itself.
    pub(super) fn programs(&self) -> &Cluster {
        match &self.kept {
            Kept::Cluster(cluster) => cluster,
            _ => panic!("there is no cluster"),
        }
    }

    /// Freezes a control plane, outside of a write to the file: whoever is stopped in the middle of one keeps its lock, and
    /// nobody who shares a file can do anything about it.
    pub(super) fn freeze(&self, plane: &Plane) {
        plane.freeze();
        while let Kept::File(folder) = &self.kept
            && self.is_locked(&folder.path().join("kura.db"))
        {
            plane.thaw();
            std::thread::yield_now();
            plane.freeze();
        }
    }

    fn is_locked(&self, path: &Path) -> bool {
        self.runtime.block_on(async {
            let options = SqliteConnectOptions::new().filename(path).busy_timeout(std::time::Duration::ZERO);
            let mut shell = options.connect().await.expect("the file");
            let begun = shell.begin_with("BEGIN IMMEDIATE").await.is_ok();
            let _ = shell.close().await;
            !begun
        })
    }
}

fn in_cluster(config: &Path) -> String {
    let config: PathBuf = config.to_owned();
    format!("kubernetes://default/kura-console?kubeconfig={}", config.display())
}
