//! Certificates of cert-manager, which not every cluster has.

use serde::Deserialize;

use super::super::object::{Condition, Meta, Watched, named_by_metadata};
use crate::domain::kura::traffic::Certificate;

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct CertificateObject {
    metadata: Meta,
    #[serde(default)]
    spec: CertificateSpec,
    #[serde(default)]
    status: CertificateStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CertificateSpec {
    dns_names: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct CertificateStatus {
    conditions: Vec<Condition>,
}

impl Watched for CertificateObject {
    type Row = Certificate;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<Certificate> {
        let ready = Condition::of(&self.status.conditions, "Ready").is_some_and(Condition::holds);
        let message = self.status.trouble().filter(|_| !ready);
        Some(Certificate { stamp: self.metadata.slim_stamp(), hosts: self.spec.dns_names, ready, message })
    }
}

impl CertificateStatus {
    /// A failed attempt says more than the lack of a certificate: it carries the issuer's own words (I5).
    fn trouble(&self) -> Option<String> {
        let failed = Condition::of(&self.conditions, "Issuing").filter(|condition| condition.status == "False");
        let told = |condition: &Condition| condition.message.clone().filter(|message| !message.is_empty());
        failed.and_then(told).or_else(|| Condition::of(&self.conditions, "Ready").and_then(told))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_issuers_own_words_are_kept() {
        // I5
        let conditions = json!([
            {"type": "Ready", "status": "False", "message": "Issuing certificate as Secret does not exist"},
            {"type": "Issuing", "status": "False", "message": "429 urn:ietf:params:acme:error:rateLimited"},
        ]);
        let object = json!({
            "metadata": {"name": "a"}, "spec": {"dnsNames": ["a.example"]}, "status": {"conditions": conditions},
        });
        let row = serde_json::from_value::<CertificateObject>(object).unwrap().row("kura").unwrap();
        assert_eq!((row.ready, row.message.as_deref()), (false, Some("429 urn:ietf:params:acme:error:rateLimited")));
    }
}
