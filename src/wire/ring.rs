//! Rings: as shown, as created, as changed (B15).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::{body, values};
use crate::domain::fleet::{ConfigValues, Pause, Ring, Rung};
use crate::domain::ids::RingId;
use crate::domain::input::{RingPatch, Verb};
use crate::domain::span::Seconds;

/// Where they are listed and created.
pub const PATH: &str = "/api/config/rings/";

/// Fields that never change once the ring exists, or change by a verb of their own (R128).
const IMMUTABLE: [&str; 4] = ["slug", "uuid", "paused", "pause"];

/// A ring as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RingBody {
    /// Identity.
    pub uuid: RingId,
    /// For people.
    pub name: String,
    /// Immutable.
    pub slug: String,
    /// Counted failures that halt it (R5).
    pub failure_count_threshold: u32,
    /// Time-based election (R6).
    pub wave_ladder: Vec<Rung>,
    /// Open slots per environment; 0 = no cap (R1).
    pub max_in_flight: u32,
    /// How long a first success keeps its slot (R2).
    pub min_settle_seconds: Seconds,
    /// How long a slot may be held before the ring halts; 0 = for ever (R3).
    pub stall_timeout_seconds: Seconds,
    /// Values for rendering.
    pub config_values: ConfigValues,
    /// Held or not.
    pub paused: bool,
    /// Who holds it, since when, why.
    pub pause: Option<Pause>,
}

impl From<&Ring> for RingBody {
    fn from(ring: &Ring) -> Self {
        let settings = ring.settings.clone();
        Self {
            uuid: ring.id,
            name: settings.name,
            slug: ring.slug.clone(),
            failure_count_threshold: settings.failure_count_threshold,
            wave_ladder: settings.wave_ladder,
            max_in_flight: settings.max_in_flight,
            min_settle_seconds: settings.min_settle_seconds,
            stall_timeout_seconds: settings.stall_timeout_seconds,
            config_values: settings.config_values,
            paused: ring.paused.is_some(),
            pause: ring.paused.clone(),
        }
    }
}

/// A step of a ladder as a request sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RungBody {
    /// Seconds since the environment opened.
    pub after_seconds: u64,
    /// 1..=100.
    pub pct: u8,
}

/// What may be set or changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RingSet {
    /// For people.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// Only in a request that makes a ring; the name where it is left out.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub slug: Option<String>,
    /// At least 1.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub failure_count_threshold: Option<u32>,
    /// Never empty.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<RungBody>")]
    pub wave_ladder: Option<Vec<RungBody>>,
    /// 0 = no cap.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub max_in_flight: Option<u32>,
    /// Seconds.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Seconds")]
    pub min_settle_seconds: Option<Seconds>,
    /// Above 0 only on a ring that ends up capped (R123).
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Seconds")]
    pub stall_timeout_seconds: Option<Seconds>,
    /// Replaces all values.
    #[serde(deserialize_with = "values::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ConfigValues")]
    pub config_values: Option<ConfigValues>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl RingSet {
    /// Reads a request that makes a ring; 422 where neither a slug nor a name is given.
    pub fn parse_new(bytes: &[u8]) -> Result<Self, Problem> {
        let mut set: Self = body::parse(bytes)?;
        set.slug = set.slug.or_else(|| set.name.as_deref().and_then(slug_of));
        if set.slug.is_none() {
            return Err(body::missing("slug"));
        }
        values::refuse_secrets(set.config_values.as_ref())?;
        Ok(set)
    }

    /// Reads a PATCH; 400 naming the field where it would change what is immutable (R128).
    pub fn parse_patch(bytes: &[u8]) -> Result<Self, Problem> {
        body::refuse_fields(bytes, &IMMUTABLE, "cannot be changed by a PATCH")?;
        let set: Self = body::parse(bytes)?;
        values::refuse_secrets(set.config_values.as_ref())?;
        Ok(set)
    }

    /// The verb that makes a ring under this identity.
    pub fn create(self, id: RingId) -> Verb {
        let slug = self.slug.clone().unwrap_or_default();
        Verb::CreateRing { id, slug, settings: self.settings() }
    }

    /// The verb that changes this ring.
    pub fn change(self, ring: RingId) -> Verb {
        Verb::PatchRing { ring, patch: self.settings() }
    }

    fn settings(self) -> RingPatch {
        let rung = |rung: RungBody| Rung { after_seconds: rung.after_seconds, pct: rung.pct };
        RingPatch {
            name: self.name,
            max_in_flight: self.max_in_flight,
            min_settle_seconds: self.min_settle_seconds,
            stall_timeout_seconds: self.stall_timeout_seconds,
            failure_count_threshold: self.failure_count_threshold,
            wave_ladder: self.wave_ladder.map(|ladder| ladder.into_iter().map(rung).collect()),
            config_values: self.config_values,
        }
    }
}

impl From<&RingPatch> for RingSet {
    fn from(patch: &RingPatch) -> Self {
        let rung = |rung: &Rung| RungBody { after_seconds: rung.after_seconds, pct: rung.pct };
        Self {
            name: patch.name.clone(),
            slug: None,
            failure_count_threshold: patch.failure_count_threshold,
            wave_ladder: patch.wave_ladder.as_ref().map(|ladder| ladder.iter().map(rung).collect()),
            max_in_flight: patch.max_in_flight,
            min_settle_seconds: patch.min_settle_seconds,
            stall_timeout_seconds: patch.stall_timeout_seconds,
            config_values: patch.config_values.clone(),
            reason: None,
        }
    }
}

/// A name as it stands in paths: `Workers, Zone 2` as `workers-zone-2`. None where nothing of it is left.
fn slug_of(name: &str) -> Option<String> {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let words: Vec<&str> = name.split(|c| !kept(c)).filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join("-").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_without_a_slug_is_called_by_its_name() {
        let slug = |json: &str| RingSet::parse_new(json.as_bytes()).map(|set| set.slug.unwrap_or_default());
        assert_eq!(slug(r#"{"name":"pine-workers"}"#).unwrap(), "pine-workers");
        assert_eq!(slug(r#"{"name":" Workers, Zone 2 "}"#).unwrap(), "workers-zone-2");
        assert_eq!(slug(r#"{"name":"Workers","slug":"w"}"#).unwrap(), "w");
        for unnamed in [r#"{"name":"日本"}"#, "{}"] {
            assert_eq!(slug(unnamed).unwrap_err().field.as_deref(), Some("slug"), "{unnamed}");
        }
    }

    #[test]
    fn a_patch_names_the_field_it_may_not_touch_or_cannot_read() {
        // R128
        let blame = |json: &str| {
            let problem = RingSet::parse_patch(json.as_bytes()).unwrap_err();
            (problem.kind.status(), problem.field.unwrap_or_default())
        };
        assert_eq!(blame(r#"{"slug":"other"}"#), (400, "slug".to_owned()));
        assert_eq!(blame(r#"{"max_in_flight":-1}"#), (422, "max_in_flight".to_owned()));
        assert_eq!(blame(r#"{"min_settle_seconds":1.5}"#), (422, "min_settle_seconds".to_owned()));
        assert_eq!(
            blame(r#"{"wave_ladder":[{"after_seconds":0,"pct":101000}]}"#),
            (422, "wave_ladder[0].pct".to_owned())
        );
        assert_eq!(blame(r#"{"max_inflight":1}"#), (422, "max_inflight".to_owned()));
    }

    #[test]
    fn a_patch_survives_the_wire() {
        let patch = RingPatch {
            max_in_flight: Some(0),
            wave_ladder: Some(vec![Rung { after_seconds: 60, pct: 50 }]),
            stall_timeout_seconds: Some(Seconds(5400)),
            ..RingPatch::default()
        };
        let json = serde_json::to_vec(&RingSet::from(&patch)).unwrap();
        let id = RingId::named("r");
        assert_eq!(RingSet::parse_patch(&json).unwrap().change(id), Verb::PatchRing { ring: id, patch });
    }
}
