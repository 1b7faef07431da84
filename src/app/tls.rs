//! The certificate that `serve` shows, read again whenever its files change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::wire::problem::{Problem, ProblemKind};

/// Where the certificate is.
#[derive(Debug, Clone, clap::Args)]
pub struct TlsArgs {
    /// Certificate chain to show, in PEM, the server's own first; read again when it changes, and on SIGHUP.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its private key, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

impl TlsArgs {
    /// The certificate, if one is configured.
    pub fn open(&self) -> Result<Option<Arc<Certificate>>, Problem> {
        let Some((chain, key)) = self.tls_cert.clone().zip(self.tls_key.clone()) else { return Ok(None) };
        let shown = RwLock::new(read(&chain, &key)?);
        Ok(Some(Arc::new(Certificate { chain, key, shown })))
    }
}

/// A certificate and its key, as the files were when they were read last.
#[derive(Debug)]
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    shown: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Its two files.
    pub fn files(&self) -> [PathBuf; 2] {
        [self.chain.clone(), self.key.clone()]
    }

    /// Reads the files again; what was read last stays where they make no sense.
    pub fn reload(&self) -> Result<(), Problem> {
        let read = read(&self.chain, &self.key)?;
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }

    /// A TLS configuration that shows it.
    pub fn config(self: &Arc<Self>) -> Result<Arc<ServerConfig>, Problem> {
        let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| problem(format!("TLS cannot be set up: {error}")))?;
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Self>::clone(self);
        let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn read(chain: &Path, key: &Path) -> Result<Arc<CertifiedKey>, Problem> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        problem(format!("{} cannot be used: {error}", path.display()))
            .hint("both files are PEM: BEGIN CERTIFICATE, and BEGIN PRIVATE KEY")
    };
    let certificates: Result<Vec<CertificateDer<'_>>, _> =
        CertificateDer::pem_file_iter(chain).and_then(Iterator::collect);
    let certificates = certificates.map_err(|error| unreadable(chain, &error))?;
    if certificates.is_empty() {
        return Err(unreadable(chain, &"it holds no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    let pair = CertifiedKey::from_der(certificates, private, &provider());
    pair.map(Arc::new).map_err(|error| {
        problem(format!("{} is not the key of {}: {error}", key.display(), chain.display()))
            .hint("name a certificate and the key it was made with: --tls-cert FILE --tls-key FILE")
    })
}

fn problem(message: String) -> Problem {
    Problem::new(ProblemKind::Usage, "tls", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent-tls").join(name)
    }

    #[test]
    fn a_pair_is_read_again_and_what_makes_no_sense_leaves_the_last_one_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::copy(fixture("server.pem"), &cert).unwrap();
        std::fs::copy(fixture("server-key.pem"), &key).unwrap();
        let args = TlsArgs { tls_cert: Some(cert.clone()), tls_key: Some(key) };
        let opened = args.open().unwrap().unwrap();
        opened.config().unwrap();
        opened.reload().unwrap();
        std::fs::copy(fixture("authority.pem"), &cert).unwrap();
        let problem = opened.reload().unwrap_err();
        assert!(problem.message.contains("is not the key of"), "{problem}");
        std::fs::write(&cert, "nothing").unwrap();
        assert!(opened.reload().unwrap_err().message.contains("no certificate"));
        assert_eq!(opened.shown.read().unwrap().cert.len(), 1, "the last good one stays");
        assert!(TlsArgs { tls_cert: None, tls_key: None }.open().unwrap().is_none());
    }
}
