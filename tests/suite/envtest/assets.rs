//! Where the programs of the cluster are.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The variable that names their folder; other tools know it too.
const FOLDER: &str = "KUBEBUILDER_ASSETS";

static SAID: Once = Once::new();

/// The folder with etcd, kube-apiserver and kube-controller-manager.
pub struct Assets(PathBuf);

impl Assets {
    /// None where the variable is not set: the caller has nothing to test, which is said once, past the capture of
    /// outputs, and is a failure where everything has to be checked. A folder without the programs is a mistake and fails.
    pub fn find() -> Option<Self> {
        let must = std::env::var("CI").is_ok_and(|set| set == "true");
        let named = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty());
        assert!(named.is_some() || !must, "{FOLDER} names no real Kubernetes: eval \"$(tests/envtest/provision)\"");
        let Some(folder) = named else {
            SAID.call_once(|| {
                let _ = writeln!(
                    std::io::stderr(),
                    "skipped: tests on a real Kubernetes, because {FOLDER} is not set; `eval \"$(tests/envtest/provision)\"` sets it"
                );
            });
            return None;
        };
        let assets = Self(PathBuf::from(folder));
        for program in ["etcd", "kube-apiserver", "kube-controller-manager"] {
            let path = assets.program(program);
            assert!(
                path.is_file(),
                "{FOLDER} is set, but {} is not there: run tests/envtest/provision",
                path.display()
            );
        }
        Some(assets)
    }

    /// The path of one of them.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    fn folder(&self) -> &Path {
        &self.0
    }
}
