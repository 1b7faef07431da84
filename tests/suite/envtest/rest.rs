//! A plain client of the API server: what tests do themselves they do without the adapter they test.

use std::path::Path;
use std::time::Duration;

use reqwest::{Certificate, Client, Identity, Method};
use serde_json::Value;

/// How long one request may take.
const REQUEST_MAX: Duration = Duration::from_secs(30);

/// What the tests' own fields belong to.
pub const FIELD_MANAGER: &str = "envtest";

/// An answer of the API server.
#[derive(Debug)]
pub struct Told {
    /// HTTP status.
    pub status: u16,
    /// Its body; null where it is no JSON.
    pub body: Value,
}

impl Told {
    /// The body, if the status is one of success.
    pub fn done(self) -> Value {
        assert!((200..300).contains(&self.status), "{} {:#}", self.status, self.body);
        self.body
    }

    /// Why not, if it is a refusal.
    pub fn reason(&self) -> &str {
        self.body["reason"].as_str().unwrap_or_default()
    }
}

/// A client with one identity.
#[derive(Clone)]
pub struct Rest {
    http: Client,
    server: String,
}

impl Rest {
    /// Trusts `authority`, comes with `certificate` and `key`.
    pub fn new(server: &str, authority: &Path, certificate: &Path, key: &Path) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let read = |path: &Path| std::fs::read(path).expect("a file of the cluster's papers");
        let authority = Certificate::from_pem(&read(authority)).expect("a certificate");
        let identity = Identity::from_pem(&[read(certificate), read(key)].concat()).expect("an identity");
        let http = Client::builder().tls_certs_only([authority]).identity(identity).timeout(REQUEST_MAX).no_proxy();
        Self { http: http.build().expect("a client"), server: server.to_owned() }
    }

    /// None while nobody answers.
    pub async fn try_get(&self, path: &str) -> Option<Told> {
        self.ask(Method::GET, path, "", String::new()).await.ok()
    }

    pub async fn get(&self, path: &str) -> Told {
        self.tell(Method::GET, path, "", String::new()).await
    }

    pub async fn create(&self, path: &str, object: &Value) -> Told {
        self.tell(Method::POST, path, "application/json", object.to_string()).await
    }

    pub async fn create_yaml(&self, path: &str, object: &str) -> Told {
        self.tell(Method::POST, path, "application/yaml", object.to_owned()).await
    }

    pub async fn merge(&self, path: &str, patch: &Value) -> Told {
        self.tell(Method::PATCH, path, "application/merge-patch+json", patch.to_string()).await
    }

    /// A server-side apply under a name, over the fields of others.
    pub async fn apply(&self, path: &str, manager: &str, object: &Value) -> Told {
        let path = format!("{path}?fieldManager={manager}&force=true");
        self.tell(Method::PATCH, &path, "application/apply-patch+yaml", object.to_string()).await
    }

    pub async fn delete(&self, path: &str) -> Told {
        self.tell(Method::DELETE, path, "application/json", "{}".to_owned()).await
    }

    /// At once, as a kubelet does once nothing runs any more.
    pub async fn delete_now(&self, path: &str) -> Told {
        let now = r#"{"gracePeriodSeconds": 0}"#;
        self.tell(Method::DELETE, path, "application/json", now.to_owned()).await
    }

    async fn tell(&self, method: Method, path: &str, kind: &str, body: String) -> Told {
        let shown = format!("{method} {path}");
        self.ask(method, path, kind, body).await.unwrap_or_else(|error| panic!("{shown}: {error:?}"))
    }

    async fn ask(&self, method: Method, path: &str, kind: &str, body: String) -> reqwest::Result<Told> {
        let mut request = self.http.request(method, format!("{}{path}", self.server));
        if !kind.is_empty() {
            request = request.header("content-type", kind).body(body);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        Ok(Told { status, body: serde_json::from_str(&text).unwrap_or(Value::Null) })
    }
}
