//! One cluster on loopback: etcd, the API server, the controller manager. Started, waited for, killed with -9, restarted.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::OnceCell;

use super::assets::Assets;
use super::papers::Papers;
use super::programs::Programs;
use super::rest::Rest;

/// How long a cluster may take until it answers, on a machine that builds at the same time.
const READY_WITHIN: Duration = Duration::from_secs(180);

/// Between two looks at something that is not there yet.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Controllers that matter here. The rest of the real list only costs time.
const CONTROLLERS: &str = "statefulset-controller,job-controller,disruption-controller,garbage-collector-controller,\
                           namespace-controller,serviceaccount-controller,serviceaccount-token-controller";

static SHARED: OnceCell<Option<Cluster>> = OnceCell::const_new();
static NAMESPACES: AtomicU64 = AtomicU64::new(0);

/// A running cluster.
pub struct Cluster {
    assets: Assets,
    papers: Papers,
    folder: PathBuf,
    etcd_port: u16,
    port: u16,
    /// What its API server is started with besides the usual.
    flags: &'static [&'static str],
    programs: Mutex<Programs>,
}

/// The cluster most tests share, each in a namespace of its own. Keeps the logs if its test fails.
pub struct Lease {
    /// The cluster.
    pub cluster: &'static Cluster,
    /// The namespace of this test.
    pub namespace: String,
}

impl Lease {
    /// None where there is nothing to start; the first caller starts it.
    pub async fn take() -> Option<Self> {
        let shared = SHARED.get_or_init(|| async {
            let cluster = Cluster::start("shared").await?;
            cluster.define().await;
            Some(cluster)
        });
        let cluster = shared.await.as_ref()?;
        let namespace = format!("kura-{}", NAMESPACES.fetch_add(1, Ordering::Relaxed));
        cluster.name_space(&namespace).await;
        Some(Self { cluster, namespace })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.cluster.keep_logs();
        }
    }
}

impl Cluster {
    /// Starts one and waits until it answers and its controllers work. None where there are no programs.
    pub async fn start(name: &str) -> Option<Self> {
        Self::start_with(name, &[]).await
    }

    /// The same with flags of the API server.
    pub async fn start_with(name: &str, flags: &'static [&'static str]) -> Option<Self> {
        let assets = Assets::find()?;
        let folder = scratch().join(format!("envtest-{name}-{}", std::process::id()));
        let papers = Papers::make(&folder.join("papers"));
        let programs = Mutex::new(Programs::new(&folder));
        let cluster = Self { assets, papers, folder, etcd_port: free_port(), port: free_port(), flags, programs };
        cluster.introduce("admin", &["system:masters"]);
        cluster.start_etcd();
        cluster.start_api_server();
        cluster.until_ready().await;
        cluster.start_controllers();
        let account = "/api/v1/namespaces/default/serviceaccounts/default";
        let api = cluster.admin();
        cluster.until("its controllers work", async || api.get(account).await.status == 200).await;
        Some(cluster)
    }

    /// The address of its API server.
    pub fn server(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Somebody who may do everything.
    pub fn admin(&self) -> Rest {
        self.client("admin")
    }

    /// Their kubeconfig.
    pub fn admin_config(&self) -> PathBuf {
        self.papers.path("admin.kubeconfig")
    }

    /// The same through something in between, on loopback too.
    pub fn admin_config_through(&self, port: u16) -> PathBuf {
        self.papers.introduce(&format!("https://127.0.0.1:{port}"), &format!("far-admin-{port}"), &["system:masters"])
    }

    /// The port of its API server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A client that comes as somebody who was introduced.
    pub fn client(&self, user: &str) -> Rest {
        let path = |name: String| self.papers.path(&name);
        let (certificate, key) = (path(format!("{user}.pem")), path(format!("{user}-key.pem")));
        Rest::new(&self.server(), &path("authority.pem".to_owned()), &certificate, &key)
    }

    /// The kubeconfig of somebody in these groups. What they may do is up to roles.
    pub fn introduce(&self, user: &str, groups: &[&str]) -> PathBuf {
        self.papers.introduce(&self.server(), user, groups)
    }

    /// The kubeconfig of whoever shows this token.
    pub fn bearer_config(&self, name: &str, token: &str) -> PathBuf {
        self.papers.bearer(&self.server(), name, token)
    }

    /// The definitions of instances and gateways, served.
    pub async fn define(&self) {
        let api = self.admin();
        for (text, plural) in [
            (include_str!("../../envtest/crds/kurainstances.yaml"), "kurainstances"),
            (include_str!("../../envtest/crds/kuragateways.yaml"), "kuragateways"),
        ] {
            api.create_yaml("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text).await.done();
            let path = format!("/apis/kura.tuist.dev/v1alpha1/{plural}");
            self.until("the definition is served", async || api.get(&path).await.status == 200).await;
        }
    }

    /// A new namespace in which pods may be made.
    pub async fn name_space(&self, name: &str) {
        let api = self.admin();
        api.create("/api/v1/namespaces", &json!({"metadata": {"name": name}})).await.done();
        let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
        self.until("its service account is there", async || api.get(&account).await.status == 200).await;
    }

    /// `kill -9` of the API server. Nothing it had in memory survives; etcd does.
    pub fn kill_api_server(&self) {
        self.programs().kill("kube-apiserver");
    }

    /// Starts it again, on the same port and the same etcd.
    pub async fn restart_api_server(&self) {
        self.start_api_server();
        self.until_ready().await;
    }

    /// `kill -9` of the controller manager: nobody makes, deletes or counts pods any more.
    pub fn kill_controllers(&self) {
        self.programs().kill("kube-controller-manager");
    }

    /// `kill -9` of etcd: what it acknowledged is on the disk.
    pub fn kill_etcd(&self) {
        self.programs().kill("etcd");
    }

    /// Starts it again, and waits until the API server answers.
    pub async fn restart_etcd(&self) {
        self.start_etcd();
        self.until_ready().await;
    }

    /// Waits until something holds, at most `READY_WITHIN`; fails at once if a program is gone.
    pub async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let waited = tokio::time::timeout(READY_WITHIN, async {
            while !holds().await {
                self.programs().check();
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        if waited.await.is_err() {
            self.keep_logs();
            panic!("not within {READY_WITHIN:?}: {what}; logs are in {}", self.folder.display());
        }
    }

    fn keep_logs(&self) {
        self.programs().keep_logs();
    }

    async fn until_ready(&self) {
        let api = self.admin();
        self.until("the API server is ready", async || {
            api.try_get("/readyz").await.is_some_and(|told| told.status == 200)
        })
        .await;
    }

    /// On its port and its data; waits for nothing.
    pub fn start_etcd(&self) {
        let url = format!("http://127.0.0.1:{}", self.etcd_port);
        let data = self.folder.join("etcd");
        self.run(
            "etcd",
            &[
                format!("--data-dir={}", data.display()),
                format!("--listen-client-urls={url}"),
                format!("--advertise-client-urls={url}"),
                "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
            ],
        );
    }

    fn start_api_server(&self) {
        let file = |flag: &str, name: &str| format!("--{flag}={}", self.papers.path(name).display());
        let mut arguments: Vec<String> = self.flags.iter().map(|flag| (*flag).to_owned()).collect();
        arguments.extend([
            format!("--etcd-servers=http://127.0.0.1:{}", self.etcd_port),
            format!("--secure-port={}", self.port),
            "--bind-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            file("tls-cert-file", "server.pem"),
            file("tls-private-key-file", "server-key.pem"),
            file("client-ca-file", "authority.pem"),
            file("service-account-key-file", "accounts.pem"),
            file("service-account-signing-key-file", "accounts-key.pem"),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        ]);
        self.run("kube-apiserver", &arguments);
    }

    /// Starts it, or starts it again; waits for nothing.
    pub fn start_controllers(&self) {
        let kubeconfig = self.introduce("system:kube-controller-manager", &["system:masters"]);
        self.run(
            "kube-controller-manager",
            &[
                format!("--kubeconfig={}", kubeconfig.display()),
                format!("--service-account-private-key-file={}", self.papers.path("accounts-key.pem").display()),
                format!("--controllers={CONTROLLERS}"),
                "--leader-elect=false".to_owned(),
                "--secure-port=0".to_owned(),
                "--kube-api-qps=500".to_owned(),
                "--kube-api-burst=1000".to_owned(),
            ],
        );
    }

    fn run(&self, program: &str, arguments: &[String]) {
        let path = self.assets.program(program);
        self.programs().start(&path, arguments);
    }

    fn programs(&self) -> std::sync::MutexGuard<'_, Programs> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Beside what is built; where cargo names no such place, with everything that is temporary.
fn scratch() -> PathBuf {
    option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from)
}

/// A port nobody listens on right now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    listener.local_addr().expect("an address").port()
}
