//! Verbs of `when` that people, pipelines and stores do about rollouts.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::{Map, Value};

use super::name::{Name, as_written};

/// What is done about rollouts.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(tag = "do")]
pub enum RolloutAct {
    /// Starts a release, or resets the rollout that runs it.
    StartRollout {
        /// What to ship.
        release: Name,
        /// The id of the rollout, if a new one comes of it; r1, r2, ... where it is left out.
        #[serde(default)]
        id: Option<String>,
        /// Superseded by force only.
        #[serde(default, deserialize_with = "as_written")]
        protected: Option<Value>,
        /// Supersede a protected rollout.
        #[serde(default, deserialize_with = "as_written")]
        force: Option<Value>,
        /// Refuse if the other would happen.
        #[serde(default, deserialize_with = "as_written")]
        intent: Option<Value>,
    },
    /// Begins a running rollout again.
    Reset {
        /// Which; the one `status` shows where it is left out.
        #[serde(default)]
        rollout: Option<String>,
    },
    /// Stops a rollout.
    Halt {
        /// Which; the one `status` shows where it is left out.
        #[serde(default)]
        rollout: Option<String>,
    },
    /// Withdraws a release.
    Yank {
        /// Which.
        release: Name,
    },
    /// Holds a ring or an environment, or skips a machine.
    Pause(Target),
    /// Ends that.
    Unpause(Target),
    /// Changes a ring.
    PatchRing(RingFields),
    /// Changes an environment.
    PatchEnvironment(EnvironmentFields),
    /// Changes the account.
    PatchAccount(AccountFields),
    /// A commit on the configured ref.
    AutoDeploy {
        /// What it builds.
        release: String,
    },
    /// A tag in the repository.
    TagArrives {
        /// What it builds.
        release: String,
    },
    /// The results store goes down, comes up, or answers with nothing.
    Telemetry {
        /// How it is.
        up: Up,
    },
    /// A person accepts the time of a suspect clock.
    AcceptClock,
}

/// A ring and what is to be changed of it, as it is written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct RingFields {
    /// Which.
    pub ring: Name,
    /// What.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// An environment and what is to be changed of it, as it is written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct EnvironmentFields {
    /// Which.
    pub environment: Name,
    /// What.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// What is to be changed of the account, as it is written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AccountFields {
    /// What.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// Exactly one of three things that can be paused.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// A machine.
    #[serde(default)]
    pub machine: Option<Name>,
    /// A ring.
    #[serde(default)]
    pub ring: Option<Name>,
    /// An environment.
    #[serde(default)]
    pub environment: Option<Name>,
}

/// How the results store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Up {
    /// It answers.
    Up,
    /// It does not.
    Down,
    /// Reads succeed, with no row for anybody.
    Empty,
}

impl<'de> Deserialize<'de> for Up {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UpVisitor)
    }
}

struct UpVisitor;

impl Visitor<'_> for UpVisitor {
    type Value = Up;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false or empty")
    }

    fn visit_bool<E: Error>(self, up: bool) -> Result<Up, E> {
        Ok(if up { Up::Up } else { Up::Down })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Up, E> {
        match word {
            "empty" => Ok(Up::Empty),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
        }
    }
}

impl JsonSchema for Up {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Up".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [true, false, "empty"] })
    }
}
