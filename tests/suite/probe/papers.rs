//! Certificates of endpoints: good ones, and each of the ways in which one is not.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};

/// An authority. Whether it is known is for the test to say.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn make(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority"))
    }

    /// Trust in it, and in nobody else.
    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).expect("a root");
        roots
    }

    /// What somebody shows who was given a certificate for `host`.
    pub fn certify(&self, host: &str, expired: bool) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new([host.to_owned()]).expect("a name");
        if expired {
            (params.not_before, params.not_after) = (date_time_ymd(2024, 1, 1), date_time_ymd(2025, 1, 1));
        }
        let key = KeyPair::generate().expect("a key");
        let certificate: CertificateDer<'static> = params.signed_by(&key, &self.0).expect("a signature").der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.expect("versions").with_no_client_auth();
        Arc::new(builder.with_single_cert(vec![certificate], key).expect("a pair"))
    }
}
