//! Which cluster: read once, pinned for the session. Whatever another shell does to the kubeconfig later changes nothing
//! here (A19).

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Config, config::ExecConfig};

use super::fault::{ClusterFault, chain};

/// How a person names a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// This file instead of what KUBECONFIG names, or `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// This context instead of the current one.
    pub context: Option<String>,
}

/// A cluster and the way in, as they were when the session began.
#[derive(Clone)]
pub struct Target {
    config: Config,
    exec: Option<ExecConfig>,
    context: Option<String>,
    kubeconfig: Option<PathBuf>,
}

impl std::fmt::Debug for Target {
    /// Without the credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("server", &self.server()).field("context", &self.context).finish_non_exhaustive()
    }
}

impl Target {
    /// The context that was chosen; without a choice and without a kubeconfig what a pod is given.
    pub async fn pin(choice: &Choice) -> Result<Self, ClusterFault> {
        let read = match &choice.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        match read {
            Ok(kubeconfig) => Self::in_context(kubeconfig, choice).await,
            Err(error) if *choice != Choice::default() => Err(unusable(choice, &error)),
            Err(error) => Self::in_cluster().map_err(|pod| ClusterFault::Misconfigured {
                what: format!("no cluster: there is no kubeconfig ({}), and this is no pod ({pod})", chain(&error)),
            }),
        }
    }

    async fn in_context(kubeconfig: Kubeconfig, choice: &Choice) -> Result<Self, ClusterFault> {
        let context = choice.context.clone().or_else(|| kubeconfig.current_context.clone());
        let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
        let known: Vec<String> = kubeconfig.contexts.iter().map(|named| named.name.clone()).collect();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let config = config.map_err(|error| match &context {
            Some(name) if !known.contains(name) => ClusterFault::Misconfigured {
                what: format!("there is no context {name} in the kubeconfig; there are: {}", known.join(", ")),
            },
            _ => unusable(choice, &error),
        })?;
        Ok(Self::of(config, context, choice.kubeconfig.clone()))
    }

    /// What a pod is given: a service account and the address of its own cluster.
    pub fn in_cluster() -> Result<Self, ClusterFault> {
        let config = Config::incluster().map_err(|error| ClusterFault::Misconfigured { what: chain(&error) })?;
        Ok(Self::of(config, None, None))
    }

    fn of(mut config: Config, context: Option<String>, kubeconfig: Option<PathBuf>) -> Self {
        config.default_retry = false; // the next tick is the retry
        if config.cluster_url.host().is_some_and(is_loopback) {
            config.proxy_url = None;
        }
        let exec = config.auth_info.exec.take();
        Self { config, exec, context, kubeconfig }
    }

    /// The address of its API server.
    pub fn server(&self) -> String {
        self.config.cluster_url.to_string()
    }

    /// The name of the context; none for the cluster this process runs in.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// The namespace the context is set to.
    pub fn namespace(&self) -> &str {
        &self.config.default_namespace
    }

    /// The beginning of a kubectl command that means this very cluster, whatever the current context is by then (A19).
    pub fn kubectl(&self) -> String {
        let mut words = vec!["kubectl".to_owned()];
        if let Some(path) = &self.kubeconfig {
            words.push(format!("--kubeconfig {}", quoted(path)));
        }
        if let Some(context) = &self.context {
            words.push(format!("--context {context}"));
        }
        words.join(" ")
    }

    pub(super) fn config(&self) -> Config {
        self.config.clone()
    }

    pub(super) fn exec(&self) -> Option<&ExecConfig> {
        self.exec.as_ref()
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    if path.contains([' ', '\'', '"', '$']) { format!("'{}'", path.replace('\'', r"'\''")) } else { path }
}

fn unusable(choice: &Choice, error: &kube::config::KubeconfigError) -> ClusterFault {
    let file =
        choice.kubeconfig.as_ref().map_or_else(|| "the kubeconfig".to_owned(), |path| path.display().to_string());
    ClusterFault::Misconfigured { what: format!("{file} cannot be used: {}", chain(error)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"
apiVersion: v1
kind: Config
current-context: prod-a
contexts:
  - {name: prod-a, context: {cluster: a, user: me, namespace: kura}}
  - {name: prod-b, context: {cluster: b, user: me}}
clusters:
  - {name: a, cluster: {server: "https://a.example:6443"}}
  - {name: b, cluster: {server: "https://127.0.0.1:6443", proxy-url: "http://proxy.example:3128"}}
users:
  - {name: me, user: {token: hunter2}}
"#;

    async fn pinned(context: Option<&str>) -> Result<Target, ClusterFault> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, TWO).unwrap();
        Target::pin(&Choice { kubeconfig: Some(file), context: context.map(str::to_owned) }).await
    }

    #[tokio::test]
    async fn the_context_of_that_moment_stays_the_target() {
        let target = pinned(None).await.unwrap();
        assert_eq!((target.context(), target.namespace()), (Some("prod-a"), "kura"));
        assert_eq!(target.server(), "https://a.example:6443/");
        assert!(target.kubectl().ends_with("--context prod-a"), "{}", target.kubectl());
    }

    #[tokio::test]
    async fn loopback_is_not_asked_for_through_a_proxy() {
        assert_eq!(pinned(Some("prod-b")).await.unwrap().config().proxy_url, None);
    }

    #[tokio::test]
    async fn an_unknown_context_is_told_with_those_there_are() {
        let fault = pinned(Some("prod-c")).await.unwrap_err();
        assert_eq!(fault.to_string(), "there is no context prod-c in the kubeconfig; there are: prod-a, prod-b");
    }

    #[tokio::test]
    async fn a_target_is_shown_without_its_credentials() {
        let shown = format!("{:?}", pinned(None).await.unwrap());
        assert!(shown.contains("a.example") && !shown.contains("hunter2"), "{shown}");
    }
}
