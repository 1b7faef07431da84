//! Keys and certificates of one cluster: an authority of its own, the server's, and one for whoever may come.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use serde_json::json;

/// The authority, and the folder where everything it signed is kept.
pub struct Papers {
    folder: PathBuf,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Papers {
    /// A new authority, a certificate for the server on loopback, and a key for tokens of service accounts.
    pub fn make(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("a folder for keys");
        let mut params = named("envtest");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
        let papers = Self { folder: folder.to_owned(), authority };
        papers.write("authority.pem", &papers.authority.pem());
        let accounts = KeyPair::generate().expect("a key");
        papers.write("accounts-key.pem", &accounts.serialize_pem());
        papers.write("accounts.pem", &accounts.public_key_pem());
        let mut server = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()]).expect("names");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        papers.sign("server", server);
        papers
    }

    /// The path of a file: `authority.pem`, `NAME.pem` and `NAME-key.pem`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A certificate for a person or a program; who they are is all in it. Returns the path of a kubeconfig.
    pub fn introduce(&self, server: &str, user: &str, groups: &[&str]) -> PathBuf {
        let mut params = named(user);
        for group in groups {
            params.distinguished_name.push(DnType::OrganizationName, *group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let name = user.replace(':', "-");
        self.sign(&name, params);
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "envtest",
            "contexts": [{"name": "envtest", "context": {"cluster": "envtest", "user": name}}],
            "clusters": [{"name": "envtest", "cluster": {
                "server": server,
                "certificate-authority": self.path("authority.pem"),
            }}],
            "users": [{"name": name, "user": {
                "client-certificate": self.path(&format!("{name}.pem")),
                "client-key": self.path(&format!("{name}-key.pem")),
            }}],
        });
        self.write(&format!("{name}.kubeconfig"), &format!("{kubeconfig:#}"));
        self.path(&format!("{name}.kubeconfig"))
    }

    /// The kubeconfig of whoever shows a token.
    pub fn bearer(&self, server: &str, name: &str, token: &str) -> PathBuf {
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "envtest",
            "contexts": [{"name": "envtest", "context": {"cluster": "envtest", "user": name}}],
            "clusters": [{"name": "envtest", "cluster": {
                "server": server,
                "certificate-authority": self.path("authority.pem"),
            }}],
            "users": [{"name": name, "user": {"token": token}}],
        });
        let file = format!("{name}-bearer.kubeconfig");
        self.write(&file, &format!("{kubeconfig:#}"));
        self.path(&file)
    }

    fn sign(&self, name: &str, params: CertificateParams) {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.authority).expect("a signature");
        self.write(&format!("{name}.pem"), &certificate.pem());
        self.write(&format!("{name}-key.pem"), &key.serialize_pem());
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file beside the cluster");
    }
}

fn named(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}
