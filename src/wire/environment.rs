//! Environments: as shown, as created, as changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::{body, values};
use crate::domain::fleet::{ConfigValues, Environment, Pause};
use crate::domain::ids::EnvironmentId;
use crate::domain::input::Verb;

/// Where they are listed and created.
pub const PATH: &str = "/api/config/environments/";

/// Fields that never change once the environment exists, or change by a verb of their own.
const IMMUTABLE: [&str; 4] = ["slug", "uuid", "paused", "pause"];

/// An environment as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentBody {
    /// Identity.
    pub uuid: EnvironmentId,
    /// For people.
    pub name: String,
    /// Immutable.
    pub slug: String,
    /// Place in the promotion path; null = out of the path (R77).
    pub promotion_order: Option<i64>,
    /// Values for rendering.
    pub config_values: ConfigValues,
    /// Held or not.
    pub paused: bool,
    /// Who holds it, since when, why.
    pub pause: Option<Pause>,
}

impl From<&Environment> for EnvironmentBody {
    fn from(environment: &Environment) -> Self {
        Self {
            uuid: environment.id,
            name: environment.name.clone(),
            slug: environment.slug.clone(),
            promotion_order: environment.promotion_order,
            config_values: environment.config_values.clone(),
            paused: environment.paused.is_some(),
            pause: environment.paused.clone(),
        }
    }
}

/// A new environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentNew {
    /// For people; the slug where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Unique, immutable.
    pub slug: String,
    /// Place in the promotion path; null or left out = out of the path.
    #[serde(default)]
    pub promotion_order: Option<i64>,
    /// Values for rendering.
    #[serde(default)]
    pub config_values: ConfigValues,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl EnvironmentNew {
    /// Reads a request.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let new: Self = body::parse(bytes)?;
        values::refuse_secrets(Some(&new.config_values))?;
        Ok(new)
    }

    /// The verb that makes it under this identity.
    pub fn verb(self, id: EnvironmentId) -> Verb {
        Verb::CreateEnvironment {
            id,
            name: self.name.unwrap_or_else(|| self.slug.clone()),
            slug: self.slug,
            promotion_order: self.promotion_order,
            config_values: self.config_values,
        }
    }
}

/// What may be changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnvironmentPatch {
    /// For people.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// Place in the path; null takes it out of the path (R77).
    #[serde(deserialize_with = "body::nullable", skip_serializing_if = "Option::is_none")]
    pub promotion_order: Option<Option<i64>>,
    /// Replaces all values.
    #[serde(deserialize_with = "values::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ConfigValues")]
    pub config_values: Option<ConfigValues>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl EnvironmentPatch {
    /// Reads a request; 400 naming the field where it would change what is immutable (R128).
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        body::refuse_fields(bytes, &IMMUTABLE, "cannot be changed by a PATCH")?;
        let patch: Self = body::parse(bytes)?;
        values::refuse_secrets(patch.config_values.as_ref())?;
        Ok(patch)
    }

    /// The verb.
    pub fn verb(self, environment: EnvironmentId) -> Verb {
        let Self { name, promotion_order, config_values, reason: _ } = self;
        Verb::PatchEnvironment { environment, name, promotion_order, config_values }
    }
}
