//! The cluster of the Kura servers, as a process names it and as its host holds it: one, or none.

use std::path::{Path, PathBuf};

use imbl::OrdMap;

use crate::adapters::clock::SystemClock;
use crate::adapters::kube::cluster::KubeCluster;
use crate::adapters::kube::deleter::NotReadyDeletion;
use crate::adapters::kube::fault::ClusterFault;
use crate::adapters::kube::target::{Choice, Target};
use crate::adapters::probe::probing::Probing;
use crate::adapters::probe::reach::Reach;
use crate::control::ports::{Clock, Cluster, NoCluster, Sightings};
use crate::domain::kura::estate::Estate;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::step::{Outcome, Step};
use crate::domain::observed::Node;
use crate::wire::problem::{Problem, ProblemKind};

/// Set by Kubernetes in every pod.
const IN_A_POD: &str = "KUBERNETES_SERVICE_HOST";

/// Mounted by Kubernetes in every pod that may talk to the API server.
const POD_TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// Which cluster, by kubeconfig.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ClusterArgs {
    /// Context of the kubeconfig that leads to the cluster of the Kura servers; looked up once, at the start
    #[arg(long, value_name = "NAME", env = "KURA_CONSOLE_CONTEXT")]
    pub context: Option<String>,
    /// Kubeconfig to read, instead of what KUBECONFIG names or ~/.kube/config
    #[arg(long, value_name = "FILE", env = "KURA_CONSOLE_KUBECONFIG")]
    pub kubeconfig: Option<PathBuf>,
    /// Namespace of the Kura servers in it
    // Not `namespace`: other commands have an argument of that name.
    #[arg(long = "namespace", value_name = "NAME", default_value = "kura", env = "KURA_CONSOLE_NAMESPACE")]
    pub kura_space: String,
}

impl ClusterArgs {
    /// True where a cluster is named.
    pub fn is_given(&self) -> bool {
        self.context.is_some() || self.kubeconfig.is_some()
    }

    /// What is named, for a console that looks at it beside a control plane; none where nothing is. `writes` = it may have
    /// to carry on there, and then looks after it as a control plane would.
    pub async fn beside(&self, writes: bool) -> Result<Option<Wanted>, Problem> {
        if !self.is_given() {
            return Ok(None);
        }
        let deletion = if writes { NotReadyDeletion::Auto } else { NotReadyDeletion::Off };
        Ok(Some(Wanted { target: self.pin().await?, namespace: self.kura_space.clone(), deletion }))
    }

    /// The cluster that is named, pinned.
    pub async fn pin(&self) -> Result<Target, Problem> {
        let choice = Choice { kubeconfig: self.kubeconfig.clone(), context: self.context.clone() };
        Target::pin(&choice).await.map_err(|fault| unusable(&fault))
    }
}

/// What `serve` is told about it.
#[derive(Debug, Clone, clap::Args)]
pub struct ServedClusterArgs {
    #[command(flatten)]
    which: ClusterArgs,
    /// Look after the Kura servers of the cluster this pod runs in; without any of these flags that is what a pod does
    #[arg(long, conflicts_with_all = ["context", "kubeconfig"])]
    in_cluster: bool,
    /// Connect to no cluster, even in a pod
    #[arg(long, conflicts_with_all = ["context", "kubeconfig", "in_cluster"])]
    no_cluster: bool,
    /// The account whose Kura servers are in it; other accounts neither see nor touch them
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub kura_account: String,
    /// Whether to delete the not-Ready pods of an image change: auto leaves it to the instance controller where one
    /// wrote a status lately
    #[arg(long, value_enum, value_name = "WHO", default_value_t)]
    not_ready_deletion: Deletion,
}

/// The same as `NotReadyDeletion`, as it is typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Deletion {
    /// Unless the instance controller does
    #[default]
    Auto,
    /// Always
    On,
    /// Never
    Off,
}

/// A cluster that is to be connected to.
pub struct Wanted {
    target: Target,
    namespace: String,
    deletion: NotReadyDeletion,
}

impl Wanted {
    /// What it is called here.
    pub fn context(&self) -> String {
        self.target.context().unwrap_or("the cluster").to_owned()
    }
}

impl ServedClusterArgs {
    /// What is meant; none = no cluster. Nothing is sent yet: a cluster that cannot be reached is no reason not to start.
    ///
    /// # Errors
    /// Where the kubeconfig, the context or what the pod was given cannot be used.
    pub async fn wanted(&self) -> Result<Option<Wanted>, Problem> {
        let target = match self {
            Self { no_cluster: true, .. } => return Ok(None),
            Self { which, .. } if which.is_given() => which.pin().await?,
            Self { in_cluster: true, .. } => in_pod()?,
            _ if std::env::var_os(IN_A_POD).is_some() && Path::new(POD_TOKEN).exists() => in_pod()?,
            _ => return Ok(None),
        };
        let deletion = match self.not_ready_deletion {
            Deletion::Auto => NotReadyDeletion::Auto,
            Deletion::On => NotReadyDeletion::On,
            Deletion::Off => NotReadyDeletion::Off,
        };
        Ok(Some(Wanted { target, namespace: self.which.kura_space.clone(), deletion }))
    }
}

fn in_pod() -> Result<Target, Problem> {
    Target::in_cluster().map_err(|fault| {
        unusable(&fault).hint("a pod needs a service account with its token mounted; kura-console manifests makes one")
    })
}

fn unusable(fault: &ClusterFault) -> Problem {
    Problem::new(ProblemKind::Usage, "cluster", fault.to_string())
        .hint("name a context of your kubeconfig: --context NAME, with --kubeconfig FILE where it lies elsewhere")
}

/// What the host of `serve` stands on.
pub enum ServerCluster<C: Clock = SystemClock> {
    /// None is connected.
    Absent,
    /// This one, and nothing on this machine to probe its endpoints with.
    Unprobed(KubeCluster<C>),
    /// This one, with the endpoints of its servers.
    Probed(Probing<KubeCluster<C>>),
}

impl<C: Clock> ServerCluster<C> {
    /// Begins to follow it, on the runtime this is called in; what cannot be reached is tried again for ever.
    pub fn start(wanted: Option<Wanted>, clock: C) -> Self {
        let Some(Wanted { target, namespace, deletion }) = wanted else {
            tracing::info!(
                "no cluster is connected: Kura servers can be looked at and planned, and nothing is applied"
            );
            return Self::Absent;
        };
        tracing::info!(
            server = target.server(),
            context = target.context().unwrap_or("in the cluster"),
            namespace,
            ?deletion,
            "following the cluster of the Kura servers"
        );
        let cluster = KubeCluster::start(target, &namespace, deletion, clock.clone());
        match Reach::of_this_machine() {
            Ok(reach) => Self::Probed(Probing::start(cluster, reach, clock)),
            Err(why) => {
                tracing::warn!(%why, "public endpoints are not probed from here: their links stay unknown");
                Self::Unprobed(cluster)
            }
        }
    }

    /// Nodes by name, as far as they are known now.
    pub fn nodes(&self) -> OrdMap<String, Node> {
        match self {
            Self::Absent => OrdMap::new(),
            Self::Unprobed(cluster) => cluster.nodes(),
            Self::Probed(probing) => probing.cluster().nodes(),
        }
    }
}

impl<C: Clock> Cluster for ServerCluster<C> {
    fn sight(&self) -> Option<Sight> {
        match self {
            Self::Absent => None,
            Self::Unprobed(cluster) => cluster.sight(),
            Self::Probed(probing) => probing.sight(),
        }
    }

    fn attend(&self, estate: &Estate) {
        match self {
            Self::Absent => NoCluster.attend(estate),
            Self::Unprobed(cluster) => cluster.attend(estate),
            Self::Probed(probing) => probing.attend(estate),
        }
    }

    async fn run(&self, step: &Step) -> Outcome {
        match self {
            Self::Absent => NoCluster.run(step).await,
            Self::Unprobed(cluster) => cluster.run(step).await,
            Self::Probed(probing) => probing.run(step).await,
        }
    }

    fn sightings(&self) -> Sightings {
        match self {
            Self::Absent => NoCluster.sightings(),
            Self::Unprobed(cluster) => cluster.sightings(),
            Self::Probed(probing) => probing.sightings(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: ServedClusterArgs,
    }

    async fn wanted(flags: &[&str]) -> Result<Option<Wanted>, Problem> {
        Typed::try_parse_from([&["serve"], flags].concat()).unwrap().args.wanted().await
    }

    #[tokio::test]
    async fn nothing_is_connected_to_that_was_not_named() {
        // A kubeconfig that lies about is no wish: servers are created where an instance is missing (K26).
        assert!(wanted(&[]).await.unwrap().is_none());
        assert!(wanted(&["--no-cluster"]).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn what_cannot_be_used_is_a_question_of_flags() {
        let problem = wanted(&["--kubeconfig", "/nowhere/config"]).await.err().unwrap();
        assert_eq!(problem.kind, ProblemKind::Usage);
        assert!(problem.message.contains("/nowhere/config"), "{problem}");
        assert!(wanted(&["--in-cluster"]).await.err().unwrap().hints.iter().any(|hint| hint.contains("manifests")));
        let both = Typed::try_parse_from(["serve", "--in-cluster", "--context", "a"]);
        assert!(both.is_err());
    }
}
