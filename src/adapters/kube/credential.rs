//! Credentials from a plugin of the kubeconfig. It never gets to ask anything: no terminal, no input, a deadline; what it
//! would have asked for is said with the command that may ask.

use std::process::{Output, Stdio};
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine};
use jiff::Timestamp;
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;
use tokio::process::Command;

use super::fault::ClusterFault;
use super::target::Target;

/// How long a plugin may take. One that waits for a browser or a password waits in vain.
pub const PLUGIN_MAX: Duration = Duration::from_secs(20);

/// How much of what a plugin complains about is shown, in characters.
const COMPLAINT_MAX: usize = 200;

/// What a plugin gave.
pub(super) struct Credential {
    status: CredentialStatus,
    /// When it ends, if the plugin says so.
    pub(super) expires: Option<Timestamp>,
}

#[derive(Deserialize)]
struct PluginAnswer {
    status: Option<CredentialStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CredentialStatus {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<Timestamp>,
}

impl Credential {
    /// Runs the plugin.
    pub(super) async fn ask(target: &Target, exec: &ExecConfig) -> Result<Self, ClusterFault> {
        let said = |what: String| ClusterFault::LogIn { what, command: format!("{} version", target.kubectl()) };
        let name = exec.command.clone().ok_or_else(|| ClusterFault::Misconfigured {
            what: "the kubeconfig names a credential plugin without its command".to_owned(),
        })?;
        if exec.interactive_mode == Some(ExecInteractiveMode::Always) {
            return Err(said(format!("the credential plugin {name} works at a terminal of its own only")));
        }
        let output = tokio::time::timeout(PLUGIN_MAX, command(&name, exec).output()).await;
        let output =
            output.map_err(|_| said(format!("the credential plugin {name} took over {} s", PLUGIN_MAX.as_secs())))?;
        let output = output.map_err(|error| not_started(&name, exec, &error))?;
        if !output.status.success() {
            return Err(said(format!("the credential plugin {name} failed{}", complaint(&output))));
        }
        Self::read(&output.stdout).ok_or_else(|| said(format!("the credential plugin {name} gave no credentials")))
    }

    fn read(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        // Some speak YAML, and every JSON is YAML.
        let status = serde_yaml::from_str::<PluginAnswer>(text).ok()?.status?;
        let useful =
            status.token.is_some() || (status.client_certificate_data.is_some() && status.client_key_data.is_some());
        useful.then_some(Self { expires: status.expiration_timestamp, status })
    }

    /// Puts it where the client looks for credentials.
    pub(super) fn give(&self, auth: &mut AuthInfo) {
        let encoded = |pem: &Option<String>| pem.as_ref().map(|pem| BASE64_STANDARD.encode(pem));
        let fields = json!({
            "token": self.status.token,
            "client-certificate-data": encoded(&self.status.client_certificate_data),
            "client-key-data": encoded(&self.status.client_key_data),
        });
        // By way of the file's own shape: the client keeps secrets in a type of its own.
        if let Ok(given) = serde_json::from_value::<AuthInfo>(fields) {
            auth.token = given.token;
            auth.client_certificate_data = given.client_certificate_data;
            auth.client_key_data = given.client_key_data;
        }
    }
}

fn command(name: &str, exec: &ExecConfig) -> Command {
    let mut command = Command::new(name);
    command.args(exec.args.iter().flatten());
    for variable in exec.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            command.env(name, value);
        }
    }
    let mut spec = json!({"interactive": false});
    if let Some(cluster) = exec.cluster.as_ref().filter(|_| exec.provide_cluster_info) {
        spec["cluster"] = json!(cluster);
    }
    let asked = json!({"kind": "ExecCredential", "apiVersion": exec.api_version, "spec": spec});
    command.env("KUBERNETES_EXEC_INFO", asked.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

fn not_started(name: &str, exec: &ExecConfig, error: &std::io::Error) -> ClusterFault {
    let hint = exec.install_hint.as_deref().map(|hint| format!(". {}", hint.trim())).unwrap_or_default();
    ClusterFault::Misconfigured { what: format!("the credential plugin {name} cannot be run: {error}{hint}") }
}

/// The last line it wrote: that is where programs say what is wrong.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map(|line| format!(": {}", line.chars().filter(|c| !c.is_control()).take(COMPLAINT_MAX).collect::<String>()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::target::Choice;
    use super::*;

    /// A kubeconfig whose plugin is a line of shell.
    async fn asked(script: &str, mode: &str) -> Result<Credential, ClusterFault> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let kubeconfig = json!({
            "current-context": "prod-a",
            "contexts": [{"name": "prod-a", "context": {"cluster": "a", "user": "me"}}],
            "clusters": [{"name": "a", "cluster": {"server": "https://a.example"}}],
            "users": [{"name": "me", "user": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "sh", "args": ["-c", script], "interactiveMode": mode,
                "env": [{"name": "PROFILE", "value": "prod"}],
            }}}],
        });
        std::fs::write(&file, kubeconfig.to_string()).unwrap();
        let choice = Choice { kubeconfig: Some(file), context: None };
        let target = Target::pin(&choice).await.unwrap();
        Credential::ask(&target, target.exec().unwrap()).await
    }

    #[tokio::test]
    async fn a_plugin_is_asked_without_a_terminal_and_gives_a_token() {
        let script = r#"read -r line && exit 3
            case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*) ;; *) exit 4;; esac
            echo "{status: {token: $PROFILE-token, expirationTimestamp: 2026-01-01T00:00:00Z}}""#;
        let credential = asked(script, "IfAvailable").await.map_err(|fault| fault.to_string()).unwrap();
        assert_eq!(credential.expires, Some("2026-01-01T00:00:00Z".parse().unwrap()));
        assert_eq!(credential.status.token.as_deref(), Some("prod-token"));
        let mut auth = AuthInfo::default();
        credential.give(&mut auth);
        assert!(auth.token.is_some() && auth.client_key_data.is_none());
    }

    #[tokio::test]
    async fn a_plugin_that_fails_says_what_to_run() {
        let fault = asked("echo one >&2; echo 'the token has expired' >&2; exit 1", "Never").await.err().unwrap();
        let said = fault.to_string();
        assert!(said.starts_with("log in again: the credential plugin sh failed: the token has expired. In"), "{said}");
        assert!(said.ends_with("--context prod-a version`"), "{said}");
    }

    #[tokio::test]
    async fn one_that_needs_a_terminal_is_not_run_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let ran = folder.path().join("ran");
        let fault = asked(&format!("touch {}", ran.display()), "Always").await.err().unwrap();
        assert!(matches!(fault, ClusterFault::LogIn { .. }), "{fault}");
        assert!(!ran.exists());
    }

    #[tokio::test]
    async fn an_answer_without_credentials_is_none() {
        assert!(matches!(asked("echo '{}'", "Never").await, Err(ClusterFault::LogIn { .. })));
    }
}
