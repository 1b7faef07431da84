//! The TLS handshake with an endpoint, and what is wrong with its certificate (K30).

use std::sync::Arc;

use jiff::Timestamp;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Names of a certificate that are told.
const NAMES_TOLD: usize = 4;

/// Who is trusted to sign certificates of endpoints.
#[derive(Clone)]
pub struct Trust(Arc<ClientConfig>);

/// What a handshake came to.
pub(super) enum Handshake {
    /// The certificate is good.
    Good(Box<TlsStream<TcpStream>>),
    /// It is not.
    Bad(String),
    /// It did not come to a certificate.
    None(String),
}

impl Trust {
    /// Whom this machine trusts.
    ///
    /// # Errors
    /// With a sentence, where it trusts nobody.
    pub fn of_this_machine() -> Result<Self, String> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        match roots.add_parsable_certificates(found.certs) {
            (0, _) => Err("this machine has no authorities it trusts, such as in /etc/ssl/certs".to_owned()),
            _ => Self::in_roots(roots),
        }
    }

    /// These only.
    ///
    /// # Errors
    /// With a sentence, where they cannot be used.
    pub fn in_roots(roots: RootCertStore) -> Result<Self, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A certificate that was good before says nothing about the one there is now.
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Self(Arc::new(config)))
    }

    /// Shakes hands with whoever is to be `host`.
    pub(super) async fn shake(&self, host: &str, stream: TcpStream) -> Handshake {
        let Ok(name) = ServerName::try_from(host.to_owned()) else {
            return Handshake::None("that is no name a certificate can have".to_owned());
        };
        match TlsConnector::from(Arc::clone(&self.0)).connect(name, stream).await {
            Ok(stream) => Handshake::Good(Box::new(stream)),
            Err(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(rustls::Error::InvalidCertificate(fault)) => Handshake::Bad(fault_of(fault)),
                Some(other) => Handshake::None(other.to_string()),
                None => Handshake::None(error.kind().to_string()),
            },
        }
    }
}

/// One sentence for each thing that can be wrong, without anything that differs from one try to the next.
fn fault_of(fault: &CertificateError) -> String {
    match fault {
        CertificateError::UnknownIssuer => "unknown authority".to_owned(),
        CertificateError::BadSignature => "unknown authority: it is not signed by whom it names".to_owned(),
        CertificateError::ExpiredContext { not_after, .. } => format!("expired since {}", told(*not_after)),
        CertificateError::Expired => "expired".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => format!("not valid before {}", told(*not_before)),
        CertificateError::NotValidYet => "not valid yet".to_owned(),
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            "name mismatch: it names nobody".to_owned()
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            format!("name mismatch: it is for {}", names(presented))
        }
        CertificateError::NotValidForName => "name mismatch".to_owned(),
        CertificateError::Revoked => "revoked".to_owned(),
        other => other.to_string(),
    }
}

fn told(at: UnixTime) -> String {
    let second = i64::try_from(at.as_secs()).ok().and_then(|second| Timestamp::from_second(second).ok());
    second.map_or_else(|| "long ago".to_owned(), |at| at.to_string())
}

/// `DnsName("a.example")` is how the library names them.
fn names(presented: &[String]) -> String {
    let bare = |name: &String| name.split('"').nth(1).unwrap_or(name).to_owned();
    let mut named: Vec<String> = presented.iter().take(NAMES_TOLD).map(bare).collect();
    if presented.len() > NAMES_TOLD {
        named.push(format!("{} more", presented.len() - NAMES_TOLD));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_as_people_write_them_and_not_all_of_many() {
        let presented: Vec<String> = ["a", "b", "c", "d", "e"].map(|name| format!("DnsName(\"{name}\")")).to_vec();
        assert_eq!(names(&presented), "a, b, c, d, 1 more");
    }
}
