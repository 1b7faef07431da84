//! KuraGateways.

use jiff::Timestamp;
use serde::Deserialize;

use super::super::object::{Meta, Watched, named_by_metadata};
use crate::domain::kura::object::REVISION_ANNOTATION;
use crate::domain::kura::traffic::Gateway;

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct GatewayObject {
    metadata: Meta,
    #[serde(default)]
    spec: GatewaySpec,
    #[serde(default)]
    status: GatewayStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GatewaySpec {
    region: Option<String>,
    ingress_class_name: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GatewayStatus {
    phase: Option<String>,
    ready_replicas: u32,
    message: Option<String>,
    last_reconciled_at: Option<Timestamp>,
}

impl Watched for GatewayObject {
    type Row = Gateway;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<Gateway> {
        let revision = self.metadata.annotations.get(REVISION_ANNOTATION).cloned();
        Some(Gateway {
            revision,
            stamp: self.metadata.stamp(),
            region: self.spec.region,
            class: self.spec.ingress_class_name,
            phase: self.status.phase,
            ready_replicas: self.status.ready_replicas,
            message: self.status.message,
            last_reconciled_at: self.status.last_reconciled_at,
        })
    }
}
