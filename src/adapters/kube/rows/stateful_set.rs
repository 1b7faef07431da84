//! StatefulSets of instances.

use serde::Deserialize;

use super::super::managers::{Claims, last_change};
use super::super::object::{Meta, Watched, named_by_metadata};
use super::pod::{Container, image_of};
use crate::domain::kura::workload::{Retention, StatefulSet, UpdateStrategy};

/// Says that the controller holds the update while it resizes volumes (K38).
const HOLD_ANNOTATION: &str = "kura.tuist.dev/resize-rollout-hold";

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct SetObject {
    metadata: Meta<Vec<Claims>>,
    #[serde(default)]
    spec: SetSpec,
    #[serde(default)]
    status: SetStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetSpec {
    replicas: Option<u32>,
    template: Template,
    update_strategy: Strategy,
    persistent_volume_claim_retention_policy: Policy,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Template {
    spec: TemplateSpec,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct TemplateSpec {
    containers: Vec<Container>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Strategy {
    #[serde(rename = "type")]
    kind: String,
    rolling_update: Option<Rolling>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Rolling {
    partition: u32,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Policy {
    when_deleted: String,
    when_scaled: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetStatus {
    ready_replicas: u32,
}

impl Watched for SetObject {
    type Row = StatefulSet;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<StatefulSet> {
        let strategy_since = last_change(&self.metadata.managed_fields, &["spec", "updateStrategy"]);
        let held = |names: &std::collections::BTreeMap<String, String>| names.contains_key(HOLD_ANNOTATION);
        let resize_hold = held(&self.metadata.annotations) || held(&self.metadata.labels);
        let spec = self.spec;
        let rolling = spec.update_strategy.rolling_update.as_ref();
        Some(StatefulSet {
            stamp: self.metadata.slim_stamp(),
            image: image_of(&spec.template.spec.containers),
            replicas: spec.replicas.unwrap_or(1),
            ready_replicas: self.status.ready_replicas,
            strategy: match spec.update_strategy.kind.as_str() {
                "OnDelete" => UpdateStrategy::OnDelete,
                _ => UpdateStrategy::RollingUpdate { partition: rolling.map_or(0, |rolling| rolling.partition) },
            },
            is_bare: rolling.is_none() && spec.update_strategy.kind == "RollingUpdate",
            strategy_since,
            resize_hold,
            claims_when_deleted: retention(&spec.persistent_volume_claim_retention_policy.when_deleted),
            claims_when_scaled: retention(&spec.persistent_volume_claim_retention_policy.when_scaled),
        })
    }
}

fn retention(word: &str) -> Retention {
    if word == "Delete" { Retention::Delete } else { Retention::Retain }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::kura::workload::PausedBy;

    fn row(spec: serde_json::Value, annotations: serde_json::Value) -> StatefulSet {
        let object = json!({"metadata": {"name": "a", "annotations": annotations}, "spec": spec});
        serde_json::from_value::<SetObject>(object).unwrap().row("kura").unwrap()
    }

    #[test]
    fn who_holds_an_update_is_read_off_the_strategy() {
        // K38
        let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
        assert_eq!(row(on_delete.clone(), json!({})).paused_by(), Some(PausedBy::Operator));
        assert_eq!(row(on_delete, json!({HOLD_ANNOTATION: "1"})).paused_by(), Some(PausedBy::Controller));
        let partition = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}});
        assert_eq!(row(partition, json!({})).paused_by(), Some(PausedBy::Operator));
        assert_eq!(row(json!({}), json!({})).paused_by(), None);
        let bare = |strategy| row(json!({ "updateStrategy": strategy }), json!({})).is_bare;
        assert!(bare(json!({"type": "RollingUpdate"})) && !bare(json!({"type": "OnDelete"})));
        assert!(!bare(json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})));
    }

    #[test]
    fn what_becomes_of_claims_is_to_keep_them_unless_said_otherwise() {
        // K52
        let spec = json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"}});
        let set = row(spec, json!({}));
        assert_eq!((set.claims_when_deleted, set.claims_when_scaled), (Retention::Delete, Retention::Retain));
    }
}
